"""GitLab says no, or nothing: what is tried again, what is given up, and that nothing is posted twice."""

from dataclasses import replace
from typing import Any

import pytest

from bot.adapters.templates import Templates
from bot.flows.tick import drain
from bot.testing import MovableClock, Stage

QUESTION: dict[str, Any] = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
DISCUSSIONS = "*/issues/12/discussions"


def asked(stage: Stage, count: int = 1) -> str:
    """A run whose questions are stored; posting them is left to the outbox."""
    from bot.core.models import Question
    from bot.flows.ask import ask
    from bot.flows.callers import KeyCaller

    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    questions = [Question.model_validate({**QUESTION, "text": f"Which {number}?"}) for number in range(1, count + 1)]
    ask(stage.bot.parts, KeyCaller(stage.key), run, questions)
    return str(run)


def cards(stage: Stage) -> list[str]:
    """The first line of each question on the item, in order."""
    notes = stage.person("dana").notes()
    return [note["body"].split("\n\n")[1] for note in notes if "cannot decide this alone" in note["body"]]


@pytest.mark.parametrize("cut", ["drop", "bad_gateway"])
def test_a_doubtful_post_never_becomes_a_second_note(stage: Stage, clock: MovableClock, cut: Any) -> None:
    """GitLab stored the thread and the answer was lost: the next attempt finds it instead of posting again."""
    run = asked(stage)
    stage.tracker.faults.add("POST", DISCUSSIONS, cut=cut)
    drain(stage.bot.parts)
    assert stage.client.questions(run)["questions"][0]["url"] is None
    assert len(cards(stage)) == 1
    clock.move(minutes=1)
    stage.settle()
    assert len(cards(stage)) == 1
    assert stage.client.questions(run)["questions"][0]["url"] is not None


def test_an_answer_given_before_the_thread_was_known_counts(stage: Stage, clock: MovableClock) -> None:
    """People were quicker than our second attempt: their reply is read once the thread is found."""
    run = asked(stage)
    stage.tracker.faults.add("POST", DISCUSSIONS, cut="bad_gateway")
    drain(stage.bot.parts)
    thread = next(thread for thread in stage.person("dana").threads() if "cannot decide" in thread["notes"][0]["body"])
    stage.person("dana").reply({"discussion_id": thread["id"]}, "B")
    stage.settle()
    clock.move(minutes=1)
    stage.settle()
    assert stage.client.questions(run)["questions"][0]["answer"]["keys"] == ["B"]


@pytest.mark.parametrize(
    ("status", "retry_after", "wait", "posted"),
    [(429, 30, 31, True), (429, None, 61, True), (500, None, 5, True), (401, None, 61, True), (403, None, 61, True)],
    ids=["429 with Retry-After", "429 without", "500", "401", "403"],
)
def test_refusals_are_waited_out_each_in_its_way(
    stage: Stage, clock: MovableClock, status: int, retry_after: int | None, wait: int, posted: bool
) -> None:
    """Not tried again before its time, then posted once and in order (case B44)."""
    run = asked(stage, 3)
    stage.tracker.faults.add("POST", DISCUSSIONS, status=status, retry_after=retry_after)
    drain(stage.bot.parts)
    assert cards(stage) == []
    clock.move(seconds=wait)
    stage.settle()
    assert cards(stage) == ["**Which 1?**", "**Which 2?**", "**Which 3?**"]
    assert all(question["url"] for question in stage.client.questions(run)["questions"])


def test_what_cannot_be_posted_is_given_up_visibly(stage: Stage) -> None:
    """A request GitLab will never accept is not repeated; the question says why, and the others are asked."""
    run = asked(stage, 2)
    stage.tracker.faults.add("POST", DISCUSSIONS, status=400)
    stage.settle()
    first, second = stage.client.questions(run)["questions"]
    assert first["state"] == "superseded"
    assert first["reason"].startswith("it could not be posted")
    assert second["state"] == "open"
    assert cards(stage) == ["**Which 2?**"]


def test_continue_before_posting_cancels_the_rest_and_lists_it(stage: Stage, clock: MovableClock) -> None:
    """Questions still waiting for GitLab when somebody continues are not asked any more, and say so."""
    run = asked(stage)
    stage.tracker.faults.add("POST", DISCUSSIONS, status=429)
    drain(stage.bot.parts)
    stage.client.press_continue(run)
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["state"] == "superseded"
    assert "not posted before Continue" in document["questions"][0]["reason"]
    clock.move(hours=1)
    stage.settle()
    assert cards(stage) == []


def test_an_answer_waits_while_roles_cannot_be_looked_up(stage: Stage, clock: MovableClock) -> None:
    """429 on the role of somebody who answered: the answer is neither dropped nor let in; it waits (case B44 d)."""
    run = asked(stage)
    stage.settle()
    question = stage.client.questions(run)["questions"][0]
    note_id = int(question["url"].rpartition("_")[2])
    thread = next(thread for thread in stage.person("dana").threads() if thread["notes"][0]["id"] == note_id)
    stage.tracker.faults.add("GET", "*/members/all/*", status=429, retry_after=60, times=1)
    stage.person("petra").reply({"discussion_id": thread["id"]}, "A")
    stage.tracker.hooks.flush(5)
    drain(stage.bot.parts)
    assert stage.client.questions(run)["questions"][0]["replies"] == []
    clock.move(minutes=2)
    stage.settle()
    assert stage.client.questions(run)["questions"][0]["answer"]["keys"] == ["A"]


def test_a_note_that_cannot_be_written_is_given_up_visibly(stage: Stage, tmp_path: Any) -> None:
    """An overriding template that leaves the texts out makes the payload too long: the question says so, nothing hangs."""
    from bot.core.models import Question
    from bot.flows.ask import ask
    from bot.flows.callers import KeyCaller

    run = stage.client.start(stage.item, flow="plan", goal="x", owner="dana")["id"]
    folder = stage.folder / "overriding" / "notes"
    folder.mkdir(parents=True)
    (folder / "question.md").write_text("A question.")
    parts = replace(stage.bot.parts, renderer=Templates(folder.parent))
    ask(parts, KeyCaller(stage.key), run, [Question.model_validate({**QUESTION, "text": "x" * 3_000})])
    drain(parts)
    question = stage.client.questions(run)["questions"][0]
    assert question["state"] == "superseded"
    assert "cannot be written" in question["reason"]
