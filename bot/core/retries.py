"""How long to wait before trying again, by kind of failure; None when trying again cannot help.

Not here: waiting, or what is told to whom when it is given up.
"""

from datetime import timedelta

from bot.core.errors import Gone, HitlError, NotPermitted, RateLimited, Refused, TokenRefused, VersionConflict

LONGEST = timedelta(hours=1)
WITHOUT_HEADER = timedelta(seconds=60)  # application limiters of GitLab may answer 429 without Retry-After


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
