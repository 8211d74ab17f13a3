"""What the sandbox answers is what GitLab's published document says: every operation called once, over HTTP, and compared.

The document is amended where it is known to be wrong; README.md says how. Not here: what calls do, only what they look like.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
import requests

from bot.sandbox.seed import BOT
from bot.sandbox.server import SandboxServer
from tests.gitlab_api.document import REQUIRED, Document, Operation, Schema, problems

pytestmark = pytest.mark.slow  # about the tracker, not about the bot

OPERATIONS = Document().operations

SIGNING_TOKEN = "whsec_" + base64.b64encode(b"k" * 32).decode()

# What is sent with each operation that takes a body or a query.
BODIES: dict[str, dict[str, Any]] = {
    "POST /personal_access_tokens/self/rotate": {},
    "POST /projects/{id}/access_tokens/self/rotate": {},
    "POST /projects/{id}/issues": {"title": "New", "description": "text", "labels": ["decision"], "assignee_ids": [201]},
    "PUT /projects/{id}/issues/{issue_iid}": {"description": "Changed", "state_event": "close"},
    "POST /projects/{id}/issues/{noteable_id}/notes": {"body": "Hello", "internal": True},
    "PUT /projects/{id}/issues/{noteable_id}/notes/{note_id}": {"body": "Changed"},
    "POST /projects/{id}/issues/{noteable_id}/discussions": {"body": "Which?"},
    "PUT /projects/{id}/issues/{noteable_id}/discussions/{discussion_id}": {"resolved": True},
    "POST /projects/{id}/issues/{noteable_id}/discussions/{discussion_id}/notes": {"body": "A"},
    "PUT /projects/{id}/issues/{noteable_id}/discussions/{discussion_id}/notes/{note_id}": {"resolved": True},
    "POST /projects/{id}/issues/{issue_iid}/award_emoji": {"name": "rocket"},
    "POST /projects/{id}/issues/{issue_iid}/notes/{note_id}/award_emoji": {"name": "rocket"},
    "POST /projects/{id}/hooks": {"url": "http://127.0.0.1:9/x", "token": "t", "signing_token": SIGNING_TOKEN},
    "PUT /projects/{id}/hooks/{hook_id}": {"url": "http://127.0.0.1:9/y", "note_events": True},
    "POST /projects/{id}/labels": {"name": "new", "color": "#123456", "description": "d"},
    "POST /projects/{id}/trigger/pipeline": {"ref": "main", "variables": {"K": "v"}, "inputs": {"n": 1}},
    "POST /projects/{id}/pipeline": {"ref": "main", "variables": [{"key": "K", "value": "v"}]},
}
QUERIES = {"GET /users": "?username=dana"}
AS_BOT = ("POST /projects/{id}/access_tokens/self/rotate", "GET /user")


class Accepting(BaseHTTPRequestHandler):
    """Takes every hook."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture(scope="module")
def receiver():
    running = HTTPServer(("127.0.0.1", 0), Accepting)
    thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/hook"
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def ask(server: SandboxServer, receiver: str) -> Callable[[Operation], requests.Response]:
    """Calls an operation on things that were made for it: an issue with a thread, reactions, a hook with a log, a trigger."""
    world = server.world
    omar, bot, dana = (world.user_named(name) for name in ("omar", BOT, "dana"))
    project = world.projects[77]
    # The document knows no Planner among the levels of a project's token.
    world.set_role(project, bot, 30)
    # Those of earlier tests would be told of everything that happens here.
    world.hooks.clear()
    issue = server.issues.create(project, dana, "An issue", "text", assignees=[dana])
    hook = world.add_hook(project, receiver)
    opened = server.discussions.open_thread(issue, bot, "Which?")
    server.discussions.reply(opened.discussion_id, dana, "A")
    server.hooks.flush(5)
    on_note = server.discussions.react(opened.id, omar, "thumbsup")
    on_issue = server.tracker.awards.give(issue, None, omar, "thumbsup")
    trigger = world.add_trigger(project, omar)
    values = {
        "id": "77",
        "issue_iid": str(issue.iid),
        "noteable_id": str(issue.iid),
        "note_id": str(opened.id),
        "discussion_id": opened.discussion_id,
        "hook_id": str(hook.id),
        "hook_log_id": str(world.deliveries[-1].id),
        "trigger": "note_events",
        "user_id": "201",
    }

    def call(operation: Operation) -> requests.Response:
        name = str(operation)
        award = on_note if "/notes/" in operation.path else on_issue
        filled = {**values, "award_id": str(award.id), "id": "201" if "/users/" in name else "77"}
        body = BODIES.get(name)
        if "trigger/pipeline" in name and body is not None:
            body = {**body, "token": trigger.token}
        return requests.request(
            operation.method,
            server.url + operation.path.format(**filled) + QUERIES.get(name, ""),
            json=body,
            headers={"PRIVATE-TOKEN": world.add_token(bot if name in AS_BOT else omar)},
            timeout=5,
        )

    return call


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_answers_have_the_published_shape(operation: Operation, ask: Callable[[Operation], requests.Response]) -> None:
    """Status and body of a successful call are as published; lists hold something, or they would prove nothing."""
    answer = ask(operation)
    assert answer.status_code == operation.success, answer.text
    schema = operation.answers[operation.success]
    if schema is None:
        # Only a log and two confirmations are published without a shape; a 204 has none.
        assert answer.status_code == 201 or not answer.content or operation.path.endswith("/events")
        return
    data = answer.json()
    assert problems(schema, data) == []
    assert not isinstance(data, list) or data


