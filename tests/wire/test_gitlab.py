"""What GitLab sends, read from recorded deliveries; and who sent it. Signatures are in `tests/web/test_hook_proofs.py`."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.wire.gitlab import HookSecret, NoteDelivery, NotForUs, Unreadable, projects_of_token, read_delivery

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
INSTANCE = "https://gitlab.example.com"
API, WEB = "acme/platform/api", "acme/platform/web"
SECRET = "s3cr3t-hook"


def headers_of(case: str) -> dict[str, str]:
    """The sample's headers, names in lower case as the web server gives them."""
    sent = json.loads((SAMPLES / case / "headers.json").read_text())
    return {name.lower(): value for name, value in sent.items()}


def body_of(case: str) -> bytes:
    return (SAMPLES / case / "body.json").read_bytes()


def read(case: str, *, instance: str = INSTANCE) -> NoteDelivery | NotForUs | Unreadable:
    return read_delivery(headers_of(case), body_of(case), instance=instance)


def fingerprint(case: str) -> str:
    delivery = read(case)
    assert isinstance(delivery, NoteDelivery)
    return delivery.fingerprint


def noted(**changes: Any) -> NoteDelivery | NotForUs | Unreadable:
    """`note_create` with attributes of its note changed."""
    body = json.loads(body_of("note_create"))
    body["object_attributes"] |= changes
    return read_delivery({}, json.dumps(body).encode(), instance=INSTANCE)


def test_every_sample_is_read_here() -> None:
    """No recorded delivery lies around untested."""
    assert {folder.name for folder in SAMPLES.iterdir()} == {*COMMENTS, *IGNORED}


COMMENTS = {
    "note_create": (640101, "6a9c1f0e5d7b48c2a3e4f5061728394a5b6c7d8e", "5e4d3c2b-0000-4000-8000-000000000001"),
    "group_hook_twin": (640101, "6a9c1f0e5d7b48c2a3e4f5061728394a5b6c7d8e", "5e4d3c2b-0000-4000-8000-000000000002"),
    "note_update_by_maintainer": (640101, "6a9c1f0e5d7b48c2a3e4f5061728394a5b6c7d8e", "5e4d3c2b-0000-4000-8000-000000000003"),
    "confidential_note": (640102, "7b0d2f1e5d7b48c2a3e4f5061728394a5b6c7d8f", "5e4d3c2b-0000-4000-8000-000000000004"),
    "old_gitlab": (640105, "ae305f4e5d7b48c2a3e4f5061728394a5b6c7d92", None),
    "task": (640106, "bf416f5e5d7b48c2a3e4f5061728394a5b6c7d93", "5e4d3c2b-0000-4000-8000-000000000010"),
}
IGNORED = {
    "note_on_merge_request": "a comment on a MergeRequest",
    "system_note": "a system note",
    "emoji": "emoji events are not listened to",
    "issue_update": "issue events are not listened to",
}


@pytest.mark.parametrize("case", COMMENTS)
def test_comments_on_items(case: str) -> None:
    """A comment on an issue or task says which note of which item to look at, on every release of GitLab."""
    note_id, discussion_id, delivery_key = COMMENTS[case]
    assert read(case) == NoteDelivery(
        project_id=77,
        project_path=API,
        item_iid=12,
        note_id=note_id,
        discussion_id=discussion_id,
        author_id=201,
        delivery_key=delivery_key,
        fingerprint=fingerprint(case),
    )


@pytest.mark.parametrize("case", IGNORED)
def test_what_is_not_listened_to(case: str) -> None:
    """Other events are authentic and not for us, with a reason for the log."""
    assert read(case) == NotForUs(IGNORED[case])


def test_the_twin_of_a_group_hook() -> None:
    """Project hook and group hook tell the same event under different delivery ids: only the fingerprint says so (case B15)."""
    one, other = read("note_create"), read("group_hook_twin")
    assert isinstance(one, NoteDelivery)
    assert isinstance(other, NoteDelivery)
    assert one.fingerprint == other.fingerprint
    assert one.delivery_key != other.delivery_key


def test_different_events_have_different_fingerprints() -> None:
    """Two comments, and the edit of a comment, are three events."""
    cases = [case for case in COMMENTS if case != "group_hook_twin"]
    assert len({fingerprint(case) for case in cases}) == len(cases)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"id": 640199}, id="another note"),
        pytest.param({"note": "C"}, id="another text"),
        pytest.param({"action": "update"}, id="another action"),
        pytest.param({"updated_at": "2026-03-02T09:00:01.000Z"}, id="another time"),
    ],
)
def test_what_makes_an_event_another(changes: dict[str, Any]) -> None:
    """The fingerprint covers the note, its text, the action and the time."""
    changed = noted(**changes)
    assert isinstance(changed, NoteDelivery)
    assert changed.fingerprint != fingerprint("note_create")


