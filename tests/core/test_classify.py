"""How a question stands, from its thread: whose answer holds, and why each reply did or did not count."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.classify import Facts, Standpoint, classify, people_to_judge
from bot.core.eligibility import Account, Membership, Policy, Standing
from bot.core.models import AnswerKind, AskedQuestion, Person, Question, QuestionState
from bot.core.payload import NoteKind, Payload, Relayed, asked, seal
from bot.core.thread import Note, Thread

KEY = b"k" * 32
BOT, DANA, GIL, PETRA, OMAR, STRANGER, OTHER_BOT, UNKNOWN = 9001, 201, 202, 203, 204, 777, 9100, 888
NAMES = {
    BOT: "bot",
    DANA: "dana",
    GIL: "gil",
    PETRA: "petra",
    OMAR: "omar",
    STRANGER: "stranger",
    OTHER_BOT: "ci",
    UNKNOWN: "unknown",
}
ROLES = {DANA: 30, GIL: 10, PETRA: 15, OMAR: 40, STRANGER: None, OTHER_BOT: 30}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CARD_ID = 1
OPEN, ANSWERED, CONFLICT = QuestionState.OPEN, QuestionState.ANSWERED, QuestionState.CONFLICT
NEEDS_ELIGIBLE, CLOSED_UNANSWERED = QuestionState.NEEDS_ELIGIBLE, QuestionState.CLOSED_UNANSWERED


def ask(kind: str, options: tuple[str, ...] = (), **more: Any) -> Question:
    return Question.model_validate({"text": "Which?", "question_type": kind, "options": options, **more})


CHOICE = ask("multiple_choice", ("PostgreSQL", "SQLite", "Let the team decide"), allow_freeform=False)
OPEN_CHOICE = ask("multiple_choice", ("PostgreSQL", "SQLite", "Let the team decide"), allow_freeform=True)
FREE = ask("freeform")
FACTS = Facts(
    standings={
        person: Standing(Account(person, NAMES[person], bot=person == OTHER_BOT), None if role is None else Membership(role))
        for person, role in ROLES.items()
    }
    | {UNKNOWN: Standing(Account(UNKNOWN, "unknown"), None, unknown=True)},
    policy=Policy(),
    bot_ids=frozenset({BOT}),
    keys=[KEY],
    owner_id=DANA,
    today=date(2026, 3, 2),
)


def payload(kind: NoteKind, question: str | None, **more: Any) -> Payload:
    fields = {
        "instance": "https://gitlab.example.com",
        "project": 77,
        "item": 12,
        "run": "r1",
        "flow": "plan",
        "owner": DANA,
        "round": 1,
    }
    return Payload(**fields, effect="e1", kind=kind, question=question, **more)


def note(number: int, author: int, body: str, **more: Any) -> Note:
    at = NOON + timedelta(minutes=number)
    person = Person(id=author, username=NAMES.get(author, "x"))
    return Note(id=number, author=person, body=body, created_at=at, updated_at=at, url=f"#note_{number}", **more)


def card(question: Question, question_id: str = "q1") -> str:
    return seal("**Which?**", payload(NoteKind.QUESTION, question_id, asked=asked(question)), KEY)


def relayed(person: int, key: str, question_id: str = "q1") -> str:
    given = Relayed(question=question_id, person=person, kind=AnswerKind.SELECTED, keys=(key,))
    return seal(f"{NAMES[person]} answered {key}", payload(NoteKind.ANSWER, question_id, relayed=given), KEY)


def posted(question: Question) -> AskedQuestion:
    return AskedQuestion(
        id="q1", run_id="r1", round=1, position=1, total=1, project_id=77, item_iid=12,
        question=question, effect_id="e1", note_id=CARD_ID, discussion_id="d1",
    )  # fmt: skip


def thread(question: Question, replies: Sequence[tuple[int, str] | Note], **more: Any) -> Thread:
    notes = [reply if isinstance(reply, Note) else note(2 + n, *reply, **more) for n, reply in enumerate(replies)]
    return Thread("d1", (note(CARD_ID, BOT, card(question), **more), *notes))


def stands(question: Question, replies: Sequence[tuple[int, str] | Note], facts: Facts = FACTS, **more: Any) -> Standpoint:
    return classify(posted(question), thread(question, replies, **more), facts)


def whys(standpoint: Standpoint) -> list[str | None]:
    return [reply.why for reply in standpoint.replies]


@pytest.mark.parametrize(
    ("replies", "key", "by", "why"),
    [
        pytest.param([(PETRA, "B")], "B", PETRA, [None], id="one answer"),
        pytest.param([(DANA, "A"), (OMAR, "B")], "A", DANA, [None, "owner_decided"], id="owner first"),
        pytest.param([(OMAR, "B"), (DANA, "A")], "A", DANA, ["owner_decided", None], id="owner last"),
        pytest.param(
            [(OMAR, "B"), (DANA, "A"), (PETRA, "C")], "A", DANA, ["owner_decided", None, "owner_decided"], id="owner between",
        ),
        pytest.param([(PETRA, "A"), (OMAR, "PostgreSQL: good")], "A", PETRA, [None, None], id="same choice merges"),
        pytest.param([(PETRA, "A"), (PETRA, "B")], "B", PETRA, ["replaced_by_later", None], id="the latest of a person"),
        pytest.param([(PETRA, "A"), (OMAR, "B"), (PETRA, "2")], "B", OMAR, ["replaced_by_later", None, None], id="came round"),
        pytest.param([(DANA, "A"), (DANA, "thanks all")], "A", DANA, [None, "chatter"], id="chat takes nothing back"),
        pytest.param([(PETRA, "A"), (GIL, "B")], "A", PETRA, [None, "role_below_threshold"], id="guest later"),
        pytest.param([(GIL, "B"), (PETRA, "A")], "A", PETRA, ["role_below_threshold", None], id="guest earlier"),
        pytest.param([(PETRA, "A"), (STRANGER, "B")], "A", PETRA, [None, "not_a_member"], id="stranger"),
        pytest.param([(PETRA, "A"), (OTHER_BOT, "B")], "A", PETRA, [None, "bot"], id="another bot"),
        pytest.param([(PETRA, "A"), (UNKNOWN, "B")], "A", PETRA, [None, "lookup_failed"], id="look-up failed"),
        pytest.param([(PETRA, "A"), (555, "B")], "A", PETRA, [None, "lookup_failed"], id="never looked up"),
        pytest.param(
            [(PETRA, "A"), (BOT, "B"), note(9, OMAR, "C", system=True)], "A", PETRA, [None], id="bot and system notes",
        ),
        pytest.param([(PETRA, "A"), (BOT, card(CHOICE, "q2"))], "A", PETRA, [None], id="another card in the thread"),
    ],
)  # fmt: skip
def test_answered(replies: list[tuple[int, str]], key: str, by: int, why: list[str | None]) -> None:
    """The owner's answer holds, else the one choice of all who may answer; each reply says whether it counted and why not."""
    standpoint = stands(CHOICE, replies)
    assert (standpoint.state, standpoint.conflicting) == (ANSWERED, ())
    assert standpoint.answer is not None
    assert standpoint.answer.by is not None
    assert (standpoint.answer.keys, standpoint.answer.by.id, standpoint.answer.by.role) == ((key,), by, ROLES[by])
    assert whys(standpoint) == why
    assert [reply.counted for reply in standpoint.replies] == [reason is None for reason in why]


