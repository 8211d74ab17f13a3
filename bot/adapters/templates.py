"""Templates to Markdown with Jinja2. Every value is made inert on its way out, unless it is `Inert` already.

Built-in templates ship with the package; a configured directory overrides single files. Not here: what a note says.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined, TemplateError

from bot.core.errors import ConfigError
from bot.core.neutral import neutralise, one_line

SHORT = 80
_IDENTIFIER = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$")
_BLANK_LINES = re.compile(r"\n{3,}")
_VALUE_BREAK = "\0"  # stands for a line break inside a value while the template's own blank lines are tidied
_USERNAME = re.compile(r"^[A-Za-z0-9_.][A-Za-z0-9_.-]*$")


class Inert(str):
    """Markdown that is ours and goes out as it is."""


def built_in() -> Path:
    """Where the templates of this installation are: inside the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


class Templates:
    """Renders the notes of the bot (`bot.ports.Renderer`)."""

    def __init__(self, override: Path | None = None) -> None:
        folders = [built_in()] if override is None else [override, built_in()]
        self._environment = Environment(
            loader=ChoiceLoader([FileSystemLoader(folder) for folder in folders]),
            # Not HTML: `finalize` neutralises Markdown, which HTML escaping would not.
            autoescape=False,  # noqa: S701
            finalize=_inert,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters: dict[str, Callable[..., Any]] = {
            "mention": _mention,
            "one_line": one_line,
            "shortened": _shortened,
            "typed": _typed,
        }
        self._environment.filters.update(filters)

    def note(self, template: str, values: dict[str, Any]) -> str:
        """The visible card. Raises `ConfigError` when a template (perhaps an overriding one) is broken."""
        try:
            text = self._environment.get_template(f"notes/{template}.md").render(**values)
        except TemplateError as error:
            raise ConfigError(f"template notes/{template}.md: {error}") from error
        return _BLANK_LINES.sub("\n\n", text).strip().replace(_VALUE_BREAK, "\n")


def _inert(value: object) -> str:
    if isinstance(value, Inert):
        return value
    return "" if value is None else neutralise(str(value)).replace("\n", _VALUE_BREAK)


def _mention(username: str) -> Inert:
    """A mention that is meant to notify. Names that GitLab would not allow stay text."""
    return Inert(f"@{username}") if _USERNAME.match(username) else Inert(neutralise(username))


def _typed(identifier: str) -> Inert:
    """An identifier to be typed as it stands; only ever used inside inline code, where GitLab finds no references."""
    return Inert(identifier) if _IDENTIFIER.match(identifier) else Inert(neutralise(identifier))


def _shortened(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 1].rstrip()}…"
