"""What follows from what was read: reactions, hints, and the end of a round."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from bot.core.classify import Facts, classify
from bot.core.decide import NOT_POSTED, SEEN, Heard, Presser, continued, heard, refused
from bot.core.effects import PostNote, React
from bot.core.eligibility import Account, Membership, Policy, Standing
from bot.core.errors import Conflict
from bot.core.goal import ByKey, Mode, Named
from bot.core.models import Answer, AnswerKind, AskedQuestion, Person, Question, QuestionState, Run, RunStatus, Speaker
from bot.core.payload import NoteKind, Payload, asked, seal
from bot.core.thread import Note, Thread

KEY = b"k" * 32
BOT, DANA, GIL, PETRA, OMAR, STRANGER, OTHER_BOT = 9001, 201, 202, 203, 204, 777, 9100
ROLES = {DANA: 30, GIL: 10, PETRA: 15, OMAR: 40, STRANGER: None, OTHER_BOT: 30}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUESTION = Question.model_validate(
    {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"], "allow_freeform": False}
)
FACTS = Facts(
    standings={
        who: Standing(Account(who, f"u{who}", bot=who == OTHER_BOT), None if role is None else Membership(role))
        for who, role in ROLES.items()
    },
    policy=Policy(), bot_ids=frozenset({BOT}), keys=[KEY], owner_id=DANA, today=date(2026, 3, 2),
)  # fmt: skip
CARD = seal(
    "**Which?**",
    Payload(
        instance="https://gitlab.example.com", project=77, item=12, run="r1", flow="plan", owner=DANA, round=1,
        effect="e1", kind=NoteKind.QUESTION, question="q1", asked=asked(QUESTION),
    ),
    KEY,
)  # fmt: skip


def question(number: int = 1, **more: Any) -> AskedQuestion:
    fields: dict[str, Any] = {
        "id": f"q{number}", "run_id": "r1", "round": 1, "position": number, "total": 3, "project_id": 77, "item_iid": 12,
        "question": QUESTION, "effect_id": f"e{number}", "note_id": number, "discussion_id": f"d{number}",
    }  # fmt: skip
    return AskedQuestion(**{**fields, **more})


def note(number: int, author: int, body: str) -> Note:
    at = NOON + timedelta(minutes=number)
    return Note(number, Person(id=author, username=f"u{author}"), body, at, at, f"#note_{number}")


def hear(*replies: tuple[int, str], about: AskedQuestion | None = None) -> Heard:
    thread = Thread("d1", (note(1, BOT, CARD), *(note(n, *reply) for n, reply in enumerate(replies, start=2))))
    about = about or question()
    return heard(about, classify(about, thread, FACTS))


def reactions(result: Heard) -> list[int]:
    return [effect.note_id for effect in result.effects if isinstance(effect, React)]


def hints(result: Heard) -> list[PostNote]:
    return [effect for effect in result.effects if isinstance(effect, PostNote)]


@pytest.mark.parametrize(
    ("replies", "seen"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([(DANA, "A")], [2], id="one answer"),
        pytest.param([(PETRA, "A"), (OMAR, "A")], [2, 3], id="the same from two"),
        pytest.param([(PETRA, "A"), (OMAR, "B")], [2, 3], id="a conflict"),
        pytest.param([(PETRA, "A"), (PETRA, "B")], [3], id="the later one only"),
        pytest.param([(OMAR, "B"), (DANA, "A")], [3], id="the owner's only"),
        pytest.param([(GIL, "A"), (DANA, "A?"), (BOT, "A"), (STRANGER, "B")], [], id="none that counts"),
    ],
)
def test_a_reply_that_counts_gets_a_reaction(replies: list[tuple[int, str]], seen: list[int]) -> None:
    """Each reply that counts is marked as seen, once, and no other."""
    result = hear(*replies)
    assert reactions(result) == seen
    assert all(effect.name == SEEN and effect.lane == "item:77:12" for effect in result.effects if isinstance(effect, React))


def test_the_same_reading_has_the_same_effects() -> None:
    """Reading a thread twice asks for nothing new; an edited reply is a new one to react to."""
    first, again, edited = hear((DANA, "A")), hear((DANA, "A")), hear((DANA, "B"))
    assert first == again
    assert {effect.effect_id for effect in first.effects} != {effect.effect_id for effect in edited.effects}


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        pytest.param([(DANA, "D")], "out_of_range", id="out of range"),
        pytest.param([(DANA, "A, B")], "several_on_single", id="two options"),
        pytest.param([(DANA, "A - no")], "negated", id="negated"),
        pytest.param([(DANA, "none")], "reason_needed", id="no reason"),
        pytest.param([(DANA, "answer: x")], "free_text_not_allowed", id="free text"),
        pytest.param([(DANA, "let us see")], "chatter", id="a sentence where options are wanted"),
        pytest.param([(GIL, "A")], "role_below_threshold", id="a guest's answer"),
        pytest.param([(GIL, "D")], "role_below_threshold", id="a guest's attempt"),
        pytest.param([(DANA, "D"), (PETRA, "none"), (GIL, "A")], "out_of_range", id="three reasons, the first"),
    ],
)
def test_one_hint(replies: list[tuple[int, str]], why: str) -> None:
    """What a member meant as an answer and did not count is explained, once for the question."""
    result = hear(*replies)
    [hint] = hints(result)
    assert (hint.note_kind, hint.template, hint.discussion_id, hint.question_id) == (NoteKind.HINT, "hint", "d1", "q1")
    assert (hint.values["why"], hint.values["keys"], hint.values["allow_freeform"]) == (why, ["A", "B"], False)
    assert result.asked.hinted
    later = hear(*replies, (OMAR, "Z"), about=result.asked)
    assert (hints(later), later.asked.hinted) == ([], True)


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param([(STRANGER, "A")], id="a stranger's answer"),
        pytest.param([(STRANGER, "D"), (STRANGER, "none")], id="a stranger's attempts"),
        pytest.param([(OTHER_BOT, "A"), (OTHER_BOT, "I could not understand that. Options: A, B")], id="another bot"),
        pytest.param([(BOT, "D")], id="the bot itself"),
        pytest.param([(DANA, "A?")], id="a question back"),
        pytest.param([(DANA, "let me ask @omar")], id="calling somebody"),
        pytest.param([(DANA, "> A")], id="only a quote"),
        pytest.param([(DANA, "hitl help")], id="a command"),
        pytest.param([(GIL, "hello")], id="a guest's chat"),
        pytest.param([(DANA, "A")], id="an answer"),
    ],
)
def test_no_hint(replies: list[tuple[int, str]]) -> None:
    """Strangers and bots cannot make the bot talk, and people who talk to each other are left alone."""
    result = hear(*replies)
    assert (hints(result), result.asked.hinted) == ([], False)


def test_what_was_read_is_taken_over() -> None:
    """The question carries state, answer and every reply with whether it counted."""
    result = hear((GIL, "B"), (DANA, "A")).asked
    assert result.answer is not None
    assert (result.state, result.answer.keys, result.answer.note_id) == (QuestionState.ANSWERED, ("A",), 3)
    assert [(reply.by.id, reply.counted, reply.why) for reply in result.replies] == [
        (GIL, False, "role_below_threshold"),
        (DANA, True, None),
    ]


RUN = Run(
    id="r1", flow="plan", goal="Plan it", instance="https://gitlab.example.com", project_id=77,
    project_path="acme/platform/api",
    item_iid=12, owner=Person(id=DANA, username="dana"), bot_id=BOT, status=RunStatus.AWAITING_INPUT, round=2,
    created_at=NOON, updated_at=NOON,
)  # fmt: skip
BY_OMAR = Answer(kind=AnswerKind.SELECTED, keys=("A",), by=Speaker(id=OMAR, username="omar", role=40, name="Omar"))
ANSWERED = {"state": QuestionState.ANSWERED, "answer": BY_OMAR}
EARLIER = question(1, round=1, closed=True, delivered_in="s1", **ANSWERED)
PRESSER = Presser(Named(id=PETRA, username="petra"), "Petra", "d2")


def press(*questions: AskedQuestion, run: Run = RUN, presser: Presser = PRESSER) -> Any:
    return continued(run, questions, presser, resume_id="s2", description_changed=False, now=NOON)


def test_continue_closes_the_round() -> None:
    """Continue closes every question of the round as it stands, gives up those not posted, and leaves earlier rounds alone."""
    answered = question(2, round=2, **ANSWERED)
    left = question(3, round=2, state=QuestionState.NEEDS_ELIGIBLE)
    unposted = question(4, round=2, note_id=None, discussion_id=None)
    outcome = press(EARLIER, answered, left, unposted)
    assert (outcome.run.status, outcome.run.updated_at) == (RunStatus.RESUMING, NOON)
    assert outcome.questions == (
        EARLIER,
        answered.model_copy(update={"closed": True}),
        left.model_copy(update={"closed": True}),
        unposted.model_copy(update={"closed": True, "state": QuestionState.SUPERSEDED, "reason": NOT_POSTED}),
    )


def test_the_receipt_lists_the_whole_round() -> None:
    """One receipt, where Continue was pressed, names every question of this round, answered or not, and no other."""
    outcome = press(EARLIER, question(2, round=2, **ANSWERED), question(3, round=2), question(4, round=2, note_id=None))
    [receipt] = outcome.effects
    assert (receipt.effect_id, receipt.template, receipt.note_kind, receipt.discussion_id) == (
        "resumed:s2",
        "resumed",
        NoteKind.STATUS,
        "d2",
    )
    assert (receipt.values["by"], receipt.values["flow"], receipt.values["mode"]) == ("Petra", "plan", "answers")
    [line] = receipt.values["answered"]
    assert (line["position"], line["chosen"], line["labels"], line["by"]) == (2, ["A"], ["PostgreSQL"], "Omar")
    assert [(line["position"], line["state"], line["note_id"]) for line in receipt.values["left"]] == [
        (3, "open", 3),
        (4, "superseded", None),
    ]


@pytest.mark.parametrize(
    ("fields", "mode"),
    [
        pytest.param(ANSWERED, Mode.ANSWERS, id="answered"),
        pytest.param({"state": QuestionState.CONFLICT, "conflicting": (BY_OMAR, BY_OMAR)}, Mode.ANSWERS, id="a conflict"),
        pytest.param({}, Mode.ASSUME, id="open"),
        pytest.param({"state": QuestionState.NEEDS_ELIGIBLE}, Mode.ASSUME, id="nobody eligible"),
        pytest.param({"note_id": None}, Mode.ASSUME, id="not posted"),
    ],
)
def test_open_questions_never_block(fields: dict[str, Any], mode: Mode) -> None:
    """Continue always goes on; without an answer in this round the flow is told to assume, whatever earlier rounds brought."""
    document = press(EARLIER, question(2, round=2, **fields)).document
    assert (document.mode, document.resume, document.round, document.original_goal) == (mode, "s2", 2, "Plan it")
    assert [(shown.id, shown.new) for shown in document.questions] == [("q1", False), ("q2", True)]


def test_who_pressed() -> None:
    """The document names the person or the key that pressed Continue."""
    assert press(question(2, round=2)).document.continued_by == Named(id=PETRA, username="petra")
    assert press(question(2, round=2), presser=Presser(ByKey(key="ci"), "ci")).document.continued_by == ByKey(key="ci")


@pytest.mark.parametrize("status", [status for status in RunStatus if status is not RunStatus.AWAITING_INPUT])
def test_continue_in_a_wrong_state(status: RunStatus) -> None:
    """A run that does not wait cannot be continued."""
    with pytest.raises(Conflict):
        press(question(2, round=2), run=RUN.model_copy(update={"status": status}))


def test_a_refusal_is_said_once_per_note() -> None:
    """A refusal goes where the command was given and has one key per note."""
    effect = refused(RUN, 5, "d1", "role_below_threshold", {"role": "Guest"})
    assert (effect.effect_id, effect.discussion_id, effect.values) == (
        "refused:5",
        "d1",
        {"why": "role_below_threshold", "role": "Guest"},
    )
