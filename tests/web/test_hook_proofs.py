"""How a delivery proves where it comes from: secret token, signing token, both; of the project or of its group."""

import base64
import hashlib
import hmac
import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest
import requests
from pydantic import SecretStr

from bot.testing import Stage
from bot.testing.stage import HOOK_SECRET, SIGNING_TOKEN, HookKind
from bot.wire.gitlab import HookSecret
from tests.web.test_hooks import body, send, stored

QUESTION: dict[str, Any] = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}


def signature(data: bytes, *, key: str = SIGNING_TOKEN, message: str = "m1", at: float | None = None) -> dict[str, str]:
    """The headers of Standard Webhooks, made here without the library the bot uses."""
    stamp = str(int(time.time() if at is None else at))
    secret = base64.b64decode(key.removeprefix("whsec_") + "==")
    mac = hmac.new(secret, f"{message}.{stamp}.".encode() + data, hashlib.sha256).digest()
    return {"webhook-id": message, "webhook-timestamp": stamp, "webhook-signature": f"v1,{base64.b64encode(mac).decode()}"}


def asked(stage: Stage) -> dict[str, Any]:
    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    placed = stage.client.ask(run, [QUESTION])[0]
    stage.settle()
    return {**placed, "run": run}


@pytest.mark.parametrize("hook", ["secret", "signature", "both"])
def test_the_story_with_doubled_and_reordered_deliveries(tmp_path: Path, hook: HookKind) -> None:
    """Whatever the proof, and with hooks doubled and out of order: each reply counts once, Continue continues once."""
    with Stage(tmp_path, hook=hook) as stage:
        question = asked(stage)
        stage.tracker.faults.add_hook("double", times=None)
        stage.tracker.faults.add_hook("reorder", times=2)
        note = stage.person("dana").reply(question, "A")
        stage.person("dana").edit(note["id"], "B")
        stage.person("petra").reply(question, "A\n\nI would still take it.")
        stage.person("petra").comment("hitl continue")
        stage.settle()
        document = stage.client.wait(question["run"], 0)
        assert document is not None
        assert document["questions"][0]["answer"]["keys"] == ["B"]
        receipts = [each for each in stage.person("dana").notes() if "resumed** by" in each["body"]]
        assert len(receipts) == 1


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One stage with a run that waits, for all the deliveries that are refused."""
    with Stage(tmp_path_factory.mktemp("hooks"), hook="both") as stage:
        stage.world.hooks.clear()
        asked(stage)
        yield stage


@pytest.fixture
def signed(tmp_path: Path) -> Any:
    """A stage that knows both proofs, whose tracker sends no hooks: the test sends them."""
    with Stage(tmp_path, hook="both") as stage:
        stage.world.hooks.clear()
        stage.question = asked(stage)  # type: ignore[attr-defined]
        yield stage


def deliver(stage: Stage, data: bytes, headers: dict[str, str], token: str | None = None) -> int:
    return send(stage, data, token=token, **headers).status_code


def event(stage: Any) -> bytes:
    return json.dumps(body(5101, stage.question["discussion_id"], "B")).encode()


def test_a_right_signature_is_enough(signed: Stage) -> None:
    """No token is needed beside it; its id deduplicates."""
    data = event(signed)
    assert deliver(signed, data, signature(data)) == 202
    assert deliver(signed, data, signature(data)) == 202
    assert stored(signed) == 1


WRONG = {
    "another key": lambda data: signature(data, key="whsec_" + base64.b64encode(b"x" * 32).decode()),
    "another body": lambda data: signature(data + b" "),
    "too old": lambda data: signature(data, at=time.time() - 301),
    "too new": lambda data: signature(data, at=time.time() + 301),
    "another id": lambda data: {**signature(data), "webhook-id": "m2"},
    "no timestamp": lambda data: {**signature(data), "webhook-timestamp": ""},
    "not a number": lambda data: {**signature(data), "webhook-timestamp": "nan"},
    "no comma": lambda data: {**signature(data), "webhook-signature": "v1"},
    "three parts": lambda data: {**signature(data), "webhook-signature": "v1,a,b"},
    "not base64": lambda data: {**signature(data), "webhook-signature": "v1,!"},
    "empty": lambda data: {**signature(data), "webhook-signature": ""},
    "another scheme": lambda data: {
        **signature(data),
        "webhook-signature": signature(data)["webhook-signature"].replace("v1", "v2"),
    },
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_signature_is_401_even_beside_the_right_secret(untouched: Stage, make: Any) -> None:
    """If a signature is there it alone decides: there is no falling back to the token, and no failure is a 500."""
    data = json.dumps(body(5101, "d1", "B")).encode()
    assert deliver(untouched, data, make(data), token=HOOK_SECRET) == 401
    assert stored(untouched) == 0


def test_one_right_signature_of_several_is_enough(signed: Stage) -> None:
    """The header is a list, for the time of rotation."""
    data = event(signed)
    headers = signature(data)
    other = signature(data, key="whsec_" + base64.b64encode(b"y" * 32).decode())["webhook-signature"]
    assert deliver(signed, data, {**headers, "webhook-signature": f"{other} {headers['webhook-signature']}"}) == 202


def test_ids_without_a_signature_are_judged_by_the_token(signed: Stage) -> None:
    """GitLab 19 may send `webhook-id` without a signature (contract section 1)."""
    data = event(signed)
    ids = {"webhook-id": "m9", "webhook-timestamp": str(int(time.time()))}
    assert deliver(signed, data, ids, token=HOOK_SECRET) == 202
    assert deliver(signed, data, ids) == 401


def test_bytes_that_are_no_text_are_401_when_signed(signed: Stage) -> None:
    """The library cannot read them: not verified, not a fault of ours."""
    data = b"\xff\xfe\x00"
    assert deliver(signed, data, signature(data)) == 401


def test_a_signed_body_over_2_mib_is_verified_and_the_item_read_again(signed: Stage) -> None:
    """Verified over the whole, then not used: 200. Over 26 MiB: 401."""
    signed.person("dana").reply(signed.question, "A")  # type: ignore[attr-defined]
    data = json.dumps(body(1, "d", "x" * (2 * 1024 * 1024))).encode()
    assert deliver(signed, data, signature(data)) == 200
    assert stored(signed) == 1
    huge = b"x" * (26 * 1024 * 1024 + 1)
    assert deliver(signed, huge, signature(huge)) == 401


def test_a_signature_nobody_can_check_is_401_and_says_how_to_configure_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No signing token is configured: the sender is refused, the operator told."""
    with Stage(tmp_path) as stage:
        stage.world.hooks.clear()
        data = b"{}"
        with caplog.at_level(logging.WARNING):
            assert deliver(stage, data, signature(data), token=HOOK_SECRET) == 401
        assert "signing_token" in caplog.text


def test_a_group_hook_speaks_for_the_projects_below_it(signed: Stage) -> None:
    """Its secret is taken for the projects it covers, and for no others: those are dropped with 200."""
    covering = HookSecret(frozenset({"acme/platform/api"}), SecretStr("group-secret"))
    other = HookSecret(frozenset({"acme/elsewhere"}), SecretStr("other-secret"))
    app = signed.web.app
    app.state.hook_secrets = (*app.state.hook_secrets, covering, other)
    data = event(signed)
    assert deliver(signed, data, {}, token="group-secret") == 202
    changed = json.dumps(body(5102, signed.question["discussion_id"], "A")).encode()  # type: ignore[attr-defined]
    assert deliver(signed, changed, {}, token="other-secret") == 200
    assert stored(signed) == 1


def test_ipv6_and_ipv4_loopback_are_no_different_to_the_sender(signed: Stage) -> None:
    """The address is not a proof: without one it is 401 from loopback too."""
    answer = requests.post(f"{signed.web.url}/webhooks/gitlab", data=b"{}", timeout=5)
    assert answer.status_code == 401
