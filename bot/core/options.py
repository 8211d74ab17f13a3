"""Which option do these words name? Whole matches only, in a fixed order: key, number, label, label without its
accelerator. Not here: remarks, rejections and everything else around a choice (`core.replies`).
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from bot.core.models import Question
from bot.core.words import Words

_DECORATION = " \t\"'`*_~“”„‘’«»()[]{}.,:;!…"
_BULLET = re.compile(r"^(?:[-*+]\s+)?(?:\[[xX]\]\s+)?")
_WHOLE_SIGN = re.compile(r"[\u2460-\u24ff]|[0-9]\ufe0f?\u20e3")
_CARD_LINE = re.compile(r"^(?P<key>[^·]{1,20})·(?P<label>[^·]+)$")  # **A** · PostgreSQL, copied from the card
_NUMBERED = re.compile(r"^(?P<number>\d{1,4})[.)]\s+(?P<text>\S.*)$")
_EMPTY_BOX = re.compile(r"^(?:[-*+]\s+)?\[ \]")
_STRUCK = re.compile(r"~~[^~]+~~")
LONGEST = 1_000  # no option, word or command is longer; normalising more is wasted, and slow for towers of marks
_TICKED = re.compile(r"^[-*+]\s+\[(?P<mark>[xX ])\]\s+(?P<text>.*)$")
_ACCELERATOR = re.compile(r"^(?:\[[^\W_]{1,12}\]\s*|[^\W_]{1,3}\)\s*|[^\W_]{1,3} - )(?=\S)")
_SAME_SIGN: dict[int, str | None] = {
    first + offset: chr(ord("a") + offset)
    for first in (0x1F150, 0x1F170, 0x1F1E6)  # circled, squared and regional-indicator capitals
    for offset in range(26)
}
_SAME_SIGN[0x2019] = "'"  # what phones type for an apostrophe
_SAME_SIGN |= dict.fromkeys((65038, 65039, 8419, *range(127995, 128000)))


class Match(StrEnum):
    NONE = "none"
    FOUND = "found"
    AMBIGUOUS = "ambiguous"
    OUT_OF_RANGE = "out_of_range"


@dataclass(frozen=True)
class Choice:
    match: Match
    keys: tuple[str, ...] = ()


NOTHING = Choice(Match.NONE)


@lru_cache(maxsize=1_024)
def fold(text: str) -> str:
    """One form for all ways to write the same word: compatibility forms, case, invisible signs, decoration, blanks.

    Empty for what is too long to be a word.
    """
    if len(text) > LONGEST:
        return ""
    plain = unicodedata.normalize("NFKC", _apart(text).translate(_SAME_SIGN)).casefold()
    visible = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return " ".join(visible.split()).strip(_DECORATION) or visible.strip()


def _apart(text: str) -> str:
    """Circled letters and keycaps are whole words, however close they stand: ①② is not 12."""
    return _WHOLE_SIGN.sub(r"\g<0> ", text)


def choose(question: Question, words_said: str, words: Words) -> Choice:
    """The option that `words_said` names, all of them taken together."""
    said = fold(_BULLET.sub("", _unstruck(words_said)))
    if not said:
        return NOTHING
    head, _, tail = said.partition(" ")
    if tail and head in words.option and " " not in tail:
        said = fold(tail)
    by_key = [option.key for option in question.options if fold(option.key) == said]
    if by_key:
        return Choice(Match.FOUND, (by_key[0],))
    if said.isdecimal() and len(said) <= 4:
        number = int(said)
        if 1 <= number <= len(question.options):
            return Choice(Match.FOUND, (question.options[number - 1].key,))
    for shown in (_whole, _without_accelerator):
        by_label = [option.key for option in question.options if shown(option.label) == said]
        if by_label:
            return Choice(Match.FOUND if len(by_label) == 1 else Match.AMBIGUOUS, tuple(by_label))
    from_card = _CARD_LINE.match(_BULLET.sub("", words_said.strip()))
    if from_card is not None:
        named = choose(question, from_card["key"], words)
        if named.match is Match.FOUND and fold(from_card["label"]) == fold(question.labels(named.keys)[0]):
            return named
    looks_like_a_key = said.isdecimal() or (len(said) == 1 and said.isascii() and said.isalpha())
    return Choice(Match.OUT_OF_RANGE) if looks_like_a_key else NOTHING


def _unstruck(words_said: str) -> str:
    """Without what was struck out; an empty box chooses nothing."""
    left = _STRUCK.sub(" ", words_said).strip() if "~~" in words_said else words_said.strip()
    return "" if is_empty_box(left) else left


def is_empty_box(line: str) -> bool:
    """`- [ ] A`: offered, and not ticked."""
    return _EMPTY_BOX.match(line) is not None


def choose_several(question: Question, lines: tuple[str, ...], words: Words) -> Choice:
    """The options that `lines` name: every token must name one. Result in option order, doubles dropped."""
    ticked = [match for match in (_TICKED.match(line) for line in lines) if match is not None]
    if ticked and len(ticked) == len(lines):
        lines = tuple(_card_label(match["text"]) for match in ticked if match["mark"] != " ")
    if len(lines) == 1 and fold(lines[0]) in words.every:
        return Choice(Match.FOUND, question.keys)
    found: list[str] = []
    for line in filter(None, map(_unstruck, _unnumbered(lines))):
        choice = _all_in(question, line, words)
        if choice.match is not Match.FOUND:
            return choice
        found += choice.keys
    return Choice(Match.FOUND, tuple(key for key in question.keys if key in found)) if found else NOTHING


def _unnumbered(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Lines of an ordered list without their numbers, which count and do not choose."""
    parts = [_NUMBERED.match(line) for line in lines]
    numbers = [int(part["number"]) for part in parts if part is not None]
    is_list = len(lines) > 1 and numbers == list(range(numbers[0], numbers[0] + len(lines))) if numbers else False
    return tuple(part["text"] for part in parts if part is not None) if is_list else lines


