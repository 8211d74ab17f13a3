"""What can be asked, and what is refused before anybody sees it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.core.question import APPROVAL_WORDS, OnDeadline, Option, Question, QuestionType

CHOICE: dict[str, Any] = {"question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
MULTI: dict[str, Any] = {"question_type": "multi_select", "options": ["Web", "API", "CLI"]}
FREE: dict[str, Any] = {"question_type": "freeform"}
YES_NO: dict[str, Any] = {"question_type": "yes_no"}
CONFIRMATION: dict[str, Any] = {"question_type": "confirmation"}


def ask(fields: dict[str, Any], **more: Any) -> Question:
    return Question.model_validate({"text": "Which database?", **fields, **more})


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        pytest.param(CHOICE, ("A", "B"), id="choice"),
        pytest.param(MULTI, ("A", "B", "C"), id="multi-select"),
        pytest.param(YES_NO, ("yes", "no"), id="yes/no has two fixed keys"),
        pytest.param(CONFIRMATION, ("yes", "no"), id="confirmation too"),
        pytest.param(FREE, (), id="freeform has none"),
    ],
)
def test_a_plain_question_of_each_type(fields: dict[str, Any], keys: tuple[str, ...]) -> None:
    """A question with nothing but its text, type and options is complete, and silence decides nothing in it."""
    question = ask(fields)
    assert question.keys == keys
    assert (question.recommended, question.default, question.timeout_seconds, question.allow_freeform) == ((), None, None, None)
    assert (question.on_deadline, question.stage, question.metadata, question.category) == (OnDeadline.WAIT, "", {}, None)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"text": "x" * 4_000}, id="text of 4,000"),
        pytest.param({"text": "  " + "x" * 4_000 + "\n\n"}, id="outer blanks do not count"),
        pytest.param({"text": "x\r\n" * 1_999 + "xy"}, id="a CRLF counts once"),
        pytest.param({"text": "\U0001f600" * 4_000}, id="4,000 signs, not bytes"),
        pytest.param({"options": [{"key": "A", "label": "x" * 200}]}, id="label of 200"),
        pytest.param({"options": [{"key": "A", "label": "x", "description": "y" * 500}]}, id="description of 500"),
        pytest.param({"options": [{"key": "A", "label": "x", "description": "one\ntwo"}]}, id="description on two lines"),
        pytest.param({"options": [{"key": "a1b2c3d4e5f6", "label": "x"}]}, id="key of 12"),
        pytest.param({"category": "price"}, id="a category"),
        pytest.param({"stage": "review", "metadata": {"ticket": 7}}, id="stage and metadata"),
        pytest.param({"timeout_seconds": 0.01}, id="a fraction of a second"),
    ],
)
def test_within_the_limits(more: dict[str, Any]) -> None:
    """Text up to the stated limits is accepted."""
    assert ask(CHOICE, **more).text


@pytest.mark.parametrize(
    ("more", "field"),
    [
        pytest.param({"text": "x" * 4_001}, "text", id="text of 4,001"),
        pytest.param({"text": ""}, "text", id="no text"),
        pytest.param({"text": " \r\n\t "}, "text", id="blank text"),
        pytest.param({"text": None}, "text", id="null text"),
        pytest.param({"text": "a\0b"}, "text", id="NUL in the text"),
        pytest.param({"text": "a\ud800b"}, "text", id="surrogate in the text"),
        pytest.param({"options": [{"key": "A", "label": "x" * 201}]}, "options.0.label", id="label of 201"),
        pytest.param({"options": [{"key": "A", "label": "one\ntwo"}]}, "options.0.label", id="label on two lines"),
        pytest.param({"options": [{"key": "A", "label": "one\r\ntwo"}]}, "options.0.label", id="label with CRLF"),
        pytest.param({"options": [{"key": "A", "label": "one\rtwo"}]}, "options.0.label", id="label with CR"),
        pytest.param({"options": [{"key": "A", "label": " "}]}, "options.0.label", id="blank label"),
        pytest.param({"options": [{"key": "A", "label": "a\0"}]}, "options.0.label", id="NUL in a label"),
        pytest.param({"options": [{"key": "A", "label": "\udfff"}]}, "options.0.label", id="surrogate in a label"),
        pytest.param({"options": [{"key": "A"}]}, "options.0.label", id="no label"),
        pytest.param(
            {"options": [{"key": "A", "label": "x", "description": "y" * 501}]},
            "options.0.description",
            id="description of 501",
        ),
        pytest.param(
            {"options": [{"key": "A", "label": "x", "description": "\0"}]}, "options.0.description", id="NUL in a description"
        ),
        pytest.param({"options": [{"key": "A" * 13, "label": "x"}]}, "options.0", id="key of 13"),
        pytest.param({"options": [{"key": "a b", "label": "x"}]}, "options.0", id="key with a blank"),
        pytest.param({"options": [{"key": "a,b", "label": "x"}]}, "options.0", id="key with a comma"),
        pytest.param({"options": [{"key": "a>b", "label": "x"}]}, "options.0", id="key with a sign"),
        pytest.param({"options": [{"key": 1, "label": "x"}]}, "options.0.key", id="key that is a number"),
        pytest.param(
            {"options": [{"key": "A", "label": "x", "colour": "red"}]}, "options.0.colour", id="mistyped in an option"
        ),
        pytest.param({"colour": "red"}, "colour", id="mistyped field"),
        pytest.param({"question_type": "poll"}, "question_type", id="unknown type"),
        pytest.param({"category": "two words"}, "category", id="category of two words"),
        pytest.param({"category": "-x"}, "category", id="category opening with a sign"),
        pytest.param({"timeout_seconds": 0}, "timeout_seconds", id="no time at all"),
        pytest.param({"timeout_seconds": -1}, "timeout_seconds", id="negative time"),
        pytest.param({"timeout_seconds": float("nan")}, "timeout_seconds", id="time not a number"),
        pytest.param({"timeout_seconds": float("inf")}, "timeout_seconds", id="endless time"),
        pytest.param({"on_deadline": "guess"}, "on_deadline", id="unknown deadline rule"),
    ],
)
def test_beyond_the_limits(more: dict[str, Any], field: str) -> None:
    """Whatever breaks a limit is refused, and the refusal names the field."""
    with pytest.raises(ValidationError) as refused:
        ask(CHOICE, **more)
    assert field in {".".join(str(part) for part in error["loc"]) for error in refused.value.errors()}


@pytest.mark.parametrize(
    ("fields", "more"),
    [
        pytest.param(CHOICE, {"options": []}, id="choice without options"),
        pytest.param(MULTI, {"options": ()}, id="multi-select without options"),
        pytest.param(YES_NO, {"options": ["Sure"]}, id="yes/no with options"),
        pytest.param(CONFIRMATION, {"options": ["Sure"]}, id="confirmation with options"),
        pytest.param(FREE, {"options": ["Sure"]}, id="freeform with options"),
        pytest.param(CHOICE, {"options": "AB"}, id="options as one text"),
        pytest.param(CHOICE, {"options": [{"key": "A", "label": "x"}, {"key": "A", "label": "y"}]}, id="the same key twice"),
        pytest.param(CHOICE, {"options": [{"key": "a", "label": "x"}, {"key": "A", "label": "y"}]}, id="the same in capitals"),
        pytest.param(CHOICE, {"options": [{"key": "ß", "label": "x"}, {"key": "SS", "label": "y"}]}, id="the same, folded"),
    ],
)
def test_options_fit_the_type(fields: dict[str, Any], more: dict[str, Any]) -> None:
    """Choices need options with keys that differ in more than case; other types take none."""
    with pytest.raises(ValidationError):
        ask(fields, **more)


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        pytest.param(["x", "y", "z"], ("A", "B", "C"), id="bare labels"),
        pytest.param([{"label": "x"}, {"label": "y"}], ("A", "B"), id="no keys"),
        pytest.param([{"key": None, "label": "x"}, {"key": "", "label": "y"}], ("A", "B"), id="null and empty keys"),
        pytest.param(["x", {"key": "A", "label": "y"}, "z"], ("B", "A", "C"), id="a taken letter is skipped"),
        pytest.param([{"key": "b", "label": "x"}, "y", "z"], ("b", "A", "C"), id="taken in lower case"),
        pytest.param([{"key": "1", "label": "x"}, "y"], ("1", "A"), id="numbers take no letter"),
        pytest.param(
            [Option(key="A", label="x"), "y"],
            ("A", "B"),
            id="a ready option beside a label",
        ),
    ],
)
def test_missing_keys_are_filled(options: list[Any], keys: tuple[str, ...]) -> None:
    """Options without a key get the next free letter, in order."""
    assert ask(CHOICE, options=options).keys == keys


@pytest.mark.parametrize("count", [1, 5, 6, 26])
def test_the_model_does_not_limit_choice(count: int) -> None:
    """How many options fit is the channel's business: the model takes one as well as twenty-six."""
    assert len(set(ask(CHOICE, options=[f"Choice {n}" for n in range(count)]).keys)) == count


