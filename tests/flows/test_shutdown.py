"""SIGTERM to a real process: what was accepted is kept, who waits is told at once, and the exit code is 0."""

import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import requests

from bot.sandbox.seed import demo_world
from bot.sandbox.server import SandboxServer
from tests.flows.installation import SECRET, Installation, eventually
from tests.web.test_hooks import body

pytestmark = pytest.mark.slow

CHOICE: dict[str, Any] = {"text": "Which database?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
HOOKS = 60
LONGEST = 15.0  # seconds to the end


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with SandboxServer(demo_world()) as tracker:
        yield Installation(tmp_path, tracker)


def stopped(process: subprocess.Popen[str]) -> float:
    """SIGTERM was sent: exit code 0, after so many seconds."""
    began = time.monotonic()
    assert process.wait(LONGEST) == 0
    return time.monotonic() - began


def url_of(installation: Installation) -> str:
    """Where the tracker's hook points: the process that serves now."""
    return str(next(iter(installation.tracker.world.hooks.values())).url)


def sent(url: str, placed: dict[str, Any], note_id: int) -> bool:
    """One delivery as GitLab makes it; true when it was answered 202."""
    event = body(note_id, placed["discussion_id"], "B")
    try:
        answer = requests.post(
            url, json=event, headers={"X-Gitlab-Token": SECRET, "Idempotency-Key": f"delivery-{note_id}"}, timeout=20
        )
    except requests.RequestException:
        return False
    return answer.status_code == 202


def test_accepted_deliveries_survive_a_stop(installation: Installation) -> None:
    """Stopped in the middle of 60 deliveries: each that was answered 202 is processed after the restart, the others when
    GitLab sends them again; every reply counts.
    """
    with installation.serving() as (process, client):
        run = client.start("acme/platform/api#12", flow="plan", goal="Plan it.", owner="dana")["id"]
        client.ask(run, [{**CHOICE, "text": f"Which {number}?"} for number in range(HOOKS)])
        eventually(lambda: all(each["url"] for each in client.questions(run)["questions"]), "all are posted", 60)
        cards = [each for each in installation.person("dana").threads() if "cannot decide" in each["notes"][0]["body"]]
        assert len(cards) == HOOKS
        url = url_of(installation)
        installation.tracker.world.hooks.clear()  # this test delivers by itself
        dana = installation.person("dana")
        placed = [{"discussion_id": card["id"]} for card in cards]
        notes = [dana.reply(each, "B")["id"] for each in placed]
        enough = Event()
        answers: list[bool] = []

        def deliver(number: int) -> bool:
            time.sleep(0.1)  # so that most are still to come when the signal does
            accepted = sent(url, placed[number], notes[number])
            answers.append(accepted)
            if len(answers) >= HOOKS // 4:
                enough.set()
            return accepted

        with ThreadPoolExecutor(12) as pool:
            deliveries = [pool.submit(deliver, number) for number in range(HOOKS)]
            assert enough.wait(20)
            process.send_signal(signal.SIGTERM)
            stopped(process)
            accepted = [delivery.result() for delivery in deliveries]
    assert HOOKS // 4 <= sum(accepted) < HOOKS, "stopped in the middle"
    with installation.serving() as (process, client):

        def answered() -> set[str]:
            shown = client.questions(run)["questions"]
            return {each["url"].rpartition("_")[2] for each in shown if each["answer"] and each["answer"]["keys"] == ["B"]}

        owed = {str(card["notes"][0]["id"]) for card, taken in zip(cards, accepted, strict=True) if taken}
        eventually(lambda: owed <= answered(), "what was answered 202 is processed", 60)
        url = url_of(installation)
        for number, taken in enumerate(accepted):
            if not taken:
                assert sent(url, placed[number], notes[number])
        eventually(lambda: len(answered()) == HOOKS, "every reply counts", 60)
        assert all(len(each["replies"]) == 1 for each in client.questions(run)["questions"])
        process.send_signal(signal.SIGTERM)
        stopped(process)


def test_long_polls_end_at_once(installation: Installation) -> None:
    """Flows that wait for Continue get 204 and ask again elsewhere; nobody has to wait for them."""
    with installation.serving() as (process, client):
        run = client.start("acme/platform/api#12", flow="plan", goal="Plan it.", owner="dana")["id"]
        client.ask(run, [CHOICE])
        base = url_of(installation).removesuffix("/webhooks/gitlab")
        with ThreadPoolExecutor(20) as pool:
            waiting = [pool.submit(_wait, base, installation.key, run) for _ in range(20)]
            time.sleep(1.0)
            process.send_signal(signal.SIGTERM)
            took = stopped(process)
            assert [each.result() for each in waiting] == [204] * 20
    assert took < 5.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_bot_ends_at_once(installation: Installation, number: signal.Signals) -> None:
    """Nothing in hand: no waiting."""
    with installation.serving() as (process, _):
        process.send_signal(number)
        assert stopped(process) < 5.0


def test_the_row_in_hand_is_finished(installation: Installation) -> None:
    """A thread that GitLab is slow to open is recorded before the end, and not posted again after the restart."""
    with installation.serving() as (process, client):
        run = client.start("acme/platform/api#12", flow="plan", goal="Plan it.", owner="dana")["id"]
        slow = installation.tracker.faults.add("GET", "*/discussions/*", times=1, delay=2.0)
        placed = client.ask(run, [CHOICE])[0]
        installation.person("dana").reply(placed, "B")
        eventually(lambda: slow.hits > 0, "the bot reads the thread")
        process.send_signal(signal.SIGTERM)
        stopped(process)
        assert installation.inbox_left() == 0


def test_gitlab_that_never_answers_holds_nothing_up(installation: Installation) -> None:
    """A row that cannot be finished in time is left, claimed, to the next process; the exit code is 0 all the same."""
    with installation.serving() as (process, client):
        run = client.start("acme/platform/api#12", flow="plan", goal="Plan it.", owner="dana")["id"]
        placed = client.ask(run, [CHOICE])[0]
        slow = installation.tracker.faults.add("GET", "*/discussions/*", times=None, delay=60.0)
        installation.person("dana").reply(placed, "B")
        eventually(lambda: slow.hits > 0, "the bot reads the thread")
        process.send_signal(signal.SIGTERM)
        stopped(process)
    installation.tracker.faults.clear()
    with installation.serving() as (_, client):
        eventually(lambda: client.questions(run)["questions"][0]["answer"] is not None, "it is taken up again")


def _wait(base: str, key: str, run: str) -> int:
    try:
        answer = requests.get(
            f"{base}/api/v1/runs/{run}/resume?wait=30", headers={"Authorization": f"Bearer {key}"}, timeout=40
        )
    except requests.RequestException:
        return 0
    return answer.status_code
