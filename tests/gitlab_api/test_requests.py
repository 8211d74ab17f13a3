"""What the bot asks of GitLab is in GitLab's published document: recorded where it arrives, at the sandbox, and compared.

A call, a parameter or a field of a body that the document does not have fails. Not here: whether the answers are right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.cli.demo import start_flow
from bot.core.errors import Gone
from bot.flows.receive import poll
from bot.ports import Gateway
from bot.sandbox import server as sandbox_server
from bot.testing import Stage
from tests.gitlab_api.document import Document, problems

pytestmark = pytest.mark.slow  # about the tracker, not about the bot


@dataclass(frozen=True)
class Sent:
    """One request as the sandbox got it."""

    method: str
    path: str
    query: str
    kind: str
    body: bytes
    token: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}{'?' if self.query else ''}{self.query} {self.body.decode()}"


class Recorder:
    """Keeps every request below `/api/` and passes it on unchanged."""

    def __init__(self, app: ASGIApp, sent: list[Sent]) -> None:
        self._app = app
        self._sent = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await request.body()
        self._sent.append(
            Sent(
                scope["method"],
                scope["raw_path"].partition(b"?")[0].decode("latin-1"),
                scope["query_string"].decode("latin-1"),
                request.headers.get("content-type", ""),
                body,
                request.headers.get("authorization", "").removeprefix("Bearer "),
            )
        )

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Sent]:
    """The requests that reach any sandbox of this test; the server makes its application itself, so that is wrapped."""
    kept: list[Sent] = []
    made = sandbox_server.create_app
    monkeypatch.setattr(sandbox_server, "create_app", lambda *args: Recorder(made(*args), kept))
    return kept


@pytest.fixture
def recorded(sent: list[Sent], tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        yield stage


def of_the_bot(stage: Stage, sent: list[Sent]) -> list[Sent]:
    """People use PRIVATE-TOKEN; what comes as a bearer with the bot's token is the bot's."""
    bots = {user.id for user in stage.world.users.values() if user.bot}
    tokens = {token.value for token in stage.world.tokens if token.user_id in bots}
    return [each for each in sent if each.token in tokens]


def wrong_with(document: Document, sent: Sent) -> list[str]:
    """In words what the document does not have of a request; empty: it has all of it."""
    found = document.of_request(sent.method, sent.path)
    if found is None:
        return [f"{sent.method} {sent.path}: no such operation"]
    operation, in_path = found
    given: dict[str, dict[str, Any]] = {"path": dict(in_path), "query": {}}
    for name, value in parse_qsl(sent.query, keep_blank_values=True):
        given["query"][name] = value
    wrong = []
    for parameter in operation.parameters:
        held = given[parameter["in"]]
        if parameter["name"] in held:
            wrong += problems(parameter["schema"], _read(parameter["schema"], held.pop(parameter["name"])))
        elif parameter.get("required"):
            wrong.append(f"{parameter['name']} is missing")
    wrong += [f"{name}: no such parameter" for held in given.values() for name in held]
    if operation.body is None:
        wrong += ["a body where none is taken"] if sent.body else []
    elif not sent.kind.startswith("application/json"):
        wrong.append(f"a body of type {sent.kind!r}")
    else:
        wrong += problems(operation.body, json.loads(sent.body))
    return [f"{operation}: {each}" for each in wrong]


def _read(schema: dict[str, Any], text: str) -> object:
    """A path's or a query's text as what the schema wants there, itself when it cannot be that."""
    kind = schema.get("type")
    if kind == "integer" and text.removeprefix("-").isdecimal():
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def test_a_whole_story_asks_only_what_is_published(recorded: Stage, sent: list[Sent], document: Document) -> None:
    """Ask, refuse, answer, hint, poll, Continue: every request of the bot is an operation with valid parameters and body."""
    stage = recorded
    run, (database, environments, constraints) = start_flow(stage.client, stage.item)
    stage.settle()
    for who, question, text in (
        ("gil", database, "B"),
        ("dana", database, "A"),
        ("petra", environments, "Z"),
        ("petra", environments, "A and C"),
        ("stranger", environments, "B"),
        ("omar", constraints, "Keep the nightly export."),
    ):
        stage.person(who).reply(question, text)
        stage.settle()
    stage.person("dana").resolve(database)
    stage.person("gil").comment("hitl continue")
    poll(stage.bot.parts, timedelta(seconds=60))
    stage.settle()
    stage.person("petra").comment("hitl continue")
    stage.settle()
    assert stage.client.wait(run["id"], 0) is not None
    mine = of_the_bot(stage, sent)
    assert [problem for each in mine for problem in wrong_with(document, each)] == []
    called = {str(found[0]) for each in mine if (found := document.of_request(each.method, each.path))}
    assert called >= {
        "GET /user",
        "GET /users",
        "GET /users/{id}",
        "GET /projects/{id}",
        "GET /projects/{id}/members/all/{user_id}",
        "GET /projects/{id}/issues/{issue_iid}",
        "GET /projects/{id}/issues/{noteable_id}/discussions",
        "POST /projects/{id}/issues/{noteable_id}/discussions",
        "POST /projects/{id}/issues/{noteable_id}/discussions/{discussion_id}/notes",
        "POST /projects/{id}/issues/{issue_iid}/notes/{note_id}/award_emoji",
    }


def test_every_call_of_the_gateway_is_published(recorded: Stage, sent: list[Sent], document: Document) -> None:
    """Each method of the port is called once; a new one fails here until it is called, so none goes uncompared."""
    parts = recorded.bot.parts
    gateway = parts.projects.all[0].gateway
    opened = gateway.open_thread(12, "Which?")
    gateway.react(12, opened.note_id, "eyes")
    calls = {
        "identity": gateway.identity,
        "project_id": gateway.project_id,
        "item": lambda: gateway.item(12),
        "thread": lambda: gateway.thread(12, opened.discussion_id),
        "threads": lambda: list(gateway.threads(12)),
        "note": lambda: gateway.note(12, opened.note_id),
        "open_thread": lambda: gateway.open_thread(12, "And?"),
        "reply": lambda: gateway.reply(12, opened.discussion_id, "A"),
        "comment": lambda: gateway.comment(12, "plain"),
        # The second of a name is answered 404, so the list of reactions is read as well.
        "react": lambda: gateway.react(12, opened.note_id, "eyes"),
        "membership": lambda: gateway.membership(201, fresh=True),
        "account": lambda: gateway.account(202),
        "find_account": lambda: gateway.find_account("petra"),
    }
    assert set(calls) == {name for name in vars(Gateway) if not name.startswith("_")}
    for call in calls.values():
        call()
    with pytest.raises(Gone):
        gateway.item(4711)
    mine = of_the_bot(recorded, sent)
    assert len(mine) > len(calls)
    assert [problem for each in mine for problem in wrong_with(document, each)] == []


@pytest.mark.parametrize(
    ("request_line", "body"),
    [
        ("POST /api/v4/projects/77/issues/12/discussions", {"body": "x", "internal": True}),
        ("POST /api/v4/projects/77/issues/12/discussions", {"text": "x"}),
        ("POST /api/v4/projects/77/issues/12/discussions", {"body": None}),
        ("POST /api/v4/projects/77/issues/12/notes/5/award_emoji", {}),
        ("PATCH /api/v4/projects/77/issues/12", {"title": "x"}),
        ("PUT /api/v4/projects/77/issues/12", {"state_event": "finish"}),
        ("GET /api/v4/projects/77/issues/12/likes", None),
        ("GET /api/v4/projects/77/issues/12/discussions?page=one", None),
        ("GET /api/v4/projects/77/issues/12/discussions?sort=asc", None),
        ("GET /api/v4/projects/77/members/all/dana", None),
        ("GET /api/v4/user", {"x": 1}),
    ],
)
def test_the_comparison_finds_what_is_not_published(request_line: str, body: Any, document: Document) -> None:
    """Unknown operations, parameters and fields, missing, empty and mistyped ones are found."""
    method, _, address = request_line.partition(" ")
    path, _, query = address.partition("?")
    raw = b"" if body is None else json.dumps(body).encode()
    assert wrong_with(document, Sent(method, path, query, "application/json", raw, ""))
