"""Keys for flows: made once, shown once, kept as a hash, scoped to projects and, if wanted, to owners."""

import hashlib
from collections.abc import Sequence

from bot.core.errors import Invalid, Unauthenticated
from bot.flows.parts import Parts
from bot.ports import FlowKey

PREFIX = "hitl_"


def create_key(parts: Parts, *, name: str, projects: Sequence[str], owners: Sequence[str] = ()) -> tuple[FlowKey, str]:
    """A new key and its secret, which is not kept. `owners` are usernames.

    Raises `Invalid` for a project that is not configured or an unknown owner, and the `RemoteError` family.
    """
    served = [parts.projects.by_path(path) for path in projects]
    owner_ids: list[int] = []
    for username in owners:
        account = served[0].gateway.find_account(username.removeprefix("@"))
        if account is None:
            raise Invalid(f"GitLab knows no user {username!r}", field="owner", code="owner_unknown")
        owner_ids.append(account.id)
    secret = PREFIX + parts.ids.new(32)
    key = FlowKey(
        id=parts.ids.new(4),
        name=name,
        project_ids=tuple(project.gateway.project_id() for project in served),
        owners=tuple(owner_ids),
        created_at=parts.clock.now(),
    )
    with parts.store.unit() as unit:
        unit.keys.add(key, _hash(secret))
    return key, secret


def find_key(parts: Parts, secret: str) -> FlowKey:
    """The key with this secret. Raises `Unauthenticated` when there is none, or it was revoked."""
    with parts.store.snapshot() as unit:
        key = unit.keys.find(_hash(secret))
    if key is None or key.revoked_at is not None:
        raise Unauthenticated("this key is unknown or was revoked: make one with `hitl keys create`", code="key_unknown")
    return key


def _hash(secret: str) -> str:
    """Keys are 256 random bits: a plain hash keeps them as safe as a slow one would."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
