"""Who a request is from: token headers to a user, and whether the token's scopes suffice."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from bot.sandbox.records import Token, User
from bot.sandbox.refusals import Forbidden, Unauthorized
from bot.sandbox.world import World

_REVOKED = "Token was revoked. You have to re-authorize from the user."
_EXPIRED = "Token is expired. You can either do re-authorization or token refresh."


def presented(world: World, headers: Mapping[str, str]) -> Token:
    """The token a request shows, whether it still holds or not; 401 without a known one."""
    value = headers.get("private-token")
    if value is None:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        value = bearer.strip() if scheme.lower() == "bearer" else None
    if not value:
        raise Unauthorized
    token = next((token for token in world.tokens if token.value == value), None)
    if token is None:
        raise Unauthorized
    return token


def authenticate(world: World, token: Token) -> User:
    """The user of a token that holds; 401 if it does not, 403 for blocked users."""
    if token.revoked:
        raise _invalid(_REVOKED)
    if is_expired(token, world.now().date()):
        raise _invalid(_EXPIRED)
    user = world.users[token.user_id]
    if user.state != "active":
        raise Forbidden({"message": "403 Forbidden - Your account has been blocked."})
    token.last_used_at = world.now()
    return user


def revoke_family(world: World, token: Token) -> None:
    """End a token and everything it was rotated into (section 6)."""
    for each in world.tokens:
        if each.family == token.family:
            each.revoked = True


def is_expired(token: Token, today: date) -> bool:
    """A token ends at the beginning of its expiry date."""
    return token.expires_at is not None and token.expires_at <= today


def is_active(token: Token, today: date) -> bool:
    """Whether the token can still be used."""
    return not token.revoked and not is_expired(token, today)


def require_scope(token: Token, *sufficient: str) -> None:
    """403 `insufficient_scope` unless the token has one of the scopes."""
    if not set(token.scopes) & set(sufficient):
        text = "The request requires higher privileges than provided by the access token."
        raise Forbidden(
            {
                "error": "insufficient_scope",
                "error_description": text,
                "scope": " ".join(sufficient),
            }
        )


def _invalid(text: str) -> Unauthorized:
    return Unauthorized({"error": "invalid_token", "error_description": text})
