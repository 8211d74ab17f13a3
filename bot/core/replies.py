"""The only reader of human text: what does this note say, as an answer to this question?

Strict ears: whole words, whole lines, no prefixes, no guessing; what is not clear is said to be unclear, with a
reason. Not here: whether the person may answer (`core.eligibility`) or which of several answers holds
(`core.classify`). The rules are the table in DESIGN section 4.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.core.commands import Command, command_in
from bot.core.models import AnswerKind, Question, QuestionType
from bot.core.options import Choice, Match, choose, choose_several, fold, is_empty_box
from bot.core.speech import MAX_PARSED, Speech, speech
from bot.core.words import ENGLISH, THREAD_COMMANDS, Words


class Unread(StrEnum):
    """Why a note is not an answer."""

    COMMAND = "command"
    CHATTER = "chatter"
    QUESTION_BACK = "question_back"
    MENTIONS_SOMEBODY = "mentions_somebody"
    NOTHING_SAID = "nothing_said"
    SEVERAL_ON_SINGLE = "several_on_single"
    AMBIGUOUS = "ambiguous"
    OUT_OF_RANGE = "out_of_range"
    NEGATED = "negated"
    REASON_NEEDED = "reason_needed"
    ECHO = "echo"
    FREE_TEXT_NOT_ALLOWED = "free_text_not_allowed"

    @property
    def asks_again(self) -> bool:
        """The person tried to answer: tell them what was not clear."""
        return self in _ASKS_AGAIN


_ASKS_AGAIN = frozenset({
    Unread.SEVERAL_ON_SINGLE, Unread.AMBIGUOUS, Unread.OUT_OF_RANGE, Unread.NEGATED, Unread.REASON_NEEDED,
    Unread.FREE_TEXT_NOT_ALLOWED,
})  # fmt: skip


@dataclass(frozen=True)
class Said:
    """An answer, with the person's own words beside it."""

    kind: AnswerKind
    keys: tuple[str, ...] = ()
    text: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Reading:
    """Everything one note says: at most one answer, or why there is none, and the commands in it."""

    answer: Said | None
    unread: Unread | None
    commands: tuple[Command, ...]
    text: str


_SEPARATOR = re.compile(r"[.):;,](?=\s|$)|(?<=\s)[-–—](?=\s)|[，；：、]")
_REMARK_END = re.compile(r"\s[-–—:]\s.*$")
_BULLETS = ("- ", "* ", "+ ")
_WRAPPING = "*_`"
_INLINE_CODE = re.compile(r"`+[^`]*`+")
_MENTION = re.compile(r"(?<![\w/@.])@[\w][\w.-]*")


def read(question: Question, body: str, *, names: tuple[str, ...] = ("hitl",), words: Words = ENGLISH) -> Reading:
    """Read one note under `question`. Never raises; linear in the length of `body`."""
    said = speech(body, words.wrote)
    found = [(line, _order(question, line, names, words)) for line in said.lines]
    orders = tuple(command for _, command in found if command is not None)
    if orders:
        spoken = {line for line, command in found if command is not None}
        rest = "\n".join(line for line in said.verbatim.split("\n") if line.strip() not in spoken).strip()
        said = Speech(tuple(line for line, command in found if command is None), rest)
    answer = _answer(question, said, names, words)
    if orders and (said.empty or isinstance(answer, Unread)):
        return Reading(None, Unread.COMMAND, orders, said.verbatim)
    if isinstance(answer, Unread):
        return Reading(None, answer, orders, said.verbatim)
    return Reading(answer, None, orders, said.verbatim)


def read_explanation(body: str, *, words: Words = ENGLISH) -> str | None:
    """The words of a reply that was asked for as the reason of a rejection; None when it holds none."""
    said = speech(body, words.wrote)
    return None if said.empty or _asks_back(said) else said.verbatim


def _order(question: Question, line: str, names: tuple[str, ...], words: Words) -> Command | None:
    """The command in a line; an option that is called like one is an option."""
    command = command_in(line, names, in_thread=True)
    if command is not None and command.name in THREAD_COMMANDS and choose(question, line, words).match is Match.FOUND:
        return None
    return command


