"""Yes, no, none of these, and everything that takes a choice back: a negation is never consent."""

from typing import Any

import pytest

from bot.core.models import AnswerKind, Question
from bot.core.replies import Unread, read, read_explanation


def ask(kind: str, options: tuple[str, ...] = (), **more: Any) -> Question:
    return Question.model_validate({"text": "Which?", "question_type": kind, "options": options, **more})


DATABASE = ask("multiple_choice", ("PostgreSQL", "SQLite", "Let the team decide"), allow_freeform=True)
STRICT = ask("multiple_choice", ("PostgreSQL", "SQLite", "Let the team decide"), allow_freeform=False)
PARTS = ask("multi_select", ("Web", "API", "Command line"), allow_freeform=True)
GO = ask("yes_no", allow_freeform=True)
SURE = ask("confirmation", allow_freeform=False)

YES = [
    "y",
    "Y",
    "yes",
    "Yes.",
    "YES!",
    "approve",
    "Approved",
    "ok",
    "OK.",
    "okay",
    "lgtm",
    "LGTM!",
    "+1",
    ":+1:",
    "👍",
    "👍🏽",
    "👍\ufe0f",
    "ＹＥＳ",
]
NO = ["n", "N", "no", "No.", "NO!", "reject", "Rejected", "-1", ":-1:", "👎", "👎🏿", "**no**", "`no`", "ＮＯ", "no\u200b"]


@pytest.mark.parametrize("question", [GO, SURE], ids=["yes/no", "confirmation"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        *[
            (body, AnswerKind.YES)
            for body in [*YES, "**yes**", "`yes`", '"yes"', "yes please", "Yes, thanks", "\u2060yes", "yes\r\n"]
        ],
        *[(body, AnswerKind.NO) for body in [*NO, "no thanks", "No, thanks", "no\r\n"]],
    ],
    ids=ascii,
)
def test_yes_and_no(question: Question, body: str, kind: AnswerKind) -> None:
    """The known words for yes and no count as the whole message, in any dress."""
    answer = read(question, body).answer
    assert answer is not None
    assert (answer.kind, answer.keys) == (kind, (kind.value,))


@pytest.mark.parametrize("body", [":thumbsup:", ":thumbs_up:", ":thumbsdown:", ":thumbs_down:"])
def test_thumbs_by_name(body: str) -> None:
    """A thumb typed by its name is the same as the sign."""
    assert read(GO, body).answer is not None
    assert read(GO, body).answer.kind is (AnswerKind.YES if "up" in body else AnswerKind.NO)


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("yes - go ahead", AnswerKind.YES, "go ahead"),
        ("Yes: go", AnswerKind.YES, "go"),
        ("yes\nThe team agreed.", AnswerKind.YES, "The team agreed."),
        ("no: too early", AnswerKind.NO, "too early"),
        ("No.\n\n* first\n* second", AnswerKind.NO, "* first\n* second"),
        ("no, but later perhaps", AnswerKind.NO, "but later perhaps"),
        ("reject: too early", AnswerKind.NO, "too early"),
        ("no, yes", AnswerKind.NO, "yes"),
    ],
    ids=ascii,
)
def test_words_beside_yes_and_no(body: str, kind: AnswerKind, words: str) -> None:
    """A remark beside yes or no is kept; a no stays a no whatever follows."""
    answer = read(GO, body).answer
    assert answer is not None
    assert (answer.kind, answer.text) == (kind, words)


@pytest.mark.parametrize("question", [GO, SURE], ids=["yes/no", "confirmation"])
@pytest.mark.parametrize(
    "body",
    [
        *("yes, but…", "yes, but not now", "yes but later", "yes if it is cheap", "yes, if it is cheap", "yes, only staging"),
        *(
            "yes, no",
            "yes no",
            "yes\nno",
            "yes\n\nnot before May",
            "yes and no",
            "not yes",
            "yes (not really)",
            "yes, unless it breaks",
        ),
        *(
            "yes except production",
            "yes, except production",
            "yes?",
            "yes, why?",
            "is it yes?",
            "yes\nreally?",
            "not ok",
            "ok?",
            "no yes",
        ),
        *(
            "yeah",
            "sure",
            "yessir",
            "ye",
            "okey",
            "yes of course",
            "ok then",
            "A",
            "1",
            "on",
            "true",
            "I approve",
            "approve it",
            "+10",
            "👍 no",
        ),
    ],
    ids=ascii,
)
def test_not_a_plain_yes(question: Question, body: str) -> None:
    """A hedged, doubted, negated or merely similar yes is not a yes."""
    answer = read(question, body).answer
    assert answer is None or answer.kind is AnswerKind.TEXT


@pytest.mark.parametrize(
    "body", ["approve\nreject", "yes, reject", "ok, n", "yes, 👎", "yes\n-1", "yes\nthanks\nno", "lgtm\nrejected"], ids=ascii
)
def test_a_yes_with_a_no_beside_it(body: str) -> None:
    """Whoever says yes and no in one reply said neither."""
    answer = read(GO, body).answer
    assert answer is None or answer.kind is not AnswerKind.YES