def test_the_same_note_of_another_instance() -> None:
    """Two GitLabs may use the same ids."""
    elsewhere = read("note_create", instance="https://gitlab.example.org")
    assert isinstance(elsewhere, NoteDelivery)
    assert elsewhere.fingerprint != fingerprint("note_create")


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        pytest.param({"webhook-id": "w", "idempotency-key": "i"}, "w", id="19.0 and later"),
        pytest.param({"idempotency-key": "i"}, "i", id="17.4 to 18"),
        pytest.param({"webhook-id": "", "idempotency-key": "i"}, "i", id="an empty webhook-id"),
        pytest.param(
            {"idempotency-key": ""},
            None,
            id="empty",
        ),
        pytest.param({}, None, id="before 17.4"),
        pytest.param({"x-gitlab-event-uuid": "e", "x-gitlab-webhook-uuid": "a"}, None, id="ids of chain and attempt"),
    ],
)
def test_the_delivery_key(headers: dict[str, str], key: str | None) -> None:
    """Only ids that stay the same over resends and differ between deliveries count (trap 3)."""
    delivery = read_delivery(headers, body_of("note_create"), instance=INSTANCE)
    assert isinstance(delivery, NoteDelivery)
    assert delivery.delivery_key == key


def test_work_items_by_their_new_name() -> None:
    """A release that stores `WorkItem` instead of `Issue` is understood."""
    assert noted(noteable_type="WorkItem") == read_delivery({}, body_of("note_create"), instance=INSTANCE)


@pytest.mark.parametrize("kind", ["Commit", "Snippet", "MergeRequest", "Epic"])
def test_comments_on_other_things(kind: str) -> None:
    """Only comments on items are ours, whatever else is in the body."""
    assert noted(noteable_type=kind) == NotForUs(f"a comment on a {kind}")


@pytest.mark.parametrize("parent", ["work_item", None], ids=str)
def test_an_item_under_a_name_we_do_not_know(parent: str | None) -> None:
    """A comment on an item that does not say which is not the JSON we know: it must be read another way."""
    body = json.loads(body_of("note_create"))
    issue = body.pop("issue")
    if parent is not None:
        body[parent] = issue
    assert isinstance(read_delivery({}, json.dumps(body).encode(), instance=INSTANCE), Unreadable)


NOTE = json.loads(body_of("note_create"))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b" \n", id="blank"),
        pytest.param(b"payload=%7B%7D", id="a form"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[]", id="array"),
        pytest.param(b'["note"]', id="array with a word"),
        pytest.param(b'"note"', id="text"),
        pytest.param(b"{}", id="object without a kind"),
        pytest.param(b'{"object_kind": 1}', id="a kind that is no word"),
        pytest.param(b'{"object_kind": "note"}', id="no attributes"),
        pytest.param(b'{"object_kind": "note", "object_attributes": []}', id="attributes as an array"),
        pytest.param(b'{"object_kind": "note", "object_attributes": null}', id="attributes null"),
        pytest.param(b'{"object_kind": "note", "object_attributes": {"id": "x"}}', id="an id that is no number"),
        pytest.param(b"\xff\xfe{\x00}\x00", id="UTF-16"),
        pytest.param(body_of("note_create") + b"{}", id="two bodies"),
        pytest.param(body_of("note_create")[:-3], id="truncated"),
        pytest.param(body_of("note_create").replace(b"because", b"\xff"), id="not UTF-8"),
        pytest.param(b"[" * 200_000, id="deep and unclosed"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="deep"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="deep objects"),
        pytest.param(json.dumps({**NOTE, "project": None}).encode(), id="no project"),
        pytest.param(json.dumps({**NOTE, "project_id": None}).encode(), id="no project id"),
        pytest.param(json.dumps({**NOTE, "project_id": "seventy-seven"}).encode(), id="a project id in words"),
        pytest.param(json.dumps({**NOTE, "issue": {"iid": None}}).encode(), id="an item without a number"),
        pytest.param(json.dumps({**NOTE, "issue": "12"}).encode(), id="an item as text"),
    ],
)
def test_what_cannot_be_read(body: bytes) -> None:
    """A body that is not the JSON we know is said to be so, so that the items are read from GitLab instead."""
    assert isinstance(read_delivery({}, body, instance=INSTANCE), Unreadable)


@pytest.mark.parametrize("case", [*COMMENTS, *IGNORED])
def test_no_truncation_raises(case: str) -> None:
    """A body cut anywhere is unreadable, never an error."""
    body = body_of(case).rstrip()
    assert all(isinstance(read_delivery({}, body[:end], instance=INSTANCE), Unreadable) for end in range(0, len(body), 7))


@given(st.binary(max_size=400))
def test_any_bytes_are_read(body: bytes) -> None:
    """Arbitrary bytes never raise, and never become a comment."""
    assert isinstance(read_delivery({}, body, instance=INSTANCE), (NotForUs, Unreadable))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "iid", "note", "x"]), inner, max_size=3),
    max_leaves=5,
)
PLACES = [
    *[("object_kind",), ("project_id",), ("project",), ("project", "path_with_namespace"), ("object_attributes",), ("issue",)],
    *[("object_attributes", name) for name in ("id", "note", "noteable_type", "author_id", "discussion_id", "system")],
    *[("object_attributes", "action"), ("object_attributes", "updated_at"), ("issue", "iid")],
]


