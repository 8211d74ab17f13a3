"""The hidden line at the end of each of the bot's notes: `<!-- hitl:1 {...} -->` (DESIGN section 5).

Signs and reads it. A payload never carries authority by itself: who wrote the note, and whether it is the note the
question was posted as, is checked by the caller (`core.classify`). Not here: where the keys come from.

The mac covers the fields and the visible card, as GitLab stores it (no CR, no trailing blanks; contract section 7).
Texts that would make the line longer than 2 kB are replaced by where they stand in the card, `[start, length]`.
"""

import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bot.core.carried import Asked, NoteKind, Payload, Relayed, Span, asked
from bot.core.models import Option, Question
from bot.core.neutral import neutralise, restore
from bot.core.question import MAX_KEY

__all__ = [
    "Asked",
    "Damaged",
    "Decoded",
    "Newer",
    "NotOurs",
    "NoteKind",
    "Ours",
    "Payload",
    "Relayed",
    "asked",
    "decode",
    "seal",
]

FORMAT = 1
MARKER = "<!-- hitl:"
MAX_LINE = 2_048
_OPENING = re.compile(r"<!-- hitl:([1-9][0-9]{0,5}) ")
_CLOSING = " -->"


@dataclass(frozen=True)
class Ours:
    """A payload whose mac holds, and the question it carries, texts read back."""

    payload: Payload
    question: Question | None


@dataclass(frozen=True)
class NotOurs:
    """No payload line at all."""


@dataclass(frozen=True)
class Damaged:
    """There is, or was, a payload of ours, but it cannot be trusted. `why` is for the log and `explain`."""

    why: str


@dataclass(frozen=True)
class Newer:
    """Written by a later version than this one understands (row G10)."""

    version: int


Decoded = Ours | NotOurs | Damaged | Newer


def seal(card: str, payload: Payload, key: bytes) -> str:
    """The whole note: the visible card, a blank line, the signed payload line.

    Raises `ValueError` when the card itself holds a payload marker, or when even without texts the line is too long.
    """
    visible = _as_stored(card)
    if MARKER in visible:
        raise ValueError("a card must not contain a payload marker")
    line = _signed_line(visible, payload, key)
    if len(line.encode()) > MAX_LINE:
        line = _signed_line(visible, _without_texts(payload, visible), key)
    if len(line.encode()) > MAX_LINE:
        raise ValueError(f"the payload of effect {payload.effect} is over {MAX_LINE} bytes")
    return f"{visible}\n\n{line}"


def decode(body: str, keys: Sequence[bytes]) -> Decoded:
    """Read a note of the bot. Any of `keys` verifies (rotation). Never raises; linear in the length of `body`."""
    first = body.find(MARKER)
    if first < 0:
        return NotOurs()
    if body.find(MARKER, first + 1) >= 0:
        return Damaged("two payloads in one note")
    stored = _as_stored(body)
    line = stored[stored.rfind("\n") + 1 :]
    opening = _OPENING.match(line)
    if opening is None or not line.endswith(_CLOSING):
        return Damaged("the payload is not the whole last line")
    if int(opening[1]) > FORMAT:
        return Newer(int(opening[1]))
    if len(line.encode("utf-8", "replace")) > MAX_LINE:
        return Damaged("the payload is longer than any we write")
    visible = _as_stored(stored[: len(stored) - len(line)])
    return _verified(line[opening.end() : -len(_CLOSING)], visible, keys)


def _verified(text: str, visible: str, keys: Sequence[bytes]) -> Decoded:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return Damaged("the payload is not JSON")
    if not isinstance(fields, dict) or not isinstance(fields.get("mac"), str):
        return Damaged("the payload carries no mac")
    mac = fields.pop("mac")
    try:
        signed = _signed_bytes(fields, visible)
        genuine = [hmac.compare_digest(mac.encode(), _mac(signed, key).encode()) for key in keys]
        if not any(genuine):
            return Damaged("the mac does not hold: the card or the payload was changed")
        payload = _with_words(Payload.model_validate(fields), visible)
        return Ours(payload, None if payload.asked is None else _question(payload.asked, visible))
    except (ValidationError, UnicodeError, IndexError, RecursionError):
        return Damaged("the payload has fields this version cannot read")


