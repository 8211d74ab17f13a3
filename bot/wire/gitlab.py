"""GitLab's webhook deliveries: headers and bytes in, an inert value out (contract sections 1 to 3).

Two steps, so that nothing of a body is used before the sender proved itself. Not here: what is stored or answered.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

ITEM_TYPES = frozenset({"Issue", "WorkItem"})


@dataclass(frozen=True)
class HookSecret:
    """A secret token, a signing token or both, and the configured projects (paths) whose hooks may use them."""

    projects: frozenset[str]
    token: SecretStr | None = None
    signing_token: SecretStr | None = None


@dataclass(frozen=True)
class NoteDelivery:
    """A comment was written or edited, says the sender. All of it is a hint."""

    project_id: int
    project_path: str
    item_iid: int
    note_id: int
    discussion_id: str | None
    author_id: int
    delivery_key: str | None
    fingerprint: str


@dataclass(frozen=True)
class NotForUs:
    """Authentic, but nothing we listen to."""

    why: str


@dataclass(frozen=True)
class Unreadable:
    """Authentic, but not the JSON we know: something was said that must be read another way."""

    why: str


def is_signed(headers: Mapping[str, str]) -> bool:
    """A signed delivery is judged by its signature alone: there is no falling back to the token."""
    return "webhook-signature" in headers


def projects_of_token(headers: Mapping[str, str], secrets: Sequence[HookSecret]) -> frozenset[str]:
    """Paths of the projects whose secret token the sender knows; empty: not authentic.

    All are compared, each in constant time.
    """
    # HTTP servers hand header bytes on as Latin-1.
    given = headers.get("x-gitlab-token", "").encode("latin-1", "replace")
    matched: set[str] = set()
    for secret in secrets:
        if secret.token is not None and given and hmac.compare_digest(given, secret.token.get_secret_value().encode()):
            matched |= secret.projects
    return frozenset(matched)


def projects_of_signature(headers: Mapping[str, str], body: bytes, secrets: Sequence[HookSecret]) -> frozenset[str]:
    """Paths of the projects whose signing token made the signature, not over 5 minutes ago; empty: not authentic."""
    signed = {name: headers.get(name, "") for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    matched: set[str] = set()
    for secret in secrets:
        if secret.signing_token is not None and _signs(secret.signing_token, signed, body):
            matched |= secret.projects
    return frozenset(matched)


def _signs(token: SecretStr, headers: dict[str, str], body: bytes) -> bool:
    try:
        # The library's own JSON parsing is left out: what may be parsed is decided after this.
        Webhook(token.get_secret_value()).verify(body, headers, json_parse=False)
    except (WebhookVerificationError, ValueError):
        # ValueError: a malformed signature list, base64 or body encoding; the library lets those through.
        return False
    return True


def read_delivery(headers: Mapping[str, str], body: bytes, *, instance: str) -> NoteDelivery | NotForUs | Unreadable:
    """What an authentic delivery says. Header names in lower case. Never raises."""
    try:
        kind = _Kind.model_validate_json(body)
    except ValidationError:
        return Unreadable("the body is not a GitLab event")
    if kind.object_kind != "note":
        return NotForUs(f"{kind.object_kind} events are not listened to")
    try:
        hook = _NoteHook.model_validate_json(body)
    except ValidationError as error:
        if kind.object_attributes is not None and kind.object_attributes.noteable_type not in (None, *ITEM_TYPES):
            return NotForUs(f"a comment on a {kind.object_attributes.noteable_type}")
        return Unreadable(f"a note event without {'.'.join(str(part) for part in error.errors()[0]['loc'])}")
    note = hook.object_attributes
    if note.noteable_type not in ITEM_TYPES:
        return NotForUs(f"a comment on a {note.noteable_type}")
    if hook.issue is None:
        return Unreadable("a comment on an item that does not say which")
    if note.system:
        return NotForUs("a system note")
    return NoteDelivery(
        project_id=hook.project_id,
        project_path=hook.project.path_with_namespace,
        item_iid=hook.issue.iid,
        note_id=note.id,
        discussion_id=note.discussion_id,
        author_id=note.author_id,
        delivery_key=headers.get("webhook-id") or headers.get("idempotency-key") or None,
        fingerprint=_fingerprint(
            instance, hook.project_id, "note", note.id, note.action or "", note.updated_at or "", note.note
        ),
    )


def _fingerprint(*parts: object) -> str:
    """What happened, whoever delivered it: project and group hooks send the same event under different ids."""
    joined = "\0".join(str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


Id = Annotated[int, Field(ge=0, lt=2**63)]  # what a database can hold; nothing of GitLab's is larger


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _AnyAttributes(_Loose):
    noteable_type: str | None = None


class _Kind(_Loose):
    object_kind: str
    object_attributes: _AnyAttributes | None = None


class _Project(_Loose):
    path_with_namespace: str


class _Attributes(_Loose):
    id: Id
    note: str
    noteable_type: str
    author_id: Id
    discussion_id: str | None = None
    system: bool = False
    action: str | None = None
    updated_at: str | None = None


class _Issue(_Loose):
    iid: Id


class _NoteHook(_Loose):
    project_id: Id
    project: _Project
    object_attributes: _Attributes
    issue: _Issue | None = None
