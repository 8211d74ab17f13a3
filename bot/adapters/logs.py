"""The log: one handler on standard error, one chain of processors for our lines and those of libraries.

Each line carries what the piece of work is about (`delivery`, or `effect`, `run`, `question`, `lane`), and passes
a redaction of last resort: nothing here should ever be handed a secret, and what looks like one is masked all the same.
Not here: deciding what is worth a line (`flows`, by `Parts.note`).
"""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from datetime import timedelta
from typing import Any, Literal, TextIO

from structlog.contextvars import bind_contextvars, merge_contextvars, unbind_contextvars
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.processors import JSONRenderer, TimeStamper, format_exc_info
from structlog.stdlib import ProcessorFormatter, add_log_level, add_logger_name

from bot.flows.parts import Event

CONTEXT = ("run", "question", "effect", "lane")  # of a row, for whatever is logged while it is worked on
LEVELS: dict[str, int] = {Event.TAKEN: logging.DEBUG, Event.RETRY: logging.WARNING, Event.GIVEN_UP: logging.WARNING}
ENDS = (Event.DONE, Event.RETRY, Event.GIVEN_UP)
OURS = ("bot", "uvicorn")  # other libraries speak from WARNING on: at debug level some of them print what they handle
MASK = "[hidden]"

_NAMES = r"x-gitlab-token|private-token|job-token|deploy-token|proxy-authorization|authorization|webhook-signature"
_NAMED = re.compile(rf"(?i)\b({_NAMES})([\"']?\s*[:=,]\s*)(?:b?\"[^\"]*\"|b?'[^']*'|[^\s\"',;)}}\]]+(?:\s+[\w.~+/=-]{{8,}})?)")
_SHAPED = re.compile(
    r"\bgl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w.-]{6,}"
    r"|\bhitl_[0-9A-Za-z]{8,}"
    r"|\bwhsec_[\w+/=-]{8,}"
    r"|(?i:\bbearer)\s+[\w.~+/=-]{6,}"
)
_IN_URL = re.compile(r"(\w://[^/\s:@]*):[^/\s@]+@")
_KEY = re.compile(rf"(?i)^(?:{_NAMES}|token|secret|password|cookie)$")


def configure(format: Literal["console", "json"], level: str, stream: TextIO | None = None) -> None:
    """Send everything that is logged in this process to `stream` (standard error). Called once, by `hitl serve`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_formatter(format))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())


def note(event: str, fields: Mapping[str, object]) -> None:
    """A line for what a flow says (`Parts.note`). A taken row is the context of this thread until it is done with."""
    if event == Event.TAKEN:
        bind_contextvars(**{name: fields[name] for name in CONTEXT if fields.get(name) is not None})
    shown = {
        name: value.total_seconds() if isinstance(value, timedelta) else value
        for name, value in fields.items()
        if value is not None
    }
    logging.getLogger("bot.flows").log(LEVELS.get(event, logging.INFO), str(event), extra={"fields": shown})
    if event in ENDS:
        unbind_contextvars(*CONTEXT)


def redacted(value: object) -> Any:
    """`value` with everything masked that is shaped like a token, or named like one."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: MASK if _KEY.match(str(key)) and inner else redacted(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [redacted(inner) for inner in value]
    text = value if isinstance(value, str) else repr(value)
    return _SHAPED.sub(MASK, _IN_URL.sub(rf"\1:{MASK}@", _NAMED.sub(rf"\1\2{MASK}", text)))


def _formatter(format: Literal["console", "json"]) -> ProcessorFormatter:
    if format == "json":
        renderer: Any = JSONRenderer(sort_keys=True, ensure_ascii=False)
    else:
        renderer = ConsoleRenderer(colors=False, exception_formatter=plain_traceback, pad_event_to=32)
    return ProcessorFormatter(
        foreign_pre_chain=[
            merge_contextvars,
            _fields,
            add_log_level,
            add_logger_name,
            TimeStamper(fmt="iso", utc=True),
        ],
        processors=[ProcessorFormatter.remove_processors_meta, format_exc_info, _redact, renderer],
    )


def _fields(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """What `note` was given beside the event."""
    event.update(getattr(event["_record"], "fields", {}))
    return event


def _redact(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """After tracebacks became text, before anything is written."""
    masked: dict[str, Any] = redacted(dict(event))
    return masked