@pytest.mark.parametrize("count", [27, 60, 300])
def test_keys_do_not_run_out(count: int) -> None:
    """More options than there are letters get keys of their own too."""
    assert len({key.casefold() for key in ask(CHOICE, options=[f"Choice {n}" for n in range(count)]).keys}) == count


def test_many_options_with_keys_of_their_own() -> None:
    """Two hundred options are a question like any other."""
    options = [{"key": f"k{n}", "label": f"Choice {n}"} for n in range(200)]
    assert len(ask(CHOICE, options=options).keys) == 200


@pytest.mark.parametrize("word", sorted(APPROVAL_WORDS))
def test_approvals_are_refused(word: str) -> None:
    """An approval of an action is never a question, whether it says so by type or by category."""
    with pytest.raises(ValidationError, match="approval"):
        ask({"question_type": word})
    with pytest.raises(ValidationError, match="approval"):
        ask(YES_NO, category=word)


@pytest.mark.parametrize("word", ["Approval", "TOOL_APPROVAL", "Action"])
def test_approvals_are_refused_in_any_case(word: str) -> None:
    """Capitals do not turn an approval into a question."""
    with pytest.raises(ValidationError, match="approval"):
        ask(YES_NO, category=word)


@pytest.mark.parametrize(
    ("fields", "recommended"),
    [
        pytest.param(CHOICE, ["A"], id="one on a choice"),
        pytest.param(MULTI, ["A", "C"], id="several on a multi-select"),
        pytest.param(MULTI, ["A", "B", "C"], id="all on a multi-select"),
        pytest.param(YES_NO, ["no"], id="no"),
        pytest.param(CONFIRMATION, ["yes"], id="yes"),
        pytest.param(FREE, [], id="nothing"),
    ],
)
def test_recommended(fields: dict[str, Any], recommended: list[str]) -> None:
    """What is recommended names keys of the question: one, or any subset of a multi-select."""
    assert ask(fields, recommended=recommended).recommended == tuple(recommended)