@pytest.mark.parametrize("resolved", [False, True], ids=["open thread", "resolved thread"])
@pytest.mark.parametrize(
    ("replies", "people"),
    [
        pytest.param([(PETRA, "A"), (OMAR, "B")], [PETRA, OMAR], id="two choices"),
        pytest.param([(OMAR, "B"), (PETRA, "A")], [OMAR, PETRA], id="the other order"),
        pytest.param([(PETRA, "A"), (OMAR, "none: too dear")], [PETRA, OMAR], id="a choice and a rejection"),
        pytest.param([(PETRA, "A"), (OMAR, "A"), (PETRA, "C")], [OMAR, PETRA], id="changed away"),
        pytest.param([(PETRA, "A"), (OMAR, "B"), (GIL, "A"), (STRANGER, "A")], [PETRA, OMAR], id="no votes of others"),
    ],
)
def test_conflict(replies: list[tuple[int, str]], people: list[int], resolved: bool) -> None:
    """Different choices of people other than the owner settle nothing: all are passed on, resolved or not."""
    standpoint = stands(CHOICE, replies, resolvable=True, resolved=resolved)
    assert (standpoint.state, standpoint.answer) == (CONFLICT, None)
    assert [answer.by.id for answer in standpoint.conflicting if answer.by] == people


