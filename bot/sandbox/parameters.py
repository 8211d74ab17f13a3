"""The parameters of a request: query, form and JSON body alike, read with GitLab's errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from urllib.parse import parse_qsl

from starlette.requests import Request

from bot.sandbox.refusals import Invalid

_TRUE = {"true", "t", "yes", "1", "on"}
_FALSE = {"false", "f", "no", "0", "off"}


class Parameters:
    """Values by name; a method per type, each answering 400 for what does not fit."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    @classmethod
    async def of(cls, request: Request) -> Parameters:
        """Read the query and the body of a request."""
        values: dict[str, object] = dict(_pairs(list(request.query_params.multi_items())))
        raw = await request.body()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        try:
            if raw and kind == "application/x-www-form-urlencoded":
                values |= _pairs(parse_qsl(raw.decode(), keep_blank_values=True))
            elif raw:
                parsed = json.loads(raw)
                # A lone surrogate can be written in JSON and nowhere else.
                json.dumps(parsed, ensure_ascii=False).encode()
                if isinstance(parsed, dict):
                    values |= parsed
        except (ValueError, RecursionError) as error:
            raise Invalid.parameter("The provided content-type and body do not fit") from error
        return cls(values)

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def raw(self, name: str) -> object:
        """The value as it was sent."""
        return self._values.get(name)

    def text(self, name: str) -> str | None:
        """A string, or None if it was not sent."""
        value = self._values.get(name)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, (dict, list)):
            raise Invalid.parameter(f"{name} is invalid")
        return str(value)

    def required(self, name: str) -> str:
        """A string that has to be sent."""
        value = self.text(name)
        if value is None:
            raise Invalid.missing(name)
        return value

    def flag(self, name: str) -> bool | None:
        """A boolean, or None if it was not sent."""
        value = self.text(name)
        if value is None:
            return None
        if value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        raise Invalid.parameter(f"{name} is invalid")

    def number(self, name: str) -> int | None:
        """An integer, or None if it was not sent."""
        value = self.text(name)
        if value is None or value == "":
            return None
        if not value.removeprefix("-").isdecimal() or len(value) > 18:
            raise Invalid.parameter(f"{name} is invalid")
        return int(value)

    def moment(self, name: str) -> datetime | None:
        """A time with zone (UTC if it names none), or None if it was not sent."""
        value = self.text(name)
        if not value:
            return None
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError as error:
            raise Invalid.parameter(f"{name} is invalid") from error
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)

    def day(self, name: str) -> date | None:
        """A date, or None if it was not sent."""
        value = self.text(name)
        if not value:
            return None
        try:
            return date.fromisoformat(value)
        except ValueError as error:
            raise Invalid.parameter(f"{name} is invalid") from error

    def words(self, name: str) -> list[str] | None:
        """A list, sent as an array or separated by commas; None if it was not sent."""
        value = self._values.get(name)
        if value is None:
            return None
        items = value if isinstance(value, list) else str(value).split(",")
        return [str(item).strip() for item in items if str(item).strip()]

    def numbers(self, name: str) -> list[int] | None:
        """A list of ids; None if it was not sent."""
        words = self.words(name)
        if words is None:
            return None
        if not all(word.isdecimal() and len(word) <= 18 for word in words):
            raise Invalid.parameter(f"{name} is invalid")
        return [int(word) for word in words]

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        """One of some words."""
        value = self.text(name) or default
        if value not in allowed:
            raise Invalid.parameter(f"{name} does not have a valid value")
        return value


def _pairs(items: list[tuple[str, str]]) -> dict[str, object]:
    """Pairs as values; a name that ends in `[]` is a list."""
    values: dict[str, object] = {}
    for name, value in items:
        if name.endswith("[]"):
            held = values.setdefault(name[:-2], [])
            if isinstance(held, list):
                held.append(value)
        else:
            values[name] = value
    return values
