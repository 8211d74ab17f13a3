"""Which options a reply chooses: whole keys, numbers and labels in every dress, and nothing that merely resembles one."""

from typing import Any

import pytest

from bot.core.models import AnswerKind, Question
from bot.core.replies import Unread, read


def ask(kind: str, options: list[Any], **more: Any) -> Question:
    return Question.model_validate({"text": "Which?", "question_type": kind, "options": options, **more})


DATABASE = ask("multiple_choice", ["PostgreSQL", "SQLite", "Let the team decide"], allow_freeform=True)
PARTS = ask("multi_select", ["Web", "API", "Command line"], allow_freeform=True)
SIZES = [f"Size {n}" for n in range(1, 13)]
TWELVE = ask("multiple_choice", SIZES, allow_freeform=False)
ANY_OF_TWELVE = ask("multi_select", SIZES, allow_freeform=False)


def chosen(question: Question, body: str) -> tuple[str, ...] | AnswerKind | Unread | None:
    """The keys a reply chooses; else the kind of its answer; else why it is none."""
    reading = read(question, body)
    if reading.answer is None:
        return reading.unread
    return reading.answer.keys or reading.answer.kind


A_IN_MANY_FORMS = [
    *("A", "a", "A.", "A)", "(A)", "[A]", "{A}", "A:", "A,", "A!", "**A**", "*A*", "_A_", "__A__", "`A`", "'A'", '"A"', "“A”"),
    *("‘A’", "«A»", "„A“", " A ", "A\t", "\u00a0A\u00a0", "\n\nA\n\n", "- A", "* A", "+ A", "- [x] A", "- [X] A", "**A)**"),
    *("Ａ", "ａ", "（Ａ）", "Ａ）", "Ⓐ", "ⓐ", "🅐", "🅰", "🅰\ufe0f", "🄰", "🇦", "⒜", "𝐀", "𝒜", "𝔸"),
    *("A\u200b", "\u200dA", "\u2060A", "A\u2060", "\ufeffA", "A\u200e", "A\u00ad"),
    *("option A", "Option a", "answer A", "choice A", "A please", "A pls", "A thanks", "A thx", "**A** please"),
    *("1", "1.", "1)", "(1)", "[1]", "**1**", "`1`", "- 1", "01", "001", "option 1", "number 1", "1 please"),
    *("１", "①", "⑴", "⒈", "1\ufe0f\u20e3", "1\u20e3", "𝟏", "𝟙", "¹", "₁", "١", "१", "1\u2060"),
    *("PostgreSQL", "postgresql", "POSTGRESQL.", "**PostgreSQL**", "`PostgreSQL`", '"PostgreSQL"', "- PostgreSQL"),
    *("ＰｏｓｔｇｒｅＳＱＬ", "Postgre\u2060SQL", "\u2060Postgre\u2060SQL\u2060", "Post\u00adgreSQL", "PostgreSQL please"),
]


@pytest.mark.parametrize("body", A_IN_MANY_FORMS, ids=ascii)
def test_one_option_in_many_forms(body: str) -> None:
    """A key, number or label chooses its option in any case, decoration, script form, and with invisible signs in it."""
    assert chosen(DATABASE, body) == ("A",)


@pytest.mark.parametrize(
    "body",
    [
        *("Postgres", "Postgre SQL", "PostgreSQL 16", "PostgreSQLite", "SQL", "Let the team", "the team", "Lite"),
        *("AA", "A1", "1A", "A B C D", "1.5", "1-2", "option", "option A B", "#", "I like A", "please, A", "maybe A"),
        *("А", "Α", "ª b"),
        *("A or B", "A unless B", "either A or B", "A then B", "A vs. B"),
    ],
    ids=ascii,
)
def test_nothing_that_merely_resembles_an_option(body: str) -> None:
    """No prefix, no part, no near miss, no letter of another alphabet chooses: the reply is text, or asks again."""
    assert chosen(DATABASE, body) in (AnswerKind.TEXT, Unread.SEVERAL_ON_SINGLE, Unread.OUT_OF_RANGE, Unread.AMBIGUOUS)