@pytest.mark.parametrize(
    ("replies", "resolved", "state"),
    [
        pytest.param([], False, OPEN, id="no replies"),
        pytest.param([], True, CLOSED_UNANSWERED, id="no replies, resolved"),
        pytest.param([(DANA, "nice")], False, OPEN, id="chat"),
        pytest.param([(DANA, "nice"), (GIL, "hello")], True, CLOSED_UNANSWERED, id="chat, resolved"),
        pytest.param([(DANA, "A?")], False, OPEN, id="a question back"),
        pytest.param([(DANA, "none")], False, OPEN, id="a rejection without reason"),
        pytest.param([(GIL, "A")], False, NEEDS_ELIGIBLE, id="guest"),
        pytest.param([(GIL, "A")], True, NEEDS_ELIGIBLE, id="guest, resolved"),
        pytest.param([(STRANGER, "A"), (DANA, "hm")], True, NEEDS_ELIGIBLE, id="stranger, resolved"),
        pytest.param([(UNKNOWN, "A")], False, NEEDS_ELIGIBLE, id="look-up failed"),
        pytest.param([(BOT, "A"), note(9, DANA, "A", system=True)], False, OPEN, id="bot and system notes"),
        pytest.param([(BOT, "A")], True, CLOSED_UNANSWERED, id="bot note, resolved"),
    ],
)
def test_unanswered(replies: list[tuple[int, str]], resolved: bool, state: QuestionState) -> None:
    """Without an answer that counts a question is open, in need of somebody eligible, or closed as it is."""
    standpoint = stands(CHOICE, replies, resolvable=True, resolved=resolved)
    assert (standpoint.state, standpoint.answer, standpoint.conflicting) == (state, None, ())


def test_answered_in_a_resolved_thread() -> None:
    """Resolving a thread changes nothing about an answer in it."""
    assert stands(CHOICE, [(PETRA, "A")], resolvable=True, resolved=True).state is ANSWERED


def test_freeform_is_joined() -> None:
    """On a freeform question everybody's replies count together, in order; the owner's beats nobody's."""
    standpoint = stands(
        FREE, [(OMAR, "One.\n\n* two"), (DANA, "why?"), (GIL, "Guest"), (DANA, "Three."), (OMAR, "Four."), (BOT, "five")]
    )
    assert standpoint.answer is not None
    assert (standpoint.state, standpoint.answer.text) == (ANSWERED, "One.\n\n* two\n\nThree.\n\nFour.")
    assert whys(standpoint) == [None, "question_back", "role_below_threshold", None, None]


@pytest.mark.parametrize(
    ("replies", "reason", "state"),
    [
        pytest.param([(DANA, "Reject"), (DANA, "too dear\n\n* a")], "too dear\n\n* a", ANSWERED, id="given next"),
        pytest.param([(PETRA, "none"), (PETRA, "why?"), (PETRA, "too dear")], "too dear", ANSWERED, id="after a question back"),
        pytest.param([(PETRA, "none"), (OMAR, "hm"), (PETRA, "too dear")], "too dear", ANSWERED, id="others between"),
        pytest.param(
            [(PETRA, "none"), (PETRA, "hitl help"), (PETRA, "too dear")], "too dear", ANSWERED, id="a command between",
        ),
        pytest.param([(PETRA, "none"), (OMAR, "too dear")], None, OPEN, id="by somebody else"),
        pytest.param([(GIL, "none"), (GIL, "too dear")], None, NEEDS_ELIGIBLE, id="by a guest"),
        pytest.param([(PETRA, "too dear"), (PETRA, "none")], None, OPEN, id="before it was asked for"),
        pytest.param([(PETRA, "none"), (BOT, "Why?"), (BOT, "too dear")], None, OPEN, id="by the bot"),
    ],
)  # fmt: skip
def test_the_reason_of_a_rejection(replies: list[tuple[int, str]], reason: str | None, state: QuestionState) -> None:
    """A reason that was asked for is the next thing that same person says."""
    standpoint = stands(CHOICE, replies)
    assert (standpoint.state, standpoint.answer and standpoint.answer.reason) == (state, reason)