@given(st.sampled_from(PLACES), JSON, st.dictionaries(st.sampled_from(["webhook-id", "idempotency-key"]), st.text(max_size=9)))
def test_any_value_in_any_field_is_read(place: tuple[str, ...], value: Any, headers: dict[str, str]) -> None:
    """A genuine body with one field replaced by anything never raises."""
    body = json.loads(body_of("note_create"))
    inner = body
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    sent = json.dumps(body).encode()
    assert isinstance(read_delivery(headers, sent, instance=INSTANCE), (NoteDelivery, NotForUs, Unreadable))


@given(st.integers(0, 5_000), st.binary(min_size=1, max_size=3))
def test_any_tampering_is_read(at: int, changed: bytes) -> None:
    """A genuine body with bytes overwritten never raises."""
    body = body_of("note_create")
    at %= len(body)
    sent = body[:at] + changed + body[at + len(changed) :]
    assert isinstance(read_delivery({}, sent, instance=INSTANCE), (NoteDelivery, NotForUs, Unreadable))


def secret(token: str, *projects: str) -> HookSecret:
    return HookSecret(projects=frozenset(projects), token=SecretStr(token))


ONE = [secret(SECRET, API)]
SEVERAL = [secret(SECRET, API), secret("other", WEB), secret(SECRET, WEB, "acme/docs"), HookSecret(frozenset({"acme/signed"}))]


@pytest.mark.parametrize(
    ("headers", "secrets", "projects"),
    [
        pytest.param({"x-gitlab-token": SECRET}, ONE, {API}, id="right"),
        pytest.param({"x-gitlab-token": "wrong"}, ONE, set(), id="wrong"),
        pytest.param({"x-gitlab-token": SECRET[:-1]}, ONE, set(), id="a character short"),
        pytest.param({"x-gitlab-token": SECRET + "x"}, ONE, set(), id="a character long"),
        pytest.param({"x-gitlab-token": SECRET.upper()}, ONE, set(), id="in capitals"),
        pytest.param({"x-gitlab-token": f" {SECRET}"}, ONE, set(), id="with a blank"),
        pytest.param({"x-gitlab-token": ""}, ONE, set(), id="empty"),
        pytest.param({}, ONE, set(), id="missing"),
        pytest.param({"authorization": SECRET, "x-gitlab-event": SECRET}, ONE, set(), id="in another header"),
        pytest.param({"x-gitlab-token": "sch\xfcssel"}, ONE, set(), id="non-ASCII"),
        pytest.param({"x-gitlab-token": "\udcff\udcfe"}, ONE, set(), id="bytes that are no text"),
        pytest.param({"x-gitlab-token": SECRET}, [], set(), id="nothing configured"),
        pytest.param({"x-gitlab-token": SECRET}, SEVERAL, {API, WEB, "acme/docs"}, id="one of several, used twice"),
        pytest.param({"x-gitlab-token": "other"}, SEVERAL, {WEB}, id="another of several"),
        pytest.param({"x-gitlab-token": "neither"}, SEVERAL, set(), id="none of several"),
        pytest.param({}, SEVERAL, set(), id="none given, where a signing token is configured without a secret"),
    ],
)
def test_whose_secret_it_is(headers: dict[str, str], secrets: list[HookSecret], projects: set[str]) -> None:
    """The projects whose secret the sender knows, all of them, and none for anything else."""
    assert projects_of_token(headers, secrets) == projects


def test_the_secrets_of_the_samples() -> None:
    """A recorded delivery proves itself with the secret it was recorded with, and with no other."""
    headers = headers_of("note_create")
    assert projects_of_token(headers, [secret(headers["x-gitlab-token"], API), secret(SECRET, WEB)]) == {API}


def test_a_secret_outside_ascii() -> None:
    """A secret with other letters is recognised in the form in which the web server hands on header bytes."""
    arrived = "sch\u00fcssel-\u6f22".encode().decode("latin-1")
    assert projects_of_token({"x-gitlab-token": arrived}, [secret("sch\u00fcssel-\u6f22", API)]) == {API}


@pytest.mark.parametrize("headers", [{}, {"x-gitlab-token": ""}], ids=["missing", "empty"])
def test_an_empty_secret_proves_nothing(headers: dict[str, str]) -> None:
    """Even if an empty secret were configured, a sender without one is not authentic."""
    assert projects_of_token(headers, [secret("", API)]) == frozenset()


@given(st.text(max_size=20))
def test_any_token_is_compared(token: str) -> None:
    """No header value raises, and none but the secret is right."""
    assert projects_of_token({"x-gitlab-token": token}, ONE) == (frozenset({API}) if token == SECRET else frozenset())