def test_a_note_of_only_commands_has_its_own_answer(document: Document, server: SandboxServer, ask: object) -> None:
    """A note that was nothing but commands is answered 202 with what they did, which the document leaves out."""
    operation = document.named("POST /projects/{id}/issues/{noteable_id}/notes")
    issue = next(reversed(server.world.issues.values()))
    answer = requests.post(
        f"{server.url}/api/v4/projects/77/issues/{issue.iid}/notes",
        json={"body": "/close"},
        headers={"PRIVATE-TOKEN": server.world.add_token(server.world.user_named("omar"))},
        timeout=5,
    )
    assert answer.status_code == 202
    schema = operation.answers[202]
    assert schema is not None
    assert problems(schema, answer.json()) == []


def test_plain_notes_and_strangers_have_the_published_shape(document: Document, server: SandboxServer, ask: object) -> None:
    """The shapes with the most nulls, a plain note and an issue of nobody's, pass as well, and a blocked account."""
    world = server.world
    token = {"PRIVATE-TOKEN": world.add_token(world.user_named("omar"))}
    issue = server.issues.create(world.projects[77], world.user_named("stranger"), "Bare")
    server.discussions.comment(issue, world.user_named("stranger"), "plain")
    world.block(world.add_user("zoe", id=501))
    for path, name in (
        (f"/projects/77/issues/{issue.iid}", "GET /projects/{id}/issues/{issue_iid}"),
        (f"/projects/77/issues/{issue.iid}/notes", "GET /projects/{id}/issues/{noteable_id}/notes"),
        (f"/projects/77/issues/{issue.iid}/discussions", "GET /projects/{id}/issues/{noteable_id}/discussions"),
        ("/users/501", "GET /users/{id}"),
    ):
        schema = document.named(name).answers[200]
        assert schema is not None
        assert problems(schema, requests.get(f"{server.url}/api/v4{path}", headers=token, timeout=5).json()) == []


def test_the_comparison_finds_what_is_wrong(document: Document, ask: Callable[[Operation], requests.Response]) -> None:
    """An empty object, a missing, an invented and a mistyped field, and a null id are all found."""
    operation = document.named("GET /projects/{id}/issues/{issue_iid}")
    schema = operation.answers[200]
    assert schema is not None
    good = ask(operation).json()
    assert problems(schema, good) == []
    without = {name: value for name, value in good.items() if name != "iid"}
    for bad in ({}, without, {**good, "likes": 1}, {**good, "iid": "12"}, {**good, "id": None},
                {**good, "created_at": "yesterday"}, {**good, "assignees": {}}, []):  # fmt: skip
        assert problems(schema, bad), bad


def test_every_entity_has_required_fields() -> None:
    """The document requires nothing itself, so each shape that is answered at the top has a list here."""
    checked = 0
    for operation in OPERATIONS:
        for status, schema in operation.answers.items():
            if schema is not None and status < 300:
                shape: Schema = schema.get("items", schema)
                if "allOf" in shape or "anyOf" in shape:
                    shape = shape.get("anyOf", shape.get("allOf"))[0]
                assert shape["required"], str(operation)
                checked += 1
    assert checked >= len(OPERATIONS) - 10
    assert len(REQUIRED) >= 15
