"""No secret comes out anywhere: logs at debug level, tracebacks, health, metrics, problem bodies, database (case B32)."""

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event as Happened
from typing import Any, Literal

import pytest
import requests

from bot.adapters import logs
from bot.flows.parts import Event
from bot.flows.tick import drain
from bot.testing import MovableClock, Stage
from bot.testing.stage import HOOK_SECRET, SIGNING_TOKEN
from bot.worker import Worker
from tests.test_cli import hitl
from tests.web.test_hooks import body, send

CHOICE: dict[str, Any] = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
DISCUSSIONS = "*/issues/12/discussions"
TOKEN = "glpat-TESTtestTESTtest0000"

pytestmark = pytest.mark.slow  # processes and whole logs


@pytest.fixture
def output() -> Iterator[io.StringIO]:
    """What the log says; how the process logged before is put back."""
    loggers = [logging.getLogger(), *map(logging.getLogger, logs.OURS)]
    before = [(logger, logger.handlers, logger.level) for logger in loggers]
    yield io.StringIO()
    for logger, handlers, level in before:
        logger.handlers = handlers
        logger.setLevel(level)


class Exploding:
    """A renderer with a fault whose message holds all it should not."""

    def __init__(self, *secrets: str) -> None:
        self.secrets = secrets

    def note(self, template: str, values: dict[str, Any]) -> str:
        token, hook_secret, signing_token, key = self.secrets
        headers = {"X-Gitlab-Token": hook_secret, "PRIVATE-TOKEN": token}
        raise RuntimeError(f"{token} {signing_token} Authorization: Bearer {key} {headers}")


def secrets_of(stage: Stage) -> dict[str, str]:
    dana = next(user for user in stage.world.users.values() if user.username == "dana")
    return {
        "token of the bot": stage.settings.projects[0].token.get_secret_value(),
        "hook secret": HOOK_SECRET,
        "signing token": SIGNING_TOKEN,
        "key of the flow": stage.key_secret,
        "token of a person": stage.world.add_token(dana),
        "payload key": (stage.folder / "hitl.key").read_text().strip(),
    }


def told_by_the_web(stage: Stage, secrets: dict[str, str]) -> list[str]:
    """Bodies and headers of everything that answers, for right, wrong and swapped credentials."""
    answers = [requests.get(f"{stage.web.url}{path}", timeout=10) for path in ("/health/live", "/health/ready", "/metrics")]
    for secret in secrets.values():
        for headers in ({"Authorization": f"Bearer {secret}"}, {"PRIVATE-TOKEN": secret}, {"X-Gitlab-Token": secret}):
            answers.append(requests.get(f"{stage.web.url}/api/v1/runs", headers=headers, timeout=10))
            answers.append(requests.post(f"{stage.web.url}/api/v1/runs", json={"goal": secret}, headers=headers, timeout=10))
            answers.append(requests.post(f"{stage.web.url}/webhooks/gitlab", data=b"{", headers=headers, timeout=10))
    return [f"{answer.headers} {answer.text}" for answer in answers]