def _answer(question: Question, said: Speech, names: tuple[str, ...], words: Words) -> Said | Unread:
    if said.empty:
        return Unread.NOTHING_SAID
    if question.question_type is QuestionType.FREEFORM:
        return Unread.QUESTION_BACK if _asks_back(said) else Said(AnswerKind.TEXT, text=said.verbatim)
    if said.lines and all(is_empty_box(line) for line in said.lines):
        return Unread.NOTHING_SAID
    if said.lines:
        explicit = _explicit(question, said, words)
        if explicit is not None:
            return explicit
    return _sentence(question, said, names)


def _explicit(question: Question, said: Speech, words: Words) -> Said | Unread | None:
    """An option, yes or no, a rejection, or marked free text; None when the note is none of these."""
    marked = _marked(said, words.answer, ":")
    if marked is not None:
        if not question.allow_freeform:
            return Unread.FREE_TEXT_NOT_ALLOWED
        return Said(AnswerKind.TEXT, text=marked) if marked else Unread.NOTHING_SAID
    if question.question_type.is_yes_no:
        return _yes_or_no(said, words) or _rejection(said, words)
    if question.question_type is QuestionType.MULTI_SELECT:
        return _several(question, said, words) or _rejection(said, words)
    return _single(question, said, words) or _rejection(said, words)


def _single(question: Question, said: Speech, words: Words) -> Said | Unread | None:
    several = choose_several(question, _of_one_kind(said.lines), words)
    if several.match is Match.FOUND and len(several.keys) > 1:
        return Unread.SEVERAL_ON_SINGLE
    first, rest = said.lines[0], said.lines[1:]
    for head, tail in _cuts(first, words):
        choice = choose(question, head, words)
        if choice.match is Match.NONE:
            continue
        if choice.match is Match.AMBIGUOUS:
            return Unread.AMBIGUOUS
        remark = "\n".join([*([tail] if tail else []), *rest])
        if choice.match is Match.OUT_OF_RANGE:
            return Unread.OUT_OF_RANGE if not remark else None
        trouble = _trouble(question, choice, remark, words)
        return trouble or Said(AnswerKind.SELECTED, choice.keys, text=_words_beside(said, first, tail))
    return None


def _of_one_kind(lines: tuple[str, ...]) -> tuple[str, ...]:
    """A list below a line that is no list item belongs to the remark."""
    if lines[0].startswith(_BULLETS):
        return lines
    return tuple(line for line in lines if not line.startswith(_BULLETS))


def _several(question: Question, said: Speech, words: Words) -> Said | Unread | None:
    whole = choose_several(question, said.lines, words)
    if whole.match is Match.FOUND:
        return Said(AnswerKind.MULTI_SELECTED, whole.keys)
    if whole.match is Match.OUT_OF_RANGE:
        return Unread.OUT_OF_RANGE
    if whole.match is Match.AMBIGUOUS:
        return Unread.AMBIGUOUS
    first, rest = said.lines[0], said.lines[1:]
    for head, tail in _cuts(first, words):
        choice = choose_several(question, (head,), words)
        if choice.match is not Match.FOUND:
            continue
        remark = "\n".join([*([tail] if tail else []), *rest])
        trouble = _trouble(question, choice, remark, words)
        return trouble or Said(AnswerKind.MULTI_SELECTED, choice.keys, text=_words_beside(said, first, tail))
    return None


def _yes_or_no(said: Speech, words: Words) -> Said | Unread | None:
    first, rest = said.lines[0], said.lines[1:]
    for head, tail in _cuts(first, words):
        folded = fold(head)
        value = AnswerKind.YES if folded in words.yes else AnswerKind.NO if folded in words.no else None
        if value is None:
            continue
        remark = "\n".join([*([tail] if tail else []), *rest])
        if _asks(remark):
            return Unread.QUESTION_BACK
        if value is AnswerKind.YES and _hedged(remark, words):
            return Unread.NEGATED
        return Said(value, (value.value,), text=_words_beside(said, first, tail))
    return None


def _rejection(said: Speech, words: Words) -> Said | Unread | None:
    """`none`, with its reason: behind a colon, comma or dash, behind "because", or on the next lines."""
    first = said.lines[0]
    for head, tail in _cuts(first, words, words.because):
        if fold(head) in words.none:
            at = said.verbatim.find(first)
            below = said.verbatim[at + len(first) :] if at >= 0 else ""
            reason = f"{tail}{below}".strip()
            return Said(AnswerKind.REJECTED, reason=reason) if reason else Unread.REASON_NEEDED
    return None


