"""Copies of the bot's notes, and other bots: heard by nobody."""

from datetime import UTC, date, datetime, timedelta

import pytest

from bot.adapters.templates import Templates
from bot.core.classify import Facts, Standpoint, classify
from bot.core.eligibility import Account, Membership, Policy, Standing
from bot.core.models import AnswerKind, AskedQuestion, Person, Question, QuestionState
from bot.core.payload import NoteKind, Payload, Relayed, asked, seal
from bot.core.thread import Note, Thread

KEY = b"k" * 32
BOT, DANA, PETRA, OTHER_BOT = 9001, 201, 203, 9100
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUESTION = Question.model_validate(
    {"text": "Which database?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"], "allow_freeform": True}
)


def sealed(card: str, kind: NoteKind, **more: object) -> str:
    fields = {"instance": "https://gitlab.example.com", "project": 77, "item": 12, "run": "r1", "flow": "plan", "owner": DANA}
    return seal(card, Payload(**{**fields, "round": 1, "effect": f"{kind}:1", "kind": kind, "question": "q1", **more}), KEY)


CARD = sealed(
    Templates().note("question", {"question": QUESTION, "position": 1, "total": 1, "flow": "plan", "mention": None}),
    NoteKind.QUESTION,
    asked=asked(QUESTION),
)
RELAYED = sealed(
    "**Dana** answered on the page:\n\nMariaDB",
    NoteKind.ANSWER,
    relayed=Relayed(question="q1", person=DANA, kind=AnswerKind.TEXT, text="MariaDB"),
)


def stands(*replies: tuple[int, str]) -> Standpoint:
    """The question with these replies below it, a minute apart."""
    notes = tuple(
        Note(
            id=number,
            author=Person(id=author, username=f"user{author}"),
            body=body,
            created_at=NOON + timedelta(minutes=number),
            updated_at=NOON + timedelta(minutes=number),
            url=f"https://gitlab.example.com/#note_{number}",
        )
        for number, (author, body) in enumerate([(BOT, CARD), *replies], start=1)
    )
    question = AskedQuestion(
        id="q1", run_id="r1", round=1, position=1, total=1, project_id=77, item_iid=12, question=QUESTION,
        effect_id="question:1", note_id=1, discussion_id="d1",
    )  # fmt: skip
    people = {DANA: 30, PETRA: 15, OTHER_BOT: 30}
    facts = Facts(
        standings={
            person: Standing(Account(person, f"user{person}", bot=person == OTHER_BOT), Membership(role))
            for person, role in people.items()
        },
        policy=Policy(),
        bot_ids=frozenset({BOT}),
        keys=[KEY],
        owner_id=DANA,
        today=date(2026, 3, 2),
    )
    return classify(question, Thread("d1", notes), facts)


@pytest.mark.parametrize("body", [CARD, RELAYED, f"{CARD}\n"], ids=["the card", "an answer note", "with a line break behind"])
def test_a_copy_of_the_bots_note_is_no_answer(body: str) -> None:
    """Copies and echoes of the bot's notes never count, not even as free text of the person who pasted them (row G19)."""
    assert stands((PETRA, body)).state is QuestionState.OPEN


@pytest.mark.parametrize("body", ["B", "I could not understand that. Options: A, B", "none: no"])
def test_another_bot_leaves_the_question_open(body: str) -> None:
    """What another bot says is ignored: nobody's adoption is waited for, and the question is simply open (case B20)."""
    assert stands((OTHER_BOT, body)).state is QuestionState.OPEN


def test_another_bot_does_not_disturb_an_answer() -> None:
    """A bot between two people changes nothing about what they said."""
    standpoint = stands((PETRA, "A"), (OTHER_BOT, "B"), (PETRA, "B"))
    assert standpoint.state is QuestionState.ANSWERED
    assert standpoint.answer is not None
    assert standpoint.answer.keys == ("B",)
