"""Replies that look like one thing and mean another: quotes GitLab draws, lists with a "not", signs people type on phones."""

import time
from typing import Any

import pytest

from bot.core.commands import commands
from bot.core.models import AnswerKind, Question
from bot.core.replies import Unread, read
from bot.core.speech import speech


def ask(kind: str, options: list[Any], **more: Any) -> Question:
    return Question.model_validate({"text": "Which?", "question_type": kind, "options": options, **more})


DATABASE = ask("multiple_choice", ["PostgreSQL", "SQLite", "Let the team decide"], allow_freeform=True)
TWELVE = [f"Size {n}" for n in range(1, 13)]
ANY_OF_TWELVE = ask("multi_select", TWELVE, allow_freeform=True)
GO = ask("yes_no", [], allow_freeform=True)
FREE = ask("freeform", [])


def keys(question: Question, body: str) -> tuple[str, ...]:
    """What a reply chooses; nothing when it is text or no answer."""
    answer = read(question, body).answer
    return () if answer is None else answer.keys


def wrong(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, reason=reason)


@pytest.mark.parametrize(
    "body",
    [">>>\nA) PostgreSQL\n>>>\n\nC", ">>>\nA\n\nB\n>>>\nC", "C\n\n>>>\nA\n>>>", ">>>\nhitl continue\n>>>\n\nC"],
    ids=ascii,
)
def test_gitlabs_quote_over_several_lines(body: str) -> None:
    """A quote between `>>>` lines neither chooses nor commands, like any other quote (case B05)."""
    reading = read(DATABASE, body)
    assert reading.answer is not None
    assert (reading.answer.keys, reading.answer.text, reading.commands) == (("C",), None, ())


@pytest.mark.parametrize("body", ["> <details>\n> <summary>Options</summary>\n>\n> - A\n\nB", "- <details>\n\nB"], ids=ascii)
def test_details_end_with_what_holds_them(body: str) -> None:
    """A block that was opened in a quote is over where the quote is over."""
    assert keys(DATABASE, body) == ("B",)


@pytest.mark.parametrize("words", ["A", "hitl continue"])
def test_details_within_details(words: str) -> None:
    """A quoted card with collapsed options in it stays hidden to the end of the mail's original."""
    body = (
        f"<details><summary>...</summary>\n\n<details><summary>Not chosen</summary>\n\n- B\n</details>\n\n{words}\n\n</details>"
    )
    assert speech(body).lines == ()
    assert commands(body) == ()


@pytest.mark.parametrize("body", ["```html\n<!-- header -->\n<b>x</b>\n```", "see\n\n    <!-- x -->\n    <p>"], ids=ascii)
def test_comments_in_code_are_words(body: str) -> None:
    """Free text is kept verbatim, code that shows an HTML comment included."""
    answer = read(FREE, body).answer
    assert answer is not None
    assert answer.text == body


@pytest.mark.parametrize(
    "body",
    ["use `<!-- x -->` as the mark", "``a <!-- `` b", "open it with `<!--`\n\nand keep the rest", "`<!--`\n\nA"],
    ids=ascii,
)
@wrong("comments are taken out of inline code too, and an opening mark in it swallows all that follows")
def test_comments_in_inline_code_are_words(body: str) -> None:
    """A comment's sign in inline code is shown on the page, so it is kept, and hides nothing."""
    answer = read(FREE, body).answer
    assert answer is not None
    assert answer.text == body


@pytest.mark.parametrize(
    ("body", "chosen"),
    [
        *[("1, 2, not 3", ()), ("a, b, not c", ()), ("a, b - c only later", ()), ("1, 2\nbecause", ("A", "B"))],
        *(
            pytest.param(body, chosen)
            for body, chosen in [("1; 2; maybe 3", ()), ("1, 2: because", ("A", "B")), ("1, 2 if it is cheap", ())]
        ),
    ],
    ids=ascii,
)
def test_a_list_with_a_remark_is_not_its_first_member(body: str, chosen: tuple[str, ...]) -> None:
    """Either all that a list names is chosen, or none of it."""
    assert keys(ANY_OF_TWELVE, body) in ((), chosen)


@pytest.mark.parametrize("body", ["a, c", "a; c", "a\nc", "b. c.", "a - c"], ids=ascii)
def test_two_small_letters_on_a_single_choice(body: str) -> None:
    """`a, c` names two options as `A, C` does: one can be chosen, so none is (row G23)."""
    reading = read(DATABASE, body)
    assert reading.answer is None
    assert reading.unread is not None
    assert reading.unread.asks_again


