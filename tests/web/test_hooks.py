"""`POST /webhooks/gitlab`: the statuses GitLab sees, and that a hook decides nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from bot.testing import MovableClock, Stage
from bot.testing.stage import HOOK_SECRET

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


@pytest.fixture
def quiet(tmp_path: Path, clock: MovableClock) -> Iterator[Stage]:
    """A stage whose tracker sends no hooks: the test sends them."""
    with Stage(tmp_path, clock=clock) as stage:
        stage.world.hooks.clear()
        yield stage


def asked(stage: Stage) -> tuple[str, dict[str, Any]]:
    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    question = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
    placed = stage.client.ask(run, [question])[0]
    stage.settle()
    return run, placed


def body(note_id: int, discussion_id: str, text: str = "A", **attributes: Any) -> dict[str, Any]:
    """A note event as the contract describes it (section 2)."""
    return {
        "object_kind": "note",
        "event_type": "note",
        "user": {"id": 201, "username": "dana", "name": "Dana R"},
        "project_id": 77,
        "project": {"id": 77, "path_with_namespace": "acme/platform/api"},
        "object_attributes": {
            "id": note_id, "note": text, "noteable_type": "Issue", "noteable_id": 880012, "author_id": 201,
            "discussion_id": discussion_id, "system": False, "internal": False, "action": "create",
            "created_at": "2026-03-02 09:00:00 UTC", "updated_at": "2026-03-02 09:00:00 UTC", **attributes,
        },
        "issue": {"id": 880012, "iid": 12, "state": "opened", "confidential": False},
    }  # fmt: skip


def send(stage: Stage, payload: Any, *, token: str | None = HOOK_SECRET, **headers: str) -> requests.Response:
    sent = {"X-Gitlab-Event": "Note Hook", "Content-Type": "application/json", **headers}
    if token is not None:
        sent["X-Gitlab-Token"] = token
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return requests.post(f"{stage.web.url}/webhooks/gitlab", data=data, headers=sent, timeout=10)


def stored(stage: Stage) -> int:
    """Rows of the inbox that wait."""
    with stage.bot.parts.store.snapshot() as unit:
        return unit.inbox.due(stage.bot.parts.clock.now())


@pytest.mark.parametrize("token", [None, "", "wrong", HOOK_SECRET + "x", "schlüssel"], ids=str)
def test_without_the_secret_nothing_is_stored(quiet: Stage, token: str | None) -> None:
    """A missing or wrong secret answers 401 before the body is looked at."""
    _, placed = asked(quiet)
    encoded = None if token is None else token.encode("utf-8").decode("latin-1")
    answer = send(quiet, body(1, placed["discussion_id"]), token=encoded)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert stored(quiet) == 0


def test_a_forged_body_with_the_right_secret_changes_nothing(quiet: Stage) -> None:
    """The note is read from GitLab: what the body claims about author and text is not used."""
    run, placed = asked(quiet)
    real = quiet.person("gil").reply(placed, "hm, hard to say")
    answer = send(quiet, body(real["id"], placed["discussion_id"], "A", author_id=204))
    assert answer.status_code == 202
    quiet.settle()
    question = quiet.client.questions(run)["questions"][0]
    assert question["answer"] is None
    assert question["replies"][0]["by"]["username"] == "gil"
    assert send(quiet, body(999_999, placed["discussion_id"], "hitl continue")).status_code == 202
    quiet.settle()
    assert quiet.client.run(run)["status"] == "awaiting_input"


def test_one_event_delivered_twice_is_stored_once(quiet: Stage) -> None:
    """Under the same delivery id, and as the twin of a group hook under another one (case B15)."""
    _, placed = asked(quiet)
    event = body(quiet.person("dana").reply(placed, "B")["id"], placed["discussion_id"], "B")
    answers = [
        send(quiet, event, **{"Idempotency-Key": "aaa", "X-Gitlab-Event-UUID": "1111"}),
        send(quiet, event, **{"Idempotency-Key": "aaa", "X-Gitlab-Event-UUID": "1111"}),
        send(quiet, event, **{"Idempotency-Key": "bbb", "X-Gitlab-Event-UUID": "2222"}),
    ]
    assert [(answer.status_code, answer.json()["status"]) for answer in answers] == [
        (202, "stored"),
        (202, "known"),
        (202, "known"),
    ]
    assert stored(quiet) == 1


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"object_kind": "issue", "object_attributes": {"iid": 12}}, id="issue event"),
        pytest.param({"object_kind": "emoji"}, id="emoji event"),
        pytest.param(body(1, "d", noteable_type="MergeRequest"), id="merge request"),
        pytest.param({**body(1, "d"), "issue": {"iid": 13}}, id="an item without runs"),
        pytest.param({**body(1, "d"), "project_id": 78}, id="another project"),
        pytest.param(body(1, "d", system=True), id="system note"),
        pytest.param(body(1, "d", author_id=9001), id="the bot's own note"),
    ],
)
def test_what_is_not_ours_is_accepted_and_not_stored(quiet: Stage, event: dict[str, Any]) -> None:
    """Authentic but nothing to us: 200, since GitLab pauses hooks that answer 4xx (trap 5)."""
    asked(quiet)
    assert send(quiet, event).status_code == 200
    assert stored(quiet) == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b'{"object_kind": "note"}',
        b'{"object_kind": "note", "object_attributes": {"id": "x"}}',
        b"\xff\xfe",
    ],
    ids=["empty", "text", "array", "null", "no attributes", "wrong types", "not UTF-8"],
)
def test_what_cannot_be_read_makes_the_item_be_read_again(quiet: Stage, data: bytes) -> None:
    """A body that is not the JSON we know answers 200, and a reply it may have told of is found all the same."""
    run, placed = asked(quiet)
    quiet.person("dana").reply(placed, "B")
    assert send(quiet, data).status_code == 200
    quiet.settle()
    assert quiet.client.questions(run)["questions"][0]["answer"]["keys"] == ["B"]


def test_a_body_that_is_too_large_makes_the_item_be_read_again(quiet: Stage) -> None:
    """Over 2 MiB: 200, not stored, read from GitLab instead."""
    run, placed = asked(quiet)
    quiet.person("dana").reply(placed, "A")
    event = body(1, placed["discussion_id"], "x" * (2 * 1024 * 1024 + 1))
    assert send(quiet, event).status_code == 200
    quiet.settle()
    assert quiet.client.questions(run)["questions"][0]["answer"]["keys"] == ["A"]


@pytest.mark.parametrize("number", [10**30, -1, 2**63], ids=str)
def test_numbers_no_database_holds_are_not_a_fault_of_ours(quiet: Stage, number: int) -> None:
    """A body with impossible ids is not the JSON we know: 200, and the item is read again."""
    asked(quiet)
    for event in ({**body(1, "d"), "project_id": number}, {**body(1, "d"), "issue": {"iid": number}}, body(number, "d")):
        assert send(quiet, event).status_code == 200


def test_get_is_not_a_delivery(quiet: Stage) -> None:
    """Nothing is decided by GET."""
    assert requests.get(f"{quiet.web.url}/webhooks/gitlab", timeout=10).status_code == 405


def test_samples_are_taken_in(quiet: Stage) -> None:
    """A recorded comment on an item with a run is stored, whatever release of GitLab it came from."""
    asked(quiet)
    for case in ("note_create", "old_gitlab", "confidential_note"):
        headers = json.loads((SAMPLES / case / "headers.json").read_text())
        kept = {
            name: value
            for name, value in headers.items()
            if name.casefold() not in ("x-gitlab-token", "content-length", "host")
        }
        answer = requests.post(
            f"{quiet.web.url}/webhooks/gitlab",
            data=(SAMPLES / case / "body.json").read_bytes(),
            headers={**kept, "X-Gitlab-Token": HOOK_SECRET},
            timeout=10,
        )
        assert answer.status_code == 202, case
