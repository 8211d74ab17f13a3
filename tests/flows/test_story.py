"""Whole stories over real HTTP: the flow, the bot, the tracker and people, step by step."""

from typing import Any

import pytest

from bot.cli.demo import QUESTIONS, start_flow
from bot.core.errors import Conflict, Forbidden
from bot.core.payload import NotOurs, decode
from bot.testing import MovableClock, Stage

CHOICE: dict[str, Any] = {"text": "Which database?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
YES_NO: dict[str, Any] = {"text": "May the old table go?", "question_type": "yes_no"}


def ask(
    stage: Stage, *questions: dict[str, Any], run_id: str | None = None, flow: str = "plan"
) -> tuple[str, list[dict[str, Any]]]:
    """A run with these questions posted: its id, and where they stand."""
    run = run_id or stage.client.start(stage.item, flow=flow, goal="Plan it.", owner="dana")["id"]
    placed = stage.client.ask(run, questions or (CHOICE,))
    stage.settle()
    return run, placed


def say(stage: Stage, who: str, question: dict[str, Any], text: str) -> dict[str, Any]:
    note = stage.person(who).reply(question, text)
    stage.settle()
    return note


def first(stage: Stage, run: str) -> dict[str, Any]:
    question: dict[str, Any] = stage.client.questions(run)["questions"][0]
    return question


def test_ask_answer_continue_resume(stage: Stage) -> None:
    """The whole loop: questions become threads, eligible replies count, Continue resumes the flow with them (G1-G3)."""
    run, (database, environments, constraints) = start_flow(stage.client, stage.item)
    stage.settle()
    assert stage.client.run(run["id"])["status"] == "awaiting_input"
    say(stage, "gil", database, "B")
    say(stage, "dana", database, "A")
    say(stage, "petra", environments, "A and C")
    say(stage, "stranger", environments, "B")
    say(stage, "omar", constraints, "Keep the nightly export.")
    stage.person("petra").comment("hitl continue")
    stage.settle()
    document = stage.client.wait(run["id"], 0)
    assert document is not None
    answers = [question["answer"] for question in document["questions"]]
    assert [answer["kind"] for answer in answers] == ["selected", "multi_selected", "text"]
    assert answers[0]["keys"] == ["A"]
    assert answers[0]["labels"] == ["PostgreSQL"]
    assert answers[0]["by"] == {"id": 201, "username": "dana", "role": 30, "name": "Dana R"}
    assert answers[1]["keys"] == ["A", "C"]
    assert answers[2]["text"] == "Keep the nightly export."
    assert document["mode"] == "answers"
    assert document["continued_by"] == {"id": 203, "username": "petra"}
    refused = [
        (reply["by"]["username"], reply["why"])
        for question in document["questions"]
        for reply in question["replies"]
        if not reply["counted"]
    ]
    assert refused == [("gil", "role_below_threshold"), ("stranger", "not_a_member")]
    assert stage.client.run(run["id"])["status"] == "running"


def test_questions_are_real_threads_with_readable_cards(stage: Stage) -> None:
    """A question is a thread that can be resolved before anybody replies, and reads well as plain Markdown (G11, G95)."""
    _, placed = start_flow(stage.client, stage.item)
    threads = [
        thread for thread in stage.person("dana").threads() if thread["id"] in {each["discussion_id"] for each in placed}
    ]
    assert len(threads) == len(QUESTIONS)
    note = threads[0]["notes"][0]
    assert note["resolvable"] is True
    assert note["resolved"] is False
    card, _, payload = note["body"].rpartition("\n\n")
    assert payload.startswith("<!-- hitl:1 {")
    assert "- **A** · PostgreSQL **(recommended)**: the read replicas already run it" in card
    assert "Reply here with a letter." in card
    assert card.startswith("**Question 1 of 3** · *plan* cannot decide this alone · @dana")
    assert "@dana" not in threads[1]["notes"][0]["body"], "one mention per pause, in its first question"


def test_open_questions_never_block(stage: Stage) -> None:
    """Continue with one of two answered: the run goes on and the other is passed on as unanswered (G48)."""
    run, (choice, _) = ask(stage, CHOICE, YES_NO)
    say(stage, "petra", choice, "B")
    stage.client.press_continue(run)
    document = stage.client.wait(run, 0)
    assert document is not None
    assert [question["state"] for question in document["questions"]] == ["answered", "open"]
    assert document["questions"][1]["answer"] is None
    assert document["mode"] == "answers"


@pytest.mark.parametrize("resolved", [False, True], ids=["open thread", "resolved thread"])
def test_no_eligible_reply_means_best_assumptions(stage: Stage, resolved: bool) -> None:
    """With only a Guest's reply the mode is `assume`, whether or not the thread is resolved (G44, G49, G62)."""
    run, (question,) = ask(stage)
    say(stage, "gil", question, "A")
    if resolved:
        stage.person("omar").resolve(question)
    stage.client.press_continue(run)
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["mode"] == "assume"
    assert document["questions"][0]["state"] == "needs_eligible"
    assert document["questions"][0]["answer"] is None
    assert "best assumptions" in document["goal"]


@pytest.mark.parametrize("resolved", [False, True], ids=["open thread", "resolved thread"])
def test_resolved_and_unresolved_threads_alike(stage: Stage, resolved: bool) -> None:
    """The same answer set with the thread in either state (G45, G46)."""
    run, (question,) = ask(stage)
    if resolved:
        stage.person("omar").resolve(question)
    say(stage, "petra", question, "A")
    stage.client.press_continue(run)
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["answer"]["keys"] == ["A"]


def test_a_thread_closed_without_an_answer_says_so(stage: Stage) -> None:
    """Resolved with no reply: `closed_unanswered`, found at Continue although no hook is sent for it (G75, trap 1)."""
    run, (question,) = ask(stage)
    stage.person("omar").resolve(question)
    stage.client.press_continue(run)
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["state"] == "closed_unanswered"


def test_two_presses_one_resume(stage: Stage) -> None:
    """A second press of the same round finds the first one's resume, also after the flow was served."""
    run, _ = ask(stage)
    pressed = stage.client.press_continue(run)
    assert stage.client.press_continue(run) == pressed
    first_bytes = stage.client.wait(run, 0)
    again = stage.client.press_continue(run)
    assert again["resume"] == pressed["resume"]
    assert again["status"] == "running"
    assert stage.client.wait(run, 0) == first_bytes
    stage.settle()
    receipts = [note for note in stage.person("dana").notes() if "resumed** by" in note["body"]]
    assert len(receipts) == 1


def test_rounds(stage: Stage) -> None:
    """The flow may ask again: a new round, and the document tells new answers from those delivered before (W9)."""
    run, (question,) = ask(stage)
    say(stage, "dana", question, "A")
    stage.client.press_continue(run)
    first_document = stage.client.wait(run, 0)
    _, (second,) = ask(stage, YES_NO, run_id=run)
    assert stage.client.wait(run, 0) is None, "the new round is open"
    say(stage, "dana", second, "yes")
    stage.person("dana").comment("hitl continue")
    stage.settle()
    document = stage.client.wait(run, 0)
    assert first_document is not None
    assert document is not None
    assert (first_document["round"], document["round"]) == (1, 2)
    assert [question["new"] for question in document["questions"]] == [False, True]
    assert document["questions"][0]["answer"]["keys"] == ["A"]
    assert document["questions"][1]["answer"]["kind"] == "yes"


def test_an_old_continue_starts_nothing_in_a_new_round(stage: Stage, clock: MovableClock) -> None:
    """Editing a note that said `hitl continue` in an earlier round does not continue this one."""
    run, _ = ask(stage)
    note = stage.person("dana").comment("hitl continue")
    stage.settle()
    assert stage.client.wait(run, 0) is not None
    ask(stage, YES_NO, run_id=run)  # at the same moment: it is the command that is remembered, not only its time
    stage.person("dana").edit(note["id"], "hitl continue\n\n(done)")
    stage.settle()
    assert stage.client.run(run)["status"] == "awaiting_input"


def test_a_slow_reader_does_not_continue_the_next_round(stage: Stage) -> None:
    """One command read twice at once: the slower one finds the round gone by, and continues nothing."""
    from bot.core.commands import Command
    from bot.flows.command import obey

    run, _ = ask(stage)
    comment = stage.person("dana").comment("hitl continue")
    parts = stage.bot.parts
    with parts.store.snapshot() as unit:
        scene = unit.runs.get(run)
    assert scene is not None
    project = parts.projects.of_run(scene)
    note = project.gateway.note(12, comment["id"])
    assert note is not None
    stage.settle()
    assert stage.client.wait(run, 0) is not None
    ask(stage, YES_NO, run_id=run)
    obey(parts, project, [scene], Command("continue"), note, None)
    assert stage.client.run(run)["status"] == "awaiting_input"


def test_ids_that_begin_alike_can_be_told_apart(stage: Stage) -> None:
    """The listing shows what is enough to type; a whole id beats a longer one; an unknown one is answered."""
    for run_id in ("deploy-1", "deploy-12", "deploy-2"):
        started = stage.client.start(stage.item, flow=run_id, goal="x", owner="dana", id=run_id)
        stage.client.ask(started["id"], [YES_NO])
    for said, shown in (("hitl continue", "`deploy-2`"), ("hitl continue nightly", "`deploy-12`")):
        stage.person("dana").comment(said)
        stage.settle()
        assert shown in stage.person("dana").notes()[-1]["body"]
    stage.person("dana").comment("hitl continue deploy-1")
    stage.settle()
    states = {run["id"]: run["status"] for run in stage.client.runs()}
    assert states == {"deploy-1": "resuming", "deploy-12": "awaiting_input", "deploy-2": "awaiting_input"}


def test_continue_in_a_question_s_thread(stage: Stage) -> None:
    """`hitl continue` below a question continues that question's run, and the receipt stands in the same thread."""
    run, (question,) = ask(stage)
    say(stage, "dana", question, "B\nhitl continue")
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["answer"]["keys"] == ["B"]
    thread = next(thread for thread in stage.person("dana").threads() if thread["id"] == question["discussion_id"])
    assert any("resumed** by Dana R" in note["body"] for note in thread["notes"])


def test_several_waiting_runs_want_the_short_id(stage: Stage) -> None:
    """At top level with two waiting runs the bot lists them; with the id the right one continues."""
    plan, _ = ask(stage, flow="plan")
    review, _ = ask(stage, YES_NO, flow="review")
    stage.person("dana").comment("hitl continue")
    stage.settle()
    assert stage.client.run(plan)["status"] == stage.client.run(review)["status"] == "awaiting_input"
    listing = stage.person("dana").notes()[-1]["body"]
    assert plan[:6] in listing
    assert review[:6] in listing
    stage.person("dana").comment(f"hitl continue {review[:6]}")
    stage.settle()
    assert stage.client.run(plan)["status"] == "awaiting_input"
    assert stage.client.run(review)["status"] == "resuming"


def test_a_guest_may_not_continue_and_is_told_where_they_said_it(stage: Stage) -> None:
    """A Guest's `hitl continue` is refused visibly; nothing changes (G38, G39)."""
    run, _ = ask(stage)
    stage.person("gil").comment("hitl continue")
    stage.settle()
    assert stage.client.run(run)["status"] == "awaiting_input"
    assert "Not continued: gil (Guest) may not continue runs" in stage.person("dana").notes()[-1]["body"]


def test_a_stranger_cannot_make_the_bot_talk(stage: Stage) -> None:
    """Commands and answers of people without any role change nothing and get no note."""
    run, (question,) = ask(stage)
    before = len(stage.person("dana").notes())
    say(stage, "stranger", question, "B")
    stage.person("stranger").comment("hitl continue")
    stage.settle()
    assert stage.client.run(run)["status"] == "awaiting_input"
    assert len(stage.person("dana").notes()) == before + 2
    assert first(stage, run)["replies"][0]["why"] == "not_a_member"


def test_a_refused_command_does_not_come_true_later(stage: Stage) -> None:
    """A Guest's refused `hitl continue` starts nothing when they are promoted and the item is read again."""
    from datetime import timedelta

    from bot.flows.receive import poll

    run, _ = ask(stage)
    stage.person("gil").comment("hitl continue")
    stage.person("stranger").comment("hitl continue")
    stage.settle()
    for username in ("gil", "stranger"):
        user = next(user for user in stage.world.users.values() if user.username == username)
        stage.world.add_member(stage.world.projects[stage.project_id], user, 30)
    poll(stage.bot.parts, timedelta(seconds=60))
    stage.settle()
    assert stage.client.run(run)["status"] == "awaiting_input"
    stage.person("gil").comment("hitl continue")
    stage.settle()
    assert stage.client.run(run)["status"] == "resuming"


def test_quoted_commands_are_not_commands(stage: Stage) -> None:
    """`hitl continue` in a quote, in code or inside a sentence does nothing (style principle 7)."""
    run, _ = ask(stage)
    for text in ("> hitl continue\n\nnot yet", "```\nhitl continue\n```", "`hitl continue`", "please say hitl continue later"):
        stage.person("dana").comment(text)
    stage.settle()
    assert stage.client.run(run)["status"] == "awaiting_input"


def test_a_copied_payload_is_never_a_question(stage: Stage) -> None:
    """A byte-identical copy of the question by somebody else is not counted, and replies below it are nothing (G19)."""
    run, (question,) = ask(stage)
    body = next(note["body"] for note in stage.person("omar").notes() if note["id"] == question["note_id"])
    copy = stage.tracker.discussions.open_thread(
        next(iter(stage.world.issues.values())),
        next(user for user in stage.world.users.values() if user.username == "omar"),
        body,
    )
    stage.person("dana").reply({"discussion_id": copy.discussion_id}, "B")
    stage.settle()
    questions = stage.client.questions(run)
    assert questions["total"] == 1
    assert questions["questions"][0]["replies"] == []


def test_a_damaged_question_leaves_the_others_alone(stage: Stage) -> None:
    """A Maintainer edits one card: that question is damaged, the other still counts (G21)."""
    run, (choice, yes_no) = ask(stage, CHOICE, YES_NO)
    stage.person("omar").edit(choice["note_id"], "Which database? Just say Oracle.")
    say(stage, "dana", choice, "A")
    say(stage, "dana", yes_no, "no")
    states = [question["state"] for question in stage.client.questions(run)["questions"]]
    assert states == ["damaged", "answered"]
    stage.client.press_continue(run)
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["answer"] is None


def test_withdrawn_answer_is_gone_at_continue(stage: Stage) -> None:
    """A deleted reply sends no hook; Continue reads again and does not use it (case B12)."""
    run, (question,) = ask(stage)
    note = say(stage, "dana", question, "A")
    stage.person("dana").delete(note["id"])
    stage.person("omar").comment("hitl continue")
    stage.settle()
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["answer"] is None
    assert document["mode"] == "assume"


def test_an_edited_answer_counts_as_it_reads_now(stage: Stage) -> None:
    """Edited before Continue: the new text counts."""
    run, (question,) = ask(stage)
    note = say(stage, "dana", question, "A")
    stage.person("dana").edit(note["id"], "B")
    stage.settle()
    assert first(stage, run)["answer"]["keys"] == ["B"]


def test_replies_that_count_are_marked_and_unreadable_ones_answered_once(stage: Stage) -> None:
    """A counted reply gets a reaction; what does not count or cannot be read gets one note per question, at most."""
    _, (question,) = ask(stage)
    counted = say(stage, "dana", question, "A")
    assert stage.person("dana").reactions(counted["id"]) == ["white_check_mark"]
    before = len(stage.person("dana").notes())
    guest = say(stage, "gil", question, "B")
    say(stage, "gil", question, "really B")
    assert stage.person("dana").reactions(guest["id"]) == []
    notes = stage.person("dana").notes()
    assert len(notes) == before + 3
    assert "answers count only from project members above Guest" in notes[-2]["body"] + notes[-1]["body"]


def test_own_notes_hidden_lines_and_bots_never_count(stage: Stage) -> None:
    """The bot's own receipts and hints below a question are no replies to it (case B20)."""
    run, (question,) = ask(stage)
    say(stage, "gil", question, "B")
    say(stage, "petra", question, "Z")
    assert {reply["by"]["username"] for reply in first(stage, run)["replies"]} == {"gil", "petra"}
    bodies = [note["body"] for note in stage.person("dana").notes() if note["author"]["username"].startswith("project_77_bot")]
    assert all(not isinstance(decode(body, stage.bot.parts.keys), NotOurs) for body in bodies), (
        "every note of the bot is signed"
    )


def test_lost_hooks_are_made_up_for_by_the_poll(stage: Stage) -> None:
    """With every hook lost, reading again gives the same result: answer taken over, command obeyed."""
    from datetime import timedelta

    from bot.flows.receive import poll

    run, (question,) = ask(stage)
    stage.world.hooks.clear()
    stage.person("dana").reply(question, "B")
    stage.person("dana").comment("hitl continue")
    stage.settle()
    assert stage.client.run(run)["status"] == "awaiting_input"
    poll(stage.bot.parts, timedelta(seconds=60))
    stage.settle()
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["answer"]["keys"] == ["B"]


def test_a_demoted_owner_stops_the_resume(stage: Stage) -> None:
    """The owner is checked again at Continue: demoted to Reporter, they run nothing any more (W12)."""
    run, _ = ask(stage)
    project = stage.world.projects[stage.project_id]
    dana = next(user for user in stage.world.users.values() if user.username == "dana")
    stage.world.set_role(project, dana, 20)
    with pytest.raises(Forbidden, match="may not run flows here any more"):
        stage.client.press_continue(run)
    assert stage.client.run(run)["status"] == "awaiting_input"


def test_one_flow_on_an_item_at_a_time(stage: Stage) -> None:
    """A second run of the same flow is a conflict unless it supersedes; then the first is cancelled with the reason."""
    run, _ = ask(stage)
    with pytest.raises(Conflict, match=run):
        stage.client.start(stage.item, flow="plan", goal="Again.", owner="dana")
    newer = stage.client.start(stage.item, flow="plan", goal="Again.", owner="dana", supersede=True)
    older = stage.client.run(run)
    assert older["status"] == "cancelled"
    assert newer["id"] in older["reason"]
    assert first(stage, run)["state"] == "superseded"


def test_days_later_after_a_restart(stage: Stage, clock: MovableClock) -> None:
    """Nothing lives in memory: a new process days later takes the answer and resumes (G1)."""
    from bot.bootstrap import build

    run, (question,) = ask(stage)
    clock.move(days=3)
    other = build(stage.settings, clock=clock)
    try:
        from bot.flows.tick import drain

        stage.person("dana").reply(question, "A")
        stage.person("dana").comment("hitl continue")
        stage.tracker.hooks.flush(5)
        drain(other.parts)
    finally:
        other.close()
    document = stage.client.wait(run, 0)
    assert document is not None
    assert document["questions"][0]["answer"]["keys"] == ["A"]


def test_recover_from_the_notes_alone(stage: Stage) -> None:
    """With the database lost, runs, open questions and answers come back from the item, once (G6)."""
    from bot.bootstrap import build
    from bot.flows.recover import recover

    run, (choice, _) = ask(stage, CHOICE, YES_NO)
    say(stage, "dana", choice, "B")
    before = stage.client.questions(run)
    stage.bot.store.close()
    for file in stage.folder.glob("hitl.db*"):
        file.unlink()
    other = build(stage.settings, clock=stage.bot.parts.clock)
    try:
        assert recover(other.parts, "acme/platform/api", 12).questions == 2
        assert recover(other.parts, "acme/platform/api", 12).questions == 0
        with other.parts.store.snapshot() as unit:
            recovered = unit.questions.of_run(run)
        assert [asked.id for asked in recovered] == [question["id"] for question in before["questions"]]
        assert [asked.question.text for asked in recovered] == [question["text"] for question in before["questions"]]
        assert recovered[0].answer is not None
        assert recovered[0].answer.keys == ("B",)
    finally:
        other.close()
