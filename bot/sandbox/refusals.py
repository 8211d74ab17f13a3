"""Why an operation is refused, with the status and body GitLab's API answers with.

One root; the branches say what the caller can do about it. Not for faults somebody switched on.
"""

from __future__ import annotations


class Refusal(Exception):
    """An operation that was not carried out; `body` is the JSON of the answer."""

    status = 400

    def __init__(self, body: dict[str, object]) -> None:
        super().__init__(str(body))
        self.body = body


class Unauthorized(Refusal):
    """No token, or one that does not hold (401)."""

    status = 401

    def __init__(self, body: dict[str, object] | None = None) -> None:
        super().__init__(body or {"message": "401 Unauthorized"})


class Forbidden(Refusal):
    """Visible, but not permitted (403)."""

    status = 403

    def __init__(self, body: dict[str, object] | None = None) -> None:
        super().__init__(body or {"message": "403 Forbidden"})


class NotFound(Refusal):
    """Missing or not visible; the two cannot be told apart (404)."""

    status = 404

    def __init__(self, what: str = "") -> None:
        super().__init__({"message": f"404 {what} Not Found" if what else "404 Not found"})


class Invalid(Refusal):
    """Not acceptable as sent (400)."""

    def __init__(self, message: object) -> None:
        super().__init__({"message": message})

    @classmethod
    def missing(cls, name: str) -> Invalid:
        """A required parameter was not sent."""
        refusal = cls("")
        refusal.body = {"error": f"{name} is missing"}
        return refusal

    @classmethod
    def parameter(cls, text: str) -> Invalid:
        """A parameter has a value that is not allowed."""
        refusal = cls("")
        refusal.body = {"error": text}
        return refusal


class Unprocessable(Refusal):
    """Understood, but refused by a setting of the instance (422)."""

    status = 422


class OnlyCommands(Refusal):
    """The text held nothing but quick actions: they ran and no note is kept (202)."""

    status = 202

    def __init__(self, changes: dict[str, object], summary: list[str]) -> None:
        super().__init__({"commands_changes": changes, "summary": summary})
        self.changes = changes
        self.summary = summary