@pytest.mark.parametrize(
    ("body", "result"),
    [
        *[(str(n), (chr(ord("A") + n - 1),)) for n in range(1, 13)],
        ("01", ("A",)),
        ("0012", ("L",)),
        ("①", ("A",)),
        ("⑫", ("L",)),
        ("Size 1", ("A",)),
        ("size 12", ("L",)),
        *[
            (body, Unread.OUT_OF_RANGE)
            for body in ("13", "0", "00", "111", "112", "9999", "10000", "1" * 400, "M", "z", "１３")
        ],
        *[(body, Unread.CHATTER) for body in ("Size 13", "Size", "Size 1 2", "1 of 12", "-1", "1e1", "1,5 of them", "twelve")],
    ],
    ids=ascii,
)
def test_one_is_not_a_prefix_of_ten(body: str, result: object) -> None:
    """With twelve options each number means its own option only, and a number or letter beyond them is said to be so."""
    assert chosen(TWELVE, body) == result


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("1,12", "AL"), ("1 2", "AB"), ("1 and 12", "AL"), ("12,1,1", "AL"), ("12;1", "AL"), ("1, 2, and 3", "ABC"),
        ("1\n12", "AL"), ("1\r\n12", "AL"), ("① ⑫", "AL"), ("１，１２".replace("，", ","), "AL"), ("Size 1, Size 12", "AL"),
        ("Size 12 and Size 1", "AL"), ("a b L", "ABL"), ("all", "ABCDEFGHIJKL"), ("01 / 012", "AL"), ("1 & 12 plus 2", "ABL"),
    ],
    ids=ascii,
)  # fmt: skip
def test_several_numbers(body: str, keys: str) -> None:
    """On a multi-select every number stands for itself; doubles are dropped and the options' own order is kept."""
    assert chosen(ANY_OF_TWELVE, body) == tuple(keys)


@pytest.mark.parametrize("body", ["1, 13", "13", "1 2 0", "M", "A, M", "112", "1\n13", "A and Z"])
def test_one_unknown_token_spoils_the_list(body: str) -> None:
    """A list in which one number or letter is out of range chooses nothing."""
    assert chosen(ANY_OF_TWELVE, body) is Unread.OUT_OF_RANGE


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("A", "A"), ("A.", "A"), ("Web", "A"), ("Command line", "C"), ("A,C", "AC"), ("A, C", "AC"), ("C A", "AC"), ("A;C",
        "AC"),
        ("A/C", "AC"), ("a & c", "AC"), ("A + C", "AC"), ("A and C", "AC"), ("A, B and C", "ABC"), ("A et C", "AC"),
        ("A und C", "AC"),
        ("**A**, **C**", "AC"), ("`A` `C`", "AC"), ("(A, C)", "AC"), ("Web, Command line", "AC"), ("Web and Command line",
        "AC"),
        ("web api", "AB"), ("A\nC", "AC"), ("- A\n- C", "AC"), ("* Web\n* API", "AB"), ("A, Web, 1", "A"),
        ("1\ufe0f\u20e3, 3\ufe0f\u20e3", "AC"),
        ("- [x] A\n- [ ] B\n- [x] C", "AC"), ("* [X] Web\n* [ ] API\n* [x] Command line", "AC"), ("+ [x] 2", "B"),
        ("- [x] **A** · Web\n- [ ] **B** · API\n- [x] **C** · Command line", "AC"), ("- [x] **C** · Com\u2060mand line", "C"),
        ("all", "ABC"), ("All of them", "ABC"), ("all of the above!", "ABC"), ("ALL", "ABC"), ("**all**", "ABC"),
        ("all, please", "ABC"),
    ],
    ids=ascii,
)  # fmt: skip
def test_several_options(body: str, keys: str) -> None:
    """Lists, words, ticked boxes and `all` choose exactly what they name."""
    assert chosen(PARTS, body) == tuple(keys)


@pytest.mark.parametrize(
    "body",
    [
        *(
            "all but B",
            "all except A",
            "all, not B",
            "everything",
            "both",
            "A to C",
            "A-C",
            "1-3",
            "A or C",
            "not A",
            "not A, C",
        ),
        *(
            "A and not B",
            "A, but not C",
            "A, C, not B",
            "A, C\nnot B",
            "A but not C",
            "- [ ] A\n- [ ] B",
            "- [ ] A",
            "Webs",
            "We",
        ),
    ],
)
def test_not_a_clear_list(body: str) -> None:
    """Exceptions, ranges, alternatives, empty boxes and near misses never choose on a multi-select."""
    assert not isinstance(chosen(PARTS, body), tuple)


@pytest.mark.parametrize(
    "body", ["A, C", "A C", "A and B", "A/B", "A;B", "A\nB", "A. B is worse", "1 2", "1 and 2", "B - or A"]
)
def test_two_options_on_a_single_choice(body: str) -> None:
    """Two options where one can be chosen choose none, and the person hears that it was not clear."""
    result = chosen(DATABASE, body)
    assert isinstance(result, Unread)
    assert result.asks_again


@pytest.mark.parametrize(
    "body", ["1, 2", "1; 2", "A, 2", "1. 2", "PostgreSQL, SQLite", "A) SQLite", "1. SQLite", "A\nSQLite", "PostgreSQL\nSQLite"]
)
def test_two_options_named_by_number_or_label(body: str) -> None:
    """Two options on a single choice choose none however they are named."""
    assert not isinstance(chosen(DATABASE, body), tuple)


@pytest.mark.parametrize(
    ("question", "body"),
    [
        pytest.param(DATABASE, "- [ ] A", id="single"),
        pytest.param(DATABASE, "* [ ] PostgreSQL", id="single, by label"),
        pytest.param(PARTS, "- [ ] A\nB", id="beside a plain line"),
    ],
)
def test_an_empty_box_chooses_nothing(question: Question, body: str) -> None:
    """A box that is not ticked never chooses what stands behind it."""
    result = chosen(question, body)
    assert not (isinstance(result, tuple) and "A" in result)


