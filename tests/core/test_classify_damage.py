"""Questions whose own note cannot be trusted: nothing below them decides anything."""

from datetime import UTC, date, datetime, timedelta

import pytest

from bot.core.classify import Facts, Standpoint, classify
from bot.core.eligibility import Account, Membership, Policy, Standing
from bot.core.models import AskedQuestion, Person, Question, QuestionState
from bot.core.payload import NoteKind, Payload, asked, seal
from bot.core.thread import Note, Thread

KEY = b"k" * 32
BOT, FORMER_BOT, DANA = 9001, 9000, 201
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUESTION = Question.model_validate({"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]})
ASKED = AskedQuestion(
    id="q1", run_id="r1", round=1, position=1, total=1, project_id=77, item_iid=12,
    question=QUESTION, effect_id="e1", note_id=1, discussion_id="d1",
)  # fmt: skip


def card(question_id: str | None = "q1", key: bytes = KEY) -> str:
    payload = Payload(
        instance="https://gitlab.example.com", project=77, item=12, run="r1", flow="plan", owner=DANA, round=1,
        effect="e1", kind=NoteKind.QUESTION, question=question_id, asked=asked(QUESTION),
    )  # fmt: skip
    return seal("**Which?**\n\n- **A** · PostgreSQL", payload, key)


def note(number: int, author: int, body: str) -> Note:
    at = NOON + timedelta(minutes=number)
    return Note(number, Person(id=author, username=f"u{author}"), body, at, at, f"#note_{number}")


def stands(*notes: Note, keys: tuple[bytes, ...] = (KEY,), bots: tuple[int, ...] = (BOT,)) -> Standpoint:
    standing = Standing(Account(DANA, "dana"), Membership(30))
    facts = Facts({DANA: standing}, Policy(), frozenset(bots), keys, DANA, date(2026, 3, 2))
    return classify(ASKED, Thread("d1", notes), facts)


CARD = card()


@pytest.mark.parametrize(
    ("author", "body", "why"),
    [
        pytest.param(BOT, CARD.replace("PostgreSQL\n", "MySQL\n"), "mac does not hold", id="card edited"),
        pytest.param(BOT, f"Note: {CARD}", "mac does not hold", id="words put in front"),
        pytest.param(BOT, CARD.replace('"round":1', '"round":2'), "mac does not hold", id="payload edited"),
        pytest.param(BOT, card(key=b"x" * 32), "mac does not hold", id="another key"),
        pytest.param(BOT, CARD.rpartition("\n\n")[0], "removed the payload", id="payload removed"),
        pytest.param(BOT, "", "removed the payload", id="emptied"),
        pytest.param(BOT, CARD.replace("hitl:1 ", "hitl:2 "), "newer version (format 2)", id="newer version"),
        pytest.param(BOT, f"{CARD}\n\nmore", "not the whole last line", id="words below"),
        pytest.param(BOT, f"{CARD}\n{CARD}", "two payloads", id="two payloads"),
        pytest.param(BOT, CARD[:-20] + " -->", "not JSON", id="payload cut"),
        pytest.param(BOT, card("q2"), "another question", id="other question's payload"),
        pytest.param(BOT, card(None), "another question", id="no question's payload"),
        pytest.param(DANA, CARD, "not by the bot", id="another author"),
        pytest.param(FORMER_BOT, CARD, "not by the bot", id="a bot not listed"),
    ],
)
def test_damaged(author: int, body: str, why: str) -> None:
    """A question note that was changed, or is not the bot's, is damaged with its reason, and no reply below it counts."""
    standpoint = stands(note(1, author, body), note(2, DANA, "A"))
    assert (standpoint.state, standpoint.answer, standpoint.conflicting) == (QuestionState.DAMAGED, None, ())
    assert why in (standpoint.reason or "")
    assert [(reply.text, reply.counted, reply.why) for reply in standpoint.replies] == [("A", False, "question_damaged")]


def test_the_note_is_gone() -> None:
    """A thread that lost the question's own note is damaged, also when a copy of the card stands in it."""
    standpoint = stands(note(2, DANA, "A"), note(3, DANA, CARD), note(4, BOT, CARD))
    assert (standpoint.state, standpoint.reason) == (QuestionState.DAMAGED, "the question's own note is gone")
    assert not any(reply.counted for reply in standpoint.replies)


@pytest.mark.parametrize("thread", [None, Thread("d1", ())], ids=["not there", "empty"])
def test_a_deleted_thread(thread: Thread | None) -> None:
    """A question whose thread was deleted is over."""
    facts = Facts({}, Policy(), frozenset({BOT}), [KEY], DANA, date(2026, 3, 2))
    standpoint = classify(ASKED, thread, facts)
    assert (standpoint.state, standpoint.reason, standpoint.voices) == (QuestionState.SUPERSEDED, "its thread was deleted", ())


@pytest.mark.parametrize(
    "notes",
    [
        pytest.param((note(1, BOT, CARD),), id="as posted"),
        pytest.param((note(1, BOT, CARD.replace("\n", "\r\n")),), id="CRLF"),
        pytest.param((note(1, BOT, f"{CARD}  \n\n"),), id="blanks at the end"),
        pytest.param((note(1, FORMER_BOT, CARD),), id="by a former bot that is listed"),
        pytest.param((note(1, BOT, card(key=b"o" * 32)),), id="signed with an older key"),
        pytest.param((note(1, BOT, CARD), note(3, DANA, CARD)), id="a person's copy below"),
    ],
)
def test_not_damaged(notes: tuple[Note, ...]) -> None:
    """Line ends, key rotation, a change of the bot's account and copies in replies do no damage."""
    standpoint = stands(*notes, note(2, DANA, "A"), keys=(KEY, b"o" * 32), bots=(BOT, FORMER_BOT))
    assert standpoint.state is QuestionState.ANSWERED
