"""The hidden line: what was sealed is read back, and everything else is told from it without ever raising."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.templates import Templates
from bot.core.models import AnswerKind
from bot.core.neutral import neutralise
from bot.core.payload import (
    MARKER,
    MAX_LINE,
    Asked,
    Damaged,
    Newer,
    NoteKind,
    NotOurs,
    Ours,
    Payload,
    Relayed,
    asked,
    decode,
    seal,
)
from bot.core.question import OnDeadline, Option, Question, QuestionType

KEY, OLD_KEY, STRANGE_KEY = b"k" * 32, b"o" * 32, b"s" * 32
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TEMPLATES = Templates()

SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), min_size=1, max_size=60)
LABELS = st.one_of(LINES, LINES.map(lambda text: (text * 200)[:200])).map(str.strip).filter(bool)
TEXTS = st.one_of(
    st.text(SIGNS, min_size=1, max_size=200), st.text(SIGNS, min_size=1, max_size=40).map(lambda t: (t * 4_000)[:4_000])
)
WORDS = TEXTS.map(str.strip).filter(bool)


def payload_of(question: Question | None = None, **fields: Any) -> Payload:
    common = {
        "instance": "https://gitlab.example.com",
        "project": 77,
        "item": 12,
        "run": "run_7f3c",
        "flow": "plan",
        "owner": 201,
    }
    kind = {"round": 1, "effect": "ask:q_01", "kind": NoteKind.QUESTION, "question": "q_01"}
    return Payload(**{**common, **kind, "asked": None if question is None else asked(question), **fields})


def card_of(question: Question) -> str:
    return TEMPLATES.note("question", {"question": question, "position": 1, "total": 3, "flow": "plan", "mention": "dana"})


def choice(*labels: str, **fields: Any) -> Question:
    return Question(text="Which database?", question_type=QuestionType.MULTIPLE_CHOICE, options=labels, **fields)


def last_line(note: str) -> str:
    return note.rsplit("\n", 1)[-1]


def carried(question: Question | None) -> dict[str, Any]:
    """The fields of a question that a payload carries, as values that compare."""
    assert question is not None
    fields = question.model_dump(include={"text", "question_type", "recommended", "allow_freeform", "category", "default"})
    return {**fields, "options": [(option.key, option.label) for option in question.options]}


@st.composite
def questions(draw: st.DrawFn) -> Question:
    kind = draw(st.sampled_from(QuestionType))
    options = tuple(draw(st.lists(LABELS, min_size=1, max_size=5))) if kind.has_options else ()
    bare = Question(text=draw(WORDS), question_type=kind, options=options)
    some_keys = [key for key in bare.keys if draw(st.booleans())]
    recommended = some_keys if kind is QuestionType.MULTI_SELECT else some_keys[:1]
    default: Any = None
    if some_keys and draw(st.booleans()):
        default = some_keys if kind is QuestionType.MULTI_SELECT else some_keys[-1]
    descriptions = [draw(st.none() | LABELS) for _ in bare.options]
    return Question.model_validate(
        {
            **bare.model_dump(),
            "options": [
                {**option.model_dump(), "description": description}
                for option, description in zip(bare.options, descriptions, strict=True)
            ],
            "recommended": recommended,
            "default": default,
            "allow_freeform": draw(st.none() | st.booleans()),
            "category": draw(st.none() | st.sampled_from(["price", "naming"])),
        }
    )


@given(questions(), st.none() | st.just(NOON), st.sampled_from(OnDeadline))
def test_a_question_is_read_back(question: Question, deadline: datetime | None, on_deadline: OnDeadline) -> None:
    """Every carried field of a question of any type and length comes back from its note."""
    sent = payload_of(question)
    assert sent.asked is not None
    sent = sent.model_copy(update={"asked": sent.asked.model_copy(update={"deadline": deadline, "on_deadline": on_deadline})})
    read = decode(seal(card_of(question), sent, KEY), [KEY])
    assert isinstance(read, Ours)
    assert carried(read.question) == carried(question)
    assert read.payload.model_copy(update={"asked": None}) == sent.model_copy(update={"asked": None})
    assert read.payload.asked is not None
    assert (read.payload.asked.deadline, read.payload.asked.on_deadline) == (deadline, on_deadline)


@given(questions())
def test_the_note_is_safe_to_store(question: Question) -> None:
    """The payload is one short last line that can neither close its comment nor act, and the card keeps its text."""
    card = card_of(question)
    note = seal(card, payload_of(question), KEY)
    visible, line = note.rsplit("\n\n", 1)
    assert visible == card.rstrip()
    assert line.startswith(f"{MARKER}1 {{")
    assert line.endswith("} -->")
    assert not set(line[len(MARKER) : -len(" -->")]) & set("<>&-\n\r\u2028\u2029\u2060")
    assert len(line.encode()) <= MAX_LINE
    assert note.count(MARKER) == 1
    assert not any(text.startswith("/") for text in note.split("\n"))


@pytest.mark.parametrize("more", ["", "x" * 3_000], ids=["short", "long"])
def test_the_same_note_twice(more: str) -> None:
    """Sealing again gives the same bytes, so a restored card is the card that was posted (case B26)."""
    notes = []
    for _ in range(2):
        question = choice(*AWKWARD, metadata={"ticket": 7}).model_copy(update={"text": f"Which flow? {more}".strip()})
        notes.append(seal(card_of(question), payload_of(question), KEY))
    assert notes[0] == notes[1]


@given(questions(), st.sampled_from(["as sent", "no CR, right-stripped", "CRLF", "CRLF in the card only", "blanks behind"]))
def test_as_gitlab_stores_it(question: Question, form: str) -> None:
    """GitLab deletes CR and right-strips, clients send CRLF: the note is still ours and says the same."""
    note = seal(card_of(question), payload_of(question), KEY)
    visible, line = note.rsplit("\n\n", 1)
    stored = {
        "as sent": note,
        "no CR, right-stripped": note.replace("\r", "").rstrip(),
        "CRLF": note.replace("\n", "\r\n"),
        "CRLF in the card only": visible.replace("\n", "\r\n") + "\r\n\r\n" + line,
        "blanks behind": f"{note} \r\n\n",
    }[form]
    read = decode(stored, [KEY])
    assert isinstance(read, Ours)
    assert carried(read.question) == carried(question)


AWKWARD = (
    "Keep the A --> B flow",
    "Close with --!> as today",
    'Say "no" \\ and go on <!-- for now',
    "Größe \U0001f600 \u2028 und 100 %",
)


@pytest.mark.parametrize("more", ["", "x" * 3_000], ids=["carried in the line", "read back from the card"])
def test_awkward_labels(more: str) -> None:
    """Labels with arrows, comment signs, quotes and line separators are read back byte for byte (case B26)."""
    question = choice(*AWKWARD).model_copy(update={"text": f"Which flow? {more}".strip()})
    note = seal(card_of(question), payload_of(question), KEY)
    read = decode(note, [KEY])
    assert isinstance(read, Ours)
    assert read.question is not None
    assert tuple(option.label for option in read.question.options) == AWKWARD
    assert read.question.text == question.text
    assert ("Keep the A" in last_line(note)) is not bool(more)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(choice("A", "A)", "a", "**A**"), id="labels that stand elsewhere in the card"),
        pytest.param(choice("Which database?", "Question 1 of 3", "(recommended)"), id="labels that repeat the card"),
        pytest.param(choice("B", "A", recommended=("A",)), id="labels that are other options' keys"),
        pytest.param(choice("@platform-team/core", "@dana", "none"), id="mentions"),
        pytest.param(choice("/close", "<!-- hitl:1 {} -->", "`#12`"), id="what would act"),
        pytest.param(
            Question(
                text="Which?",
                question_type=QuestionType.MULTI_SELECT,
                options=(
                    Option(key="pg", label="PostgreSQL", description="see /docs\nand <b>this</b>"),
                    Option(key="2", label="x"),
                ),
                recommended=("pg", "2"),
                default=("2",),
            ),
            id="own keys, a description, a default",
        ),
    ],
)
@pytest.mark.parametrize("more", ["", "y" * 2_500], ids=["short", "long"])
def test_labels_are_found_where_they_stand(question: Question, more: str) -> None:
    """A label that also stands elsewhere in the card is still read back as itself."""
    question = question.model_copy(update={"text": f"{question.text}\n\n{more}".strip()})
    read = decode(seal(card_of(question), payload_of(question), KEY), [KEY])
    assert isinstance(read, Ours)
    assert carried(read.question) == carried(question)


@pytest.mark.parametrize("sign", ["x", "漢", pytest.param("-"), pytest.param("\U0001f600")], ids=ascii)
def test_the_longest_default(sign: str) -> None:
    """The longest default a free-text question may have does not keep it from being posted."""
    question = Question(text="Anything else?", question_type=QuestionType.FREEFORM, default=sign * 500)
    read = decode(seal(card_of(question), payload_of(question), KEY), [KEY])
    assert isinstance(read, Ours)
    assert carried(read.question) == carried(question)


@pytest.mark.parametrize(
    ("card", "fields"),
    [
        pytest.param(f"Look: {MARKER}1 {{}} -->", {}, id="a card with a marker"),
        pytest.param("A card", {"flow": "f" * 3_000}, id="fields that alone are too long"),
    ],
)
def test_what_cannot_be_sealed(card: str, fields: dict[str, Any]) -> None:
    """Two payloads in one note, or one over 2 kB, are refused when writing."""
    with pytest.raises(ValueError, match=r"marker|over 2048 bytes"):
        seal(card, payload_of(**fields), KEY)


CARD = card_of(choice("PostgreSQL", "SQLite"))
NOTE = seal(CARD, payload_of(choice("PostgreSQL", "SQLite")), KEY)
LINE = last_line(NOTE)


def with_fields(change: Callable[[dict[str, Any]], Any]) -> str:
    """`NOTE` with its JSON changed and its mac left as it was."""
    fields = json.loads(LINE.removeprefix(f"{MARKER}1 ").removesuffix(" -->"))
    changed = change(fields)
    return f"{CARD}\n\n{MARKER}1 {json.dumps(fields if changed is None else changed)} -->"


@pytest.mark.parametrize(
    ("body", "read"),
    [
        pytest.param(NOTE, Ours, id="as written"),
        pytest.param(with_fields(lambda fields: None), Ours, id="the same JSON, spelled otherwise"),
        pytest.param("", NotOurs, id="nothing"),
        pytest.param(CARD, NotOurs, id="a card without its payload"),
        pytest.param("B) SQLite", NotOurs, id="a reply"),
        pytest.param("<!-- clarify:v1 {} -->", NotOurs, id="another bot's comment"),
        pytest.param("<!--hitl:1 {}-->", NotOurs, id="not quite the marker"),
        pytest.param(seal(CARD, payload_of(choice("PostgreSQL", "SQLite")), STRANGE_KEY), Damaged, id="a forged mac"),
        pytest.param(NOTE.replace("SQLite", "MySQL", 1), Damaged, id="an edited label on the card"),
        pytest.param(NOTE.replace("**A**", "**B**", 1), Damaged, id="an edited key on the card"),
        pytest.param(f"Edited: {NOTE}", Damaged, id="words before the card"),
        pytest.param(NOTE.replace("\n\n<!--", " \u00ad\n\n<!--", 1), Damaged, id="an invisible sign on the card"),
        pytest.param(LINE, Damaged, id="the payload alone"),
        pytest.param(NOTE.replace('"project":77', '"project":78'), Damaged, id="another project"),
        pytest.param(NOTE.replace(LINE, LINE[:-4]), Damaged, id="a line without its end"),
        pytest.param(NOTE[:-60], Damaged, id="a line cut in the mac"),
        pytest.param(NOTE[: NOTE.index(MARKER) + len(MARKER)], Damaged, id="only the marker left"),
        pytest.param(NOTE.replace(MARKER, f"> {MARKER}"), Damaged, id="a quoted payload"),
        pytest.param(NOTE.replace(MARKER, f" {MARKER}"), Damaged, id="an indented payload"),
        pytest.param(f"{NOTE}\n\nP.S.", Damaged, id="words below the payload"),
        pytest.param(f"{NOTE} ok", Damaged, id="words behind the payload"),
        pytest.param(f"{LINE}\n\n{CARD}", Damaged, id="the payload above the card"),
        pytest.param(f"{NOTE}\n{LINE}", Damaged, id="two payloads"),
        pytest.param(f"{NOTE}\n\n{NOTE}", Damaged, id="the note twice"),
        pytest.param(f"{MARKER}1 {{}} -->\n\n{NOTE}", Damaged, id="a second payload above"),
        pytest.param(NOTE.replace("hitl:1", "hitl:2"), Newer, id="format 2"),
        pytest.param(f"{MARKER}999999 whatever -->", Newer, id="a format far off"),
        pytest.param(NOTE.replace("hitl:1", "hitl:9999999"), Damaged, id="a number no format has"),
        pytest.param(NOTE.replace("hitl:1", "hitl:x"), Damaged, id="no format number"),
        pytest.param(NOTE.replace("hitl:1", "hitl:"), Damaged, id="no format at all"),
        pytest.param(f"{CARD}\n\n{MARKER}1 not json -->", Damaged, id="not JSON"),
        pytest.param(f"{CARD}\n\n{MARKER}1  -->", Damaged, id="empty JSON"),
        pytest.param(f"{CARD}\n\n{MARKER}1 -->", Damaged, id="no JSON"),
        pytest.param(f"{CARD}\n\n{MARKER}1 {{}} -->", Damaged, id="no fields"),
        pytest.param(f'{CARD}\n\n{MARKER}1 {{"mac":1}} -->', Damaged, id="a mac that is a number"),
        pytest.param(f'{CARD}\n\n{MARKER}1 {{"mac":null}} -->', Damaged, id="a mac that is null"),
        pytest.param(f'{CARD}\n\n{MARKER}1 {{"mac":"\\ud800"}} -->', Damaged, id="a mac that is no text"),
        pytest.param(f'{CARD}\n\n{MARKER}1 {{"mac":"é"}} -->', Damaged, id="a mac outside ASCII"),
        pytest.param(f"{CARD}\n\n{MARKER}1 [] -->", Damaged, id="an array"),
        pytest.param(f"{CARD}\n\n{MARKER}1 null -->", Damaged, id="null"),
        pytest.param(f"{CARD}\n\n{MARKER}1 {'9' * 1_990} -->", Damaged, id="a number of 1,990 digits"),
        pytest.param(f'{CARD}\n\n{MARKER}1 {{"mac":"x","n":NaN}} -->', Damaged, id="no number"),
        pytest.param(f'{CARD}\n\n{MARKER}1 {{"mac":"x","a":"\\ud800"}} -->', Damaged, id="a field that is no text"),
        pytest.param(f"{CARD}\n\n{MARKER}1 {'[' * 1_990} -->", Damaged, id="deep and unclosed"),
        pytest.param(f"{CARD}\n\n{MARKER}1 {'[' * 990}{']' * 990} -->", Damaged, id="deep"),
        pytest.param(f'{CARD}\n\n{MARKER}1 {{"mac":"{"x" * 2_048}"}} -->', Damaged, id="a line of over 2 kB"),
        pytest.param(MARKER * 105_000, Damaged, id="a megabyte of markers"),
        pytest.param((MARKER + "1 {} -->\n") * 50_000, Damaged, id="a megabyte of payloads"),
        pytest.param("x" * 1_000_000 + f"\n\n{LINE}", Damaged, id="a megabyte of card"),
        pytest.param("<!-- hitl" * 110_000, NotOurs, id="a megabyte of near markers"),
        pytest.param("\n" * 1_000_000 + MARKER, Damaged, id="a megabyte of line breaks"),
    ],
)
@pytest.mark.timeout(10)
def test_what_a_note_is(body: str, read: type) -> None:
    """Each note is ours, not ours, damaged or newer; nothing raises, and size does not matter."""
    assert isinstance(decode(body, [KEY]), read)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(
            text,
        )
        for text in ("0", "01", "000001", "\u0661")
    ],
    ids=ascii,
)
def test_only_format_1_is_format_1(number: str) -> None:
    """A format number that was never written is a changed payload."""
    assert isinstance(decode(NOTE.replace("hitl:1", f"hitl:{number}"), [KEY]), Damaged)


def test_no_depth_of_json_raises() -> None:
    """JSON nested to any depth that fits into a line is damaged, no more."""
    for depth in range(1, 1_000):
        nested = f'{{"mac":"x","a":{"[" * depth}{"]" * depth}}}'
        assert isinstance(decode(f"{CARD}\n\n{MARKER}1 {nested} -->", [KEY]), Damaged)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("instance", "https://other.example.com"), ("project", 78), ("item", 13), ("run", "run_other"), ("flow", "deploy")],
        *[("owner", 202), ("round", 2), ("effect", "ask:q_02"), ("kind", "answer"), ("question", "q_02"), ("mac", "0" * 64)],
        *[("relayed", {"question": "q_01", "person": 201, "kind": "text"}), ("asked", None), ("extra", 1)],
    ],
    ids=ascii,
)
def test_every_field_is_signed(field: str, value: object) -> None:
    """A change of any field, or one more field, is noticed."""
    changed = with_fields(lambda fields: fields.update({field: value}))
    assert isinstance(decode(changed, [KEY]), Damaged)


@pytest.mark.parametrize("field", ["text", "question_type", "options", "recommended"])
def test_every_part_of_the_question_is_signed(field: str) -> None:
    """What is asked cannot be changed behind the card either."""
    changed = with_fields(lambda fields: fields["asked"].update({field: "multi_select"}))
    assert isinstance(decode(changed, [KEY]), Damaged)


@pytest.mark.parametrize(
    ("keys", "read"),
    [
        pytest.param([KEY], Ours, id="the key it was signed with"),
        pytest.param([OLD_KEY, KEY], Ours, id="after rotation"),
        pytest.param([KEY, OLD_KEY], Ours, id="before rotation"),
        pytest.param([STRANGE_KEY, OLD_KEY, KEY], Ours, id="any of several"),
        pytest.param([OLD_KEY], Damaged, id="another key"),
        pytest.param([KEY[:-1]], Damaged, id="part of the key"),
        pytest.param([], Damaged, id="no key"),
    ],
)
def test_key_rotation(keys: list[bytes], read: type) -> None:
    """Any of the configured keys verifies; none of them means the note is not trusted."""
    assert isinstance(decode(NOTE, keys), read)


def test_newer_names_the_format() -> None:
    """A note of a later version says which format it has."""
    assert decode(NOTE.replace("hitl:1", "hitl:7"), [KEY]) == Newer(7)


@pytest.mark.parametrize("kind", list(NoteKind))
def test_every_kind_of_note(kind: NoteKind) -> None:
    """Notes that ask nothing carry a payload as well, with no question in it."""
    sent = payload_of(kind=kind, question=None, effect=f"{kind}:1")
    assert decode(seal("The flow goes on.", sent, KEY), [KEY]) == Ours(sent, None)


def relay(words: str | None, kind: AnswerKind, keys: tuple[str, ...] = ()) -> tuple[str, Payload]:
    """The card of an `answer` note as it shows a person's words, and its payload."""
    said = {"reason": words} if kind is AnswerKind.REJECTED else {"text": words}
    given = Relayed(question="q_01", person=201, kind=kind, keys=keys, **said)
    card = f"**Dana** answered on the page:\n\n{neutralise(words or ', '.join(keys))}"
    return card, payload_of(kind=NoteKind.ANSWER, effect="answer:9", relayed=given)