def _all_in(question: Question, line: str, words: Words) -> Choice:
    whole = choose(question, line, words)
    if whole.match is Match.FOUND:
        return whole
    for pieces in (re.split(r"[,;，；、]", _apart(line)), re.split(r"[,;，；、/\s]+", _apart(line))):
        named = _each(question, pieces, words)
        if named is not None:
            return named
    return whole


def _each(question: Question, pieces: list[str], words: Words) -> Choice | None:
    """Every piece names an option, or would if there were more of them; None as soon as one does not."""
    keys: list[str] = []
    tokens = 0
    beyond = False
    for piece in pieces:
        for token in _around_joining(piece, words):
            if not fold(token):
                continue
            choice = choose(question, token, words)
            if choice.match not in (Match.FOUND, Match.OUT_OF_RANGE):
                return None
            tokens += 1
            beyond = beyond or choice.match is Match.OUT_OF_RANGE
            keys += choice.keys
    if tokens < 2:
        return None
    return Choice(Match.OUT_OF_RANGE) if beyond else Choice(Match.FOUND, tuple(keys))


def _around_joining(piece: str, words: Words) -> list[str]:
    """`piece` cut at words like "and"; a label that holds such a word was already tried whole."""
    out: list[list[str]] = [[]]
    for token in piece.split():
        if token.casefold() in words.joining:
            out.append([])
        else:
            out[-1].append(token)
    return [" ".join(tokens) for tokens in out if tokens]


def _card_label(text: str) -> str:
    """`**A** · PostgreSQL`, copied from the card with its box, names A."""
    return text.partition("·")[0] if "·" in text else text


def _whole(label: str) -> str:
    return fold(label)


def _without_accelerator(label: str) -> str:
    return fold(_ACCELERATOR.sub("", label))