@pytest.mark.parametrize(
    ("fields", "recommended"),
    [
        pytest.param(CHOICE, ["A", "B"], id="two on a single choice"),
        pytest.param(YES_NO, ["yes", "no"], id="yes and no"),
        pytest.param(CHOICE, ["C"], id="no such key"),
        pytest.param(CHOICE, ["PostgreSQL"], id="a label"),
        pytest.param(CHOICE, ["a"], id="another case"),
        pytest.param(MULTI, ["A", "D"], id="one known, one not"),
        pytest.param(YES_NO, ["A"], id="a letter on yes/no"),
        pytest.param(FREE, ["A"], id="anything on freeform"),
    ],
)
def test_recommended_is_refused(fields: dict[str, Any], recommended: list[str]) -> None:
    """A recommendation of something that cannot be chosen, or of two things where one can, is refused."""
    with pytest.raises(ValidationError, match="recommended"):
        ask(fields, recommended=recommended)


@pytest.mark.parametrize(
    ("fields", "default"),
    [
        pytest.param(CHOICE, "B", id="a key of a choice"),
        pytest.param(MULTI, ("A", "C"), id="keys of a multi-select"),
        pytest.param(YES_NO, "no", id="no"),
        pytest.param(CONFIRMATION, "yes", id="yes"),
        pytest.param(FREE, "Use MySQL.\nWith replicas.", id="a text"),
        pytest.param(FREE, "x" * 500, id="a text of 500"),
    ],
)
def test_defaults(fields: dict[str, Any], default: str | tuple[str, ...]) -> None:
    """A default is what could have been answered, in the shape its type answers with."""
    assert ask(fields, default=default, timeout_seconds=60, on_deadline="use_default").default == default


