"""What can be asked: a question, its options, and the rules both must keep (DESIGN section 4, rows F4-F17, G13-G17).

Not here: where a question was posted or how it was answered (`core.models`).
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import count
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

MAX_TEXT = 4_000
MAX_LABEL = 200
MAX_DESCRIPTION = 500
MAX_KEY = 12
MAX_DEFAULT = 500
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
APPROVAL_WORDS = frozenset({"approval", "approve", "tool_approval", "action_approval", "action"})


class Frozen(BaseModel):
    """Base of every value: immutable, and a mistyped field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _storable(value: object) -> None:
    """Raises `ValueError` for what no database or JSON text can hold, however deep in `value`."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise ValueError("text must not contain NUL or unpaired surrogates")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _storable(key)
            _storable(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _storable(inner)


def _tidy(value: object) -> object:
    """One kind of line end, no outer blanks; what no database or JSON text can hold is refused."""
    if not isinstance(value, str):
        return value
    _storable(value)
    return value.replace("\r\n", "\n").replace("\r", "\n").strip()


def _filled(value: object) -> object:
    value = _tidy(value)
    if value == "":
        raise ValueError("must not be blank")
    return value


def _one_line(value: object) -> object:
    value = _filled(value)
    if isinstance(value, str) and "\n" in value:
        raise ValueError("must be one line")
    return value


Text = Annotated[str, BeforeValidator(_filled), StringConstraints(max_length=MAX_TEXT)]
Label = Annotated[str, BeforeValidator(_one_line), StringConstraints(max_length=MAX_LABEL)]
Description = Annotated[str, BeforeValidator(_tidy), StringConstraints(max_length=MAX_DESCRIPTION)]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$")]


class QuestionType(StrEnum):
    """How a question may be answered (rows F5-F9)."""

    YES_NO = "yes_no"
    CONFIRMATION = "confirmation"
    MULTIPLE_CHOICE = "multiple_choice"
    MULTI_SELECT = "multi_select"
    FREEFORM = "freeform"

    @property
    def has_options(self) -> bool:
        return self in (QuestionType.MULTIPLE_CHOICE, QuestionType.MULTI_SELECT)

    @property
    def is_yes_no(self) -> bool:
        return self in (QuestionType.YES_NO, QuestionType.CONFIRMATION)


class OnDeadline(StrEnum):
    WAIT = "wait"
    REMIND = "remind"
    USE_DEFAULT = "use_default"


class Option(Frozen):
    """One thing to choose. `key` is what people type: 1 to 12 letters or digits."""

    key: str
    label: Label
    description: Description | None = None

    @model_validator(mode="after")
    def _key_is_typeable(self) -> Self:
        if not (1 <= len(self.key) <= MAX_KEY and self.key.isalnum()):
            raise ValueError(f"option key {self.key!r} must be 1 to {MAX_KEY} letters or digits")
        return self


class Question(Frozen):
    """What the flow wants to know. Bounds text, not choice: how many options fit is the channel's business."""

    text: Text
    question_type: QuestionType
    options: tuple[Option, ...] = ()
    recommended: tuple[str, ...] = ()
    allow_freeform: bool | None = Field(default=None, description="None: the channel decides (true on issues, false at gates)")
    default: str | tuple[str, ...] | None = None
    timeout_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    on_deadline: OnDeadline = OnDeadline.WAIT
    stage: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    category: Word | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill_keys(cls, data: Any) -> Any:
        """Options may come as bare labels or without keys; those get the next free letter."""
        if not isinstance(data, dict):
            return data
        if {str(data.get(name)).casefold() for name in ("question_type", "category")} & APPROVAL_WORDS:
            raise ValueError("an approval of an action is not a question: it must not be asked in a public thread")
        options = data.get("options")
        if not isinstance(options, (list, tuple)):
            return data
        taken = {_key_of(option).casefold() for option in options}
        filled: list[Any] = []
        for position, option in enumerate(options, start=1):
            if _key_of(option) or not isinstance(option, (str, dict)):
                filled.append(option)
                continue
            key = next(key for key in _keys_from(position) if key.casefold() not in taken)
            taken.add(key.casefold())
            filled.append({"label": option, "key": key} if isinstance(option, str) else {**option, "key": key})
        return {**data, "options": filled}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _storable((self.default, self.stage, self.metadata))
        kind = self.question_type
        if kind.has_options and not self.options:
            raise ValueError(f"a {kind} question needs options")
        if not kind.has_options and self.options:
            raise ValueError(f"a {kind} question takes no options")
        folded = [option.key.casefold() for option in self.options]
        if len(set(folded)) != len(folded):
            raise ValueError("option keys must be unique, upper and lower case taken as one")
        known = set(self.keys)
        if not set(self.recommended) <= known:
            raise ValueError(f"recommended must name keys of this question: {', '.join(self.keys) or 'none'}")
        if len(self.recommended) > 1 and kind is not QuestionType.MULTI_SELECT:
            raise ValueError("at most one option can be recommended here")
        self._check_default(known)
        if self.on_deadline is OnDeadline.USE_DEFAULT and (self.default is None or self.timeout_seconds is None):
            raise ValueError("on_deadline use_default needs default and timeout_seconds")
        return self

    def _check_default(self, known: set[str]) -> None:
        if self.default is None:
            return
        if self.question_type is QuestionType.FREEFORM:
            if not isinstance(self.default, str) or not self.default.strip() or len(self.default) > MAX_DEFAULT:
                raise ValueError(f"the default of a freeform question is a text of 1 to {MAX_DEFAULT} characters")
        elif self.question_type is QuestionType.MULTI_SELECT:
            if isinstance(self.default, str) or not self.default or not set(self.default) <= known:
                raise ValueError("the default of a multi_select question is a list of its keys")
        elif not isinstance(self.default, str) or self.default not in known:
            raise ValueError(f"the default must be one of {', '.join(self.keys)}")

    @property
    def keys(self) -> tuple[str, ...]:
        """What can be chosen, in order; yes/no questions have the two fixed keys."""
        return ("yes", "no") if self.question_type.is_yes_no else tuple(option.key for option in self.options)

    def labels(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Labels of `keys`, in the order given."""
        by_key = {option.key: option.label for option in self.options}
        return tuple(by_key[key] for key in keys if key in by_key)


def _key_of(option: object) -> str:
    """The key an option came with, if any."""
    if isinstance(option, Option):
        return option.key
    return str(option.get("key") or "") if isinstance(option, dict) else ""


def _keys_from(position: int) -> Iterator[str]:
    """Keys to try for the option at `position`: letters, then its number and the numbers after it."""
    yield from LETTERS
    yield from map(str, count(position))
