"""Real processes killed with SIGKILL at the two worst moments; after a restart nothing is lost and nothing doubled."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.client import Client
from bot.core.errors import HitlError
from bot.sandbox.seed import demo_world
from bot.sandbox.server import SandboxServer
from tests.flows.installation import Installation, eventually

pytestmark = pytest.mark.slow

CHOICE: dict[str, Any] = {"text": "Which database?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with SandboxServer(demo_world()) as tracker:
        yield Installation(tmp_path, tracker)


def test_killed_between_accept_and_processing(installation: Installation) -> None:
    """A hook that was answered 202 is processed after the restart: the answer is there, and marked once."""
    with installation.serving() as (process, client):
        run = client.start("acme/platform/api#12", flow="plan", goal="Plan it.", owner="dana")["id"]
        placed = client.ask(run, [CHOICE])[0]
        # Reading the thread hangs, so the process dies with the row stored, claimed and not worked off.
        slow = installation.tracker.faults.add("GET", "*/discussions/*", times=None, delay=30.0)
        reply = installation.person("dana").reply(placed, "B")
        eventually(lambda: slow.hits > 0, "the bot reads the thread")
        process.send_signal(signal.SIGKILL)
        process.wait()
    installation.tracker.faults.clear()
    with installation.serving() as (_, client):
        eventually(lambda: client.questions(run)["questions"][0]["answer"] is not None, "the answer is taken over")
        assert client.questions(run)["questions"][0]["answer"]["keys"] == ["B"]
        dana = installation.person("dana")
        eventually(lambda: dana.reactions(reply["id"]) == ["white_check_mark"], "the reply is marked")


def test_killed_between_post_and_record(installation: Installation) -> None:
    """A question whose thread was opened just before the process died is found again, not posted twice."""
    with installation.serving() as (process, client):
        run = client.start("acme/platform/api#12", flow="plan", goal="Plan it.", owner="dana")["id"]
        # The tracker stores the thread and holds its answer back.
        held = installation.tracker.faults.add("POST", "*/discussions", times=1, cut="drop", hold=30.0)
        _ask_without_waiting(client, run)
        eventually(lambda: held.hits > 0 and len(_question_notes(installation)) == 1, "the thread is stored")
        process.send_signal(signal.SIGKILL)
        process.wait()
    installation.tracker.faults.clear()
    with installation.serving() as (_, client):
        eventually(lambda: client.questions(run)["questions"][0]["url"] is not None, "the question knows its thread")
        notes = _question_notes(installation)
        assert len(notes) == 1
        assert client.questions(run)["questions"][0]["url"].endswith(f"#note_{notes[0]['id']}")


def _ask_without_waiting(client: Client, run: str) -> None:
    from threading import Thread

    def ask() -> None:
        try:
            client.ask(run, [CHOICE])
        except HitlError:
            return  # the process is killed while this request waits

    Thread(target=ask, daemon=True).start()


def _question_notes(installation: Installation) -> list[dict[str, Any]]:
    return [note for note in installation.person("dana").notes() if "cannot decide this alone" in note["body"]]
