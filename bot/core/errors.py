"""The one error tree. Every error knows whose fault it is; the web layer maps that to a status in one place.

    HitlError
    ├── CallerError               the request is wrong or not allowed
    │   ├── Unauthenticated       no or unknown credential
    │   ├── Forbidden             known, but not allowed; carries a reason
    │   ├── NotFound              not there, or not for this caller to see
    │   ├── Conflict              right request, wrong state
    │   └── Invalid               a field breaks a rule; names the field
    ├── RemoteError               GitLab said no, or said nothing
    │   ├── TokenRefused          401: the token is wrong, expired or revoked
    │   ├── NotPermitted          403: the token's user may not do this
    │   ├── Gone                  404: not there, or not visible to the token
    │   ├── RateLimited           429: carries the wait that was asked for
    │   ├── Refused               another 4xx: the request itself was not accepted
    │   └── Unavailable           5xx, timeout, no connection; `doubtful` when a write may have happened
    └── OurError                  the fault is here
        ├── ConfigError           settings, keys or files of this installation
        ├── VersionConflict       somebody else changed the row first; retried by the flow
        └── StoreUnavailable      the database cannot be used

Refusals of people's replies are not errors: they are values with reasons (`core.eligibility`, `core.replies`).
"""

from datetime import timedelta


class HitlError(Exception):
    """Root of the tree. `code` is a stable word for machines, the message is for the person who reads it."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class CallerError(HitlError):
    """The caller has to change something."""


class Unauthenticated(CallerError):
    code = "unauthenticated"


class Forbidden(CallerError):
    code = "forbidden"


class NotFound(CallerError):
    code = "not_found"


class Conflict(CallerError):
    code = "conflict"


class Invalid(CallerError):
    """A field breaks a rule. `field` is a dotted path such as `questions.0.options`."""

    code = "invalid"

    def __init__(self, message: str, *, field: str, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.field = field


class RemoteError(HitlError):
    """GitLab did not do what was asked. `doubtful` means a write may have happened all the same."""

    code = "gitlab"
    doubtful = False


class TokenRefused(RemoteError):
    code = "gitlab_token_refused"


class NotPermitted(RemoteError):
    code = "gitlab_not_permitted"


class Gone(RemoteError):
    code = "gitlab_not_found"


class Refused(RemoteError):
    code = "gitlab_refused"


class RateLimited(RemoteError):
    """429. `retry_after` is what GitLab asked for; None when it did not say (contract section 4)."""

    code = "gitlab_rate_limited"

    def __init__(self, message: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(RemoteError):
    code = "gitlab_unavailable"

    def __init__(self, message: str, *, doubtful: bool = False) -> None:
        super().__init__(message)
        self.doubtful = doubtful


class OurError(HitlError):
    """The fault is in this installation."""


class ConfigError(OurError):
    code = "config"


class VersionConflict(OurError):
    code = "version_conflict"


class StoreUnavailable(OurError):
    code = "store_unavailable"