@pytest.mark.parametrize("format_", ["console", "json"])
def test_nothing_leaks(
    tmp_path: Path,
    clock: MovableClock,
    output: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    format_: Literal["console", "json"],
) -> None:
    """Hooks right and wrong, 401, 429, no connection, a fault while posting and one in a request, all at debug level."""
    logs.configure(format_, "debug", output)
    with Stage(tmp_path, clock=clock, hook="both") as stage:
        secrets = secrets_of(stage)
        token = secrets["token of the bot"]
        run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
        placed = stage.client.ask(run, [CHOICE])[0]
        stage.settle()
        send(stage, body(1, placed["discussion_id"]), token="wrong")
        send(stage, body(1, placed["discussion_id"]), **{"Idempotency-Key": "delivery-1"})
        send(stage, b"not json")
        echo = json.dumps({"message": f"PRIVATE-TOKEN {token} is not valid"})
        faults: list[dict[str, Any]] = [{"status": 401, "body": echo}, {"status": 429, "body": echo}, {"cut": "drop"}]
        for fault in faults:
            stage.tracker.faults.add("*", "*/discussions/*", times=3, **fault)
            stage.person("dana").comment("hello")
            stage.person("petra").edit(stage.person("petra").comment("hi")["id"], "B")
            stage.tracker.hooks.flush(5)
            send(stage, b"", **{"Idempotency-Key": str(fault)})
            drain(stage.bot.parts)
            stage.tracker.faults.clear()
            clock.move(hours=1)
        bodies = told_by_the_web(stage, secrets)
        _post_with_a_fault(stage, run, Exploding(token, HOOK_SECRET, SIGNING_TOKEN, stage.key_secret))
        fault_in_request = RuntimeError(f"{token} {stage.key_secret} {SIGNING_TOKEN} {{'x-gitlab-token': '{HOOK_SECRET}'}}")
        with monkeypatch.context() as patched:
            patched.setattr(stage.bot.store, "snapshot", lambda: (_ for _ in ()).throw(fault_in_request))
            patched.setattr(stage.bot.store, "unit", lambda: (_ for _ in ()).throw(fault_in_request))
            for answer in (
                requests.get(
                    f"{stage.web.url}/api/v1/runs", headers={"Authorization": f"Bearer {stage.key_secret}"}, timeout=9
                ),
                requests.get(f"{stage.web.url}/health/ready", timeout=9),
                send(stage, body(2, placed["discussion_id"])),
            ):
                assert answer.status_code == 500
                bodies.append(answer.text)
        shown = [repr(stage.bot), repr(stage.settings), str(stage.settings)]
    log = output.getvalue()
    for said in ("Traceback", "the worker met a fault", "gitlab_token_refused", "gitlab_rate_limited", "gitlab_unavailable",
                 "could not be read", "Exception in ASGI application", logs.MASK):  # fmt: skip
        assert said in log, said
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("hitl.db*"))
    assert stored
    for name, secret in secrets.items():
        assert secret not in log, f"{name} in the log"
        assert not any(secret in text for text in bodies), f"{name} in an answer"
        assert not any(secret in text for text in shown), f"{name} in a repr"
        assert secret.encode() not in stored, f"{name} in the database"


def _post_with_a_fault(stage: Stage, run: str, renderer: Exploding) -> None:
    """The worker meets an exception that nobody foresaw, while it posts a question."""
    from bot.core.models import Question
    from bot.flows.ask import ask
    from bot.flows.callers import KeyCaller

    ask(stage.bot.parts, KeyCaller(stage.key), run, [Question.model_validate({**CHOICE, "text": "And?"})])
    parts = replace(stage.bot.parts, renderer=renderer)
    met = Happened()

    def step() -> int:
        try:
            return drain(parts, most=1)
        except RuntimeError:
            met.set()
            raise

    worker = Worker()
    worker.start(step, lambda: None, 60)
    assert met.wait(10)
    worker.stop()


@pytest.mark.parametrize(
    "config",
    [
        f'token = "{TOKEN}"',
        'token = { env = "CANARY" }\nsigning_token = { env = "CANARY" }',
        'token = { env = "CANARY" }\nwebhook_secret = "s3cr3t-hook"',
        'token = { env = "CANARY" }\nmode = "poll"\nsurprise = { env = "CANARY" }',
        'token = { env = "CANARY" }\nmode = { env = "CANARY" }',
        'token = { env = "CANARY" }\nmode = "poll"\n[server]\nport = { env = "CANARY" }',
    ],
    ids=["inline", "no signing token", "inline hook secret", "unknown key", "wrong mode", "no port"],
)
def test_configuration_errors_name_no_secret(tmp_path: Path, config: str) -> None:
    """A mistake in the configuration is one line without the value."""
    (tmp_path / "config.toml").write_text(
        f'[gitlab]\nurl = "https://x"\n[log]\nlevel = "debug"\n[[projects]]\npath = "a/b"\n{config}\n'
    )
    result = hitl("serve", environment={"CANARY": TOKEN}, folder=tmp_path)
    assert result.returncode == 2
    assert len([line for line in result.stderr.splitlines() if "back it up" not in line]) == 1, result.stderr
    for secret in (TOKEN, "s3cr3t-hook"):
        assert secret not in result.stderr + result.stdout


