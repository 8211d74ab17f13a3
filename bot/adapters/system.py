"""The real clock, the real dice, and the key file. Not here: what they are used for."""

import base64
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from bot.core.errors import ConfigError

KEY_BYTES = 32


class SystemClock:
    """The computer's clock in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SecretIds:
    """Identifiers that cannot be guessed."""

    def new(self, size: int) -> str:
        return secrets.token_hex(size)


def load_or_make_key(path: Path) -> tuple[bytes, bool]:
    """The payload key in `path`, and whether it was made just now (mode 0600). Raises `ConfigError`."""
    try:
        return _decoded(path.read_text("ascii"), path), False
    except FileNotFoundError:
        pass
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"payload.key: {path} cannot be read ({error}): make it readable for this user") from error
    key = secrets.token_bytes(KEY_BYTES)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(base64.b64encode(key).decode() + "\n")
    except FileExistsError:
        return _decoded(path.read_text("ascii"), path), False
    except OSError as error:
        raise ConfigError(f"payload.key: {path} cannot be written ({error}): choose another path") from error
    return key, True


def decode_key(text: str, where: str) -> bytes:
    """A key given as text. Raises `ConfigError`."""
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError as error:
        raise ConfigError(f"payload.key: {where} does not hold base64") from error
    if len(key) < KEY_BYTES:
        raise ConfigError(f"payload.key: {where} holds fewer than {KEY_BYTES} bytes")
    return key


def _decoded(text: str, path: Path) -> bytes:
    return decode_key(text, str(path))