@pytest.mark.parametrize(
    ("kind", "keys", "words"),
    [
        pytest.param(AnswerKind.SELECTED, ("B",), None, id="a choice"),
        pytest.param(AnswerKind.SELECTED, ("B",), "we have it already", id="a choice with a remark"),
        pytest.param(AnswerKind.MULTI_SELECTED, ("A", "C"), None, id="several"),
        pytest.param(AnswerKind.YES, ("yes",), None, id="yes"),
        pytest.param(AnswerKind.TEXT, (), "MySQL, as everywhere else", id="own words"),
        pytest.param(AnswerKind.TEXT, (), "one\n\n  two\n/close\n- @dana <!-- hitl:1 {} -->", id="own words that would act"),
        pytest.param(AnswerKind.REJECTED, (), "the contract\n\n* clause 4\n* clause 9", id="a rejection with its reason"),
        pytest.param(AnswerKind.TEXT, (), "long\n\n  words\n\n" * 1_000 + "end", id="15 kB of words"),
        pytest.param(AnswerKind.REJECTED, (), "漢 --> <b> \\ " * 1_000 + "end", id="a long reason"),
        pytest.param(AnswerKind.TEXT, (), "one\r\ntwo " * 500 + "end", id="long with CRLF"),
    ],
)
def test_relayed_answers(kind: AnswerKind, keys: tuple[str, ...], words: str | None) -> None:
    """What the bot posts for a person is read back as that person's answer, however long their words."""
    card, sent = relay(words, kind, keys)
    note = seal(card, sent, KEY)
    assert decode(note, [KEY]) == Ours(sent, None)
    assert decode(note.replace("\n", "\r\n"), [KEY]) == Ours(sent, None)
    assert len(last_line(note).encode()) <= MAX_LINE