def _sentence(question: Question, said: Speech, names: tuple[str, ...]) -> Said | Unread:
    """A note that names no option: free text where that is allowed, unless it asks or calls for somebody else."""
    if not said.lines and len(said.verbatim) <= MAX_PARSED:
        return Unread.NOTHING_SAID
    if any(line.endswith(("?", "？")) for line in said.lines):
        return Unread.QUESTION_BACK
    called = {mention.casefold() for line in said.lines for mention in _MENTION.findall(_INLINE_CODE.sub("", line))}
    if called - {name.casefold() for name in names}:
        return Unread.MENTIONS_SOMEBODY
    return Said(AnswerKind.TEXT, text=said.verbatim) if question.allow_freeform else Unread.CHATTER


def _marked(said: Speech, openers: frozenset[str], mark: str) -> str | None:
    """The text behind `answer:`, to the end of the note; None when the note does not open like that."""
    head, found, _ = said.lines[0].partition(mark)
    if not found or fold(head) not in openers:
        return None
    opened, _, text = said.verbatim.partition(mark)
    # `**Answer:** …` closes behind the mark what it opened before it.
    wrapped = len(opened) - len(opened.lstrip(_WRAPPING))
    text = text.removeprefix(opened.lstrip()[:wrapped]) if wrapped else text
    return text.strip()


def _cuts(line: str, words: Words, connecting: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """Ways to see `line` as something said and a remark: all of it; up to a separator; less a polite word."""
    cuts = [(line, "")]
    separator = _SEPARATOR.search(line)
    if separator is not None and separator.start() > 0:
        cuts.append((line[: separator.start()].rstrip(), line[separator.end() :].lstrip()))
    tokens = line.split()
    if len(tokens) > 1 and fold(tokens[-1]) in words.polite:
        cuts.append((" ".join(tokens[:-1]), ""))
    for index, token in enumerate(tokens[1:8], start=1):
        if fold(token) in connecting:
            cuts.append((" ".join(tokens[:index]), " ".join(tokens[index:])))
            break
    return cuts


def _trouble(question: Question, choice: Choice, remark: str, words: Words) -> Unread | None:
    """A remark can undo the choice before it: then nothing is taken as said."""
    if not remark:
        return None
    if _asks(remark):
        return Unread.QUESTION_BACK
    if _negated(remark, words):
        return Unread.NEGATED
    opening = choose(question, remark.split(maxsplit=1)[0], words)
    article = remark[0] in "AaIi" and len(remark.split()) > 1
    if opening.match is Match.FOUND and not set(opening.keys) <= set(choice.keys) and not article:
        return Unread.AMBIGUOUS
    for line in remark.split("\n"):
        named = choose_several(question, (_REMARK_END.sub("", line),), words)
        if named.match is Match.FOUND and not set(named.keys) <= set(choice.keys):
            return Unread.AMBIGUOUS
    others = set(question.keys) - set(choice.keys)
    bare = re.split(r"[^\w]+", remark)
    for index, token in enumerate(bare):
        article = token in ("A", "I") and bare[index + 1 : index + 2] not in ([], [""])
        if token in others and not article:
            return Unread.AMBIGUOUS
    return None


def _negated(remark: str, words: Words) -> bool:
    """A remark that begins or ends with a negation may undo what it stands beside."""
    tokens = remark.split("\n", 1)[0].split()
    return any(fold(token) in words.negation for token in (*tokens[:3], *tokens[-1:]))


def _hedged(remark: str, words: Words) -> bool:
    """A yes with a "but", a "not" or a no beside it is not a plain yes: ask again."""
    doubt = words.negation | words.hedges | words.no
    first, *below = (line.split() for line in remark.split("\n"))
    tokens = [*first, *(token for line in below for token in (*line[:3], *line[-1:]))]
    return any(fold(token) in doubt for token in tokens)


def _asks(text: str) -> bool:
    return any(line.rstrip().endswith(("?", "？")) for line in text.split("\n"))


def _asks_back(said: Speech) -> bool:
    lines = [line for line in said.verbatim.split("\n") if line.strip()]
    return bool(lines) and all(line.rstrip().endswith(("?", "？")) for line in lines)


def _words_beside(said: Speech, first: str, tail: str) -> str | None:
    """What stands beside a choice, as written: the rest of its line and everything below."""
    at = said.verbatim.find(first)
    below = said.verbatim[at + len(first) :] if at >= 0 else ""
    return f"{tail}{below}".strip() or None
