"""What a reply says, taken as a whole: cases from the field, free text, questions back, and mail."""

from typing import Any

import pytest

from bot.core.models import AnswerKind, Question
from bot.core.replies import Reading, Unread, read


def ask(kind: str, options: tuple[str, ...] = (), **more: Any) -> Question:
    return Question.model_validate({"text": "Which?", "question_type": kind, "options": options, **more})


DATABASE = ask("multiple_choice", ("PostgreSQL", "SQLite", "Let the team decide"), allow_freeform=True)
STRICT = ask("multiple_choice", ("PostgreSQL", "SQLite", "Let the team decide"), allow_freeform=False)
PARTS = ask("multi_select", ("Web", "API", "Command line"), allow_freeform=True)
GO = ask("yes_no", allow_freeform=True)
FREE = ask("freeform")
NAMES = ("hitl", "@project_77_bot_0a1b")


def hear(question: Question, body: str) -> Reading:
    return read(question, body, names=NAMES)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("A\r\nThe read replicas already run it.\r\n", "The read replicas already run it."),
        ("A\r\n", None),
        ("A\rbecause of the replicas", "because of the replicas"),
        ("A\r", None),
        ("\r\n\r\nA\r\n\r\n", None),
        ("A\r\n\r\nOne.\r\nTwo.\r\n", "One.\nTwo."),
        ("1)\r\nfirst\rsecond\nthird", "first\nsecond\nthird"),
        ("PostgreSQL\r\n\r\n* one\r\n* two", "* one\n* two"),
        ("A: why so\r\nreally", "why so\nreally"),
    ],
    ids=ascii,
)
def test_line_ends_of_any_kind(body: str, text: str | None) -> None:
    """The first line chooses and the rest is kept without any carriage return; nothing left is nothing, not an empty line."""
    answer = hear(DATABASE, body).answer
    assert answer is not None
    assert (answer.kind, answer.keys, answer.text) == (AnswerKind.SELECTED, ("A",), text)


CARD = "> A) PostgreSQL\n> B) SQLite\n> C) Let the team decide"


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        (f"{CARD}\n\nB", ("B",)),
        ("> I would take\nA\n\nC", ("C",)),
        (f"B\n\n{CARD}", ("B",)),
        (f"{CARD}\n\nB\n\n> A", ("B",)),
        ("> > A\n> B\n\nC", ("C",)),
        ("B\n\nOn Monday, Dana wrote:\n\n> A", ("B",)),
        ("On Mon, 2 Mar 2026, Dana <d@example.com> wrote:\n> A\n\nB", ("B",)),
        ("B\r\n\r\nBot writes:\r\n> A\r\n> C", ("B",)),
        ("B\n\n<details><summary>...</summary>\n\n> A\n> <!-- hitl:1 {} -->\n\n</details>", ("B",)),
        ("B\n\n<details><summary>...</summary>\n\nA\n\nC\n\n</details>\n", ("B",)),
        ("B\n-- \nDana\nC Level Officer", ("B",)),
        ("B\n--\nA", ("B",)),
        ("<!-- A -->\nB", ("B",)),
        ("<!-- A\nC -->\nB <!-- A -->", ("B",)),
        ("B\n\n<!-- hitl:1 {\"keys\":[\"A\"]} -->", ("B",)),
    ],
    ids=ascii,
)  # fmt: skip
def test_only_own_words_choose(body: str, keys: tuple[str, ...]) -> None:
    """Quotes, mail originals, signatures, comments and copied payloads neither choose nor disturb the choice beside them."""
    answer = hear(DATABASE, body).answer
    assert answer is not None
    assert (answer.kind, answer.keys, answer.text) == (AnswerKind.SELECTED, keys, None)


@pytest.mark.parametrize("question", [DATABASE, STRICT, PARTS, GO], ids=["choice", "options only", "multi-select", "yes/no"])
@pytest.mark.parametrize(
    "body",
    [
        *("", " ", "\r\n", "> A", "> A\nB", CARD, "> yes", "```\nA\n```", "```\nyes\n```", "    A", "\tyes", "<!-- A -->"),
        *("<details>\n\nA\n\n</details>", "<div>A</div>", "<details>\nyes", "> ```\n> A", "~~~\nA"),
    ],
    ids=ascii,
)
def test_nothing_said(question: Question, body: str) -> None:
    """A reply of nothing but quotes, code, hidden or blank text is no answer, and nobody is asked again."""
    reading = hear(question, body)
    assert (reading.answer, reading.unread, reading.unread.asks_again) == (None, Unread.NOTHING_SAID, False)


@pytest.mark.parametrize("question", [DATABASE, STRICT, PARTS, GO], ids=["choice", "options only", "multi-select", "yes/no"])
@pytest.mark.parametrize(
    "body",
    [
        *(
            "> A) PostgreSQL\n\nWhat would that cost us?",
            "What would that cost?",
            "A?",
            "yes?",
            "B, right?",
            "Is it yes?",
            "A or B?",
        ),
        *(
            "I think so.\nBut why?",
            "Why?\nI do not see it.",
            "为什么？",
            "Should we?  ",
            "yes, but why?",
            "> yes\n\nreally?",
            "A\nor rather B?",
        ),
    ],
    ids=ascii,
)
def test_questions_back(question: Question, body: str) -> None:
    """A line that ends in a question mark makes the reply a question back: no answer, and no complaint."""
    reading = hear(question, body)
    assert (reading.answer, reading.unread, reading.unread.asks_again) == (None, Unread.QUESTION_BACK, False)