REDACTED = [
    (f"see {TOKEN}.", f"see {logs.MASK}"),
    ("key hitl_0123456789abcdef ends", f"key {logs.MASK} ends"),
    (f"signed with {SIGNING_TOKEN}", f"signed with {logs.MASK}"),
    ("Authorization: Bearer abc.def-ghi", f"Authorization: {logs.MASK}"),
    ("sent bearer abcdefgh to it", f"sent {logs.MASK} to it"),
    ("X-Gitlab-Token: s3cr3t-hook, next", f"X-Gitlab-Token: {logs.MASK}, next"),
    ("{'x-gitlab-token': 's3cr3t hook'}", f"{{'x-gitlab-token': {logs.MASK}}}"),
    ("[(b'x-gitlab-token', b's3cr3t-hook')]", f"[(b'x-gitlab-token', {logs.MASK})]"),
    ("postgresql://hitl:hunter2@db/hitl", f"postgresql://hitl:{logs.MASK}@db/hitl"),
    ({"X-Gitlab-Token": "s3cr3t-hook", "n": 3}, {"X-Gitlab-Token": logs.MASK, "n": 3}),
    (["a", (TOKEN, None)], ["a", [logs.MASK, None]]),
    (ValueError(TOKEN), f"ValueError('{logs.MASK}')"),
    (TOKEN.encode(), f"b'{logs.MASK}'"),
    ("X-Gitlab-Token is missing or wrong", "X-Gitlab-Token is missing or wrong"),
    ("hitl_queue_rows, run 0a1b2c, group/project#12", "hitl_queue_rows, run 0a1b2c, group/project#12"),
    (True, True),
]


@pytest.mark.parametrize(("value", "shown"), REDACTED, ids=[str(value)[:24] for value, _ in REDACTED])
def test_redaction_of_last_resort(value: object, shown: object) -> None:
    """What is shaped or named like a token is masked, wherever it stands; ids and words stay."""
    assert logs.redacted(value) == shown


def test_lines_say_when_and_what_about(output: io.StringIO) -> None:
    """JSON lines with a UTC time; what is logged while a row is in hand carries its ids, and nothing afterwards does."""
    logs.configure("json", "debug", output)
    log = logging.getLogger("bot.worker")
    logs.note(Event.TAKEN, {"effect": "ask:q1", "run": "r1", "question": "q1", "lane": "item:7:12", "kind": "post_question"})
    log.warning("in between %s", "said")
    logs.note(Event.RETRY, {"effect": "ask:q1", "code": "gitlab_unavailable", "pause": timedelta(seconds=2)})
    log.info("after")
    logging.getLogger("sqlalchemy.engine").info("never shown: it prints rows")
    taken, between, retry, after = map(json.loads, output.getvalue().splitlines())
    assert taken["event"] == Event.TAKEN
    assert taken["timestamp"].endswith("Z")
    assert (between["event"], between["effect"], between["run"], between["question"]) == (
        "in between said",
        "ask:q1",
        "r1",
        "q1",
    )
    assert (retry["level"], retry["code"], retry["pause"]) == ("warning", "gitlab_unavailable", 2.0)
    assert not {"effect", "run", "question", "lane"} & set(after)


def test_hook_lines_carry_the_delivery(stage: Stage, output: io.StringIO) -> None:
    """Each line about a delivery has its key, if it looks like one."""
    logs.configure("json", "debug", output)
    send(stage, b"{", **{"Idempotency-Key": "delivery-1"})
    send(stage, b"{", **{"Idempotency-Key": "no id: <b>"})
    lines = [line for line in map(json.loads, output.getvalue().splitlines()) if line["logger"] == "bot.web.hooks"]
    assert [line.get("delivery") for line in lines] == ["delivery-1", "delivery-1", None, None]