@given(WORDS, st.sampled_from([AnswerKind.TEXT, AnswerKind.REJECTED]))
def test_any_relayed_words(words: str, kind: AnswerKind) -> None:
    """Any words of a person survive the way through a note, and their card acts on nothing."""
    card, sent = relay(words, kind)
    note = seal(card, sent, KEY)
    assert decode(note, [KEY]) == Ours(sent, None)
    assert note.count(MARKER) == 1


FRAGMENTS = [
    MARKER,
    f"{MARKER}1 ",
    f"{MARKER}2 ",
    " -->",
    "\n",
    "\r\n",
    "\n\n",
    CARD,
    LINE,
    NOTE,
    '{"mac":"',
    '"}',
    "{}",
    "[",
    "\ud800",
    "\0",
]


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=20), max_size=12).map("".join))
def test_any_text_is_decoded(body: str) -> None:
    """No text raises, and only what was sealed is ours."""
    read = decode(body, [KEY])
    assert isinstance(read, (Ours, NotOurs, Damaged, Newer))
    assert not isinstance(read, Ours) or read == decode(NOTE, [KEY])
    assert isinstance(read, NotOurs) is (MARKER not in body)


@given(st.data())
def test_a_changed_note_never_says_something_else(data: st.DataObject) -> None:
    """After any change a note is damaged, or newer, or not ours, or it says exactly what it said before."""
    note = NOTE
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(note)))
        gone = data.draw(st.integers(0, 3))
        note = note[:at] + data.draw(st.text(max_size=3) | st.sampled_from(FRAGMENTS[:8])) + note[at + gone :]
    read = decode(note, [KEY])
    assert not isinstance(read, Ours) or read == decode(NOTE, [KEY])


