"""The published document, and a world served over HTTP that has one of everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.sandbox.seed import demo_world
from bot.sandbox.server import SandboxServer
from tests.gitlab_api.document import Document


@pytest.fixture(scope="session")
def document() -> Document:
    return Document()


@pytest.fixture(scope="module")
def server() -> Iterator[SandboxServer]:
    """One for all calls of a module, because each test makes the things it uses itself."""
    with SandboxServer(demo_world()) as running:
        yield running
