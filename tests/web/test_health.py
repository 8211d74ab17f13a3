"""`/health/*` and `/metrics`: what operators see, in a good hour and in a bad one, and what it never holds."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import requests

from bot.core.errors import StoreUnavailable
from bot.flows.tick import drain
from bot.testing import MovableClock, Stage
from bot.testing.stage import HOOK_SECRET, PROJECT
from bot.worker import Worker

CHOICE: dict[str, Any] = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
DISCUSSIONS = "*/issues/12/discussions"


@pytest.fixture
def working(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path, working=True) as stage:
        yield stage


def ready(stage: Stage) -> tuple[int, dict[str, Any]]:
    answer = requests.get(f"{stage.web.url}/health/ready", timeout=10)
    return answer.status_code, answer.json()


def metrics(stage: Stage) -> dict[str, float]:
    """Samples by name and labels, as they are written."""
    answer = requests.get(f"{stage.web.url}/metrics", timeout=10)
    assert answer.headers["content-type"].startswith("text/plain")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def put_questions(stage: Stage, count: int = 1) -> str:
    """Stored, not posted: the outbox holds them."""
    from bot.core.models import Question
    from bot.flows.ask import ask
    from bot.flows.callers import KeyCaller

    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    ask(stage.bot.parts, KeyCaller(stage.key), run, [Question.model_validate(CHOICE)] * count)
    return str(run)


def waited(worker: Worker, state: str) -> None:
    until = time.monotonic() + 10
    while worker.pulse()[0] != state:
        assert time.monotonic() < until, f"not {state}: {worker.pulse()}"
        time.sleep(0.01)


def test_live_and_ready(working: Stage) -> None:
    """GET and HEAD; an idle bot with empty queues is ready."""
    for path in ("live", "ready"):
        waited(working.bot.worker, "idle")
        assert requests.get(f"{working.web.url}/health/{path}", timeout=10).status_code == 200
        head = requests.head(f"{working.web.url}/health/{path}", timeout=10)
        assert (head.status_code, head.content) == (200, b"")
    _, shown = ready(working)
    empty = {"due": 0, "waiting": 0, "parked": 0, "oldest_due": None}
    assert {**shown, "version": ""} == {
        "status": "ready",
        "version": "",
        "database": {"status": "ok"},
        "worker": {"status": "idle"},
        "inbox": empty,
        "outbox": empty,
        "projects": {PROJECT: {"error": None}},
    }


def test_without_a_worker_503(stage: Stage) -> None:
    """Nobody works the rows off: alive, but not ready."""
    status, shown = ready(stage)
    assert (status, shown["status"], shown["worker"]["status"]) == (503, "not_ready", "dead")
    assert requests.get(f"{stage.web.url}/health/live", timeout=10).status_code == 200


def test_without_a_database_503(working: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason by code; the message, which may name hosts and files, is not shown. Metrics say it too."""

    def gone() -> Any:
        raise StoreUnavailable("the database /srv/secret-place/hitl.db cannot be used")

    monkeypatch.setattr(working.bot.store, "snapshot", gone)
    status, shown = ready(working)
    assert (status, shown["database"]) == (503, {"status": "unavailable", "code": "store_unavailable"})
    assert "secret-place" not in json.dumps(shown)
    assert metrics(working)["hitl_database_up"] == 0


def test_a_rate_limit_is_shown_until_it_is_over(stage: Stage, clock: MovableClock) -> None:
    """An hour's Retry-After holds up neither worker nor hooks, and stands in /health with its end (case B44 c)."""
    put_questions(stage, 3)
    stage.tracker.faults.add("POST", DISCUSSIONS, status=429, retry_after=1800)
    drain(stage.bot.parts)
    _, shown = ready(stage)
    assert shown["outbox"] == {"due": 0, "waiting": 3, "parked": 0, "oldest_due": None}
    trouble = shown["projects"][PROJECT]
    assert trouble["error"] == "gitlab_rate_limited"
    assert trouble["rate_limited_until"][:16] == "2026-03-02T09:30"
    clock.move(seconds=1801)
    assert ready(stage)[1]["outbox"]["due"] == 1
    stage.settle()
    _, shown = ready(stage)
    assert shown["projects"] == {PROJECT: {"error": None}}
    assert shown["outbox"]["waiting"] == 0


def test_what_was_given_up_is_counted(stage: Stage) -> None:
    """Parked rows and the last error's code are shown until something works again."""
    put_questions(stage)
    stage.tracker.faults.add("POST", DISCUSSIONS, status=400)
    drain(stage.bot.parts)
    _, shown = ready(stage)
    assert shown["outbox"]["parked"] == 1
    assert shown["projects"][PROJECT]["error"] == "gitlab_refused"
    assert metrics(stage)['hitl_deliveries_total{kind="post_question",result="given_up"}'] == 1
    assert metrics(stage)['hitl_queue_rows{queue="outbox",state="parked"}'] == 1