@pytest.mark.parametrize(
    ("fields", "default"),
    [
        pytest.param(CHOICE, "D", id="no such key"),
        pytest.param(CHOICE, "PostgreSQL", id="a label"),
        pytest.param(CHOICE, ["A"], id="a list on a single choice"),
        pytest.param(CHOICE, "", id="empty"),
        pytest.param(MULTI, "A", id="one key on a multi-select"),
        pytest.param(MULTI, [], id="an empty list"),
        pytest.param(MULTI, ["A", "D"], id="one known, one not"),
        pytest.param(YES_NO, "maybe", id="neither yes nor no"),
        pytest.param(YES_NO, "A", id="a letter on yes/no"),
        pytest.param(FREE, "", id="no text"),
        pytest.param(FREE, " \n", id="blank text"),
        pytest.param(FREE, "x" * 501, id="a text of 501"),
        pytest.param(FREE, ["A"], id="a list on freeform"),
    ],
)
def test_defaults_are_refused(fields: dict[str, Any], default: Any) -> None:
    """A default that nobody could have answered is refused."""
    with pytest.raises(ValidationError, match="default"):
        ask(fields, default=default)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="neither"),
        pytest.param({"default": "A"}, id="no time"),
        pytest.param({"timeout_seconds": 60}, id="no default"),
    ],
)
def test_using_a_default_needs_one_and_a_time(more: dict[str, Any]) -> None:
    """Silence is consent only to a default that was declared, at a time that was declared."""
    with pytest.raises(ValidationError, match="use_default"):
        ask(CHOICE, on_deadline="use_default", **more)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param("one\r\ntwo", "one\ntwo", id="CRLF"),
        pytest.param("one\rtwo", "one\ntwo", id="lone CR"),
        pytest.param("one\r\n\r\ntwo\rthree", "one\n\ntwo\nthree", id="mixed"),
        pytest.param("\r\n  one \t\r\n", "one", id="outer blanks"),
        pytest.param("one  \n  two", "one  \n  two", id="inner blanks stay"),
    ],
)
def test_one_kind_of_line_end(given: str, kept: str) -> None:
    """Texts come out with LF only and without outer blanks, as GitLab stores them."""
    question = ask(CHOICE, text=given, options=[{"key": "A", "label": " x\r\n", "description": given}])
    assert (question.text, question.options[0].label, question.options[0].description) == (kept, "x", kept)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({**FREE, "default": "a\0b"}, id="NUL in a default"),
        pytest.param({**FREE, "default": "a\ud800b"}, id="surrogate in a default"),
        pytest.param({**FREE, "stage": "a\0b"}, id="NUL in the stage"),
        pytest.param({**FREE, "stage": "a\ud800b"}, id="surrogate in the stage"),
        pytest.param({**FREE, "metadata": {"note": "a\0b"}}, id="NUL in metadata"),
        pytest.param({**FREE, "metadata": {"a\ud800b": 1}}, id="surrogate in metadata"),
    ],
)
def test_nothing_that_no_database_can_hold(more: dict[str, Any]) -> None:
    """NUL and unpaired surrogates are refused wherever a question holds text."""
    with pytest.raises(ValidationError):
        ask(more)


def test_values_do_not_change() -> None:
    """A question is a value: nothing can be assigned to it."""
    question = ask(CHOICE)
    with pytest.raises(ValidationError):
        question.text = "another"


def test_labels_in_the_order_asked_for() -> None:
    """Labels are given for the keys that exist, in the order they are named."""
    assert ask(MULTI).labels(("C", "X", "A")) == ("CLI", "Web")


@given(st.sampled_from([CHOICE, MULTI, FREE, YES_NO, CONFIRMATION]), st.text(max_size=200), st.text(max_size=60))
def test_any_text_is_taken_or_refused(fields: dict[str, Any], text: str, label: str) -> None:
    """Any text is either refused or kept: it survives JSON both ways, and asking it again gives the same question."""
    options = {"options": [label, "another"]} if QuestionType(fields["question_type"]).has_options else {}
    try:
        question = ask(fields, text=text, **options)
    except ValidationError:
        return
    assert Question.model_validate_json(question.model_dump_json()) == question
    assert ask(fields, text=question.text, **options) == question
