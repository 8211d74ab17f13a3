"""Exit codes, one table from the error tree. They are part of the interface: see `hitl --help`."""

from bot.core.errors import CallerError, ConfigError, HitlError, RemoteError, StoreUnavailable

FAULT, CONFIG, REFUSED, UNREACHABLE, NO_ANSWER = 1, 2, 3, 4, 5


def code_of(error: HitlError) -> int:
    match error:
        case ConfigError() | StoreUnavailable():
            return CONFIG
        case CallerError():
            return REFUSED
        case RemoteError():
            return UNREACHABLE
        case _:
            return FAULT