@pytest.mark.parametrize("body", ["A, C", "A; C", "A\nC"], ids=ascii)
def test_the_person_hears_why_two_are_refused(body: str) -> None:
    """Two options on a single choice are refused with the reason for it (row G23)."""
    assert read(DATABASE, body).unread is Unread.SEVERAL_ON_SINGLE


@pytest.mark.parametrize("body", ["①②", "1\ufe0f\u20e32\ufe0f\u20e3", "1\u20e32\u20e3"], ids=ascii)
def test_two_number_signs_are_not_one_number(body: str) -> None:
    """Numbers in circles and keys stand for themselves, never for the number they would make together (case B10)."""
    assert keys(ANY_OF_TWELVE, body) in ((), ("A", "B"))


@pytest.mark.parametrize(
    "body", ["A) definitely not this one", "A – absolutely not", "A: over my dead body, no", "A - I would not"]
)
def test_a_negation_further_back(body: str) -> None:
    """A negation on the line of a choice leaves it unclear: remarks go on the next line, as the hint says."""
    assert keys(DATABASE, body) == ()


@pytest.mark.parametrize(
    "body", ["yes, don\u2019t", "Yes, won\u2019t hurt", "ok, can\u2019t wait", "A, don\u2019t", "A \u2013 isn\u2019t"]
)
def test_the_apostrophe_of_phones(body: str) -> None:
    """A negation is one with either apostrophe."""
    assert keys(DATABASE if body.startswith("A") else GO, body) == ()


@pytest.mark.parametrize(
    "body", ["Yes, go ahead\nbut not on Fridays", "Yes\nI think so.\nActually no", "ok\n\nAfter lunch.\n\nNot before."]
)
def test_a_yes_that_is_taken_back_below(body: str) -> None:
    """A yes with a condition is not a plain yes, wherever the condition stands."""
    assert keys(GO, body) == ()


@pytest.mark.parametrize("question", [DATABASE, GO, FREE], ids=["choice", "yes/no", "freeform"])
@pytest.mark.parametrize("body", ["\u200b", "\u2060\ufeff", "\u200b\n\n\u200d", "\u00ad"], ids=ascii)
def test_invisible_words_are_none(question: Question, body: str) -> None:
    """A reply that shows nothing says nothing (row F9)."""
    assert read(question, body).unread is Unread.NOTHING_SAID


@pytest.mark.parametrize("body", ["- [ ] A\n- [ ] B", "* [ ] Size 1", "- [ ] **A** · Size 1"], ids=ascii)
def test_nothing_ticked_is_no_answer(body: str) -> None:
    """Zero boxes ticked is no answer at all, where several could be (row F8)."""
    assert read(ANY_OF_TWELVE, body).answer is None


@pytest.mark.parametrize("label", ["Accept", "Enough", "Adopt PostgreSQL"])
def test_a_label_that_is_a_command_too(label: str) -> None:
    """The exact label of an option chooses it, also when it reads like a command (row G22)."""
    question = ask("multiple_choice", [label, "Another"], allow_freeform=True)
    assert keys(question, label) == ("A",)


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("```\nkey: value\n```\nanswer: MariaDB", AnswerKind.TEXT, "MariaDB"),
        ("```sql\nSELECT B FROM t\n```\n\nB", AnswerKind.SELECTED, "```sql\nSELECT B FROM t\n```"),
    ],
    ids=ascii,
)
@wrong("the words beside an answer are cut at the first place that looks like it, which may be in the code above")
def test_code_above_the_answer(body: str, kind: AnswerKind, text: str) -> None:
    """Code shown before the answer is kept beside it and confuses nothing."""
    answer = read(DATABASE, body).answer
    assert answer is not None
    assert (answer.kind, answer.text) == (kind, text)


@pytest.mark.parametrize("body", ["We use `@nestjs/core` there", "Put `@Transactional` on it", "with\n\n``@x``"], ids=ascii)
def test_code_mentions_nobody(body: str) -> None:
    """What stands in inline code calls for nobody."""
    answer = read(DATABASE, body).answer
    assert answer is not None
    assert (answer.kind, answer.text) == (AnswerKind.TEXT, body)


@pytest.mark.parametrize("piece", ["- ", "zz ", "zz,"], ids=ascii)
def test_many_words_that_name_nothing(piece: str) -> None:
    """A long line is read at once when its first word already names no option."""
    question = ask("multi_select", ["PostgreSQL on the shared cluster", "SQLite beside the service", "Let the team decide"])
    began = time.perf_counter()
    read(question, piece * 2_000)
    assert time.perf_counter() - began < 0.08
