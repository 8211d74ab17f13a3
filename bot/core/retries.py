"""How long to wait before trying again, by kind of failure; None when trying again cannot help.

Not here: waiting, or what is told to whom when it is given up.
"""

import hashlib
from datetime import timedelta

from bot.core.errors import Gone, HitlError, Invalid, NotPermitted, RateLimited, Refused, TokenRefused, VersionConflict

LONGEST = timedelta(hours=1)
MOST_HAND_OVERS = 92  # the later pauses are seven eighths of an hour on average: three days in all
WITHOUT_HEADER = timedelta(seconds=60)  # application limiters of GitLab may answer 429 without Retry-After


def wait_for_target(error: HitlError, attempt: int, key: str) -> timedelta | None:
    """The pause before a resume is handed over again: doubling up to an hour, for about three days in all.

    `key` spreads the attempts of different resumes: the same key gives the same jitter of up to a quarter.
    """
    if isinstance(error, (Refused, Invalid)) or attempt >= MOST_HAND_OVERS:
        return None
    if isinstance(error, RateLimited) and error.retry_after is not None:
        return min(error.retry_after, LONGEST)
    pause = min(timedelta(seconds=2 ** min(attempt, 12)), LONGEST)
    share = int.from_bytes(hashlib.sha256(f"{key}:{attempt}".encode()).digest()[:2], "big") / 0xFFFF
    return pause * (0.75 + share / 4)


def wait_after(error: HitlError, attempt: int) -> timedelta | None:
    """The pause after failed attempt number `attempt` (from 1)."""
    match error:
        case RateLimited(retry_after=asked):
            return min(WITHOUT_HEADER if asked is None else asked, LONGEST)
        case VersionConflict():
            return timedelta(0) if attempt < 20 else timedelta(seconds=5)
        case Refused():
            return None
        case Gone():
            return timedelta(seconds=10 * attempt) if attempt < 4 else None
        case TokenRefused() | NotPermitted():
            return min(timedelta(minutes=attempt), LONGEST) if attempt < 50 else None
        case _:
            return min(timedelta(seconds=2 ** min(attempt, 9)), timedelta(minutes=5)) if attempt < 900 else None