@pytest.mark.slow
def test_a_long_row_is_busy_and_not_dead(working: Stage) -> None:
    """While GitLab keeps the worker waiting, the bot says for how long, and stays ready."""
    run = working.client.start(working.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    placed = working.client.ask(run, [CHOICE])[0]
    working.settle()
    slow = working.tracker.faults.add("GET", "*/discussions/*", times=1, delay=3.0)
    working.person("dana").reply(placed, "A")
    until = time.monotonic() + 10
    while not slow.hits and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(1.2)
    status, shown = ready(working)
    assert (status, shown["worker"]["status"]) == (200, "alive")
    assert shown["worker"]["detail"] == "busy for 1 s"
    working.settle()
    assert working.client.questions(run)["questions"][0]["answer"]["keys"] == ["A"]


def test_pulse() -> None:
    """Dead before the start and after the end, alive in a row, idle between; a fault in a row ends nothing."""
    worker, entered, leave = Worker(), Event(), Event()
    rows = [lambda: 1 / 0, lambda: entered.set() or leave.wait(10)]

    def step() -> object:
        return rows.pop(0)() if rows else False

    assert worker.pulse() == ("dead", None)
    worker.start(step, lambda: None, 60)
    try:
        assert entered.wait(10)
        state, busy = worker.pulse()
        assert state == "alive"
        assert busy is not None
        leave.set()
        waited(worker, "idle")
    finally:
        leave.set()
        worker.stop()
    assert worker.pulse() == ("dead", None)


def test_a_worker_that_is_told_to_finish_takes_no_further_row() -> None:
    """The row in hand is finished, the next one is left in the database."""
    worker, worked = Worker(), []

    def step() -> object:
        worked.append(1)
        worker.finish()
        return True

    worker.start(step, lambda: None, 60)
    waited(worker, "dead")
    worker.stop()
    assert worked == [1]


def test_metrics_count_what_happened(stage: Stage) -> None:
    """Hooks, replies, deliveries, resumes and requests of one story, in closed words."""
    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    placed = stage.client.ask(run, [CHOICE])[0]
    stage.settle()
    stage.person("gil").reply(placed, "A")
    stage.person("dana").reply(placed, "B")
    stage.settle()
    stage.client.press_continue(run)
    stage.settle()
    hook = f"{stage.web.url}/webhooks/gitlab"
    requests.post(hook, data=b"{}", headers={"X-Gitlab-Token": "wrong"}, timeout=10)
    requests.post(hook, data=b"{}", headers={"X-Gitlab-Token": HOOK_SECRET}, timeout=10)
    requests.post(hook, data=b'{"object_kind": "push"}', headers={"X-Gitlab-Token": HOOK_SECRET}, timeout=10)
    requests.get(f"{stage.web.url}/api/v1/runs", timeout=10)
    seen = metrics(stage)
    for name, count in {
        'hitl_hooks_total{outcome="stored"}': 2,
        'hitl_hooks_total{outcome="wrong_secret"}': 1,
        'hitl_hooks_total{outcome="unreadable"}': 1,
        'hitl_replies_total{counted="yes",why=""}': 1,
        'hitl_replies_total{counted="no",why="role_below_threshold"}': 1,
        'hitl_resumes_total{mode="answers"}': 1,
        'hitl_deliveries_total{kind="post_question",result="done"}': 1,
        'hitl_deliveries_total{kind="hear",result="done"}': 2,
        'hitl_api_requests_total{status="2xx"}': 3,
        'hitl_api_requests_total{status="4xx"}': 1,
        "hitl_database_up": 1,
        "hitl_worker_up": 0,
    }.items():
        assert seen.get(name, -1) == count, (name, seen)
    assert seen['hitl_hooks_total{outcome="ignored"}'] >= 1
    for word in ("dana", "gil", "acme", "Which", "SQLite", run, placed["id"]):
        assert word not in "\n".join(seen), word


def test_two_bots_count_for_themselves(stage: Stage, tmp_path: Path) -> None:
    """Two bots in one process share no counter."""
    (tmp_path / "other").mkdir()
    with Stage(tmp_path / "other") as other:
        requests.get(f"{stage.web.url}/api/v1/runs", timeout=10)
        assert metrics(stage)['hitl_api_requests_total{status="4xx"}'] == 1
        assert 'hitl_api_requests_total{status="4xx"}' not in metrics(other)