def _signed_line(visible: str, payload: Payload, key: bytes) -> str:
    fields = payload.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    fields["mac"] = _mac(_signed_bytes(fields, visible), key)
    return f"{MARKER}{FORMAT} {_escaped(json.dumps(fields, ensure_ascii=False, separators=(',', ':')))}{_CLOSING}"


def _signed_bytes(fields: dict[str, Any], visible: str) -> bytes:
    canonical = json.dumps(fields, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return f"hitl:{FORMAT}\n{canonical}\n".encode() + visible.encode("utf-8", "surrogatepass")


def _mac(data: bytes, key: bytes) -> str:
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def _escaped(text: str) -> str:
    r"""JSON in which nothing can close the comment, and nothing is invisible or a line break of some reader."""
    return "".join(f"\\u{ord(char):04x}" if _must_escape(char) else char for char in text)


def _must_escape(char: str) -> bool:
    return char in "<>&-" or (ord(char) < 0x10000 and unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn"))


def _as_stored(text: str) -> str:
    return text.replace("\r", "").rstrip()


def _without_texts(payload: Payload, visible: str) -> Payload:
    change: dict[str, Any] = {}
    if payload.asked is not None:
        change["asked"] = _by_place(payload.asked, visible)
    given = payload.relayed
    if given is not None:
        gone: dict[str, Any] = {}
        at = 0
        for name, words in (("text", given.text), ("reason", given.reason)):
            shown = neutralise(words or "")
            start = visible.find(shown, at)
            if words and start >= 0:
                at = start + len(shown)
                gone |= {name: None, f"{name}_at": (start, len(shown))}
        change["relayed"] = given.model_copy(update=gone)
    return payload.model_copy(update=change)


def _with_words(payload: Payload, visible: str) -> Payload:
    given = payload.relayed
    if given is None:
        return payload
    change = {
        "text": given.text if given.text_at is None else _at(visible, given.text_at),
        "reason": given.reason if given.reason_at is None else _at(visible, given.reason_at),
    }
    return payload.model_copy(update={"relayed": given.model_copy(update={**change, "text_at": None, "reason_at": None})})


def _at(visible: str, place: Span) -> str:
    """The text that stands there. Raises `IndexError` when the card has no such place."""
    start, length = place
    if not (start >= 0 < length and start + length <= len(visible)):
        raise IndexError("a place outside the card")
    return restore(visible[start : start + length])


def _by_place(question: Asked, visible: str) -> Asked:
    """The same question with each text replaced by where the card shows it, found in reading order."""
    at = 0

    def place(text: str) -> Span | str:
        nonlocal at
        shown = neutralise(text)
        start = visible.find(shown, at)
        if start < 0:
            return text
        at = start + len(shown)
        return start, len(shown)

    text = place(question.text) if isinstance(question.text, str) else question.text
    options = tuple((key, place(label) if isinstance(label, str) else label) for key, label in question.options)
    change: dict[str, Any] = {"text": text, "options": options}
    if isinstance(question.default, str) and len(question.default) > MAX_KEY:
        spot = place(question.default)
        if not isinstance(spot, str):
            change |= {"default": None, "default_at": spot}
    return question.model_copy(update=change)


def _question(carried: Asked, visible: str) -> Question:
    def text(value: str | Span) -> str:
        return value if isinstance(value, str) else _at(visible, value)

    return Question(
        text=text(carried.text),
        question_type=carried.question_type,
        options=tuple(Option(key=key, label=text(label)) for key, label in carried.options),
        recommended=carried.recommended,
        allow_freeform=carried.allow_freeform,
        category=carried.category,
        default=carried.default if carried.default_at is None else text(carried.default_at),
    )