@pytest.mark.parametrize(
    "body",
    [
        "let me ask @omar",
        "@omar what do you think",
        "@dana take A",
        "cc @a.b-c_d",
        "ask @omar, he knows",
        "(@omar)",
        "**@omar** knows",
    ],
)
def test_calling_somebody_else(body: str) -> None:
    """Who calls for somebody else has not answered."""
    for question in (DATABASE, STRICT, PARTS, GO):
        assert (hear(question, body).answer, hear(question, body).unread) == (None, Unread.MENTIONS_SOMEBODY)


@pytest.mark.parametrize(
    "body",
    [
        "ask omar@example.com",
        "see https://example.com/@omar",
        "@project_77_bot_0a1b use MariaDB",
        "> @omar\n\nuse MariaDB",
        "user@ host",
        "@ noon",
    ],
    ids=ascii,
)
def test_not_calling_anybody(body: str) -> None:
    """Addresses, links, quotes and the bot's own name call nobody."""
    answer = hear(DATABASE, body).answer
    assert answer is not None
    assert answer.kind is AnswerKind.TEXT


@pytest.mark.parametrize("question", [DATABASE, PARTS, GO], ids=["choice", "multi-select", "yes/no"])
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Let us use MariaDB", "Let us use MariaDB"),
        ("MariaDB.\r\n\r\n* one\r\n* two\r\n", "MariaDB.\n\n* one\n* two"),
        ("> A\n\nMariaDB, with\n```\ncode\n```", "MariaDB, with\n```\ncode\n```"),
        ("answer: MariaDB", "MariaDB"),
        ("Answer: A", "A"),
        ("other: yes", "yes"),
        ("OTHER: MariaDB\n\n1. one\n2. two", "MariaDB\n\n1. one\n2. two"),
        ("answer:\nMariaDB", "MariaDB"),
        ("answer: is it MariaDB?", "is it MariaDB?"),
        ("answer: ask @omar", "ask @omar"),
        ("answer: a: b", "a: b"),
        ("Größe 😀 \u2028 100 %", "Größe 😀 \u2028 100 %"),
    ],
    ids=ascii,
)
def test_free_text_beside_options(question: Question, body: str, text: str) -> None:
    """Where free text is allowed, a plain sentence or a marked answer is text, word for word, and never an option."""
    answer = hear(question, body).answer
    assert answer is not None
    assert (answer.kind, answer.keys, answer.text) == (AnswerKind.TEXT, (), text)


@pytest.mark.parametrize(
    ("body", "why", "asks_again"),
    [
        ("Let us use MariaDB", Unread.CHATTER, False),
        ("hello all", Unread.CHATTER, False),
        ("answer: MariaDB", Unread.FREE_TEXT_NOT_ALLOWED, True),
        ("other: A", Unread.FREE_TEXT_NOT_ALLOWED, True),
        ("D", Unread.OUT_OF_RANGE, True),
        ("A, B", Unread.SEVERAL_ON_SINGLE, True),
        ("none", Unread.REASON_NEEDED, True),
    ],
)
def test_where_free_text_is_not_allowed(body: str, why: Unread, asks_again: bool) -> None:
    """With options only, sentences are chatter, and what was meant as an answer is told apart from it."""
    reading = hear(STRICT, body)
    assert (reading.answer, reading.unread, reading.unread.asks_again) == (None, why, asks_again)


@pytest.mark.parametrize("body", ["answer:", "Other: ", "answer:\n\n> A"], ids=ascii)
def test_a_mark_with_nothing_behind_it(body: str) -> None:
    """A marked answer without words says nothing."""
    assert (hear(DATABASE, body).answer, hear(DATABASE, body).unread) == (None, Unread.NOTHING_SAID)


@pytest.mark.parametrize("body", ["**Answer:** MariaDB", "`answer:` MariaDB", "*other:* MariaDB"])
def test_a_decorated_mark(body: str) -> None:
    """A mark in bold or code is taken off whole."""
    answer = hear(DATABASE, body).answer
    assert answer is not None
    assert answer.text == "MariaDB"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Use MariaDB.\r\n\r\n* one\r\n  * two\r\n", "Use MariaDB.\n\n* one\n  * two"),
        ("  lead", "  lead"),
        ("A", "A"),
        ("none", "none"),
        ("no", "no"),
        ("answer: x", "answer: x"),
        ("Why?\nBecause of the cost.", "Why?\nBecause of the cost."),
        ("@omar knows: 42", "@omar knows: 42"),
        ("> quote\n\nown", "own"),
        ("```\ncode\n```", "```\ncode\n```"),
        ("own\n-- \nDana", "own"),
        ("line  \nbreak\\\nhere", "line  \nbreak\\\nhere"),
        ("x" * 200_000, "x" * 200_000),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_freeform(body: str, text: str) -> None:
    """On a freeform question everything a person says is the answer, as written, however long."""
    answer = hear(FREE, body).answer
    assert answer is not None
    assert (answer.kind, answer.keys, answer.text) == (AnswerKind.TEXT, (), text)


@pytest.mark.parametrize("body", ["why?", "What for?\n\nAnd when?", "> quote\n\nreally?", "为什么？"], ids=ascii)
def test_a_pure_question_is_no_freeform_answer(body: str) -> None:
    """A reply of questions only asks back, also where anything may be said."""
    assert (hear(FREE, body).answer, hear(FREE, body).unread) == (None, Unread.QUESTION_BACK)