TAKEN_BACK = [
    *("not A", "Not A!", "A - no", "A – no way", "A, no!", "A: no", "A\nno", "don't use A", "dont use A", "no A", "no, A",
      "never A"),
    *("A, not B", "B, not A", "A, not really", "A: wrong", "A is wrong", "A isn't good", "A won't work", "A, never mind",
      "A wait no"),
    *("A but not now", "anything but A", "A if it is cheap", "B? no", "A? B", "A?", "B, right?", "A\nor rather B?",
      "A\nNot B", "❌ A", "A ❌", "👎 A"),
    *("reject A", "yes, but…", "A\n\nnope", "A\ndon't", "A - cannot be done", "A, wrong one", "A unless it is slow",
      "without A"),
]  # fmt: skip


@pytest.mark.parametrize("question", [DATABASE, STRICT, PARTS], ids=["free text allowed", "options only", "multi-select"])
@pytest.mark.parametrize("body", TAKEN_BACK, ids=ascii)
def test_negation_is_never_consent(question: Question, body: str) -> None:
    """An option that is negated, doubted or asked about is not chosen."""
    answer = read(question, body).answer
    assert answer is None or answer.kind is AnswerKind.TEXT


LONG = "None of these: the vendor contract ties us to MariaDB until 2027.\n\n* see clause 4\n* see clause 9"


@pytest.mark.parametrize("question", [DATABASE, STRICT, PARTS], ids=["free text allowed", "options only", "multi-select"])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(f"Reject\n\n{LONG}", LONG, id="below, with a list"),
        pytest.param(f"Reject\n\n{LONG}".replace("\n", "\r\n"), LONG, id="below, with CRLF"),
        pytest.param("Reject: none of these fits", "none of these fits", id="behind a colon"),
        pytest.param(LONG, LONG.removeprefix("None of these: "), id="colon, then a list"),
        pytest.param("none: we use Oracle", "we use Oracle", id="none"),
        pytest.param("None, we use Oracle", "we use Oracle", id="comma"),
        pytest.param("neither - we use Oracle", "we use Oracle", id="dash"),
        pytest.param("none of the above — we use Oracle", "we use Oracle", id="long dash"),
        pytest.param("None because we use Oracle", "because we use Oracle", id="because"),
        pytest.param("none of these, as we use Oracle", "as we use Oracle", id="as"),
        pytest.param("I reject all: too dear", "too dear", id="I reject all"),
        pytest.param("**Reject**: too dear", "too dear", id="bold"),
        pytest.param("Rejected\rtoo dear\rtoo slow", "too dear\ntoo slow", id="lone CR"),
        pytest.param("Reject: A is too slow, B has no users", "A is too slow, B has no users", id="reason names options"),
        pytest.param("none: is Oracle not better?", "is Oracle not better?", id="reason that asks"),
        pytest.param("Reject\n\n1. cost\n2. speed", "1. cost\n2. speed", id="ordered list"),
        pytest.param("Reject\n```\nEXPLAIN\n```", "```\nEXPLAIN\n```", id="code as the reason"),
        pytest.param("> A) PostgreSQL\n\nReject: too dear\n\n> B\n\nand slow", "too dear\n\n\nand slow", id="between quotes"),
    ],
)
def test_rejections(question: Question, body: str, reason: str) -> None:
    """Rejecting all options and saying why is one reply, and the reason is kept whole."""
    answer = read(question, body).answer
    assert answer is not None
    assert (answer.kind, answer.keys, answer.reason, answer.text) == (AnswerKind.REJECTED, (), reason, None)


@pytest.mark.parametrize("question", [DATABASE, STRICT, PARTS], ids=["free text allowed", "options only", "multi-select"])
@pytest.mark.parametrize(
    "body",
    [
        "Reject",
        "reject.",
        "REJECT!",
        "none",
        "None of these",
        "none of the above!",
        "neither",
        "**none**",
        "I reject",
        "reject\n\n> why",
        "none:",
        "Reject\r\n",
    ],
    ids=ascii,
)
def test_a_rejection_needs_its_reason(question: Question, body: str) -> None:
    """`none` alone is not an answer: the reason is asked for."""
    reading = read(question, body)
    assert (reading.answer, reading.unread) == (None, Unread.REASON_NEEDED)


@pytest.mark.parametrize(
    "body", ["none is better", "none of A", "nonetheless A", "rejecting: x", "neither here nor there", "no none: x"]
)
def test_not_a_rejection(body: str) -> None:
    """A sentence that only begins like a rejection rejects nothing."""
    answer = read(DATABASE, body).answer
    assert answer is not None
    assert answer.kind is AnswerKind.TEXT


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("too dear", "too dear"), ("too dear\r\n\r\n* a\r\n* b", "too dear\n\n* a\n* b"), ("> why?\n\ntoo dear", "too dear"),
        ("Why do you ask? It is too dear.", "Why do you ask? It is too dear."), ("what?", None), ("", None), ("> quote", None),
    ],
    ids=ascii,
)  # fmt: skip
def test_the_reason_that_was_asked_for(body: str, reason: str | None) -> None:
    """The next reply is the reason, as written, unless it says nothing or only asks back."""
    assert read_explanation(body) == reason
