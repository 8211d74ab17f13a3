"""Bodies made to be slow or to slip something in: they are read quickly, and nothing is chosen by them."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.commands import commands
from bot.core.models import AnswerKind, Question
from bot.core.replies import Unread, read, read_explanation
from bot.core.speech import MAX_PARSED, speech

QUICK = 5.0  # seconds, for what takes less than one alone: neither a slow nor a busy machine may fail


def ask(kind: str, *options: str, **more: Any) -> Question:
    return Question.model_validate({"text": "Which?", "question_type": kind, "options": options, **more})


QUESTIONS = {
    "choice": ask("multiple_choice", "PostgreSQL", "SQLite", allow_freeform=True),
    "strict choice": ask("multiple_choice", "PostgreSQL", "SQLite", allow_freeform=False),
    "multi-select": ask("multi_select", "Web", "API", "Command line", allow_freeform=True),
    "yes/no": ask("yes_no", allow_freeform=True),
    "confirmation": ask("confirmation", allow_freeform=False),
    "freeform": ask("freeform"),
}
PIECES = {
    "quote nest": "> ", "quoted lines": "> x\n", "brackets": "[", "bracket lines": "[\n", "backticks": "`",
    "backtick lines": "`\n",
    "comments": "<!--", "comment lines": "<!--\n", "closed comments": "<!-- -->", "stars": "*", "bullets": "* ", "dashes": "- ",
    "list lines": "- x\n", "digits": "7", "commas": ",", "blank lines": "\n", "blanks": " ", "tabs": "\t", "tildes": "~",
    "boxes": "- [ ] z\n",
    "signature marks": "--\n", "details": "<details>\n\n", "mentions": "@z ", "question marks": "?\n",
    "zero-width": "\u200b", "CR": "\r",
    "colons": "z: ", "commands": "hitl continue\n", "definitions": "[z]: y\n", "table": "|z", "headings": "# ",
    "surrogates": "\ud800",
}  # fmt: skip


@pytest.mark.parametrize(
    "size", [pytest.param(4_000, id="4 kB"), pytest.param(100_000, id="100 kB"), pytest.param(1_000_000, id="1 MB")]
)
@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES.keys())
def test_large_bodies_choose_nothing_and_are_quick(piece: str, size: int) -> None:
    """Whatever is repeated up to the size GitLab takes is read within moments and chooses no option."""
    body = (piece * (size // len(piece) + 1))[:size]
    began = time.perf_counter()
    readings = [read(QUESTIONS[name], body) for name in ("choice", "multi-select")]
    assert time.perf_counter() - began < QUICK
    assert all(reading.answer is None or reading.answer.kind is AnswerKind.TEXT for reading in readings)


@pytest.mark.parametrize("head", ["A\n", "yes\n", "none\n", "hitl continue\n"])
def test_above_the_limit_nothing_is_matched(head: str) -> None:
    """A body too large to be parsed is at most free text: no option, no command."""
    body = head + "x" * MAX_PARSED
    for question in QUESTIONS.values():
        reading = read(question, body)
        assert reading.commands == ()
        assert reading.answer is None or (reading.answer.kind, reading.answer.text) == (AnswerKind.TEXT, body)
    assert commands(body) == ()


def test_blank_lines_in_details() -> None:
    """Hidden blank lines cost no more than others."""
    began = time.perf_counter()
    speech("<details>" + "\n" * 10_000)
    assert time.perf_counter() - began < QUICK


def test_blanks_within_a_line() -> None:
    """Many blanks between two words cost no more than many words."""
    began = time.perf_counter()
    read(QUESTIONS["choice"], "z" + " " * 20_000 + "z")
    assert time.perf_counter() - began < QUICK


def test_combining_marks() -> None:
    """A letter under a tower of marks costs no more than other text."""
    began = time.perf_counter()
    read(QUESTIONS["multi-select"], "\u0301\u0327" * 10_000)
    assert time.perf_counter() - began < QUICK


LINES = st.sampled_from([
    "A", "B.", "yes", "no", "none", "none: x", "answer: x", "> A", "```", "~~~", "    A", "- [x] A", "- [ ] B", "A, C",
    "hitl continue",
    "<details>", "</details>", "<!--", "-->", "<!-- A -->", "-- ", "--", "On Monday, x wrote:", "why?", "@omar", "", " ",
    "\t", "# A", "1.",
    "adopt", "A\u2060", "\u2028", "\x85", "\x0b", "\0", "\ud800", "[", "`", "[a]: b",
])  # fmt: skip
BODIES = st.text(st.characters(exclude_characters="\r"), max_size=120) | st.lists(LINES, max_size=12).map("\n".join)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
@given(body=BODIES | st.text(max_size=120))
def test_any_text_is_read(question: Question, body: str) -> None:
    """Reading never fails, and ends in exactly one of an answer and a reason why there is none."""
    reading = read(question, body, names=("hitl", "@bot"))
    assert (reading.answer is None) is (reading.unread is not None)
    assert reading.answer is None or set(reading.answer.keys) <= set(question.keys)
    assert not any("\r" in (text or "") for text in (reading.text, read_explanation(body)))


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
@given(body=BODIES)
def test_line_ends_make_no_difference(question: Question, body: str) -> None:
    """LF, CRLF and CR are one and the same line end."""
    assert read(question, body) == read(question, body.replace("\n", "\r\n")) == read(question, body.replace("\n", "\r"))


@given(BODIES.map(lambda body: "\n".join(f"> {line}" for line in body.split("\n"))))
def test_what_is_quoted_is_not_said(body: str) -> None:
    """A quote of anything is nobody's answer and no command."""
    for question in QUESTIONS.values():
        assert read(question, body).answer is None
        assert read(question, body).unread is Unread.NOTHING_SAID
    assert commands(body) == ()