@pytest.mark.parametrize("carrier", ["question", "relayed"])
@pytest.mark.parametrize(
    "place",
    [
        pytest.param((-5, 3), id="before the card"),
        pytest.param((2, -3), id="backwards"),
        pytest.param((0, 10**6), id="longer than the card"),
        pytest.param((len("A card.") - 1, 2), id="one sign too far"),
    ],
)
def test_a_place_outside_the_card(place: tuple[int, int], carrier: str) -> None:
    """Words that are said to stand where no card is are damaged, even under a mac that holds."""
    if carrier == "question":
        sent = payload_of(asked=Asked(question_type=QuestionType.FREEFORM, text=place))
    else:
        given = Relayed(question="q_01", person=201, kind=AnswerKind.TEXT, text="", text_at=place)
        sent = payload_of(kind=NoteKind.ANSWER, relayed=given)
    assert isinstance(decode(seal("A card.", sent, KEY), [KEY]), Damaged)


@pytest.mark.parametrize("place", [(10**6, 3), (2, 0)], ids=["far behind the card", "nowhere"])
@pytest.mark.parametrize(
    "carrier",
    ["question", pytest.param("relayed")],
)
def test_a_place_with_nothing_in_it(place: tuple[int, int], carrier: str) -> None:
    """Words that are said to be nothing are damaged."""
    test_a_place_outside_the_card(place, carrier)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("words " * 500 + "end", "because", id="long words"),
        pytest.param("words", "because " * 500 + "so", id="a long reason"),
    ],
)
def test_relayed_words_beside_a_reason(text: str, reason: str) -> None:
    """Neither a person's words nor their reason are lost when both are there."""
    given = Relayed(question="q_01", person=201, kind=AnswerKind.REJECTED, text=text, reason=reason)
    sent = payload_of(kind=NoteKind.ANSWER, relayed=given)
    assert decode(seal(f"Dana:\n\n{neutralise(text)}\n\n{neutralise(reason)}", sent, KEY), [KEY]) == Ours(sent, None)


@pytest.mark.parametrize("behind", [" ", "\n", "\t"], ids=ascii)
def test_long_relayed_words_with_a_blank_behind(behind: str) -> None:
    """A long answer that ends in a blank can be posted like any other, with or without the blank."""
    card, sent = relay("words " * 500 + "end" + behind, AnswerKind.TEXT)
    read = decode(seal(card, sent, KEY), [KEY])
    assert isinstance(read, Ours)
    assert read.payload.relayed is not None
    assert (read.payload.relayed.text or "").rstrip() == "words " * 500 + "end"
