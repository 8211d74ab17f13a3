"""The configuration: one frozen value from a TOML file and the environment. Not here: what is built from it (`bootstrap`).

Secrets are written `{ env = "NAME" }` or `{ file = "path" }` (relative to the file that says so), never inline.
For plain keys `HITL_SECTION__KEY` in the environment wins over the file. Unknown keys are errors.
"""

import ipaddress
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from bot.core.eligibility import Policy
from bot.core.errors import ConfigError


def _not_inline(value: object) -> object:
    if isinstance(value, str):
        raise ValueError('a secret is not written here: use { env = "NAME" } or { file = "path" }')
    return value


Secret = Annotated[SecretStr, BeforeValidator(_not_inline)]
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
    mode: Literal["both", "poll"] = "both"
    policy: PolicySection = PolicySection()

    @model_validator(mode="after")
    def _hooks_need_a_secret(self) -> Self:
        if self.mode == "both" and self.webhook_secret is None:
            raise ValueError('webhook_secret is missing (none is needed with mode = "poll")')
        return self


class WorkerSection(Section):
    """How often waiting items are read again (hooks get lost, and none is sent for a resolved thread), and after how
    long a row that a dead process had in hand is taken by another one."""

    poll_seconds: float = Field(default=60.0, gt=0)
    lease_seconds: float = Field(default=120.0, gt=0)


class TemplatesSection(Section):
    """A directory whose files replace built-in templates of the same name."""

    directory: Path | None = None


class Settings(BaseSettings):
    """Everything that can be configured."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    server: ServerSection = ServerSection()
    database: DatabaseSection = DatabaseSection()
    gitlab: GitLabSection
    payload: PayloadSection = PayloadSection()
    policy: PolicySection = PolicySection()
    worker: WorkerSection = WorkerSection()
    templates: TemplatesSection = TemplatesSection()
    projects: tuple[ProjectSection, ...] = Field(min_length=1)
    base: Path = Field(default=Path(), exclude=True, description="What relative paths are relative to; not a key of the file")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what the constructor is given: `load` adds the environment, so that a bot in a test reads none."""
        return (init_settings,)

    @model_validator(mode="after")
    def _public_needs_secrets(self) -> Self:
        if self.server.is_public and all(project.webhook_secret is None for project in self.projects):
            raise ValueError(f"server.host {self.server.host} is public, and no project has a webhook_secret")
        return self

    def policy_of(self, project: ProjectSection) -> Policy:
        return project.policy.over(self.policy.over(Policy()))


def load(path: Path) -> Settings:
    """The settings in `path`. Raises `ConfigError` with one line that names file, key and fix."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file (copy config.example.toml, or name another with --config)") from error
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    if "base" in data:
        raise ConfigError(f"{path}: base: unknown key")
    base = path.resolve().parent
    resolved = _resolved(data, base, path, "")
    try:
        environment = EnvSettingsSource(Settings, env_prefix="HITL_", env_nested_delimiter="__")()
        return Settings(**_merged(resolved, environment), base=base)
    except SettingsError as error:
        raise ConfigError(f"environment: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "settings"
        raise ConfigError(f"{path}: {key}: {_plain(first['type'], first['msg'])}") from error


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """`below` with the values of `above` where both have one, section by section."""
    both = {
        key: _merged(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value
        for key, value in above.items()
    }
    return {**below, **both}


def _plain(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "unknown key: see config.example.toml for the keys there are"
    if kind == "missing":
        return "missing: see config.example.toml"
    return message.removeprefix("Value error, ")


def _resolved(value: Any, base: Path, file: Path, key: str) -> Any:
    """`value` with every `{ env = … }` and `{ file = … }` replaced by the secret it names."""
    if key == "payload.key":
        return value  # made on first start, so it need not exist yet
    if isinstance(value, dict):
        if set(value) == {"env"} and isinstance(value["env"], str):
            return _from_environment(value["env"], file, key)
        if set(value) == {"file"} and isinstance(value["file"], str):
            return _from_file(base / value["file"], file, key)
        return {name: _resolved(inner, base, file, f"{key}.{name}".lstrip(".")) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(inner, base, file, f"{key}.{index}") for index, inner in enumerate(value)]
    return value


def _from_environment(name: str, file: Path, key: str) -> SecretStr:
    secret = os.environ.get(name, "").strip()
    if not secret:
        raise ConfigError(f"{file}: {key}: environment variable {name} is not set (or empty)")
    return SecretStr(secret)


def _from_file(path: Path, file: Path, key: str) -> SecretStr:
    try:
        secret = path.read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{file}: {key}: {path} cannot be read ({error})") from error
    if not secret:
        raise ConfigError(f"{file}: {key}: {path} is empty")
    return SecretStr(secret)
