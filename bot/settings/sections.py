"""The sections of the configuration, each a frozen model with its limits. Not here: reading files or the environment."""

import base64
import ipaddress
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from bot.core.eligibility import Policy
from bot.core.question import Word

MIN_SIGNING_BYTES = 24


def _not_inline(value: object) -> object:
    if isinstance(value, str):
        raise ValueError('a secret is not written here: use { env = "NAME" } or { file = "path" }')
    return value


def _signing(value: SecretStr) -> SecretStr:
    """GitLab shows a signing token once, as `whsec_` and base64 of 32 bytes (contract section 1)."""
    prefix, found, encoded = value.get_secret_value().partition("whsec_")
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True) if found and not prefix else b""
    except ValueError:
        key = b""
    if len(key) < MIN_SIGNING_BYTES:
        raise ValueError("not a signing token: it begins with whsec_ and holds base64 of at least 24 bytes")
    return value


Secret = Annotated[SecretStr, BeforeValidator(_not_inline)]
SigningToken = Annotated[SecretStr, BeforeValidator(_not_inline), AfterValidator(_signing)]
Url = Annotated[str, Field(pattern=r"^https?://[^\s?#]+$")]
Role = Annotated[int, Field(ge=10, le=60)]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ServerSection(Section):
    """Where the bot listens, and the address people and GitLab reach it at."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    external_url: Url = "http://127.0.0.1:8080"

    @property
    def is_public(self) -> bool:
        if self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True


class DatabaseSection(Section):
    """SQLAlchemy URL; may be a secret, since it can hold a password."""

    url: SecretStr = SecretStr("sqlite:///hitl.db")


class GitLabSection(Section):
    """The instance, and how it is reached."""

    url: Url
    ca_file: Path | None = None
    proxy: str | None = None
    timeout_seconds: float = Field(default=20.0, gt=0, le=120)
    former_bot_ids: tuple[int, ...] = ()

    @field_validator("url")
    @classmethod
    def _no_slash(cls, value: str) -> str:
        return value.rstrip("/")


class PayloadSection(Section):
    """The keys that sign the hidden payloads. Several while rotating: the first signs, all verify."""

    key: tuple[dict[Literal["file", "env"], str], ...] = ({"file": "hitl.key"},)

    @field_validator("key", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, dict) else value

    @field_validator("key")
    @classmethod
    def _some(cls, value: tuple[dict[str, str], ...]) -> tuple[dict[str, str], ...]:
        if not value or any(len(source) != 1 for source in value):
            raise ValueError('write { file = "hitl.key" }, or a list of such')
        return value


class PolicySection(Section):
    """Minimum roles as GitLab's numbers: 10 Guest, 15 Planner, 20 Reporter, 30 Developer, 40 Maintainer, 50 Owner."""

    start: Role | None = None
    answer: Annotated[int, Field(ge=11, le=60)] | None = None
    resume: Role | None = None
    resume_own_item: Role | None = None

    def over(self, base: Policy) -> Policy:
        """`base` with what is said here."""
        said = self.model_dump(exclude_none=True)
        return Policy(**{**{name: getattr(base, name) for name in ("start", "answer", "resume", "resume_own_item")}, **said})


class ProjectSection(Section):
    """One project the bot serves."""

    path: str = Field(pattern=r"^[^/\s][^\s]*/[^\s]*[^/\s]$")
    token: Secret
    webhook_secret: Secret | None = None
    signing_token: SigningToken | None = None
    mode: Literal["both", "poll"] = "both"
    policy: PolicySection = PolicySection()
    callback_urls: tuple[Url, ...] = ()
    callback_secret: SigningToken | None = None
    allow_private_callbacks: bool = False
    commands: dict[Word, Annotated[tuple[str, ...], Field(min_length=1)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _callbacks_are_signed(self) -> Self:
        if self.callback_urls and self.callback_secret is None:
            raise ValueError("callback_secret is missing: callbacks are signed")
        return self

    @property
    def has_hook_secret(self) -> bool:
        return self.webhook_secret is not None or self.signing_token is not None


class GroupHookSection(Section):
    """A hook of a group: it speaks for the listed projects below that group."""

    path: str = Field(pattern=r"^[^/\s](?:[^\s]*[^/\s])?$")
    webhook_secret: Secret | None = None
    signing_token: SigningToken | None = None

    def covers(self, project: "ProjectSection") -> bool:
        return project.path.casefold().startswith(f"{self.path.casefold()}/")

    @model_validator(mode="after")
    def _some_secret(self) -> Self:
        if self.webhook_secret is None and self.signing_token is None:
            raise ValueError("webhook_secret or signing_token is missing")
        return self


class WorkerSection(Section):
    """How often waiting items are read again (hooks get lost, and none is sent for a resolved thread), and after how
    long a row that a dead process had in hand is taken by another one."""

    poll_seconds: float = Field(default=60.0, gt=0)
    lease_seconds: float = Field(default=120.0, gt=0)


class LogSection(Section):
    """What the bot writes to standard error, and how."""

    format: Literal["console", "json"] = "console"
    level: Literal["debug", "info", "warning", "error"] = "info"


class TemplatesSection(Section):
    """A directory whose files replace built-in templates of the same name."""

    directory: Path | None = None