def test_the_numbers_of_a_list_are_not_choices() -> None:
    """In an ordered list of choices, its own numbers choose nothing: B was not named."""
    result = chosen(PARTS, "1. A\n2. C")
    assert not (isinstance(result, tuple) and "B" in result)


@pytest.mark.parametrize(
    ("question", "body"),
    [
        pytest.param(DATABASE, "~~A~~", id="key"),
        pytest.param(DATABASE, "~~PostgreSQL~~", id="label"),
        pytest.param(PARTS, "~~A~~ C", id="list"),
    ],
)
def test_struck_out_words_choose_nothing(question: Question, body: str) -> None:
    """What a person struck out is not what they chose."""
    result = chosen(question, body)
    assert not (isinstance(result, tuple) and "A" in result)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("A: it is there", "it is there"), ("A - it is there", "it is there"), ("A – it is there", "it is there"),
        ("A — it is there", "it is there"), ("A, it is there", "it is there"), ("A. It is there.", "It is there."),
        ("A) it is there", "it is there"), ("A; it is there", "it is there"), ("PostgreSQL: we know it", "we know it"),
        ("A\nit is there", "it is there"), ("A\n\nOne.\n\n* two\n* three", "One.\n\n* two\n* three"),
        ("A\n\nA plan for later", "A plan for later"), ("A: I like it", "I like it"), ("B, because of `x`", "because of `x`"),
        ("A\n```\nSELECT 1;\n```", "```\nSELECT 1;\n```"),
    ],
    ids=ascii,
)  # fmt: skip
def test_words_beside_a_choice(body: str, words: str) -> None:
    """What stands beside a choice is kept with it, as written."""
    answer = read(DATABASE, body).answer
    assert answer is not None
    assert (answer.kind, answer.keys, answer.text) == (AnswerKind.SELECTED, (body[0].replace("P", "A"),), words)


@pytest.mark.parametrize(
    ("label", "body"),
    [
        ("[A] Approve", "approve"), ("[A] Approve", "[A] Approve"), ("A) Approve", "Approve"), ("A) Approve", "A) Approve"),
        ("A - Approve", "approve"), ("Go - now", "now"), ("10) Ten", "ten"), ("é) Été", "été"), ("é) E\u0301te\u0301", "ÉTÉ"),
        ("@platform-team/core", "@platform-team/core"), ("@dana", "@dana"), ("Größe", "GRÖSSE"), ("C++", "c++"), ("none",
        "none"),
        ("yes, but later", "Yes, but later"), ("A and B", "a and b"), ("Use Redis?", "use redis?"), ("Salt & pepper",
        "salt & pepper"),
    ],
    ids=ascii,
)  # fmt: skip
def test_labels_with_something_in_front(label: str, body: str) -> None:
    """A label is named whole, or without its accelerator, whatever signs are in it."""
    question = ask("multiple_choice", [{"key": "X1", "label": label}, {"key": "X2", "label": "Another"}])
    assert chosen(question, body) == ("X1",)


@pytest.mark.parametrize("label", ["A-Approve", "A: Approve", "A. Approve", "A -Approve", "ABCD) Approve", "(A) Approve"])
def test_labels_without_an_accelerator(label: str) -> None:
    """What only looks like an accelerator is part of the label: the rest of it names nothing."""
    question = ask("multiple_choice", [{"key": "X1", "label": label}, {"key": "X2", "label": "Another"}])
    assert chosen(question, "Approve") is Unread.CHATTER
    assert chosen(question, label) == ("X1",)


def test_a_key_beats_a_number_and_a_number_beats_a_label() -> None:
    """The order is fixed: key, number, label."""
    question = ask("multiple_choice", [{"key": "2", "label": "3"}, {"key": "x", "label": "1"}, {"key": "y", "label": "a"}])
    assert [chosen(question, body) for body in ("1", "2", "3", "a", "x")] == [("2",), ("2",), ("y",), ("y",), ("x",)]


@pytest.mark.parametrize("body", ["Yes", "yes!", "**YES**"])
def test_two_labels_that_read_the_same(body: str) -> None:
    """A word that fits two labels chooses neither; their keys still do."""
    question = ask("multiple_choice", [{"key": "X1", "label": "Yes"}, {"key": "X2", "label": "yes!"}])
    assert chosen(question, body) is Unread.AMBIGUOUS
    assert chosen(question, "x2") == ("X2",)


@pytest.mark.parametrize("key", ["Ａ", "Ⅳ", "①"])
def test_a_key_in_a_compatibility_form(key: str) -> None:
    """Whatever was accepted as a key can be typed."""
    question = ask("multiple_choice", [{"key": "X1", "label": "One"}, {"key": key, "label": "Two"}])
    assert chosen(question, key) == (key,)
