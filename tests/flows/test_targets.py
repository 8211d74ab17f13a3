"""Resuming a flow that does not come for its document: called back or started, once, again, or given up visibly."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook

from bot.core.errors import Conflict, Invalid, NotFound
from bot.flows.hand_over import redrive, status_of
from bot.testing import MovableClock, Stage

SECRET = "whsec_Y2FsbGJhY2stc2VjcmV0LW9mLTMyLWJ5dGVzLWxvbmch"
QUESTION: dict[str, Any] = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}


class Flow(HTTPServer):
    """A flow that is called back: answers with the statuses it was told, and remembers what came."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.came: list[tuple[dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hitl/"


class _Handler(BaseHTTPRequestHandler):
    server: Flow

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def flow() -> Iterator[Flow]:
    with Flow() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def stage(tmp_path: Path, flow: Flow, clock: MovableClock) -> Iterator[Stage]:
    """A project that may call this flow back, and start one program."""
    program = tmp_path / "flow.py"
    program.write_text(
        "import sys, os, json\nd = json.load(sys.stdin)\nopen('started.json', 'a').write(json.dumps(d['resume']) + '\\n')\n"
    )
    project = {
        "callback_urls": [flow.url],
        "callback_secret": SecretStr(SECRET),
        "allow_private_callbacks": True,
        "commands": {"plan": [sys.executable, str(program)]},
    }
    with Stage(tmp_path, clock=clock, project=project) as stage:
        yield stage


def continued(stage: Stage, target: dict[str, str]) -> tuple[str, str]:
    """A run with this target, answered and continued: its id and its resume's."""
    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana", resume=target)["id"]
    placed = stage.client.ask(run, [QUESTION])[0]
    stage.person("dana").reply(placed, "B")
    stage.settle()
    resume = stage.client.press_continue(run)["resume"]
    stage.settle()
    return str(run), str(resume)


def test_a_flow_is_called_back_once_with_its_document(stage: Stage, flow: Flow) -> None:
    """Signed, with the resume's id, the very bytes the API serves; then the run is running and its answers delivered."""
    run, resume = continued(stage, {"kind": "callback", "url": f"{flow.url}plan"})
    stage.client.press_continue(run)
    stage.settle()
    assert len(flow.came) == 1
    headers, body = flow.came[0]
    assert headers["webhook-id"] == resume
    assert headers["webhook-signature"].startswith("v1,")
    signed = Webhook(SECRET).sign(resume, _at(headers["webhook-timestamp"]), body.decode())
    assert headers["webhook-signature"] == signed
    assert stage.client.run(run)["status"] == "running"
    assert json.loads(body) == stage.client.wait(run, 0)
    assert stage.client.questions(run)["questions"][0]["new"] is False


def _at(stamp: str) -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(int(stamp), UTC)


def test_a_flow_that_is_away_is_called_again(stage: Stage, flow: Flow, clock: MovableClock) -> None:
    """500 twice, then it is back: the same id each time, with growing pauses in between."""
    flow.statuses = [500, 503]
    run, resume = continued(stage, {"kind": "callback", "url": flow.url})
    assert stage.client.run(run)["status"] == "resuming"
    for _ in range(2):
        clock.move(seconds=5)
        stage.settle()
    assert [headers["webhook-id"] for headers, _ in flow.came] == [resume] * 3
    assert stage.client.run(run)["status"] == "running"


@pytest.mark.slow
def test_after_three_days_it_is_given_up_and_can_be_driven_again(stage: Stage, flow: Flow, clock: MovableClock) -> None:
    """Neither for ever nor silently: a note on the item says so, `redrive` starts anew."""
    flow.statuses = [500] * 1_000
    run, resume = continued(stage, {"kind": "callback", "url": flow.url})
    began = clock.now()
    while status_of(stage.bot.parts, resume).outgoing.state == "pending":  # type: ignore[union-attr]
        clock.move(hours=1)
        stage.settle()
    assert 60 < (clock.now() - began).total_seconds() / 3600 < 100
    said = stage.person("dana").notes()[-1]["body"]
    assert "could not be resumed" in said
    assert f"hitl resume redrive {resume}" in said
    flow.statuses.clear()
    redrive(stage.bot.parts, resume)
    stage.settle()
    assert stage.client.run(run)["status"] == "running"
    with pytest.raises(Conflict):
        redrive(stage.bot.parts, resume)


def test_gone_is_not_tried_again(stage: Stage, flow: Flow, clock: MovableClock) -> None:
    """410: given up at once, and said."""
    flow.statuses = [410]
    _, resume = continued(stage, {"kind": "callback", "url": flow.url})
    clock.move(days=1)
    stage.settle()
    assert len(flow.came) == 1
    assert status_of(stage.bot.parts, resume).outgoing.state == "parked"  # type: ignore[union-attr]
    assert any("could not be resumed" in note["body"] for note in stage.person("dana").notes())


def test_a_configured_program_is_started_with_the_document(stage: Stage) -> None:
    """`command`: by its configured name, the document on standard input."""
    run, resume = continued(stage, {"kind": "command", "name": "plan"})
    started = stage.folder / "started.json"
    until = time.monotonic() + 10
    while not started.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert json.loads(started.read_text()) == resume
    assert stage.client.run(run)["status"] == "running"


@pytest.mark.parametrize(
    "target",
    [
        {"kind": "callback", "url": "http://127.0.0.1:1/elsewhere"},
        {"kind": "callback", "url": "http://user:pw@127.0.0.1/hitl/"},
        {"kind": "callback", "url": "ftp://127.0.0.1/hitl/"},
        {"kind": "command", "name": "rm"},
        {"kind": "command", "name": "not a name"},
        {"kind": "callback"},
    ],
    ids=str,
)
def test_targets_that_are_not_allowed_are_refused_at_the_start(stage: Stage, target: dict[str, str]) -> None:
    """422 naming the rule: nobody finds out days later, at Continue."""
    with pytest.raises(Invalid):
        stage.client.start(stage.item, flow="plan", goal="x", owner="dana", resume=target)


def test_a_project_without_targets_has_pull_only(tmp_path: Path) -> None:
    """Nothing is called or started that the operator did not allow."""
    with Stage(tmp_path) as stage:
        with pytest.raises(Invalid, match="has no callback target"):
            stage.client.start(
                stage.item, flow="p", goal="x", owner="dana", resume={"kind": "callback", "url": "https://x.example/"}
            )
        with pytest.raises(NotFound):
            status_of(stage.bot.parts, "nope")
