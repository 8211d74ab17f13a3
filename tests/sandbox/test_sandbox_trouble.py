"""The switchboard for people: what a tester does to somebody over HTTP is what the API then says of them."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from bot.sandbox.seed import demo_world
from bot.sandbox.server import SandboxServer


@pytest.fixture(scope="module")
def server() -> Iterator[SandboxServer]:
    with SandboxServer(demo_world()) as running:
        yield running


def change(server: SandboxServer, username: str, **trouble: Any) -> int:
    return requests.put(f"{server.url}/-/sandbox/people/{username}", json=trouble, timeout=5).status_code


def role(server: SandboxServer, user_id: int) -> int | None:
    token = server.world.add_token(server.world.users[204])
    answer = requests.get(f"{server.url}/api/v4/projects/77/members/all/{user_id}", headers={"PRIVATE-TOKEN": token}, timeout=5)
    return None if answer.status_code == 404 else int(answer.json()["access_level"])


def test_demoted_and_thrown_out(server: SandboxServer) -> None:
    """A role can be changed and taken away; the membership says so at once."""
    assert role(server, 201) == 30
    assert change(server, "dana", project="acme/platform/api", role=20) == 204
    assert role(server, 201) == 20
    assert change(server, "dana", project="acme/platform/api", role=0) == 204
    assert role(server, 201) is None
    assert change(server, "dana", project="acme/platform/api", role=30) == 204


def test_blocked_and_expired(server: SandboxServer) -> None:
    """A blocked person gets 403, one whose tokens expired or were revoked 401, and both come back."""
    token = server.world.add_token(server.world.users[203])

    def status() -> int:
        return requests.get(f"{server.url}/api/v4/user", headers={"PRIVATE-TOKEN": token}, timeout=5).status_code

    for trouble, expected in (
        ({"blocked": True}, 403),
        ({"blocked": False}, 200),
        ({"tokens": "expired"}, 401),
        ({"tokens": "valid"}, 200),
        ({"tokens": "revoked"}, 401),
        ({"tokens": "valid"}, 200),
    ):
        assert change(server, "petra", **trouble) == 204
        assert status() == expected, trouble


def test_nobody_and_nothing(server: SandboxServer) -> None:
    """Unknown people and projects are 404, unknown troubles 400."""
    assert change(server, "nobody", blocked=True) == 404
    assert change(server, "dana", project="acme/none", role=20) == 404
    assert change(server, "dana", haunted=True) == 400
