"""From a TOML file and the environment to settings; every mistake is one line that names file, key and fix."""

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError
from pydantic_settings import EnvSettingsSource, SettingsError

from bot.core.errors import ConfigError
from bot.settings.model import Settings


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
        told = [".".join(str(part) for part in first["loc"]), _plain(first["type"], first["msg"])]
        raise ConfigError(": ".join([str(path), *filter(None, told)])) from error


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