def test_choosing_instead_of_a_reason() -> None:
    """Whoever chooses an option after all has chosen it, and later chat is not taken for the reason."""
    standpoint = stands(CHOICE, [(PETRA, "none"), (PETRA, "B"), (PETRA, "that was close")])
    assert standpoint.answer is not None
    assert standpoint.answer.keys == ("B",)


@pytest.mark.parametrize(
    ("replies", "state", "by", "why"),
    [
        pytest.param([(BOT, relayed(PETRA, "B"))], ANSWERED, PETRA, [None], id="as the named person's"),
        pytest.param([(OMAR, "A"), (BOT, relayed(DANA, "B"))], ANSWERED, DANA, ["owner_decided", None], id="as the owner's"),
        pytest.param(
            [(PETRA, "A"), (BOT, relayed(PETRA, "B"))], ANSWERED, PETRA, ["replaced_by_later", None], id="as the latest",
        ),
        pytest.param([(BOT, relayed(GIL, "B"))], NEEDS_ELIGIBLE, None, ["role_below_threshold"], id="a guest's"),
        pytest.param([(BOT, relayed(STRANGER, "B"))], NEEDS_ELIGIBLE, None, ["not_a_member"], id="a stranger's"),
        pytest.param([(BOT, relayed(UNKNOWN, "B"))], NEEDS_ELIGIBLE, None, ["lookup_failed"], id="not looked up"),
        pytest.param([(GIL, relayed(DANA, "B"))], OPEN, None, ["role_below_threshold"], id="a guest's copy"),
        pytest.param([(OMAR, relayed(DANA, "B"))], OPEN, None, ["chatter"], id="a maintainer's copy"),
        pytest.param([(BOT, relayed(PETRA, "B", "q2"))], OPEN, None, [], id="for another question"),
        pytest.param([(BOT, relayed(PETRA, "B").replace("answered", "chose"))], OPEN, None, [], id="edited"),
    ],
)  # fmt: skip
def test_answers_given_through_the_bot(
    replies: list[tuple[int, str]], state: QuestionState, by: int | None, why: list[str | None]
) -> None:
    """A signed `answer` note of the bot is the reply of the person it names, judged by their role; no copy of one is."""
    standpoint = stands(CHOICE, replies)
    assert (standpoint.state, whys(standpoint)) == (state, why)
    assert (standpoint.answer and standpoint.answer.by and (standpoint.answer.by.id, standpoint.answer.by.role)) == (
        by and (by, ROLES[by])
    )


def test_whose_standing_is_needed() -> None:
    """Everybody who wrote and everybody the bot relayed for is looked up, and nobody else."""
    notes = [
        (PETRA, "hm"),
        (BOT, relayed(GIL, "A")),
        (BOT, "hello"),
        note(9, OMAR, "closed", system=True),
        (STRANGER, relayed(DANA, "A")),
    ]
    assert people_to_judge(thread(CHOICE, notes), FACTS.bot_ids, [KEY]) == {PETRA, GIL, STRANGER}


BODIES = [
    "A",
    "B",
    "none",
    "too dear",
    "none: x",
    "what?",
    "hitl continue",
    "A\nhitl continue",
    "hello",
    relayed(PETRA, "C"),
    relayed(OMAR, "A"),
]


@given(
    st.sampled_from([CHOICE, OPEN_CHOICE, FREE]),
    st.lists(
        st.tuples(st.sampled_from([DANA, GIL, PETRA, OMAR, STRANGER, BOT]), st.sampled_from(BODIES), st.integers(0, 3)),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_order_makes_no_difference(question: Question, said: list[tuple[int, str, int]], shuffle: random.Random) -> None:
    """Whatever order GitLab lists the notes in, also with equal times, the question stands the same."""
    replies = [
        replace(note(10 + n, who, body), created_at=NOON + timedelta(hours=hour)) for n, (who, body, hour) in enumerate(said)
    ]
    notes = list(thread(question, replies).notes)
    expected = classify(posted(question), Thread("d1", tuple(notes)), FACTS)
    shuffle.shuffle(notes)
    assert classify(posted(question), Thread("d1", tuple(notes)), FACTS) == expected
