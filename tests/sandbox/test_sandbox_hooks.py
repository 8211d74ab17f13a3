"""Hooks as the receiver sees them: kinds, bodies, headers, signature, log, pausing."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket

import gitlab
import pytest
import requests

from bot.sandbox.hooks import Hooks
from bot.sandbox.seed import BOT, demo_world


def hook_client(client, who="omar"):
    return client(who).projects.get(77, lazy=True)


def test_a_note_hook_has_the_author_even_when_a_maintainer_edits(tracker, world, project, listener, issue, person):
    """`user` is the note's author also on update; the editor is only in `updated_by_id`."""
    world.add_hook(project, listener.url)
    note = tracker.discussions.comment(issue, person("dana"), "one")
    tracker.discussions.edit(note.id, person("omar"), "two")
    tracker.hooks.flush(5)
    created, updated = (delivery.body for delivery in listener.received)
    assert [b["object_attributes"]["action"] for b in (created, updated)] == ["create", "update"]
    assert updated["user"]["username"] == "dana"
    assert updated["object_attributes"]["author_id"] == 201
    assert updated["object_attributes"]["updated_by_id"] == 204
    assert (updated["object_kind"], updated["event_type"]) == ("note", "note")
    assert updated["object_attributes"]["note"] == "two"
    assert updated["issue"]["iid"] == 12
    assert updated["object_attributes"]["noteable_type"] == "Issue"
    assert updated["project"]["path_with_namespace"] == "acme/platform/api"
    assert "bot" not in updated["user"]


def test_what_sends_no_hook(tracker, world, project, listener, issue, person):
    """Same text, delete, resolve and unresolve send nothing at all."""
    note = tracker.discussions.open_thread(issue, person("dana"), "one")
    tracker.hooks.flush(5)
    world.add_hook(project, listener.url)
    tracker.discussions.edit(note.id, person("dana"), "one\r\n")
    tracker.discussions.resolve(note.discussion_id, person("dana"))
    tracker.discussions.resolve(note.discussion_id, person("dana"), resolved=False)
    tracker.discussions.resolve_note(note.id, person("dana"))
    tracker.discussions.delete(note.id, person("dana"))
    tracker.hooks.flush(5)
    assert listener.events() == []


def test_the_bots_own_notes_fire(tracker, world, project, listener, issue, person):
    """There is no author filter: the bot hears itself."""
    world.add_hook(project, listener.url)
    tracker.discussions.open_thread(issue, person(BOT), "Which?")
    tracker.hooks.flush(5)
    assert listener.received[0].body["object_attributes"]["author_id"] == 9001


@pytest.mark.parametrize("how", ["internal note", "confidential issue"])
def test_confidential_notes_need_their_own_trigger(tracker, world, project, listener, issue, person, how):
    """Internal notes and notes of confidential issues go only to the confidential trigger."""
    world.add_hook(project, listener.url, confidential_note_events=False)
    issue.confidential = how == "confidential issue"
    internal = how == "internal note"
    tracker.discussions.comment(issue, person("petra"), "secret", internal=internal)
    tracker.hooks.flush(5)
    assert listener.events() == []
    world.add_hook(project, listener.url, note_events=False)
    tracker.discussions.comment(issue, person("petra"), "secret", internal=internal)
    tracker.hooks.flush(5)
    assert listener.events() == ["Confidential Note Hook"]
    assert listener.received[0].body["event_type"] == "confidential_note"


def test_emoji_hooks_tell_award_and_revoke(tracker, world, project, listener, issue, person):
    """A reaction tells the Emoji Hook with canonical name and note, and so does taking it back."""
    note = tracker.discussions.comment(issue, person("dana"), "one")
    tracker.hooks.flush(5)
    world.add_hook(project, listener.url)
    tracker.discussions.react(note.id, person("gil"), "+1")
    tracker.discussions.unreact(note.id, person("gil"), "thumbsup")
    tracker.hooks.flush(5)
    assert listener.events() == ["Emoji Hook", "Emoji Hook"]
    given, revoked = (delivery.body for delivery in listener.received)
    assert (given["event_type"], revoked["event_type"]) == ("award", "revoke")
    assert given["object_attributes"]["name"] == "thumbsup"
    assert given["object_attributes"]["awardable_id"] == note.id
    assert given["object_attributes"]["awarded_on_url"].endswith(f"#note_{note.id}")
    assert given["user"]["username"] == "gil"
    assert given["note"]["note"] == "one"
    assert "action" not in given["note"]
    assert given["issue"]["iid"] == 12


def test_issue_hooks_tell_changes(tracker, world, project, listener, issue, person):
    """An edited description is an update with its change; closing and reopening are actions."""
    world.add_hook(project, listener.url)
    before = issue.description
    tracker.issues.edit_description(issue, person("petra"), "New")
    tracker.issues.close(issue, person("petra"))
    tracker.issues.close(issue, person("petra"))
    tracker.issues.reopen(issue, person("petra"))
    tracker.issues.lock(issue, person("petra"))
    tracker.issues.set_confidential(issue, person("petra"))
    tracker.hooks.flush(5)
    bodies = [delivery.body for delivery in listener.received]
    actions = [body["object_attributes"]["action"] for body in bodies]
    assert actions == ["update", "close", "reopen", "update", "update"]
    assert bodies[0]["changes"]["description"] == {"previous": before, "current": "New"}
    assert bodies[0]["user"]["username"] == "petra"
    assert bodies[1]["object_attributes"]["state"] == "closed"
    assert bodies[3]["changes"]["discussion_locked"]["current"] is True
    assert bodies[4]["changes"]["confidential"] == {"previous": False, "current": True}
    assert listener.events()[-2:] == ["Issue Hook", "Confidential Issue Hook"]
    assert bodies[4]["event_type"] == "confidential_issue"


def test_other_work_item_types_are_work_items_in_issue_hooks(tracker, world, project, listener, person):
    """The header stays Issue Hook; the kind says work_item and the attributes name the type."""
    world.add_hook(project, listener.url)
    tracker.issues.create(project, person("petra"), "A task", issue_type="task")
    tracker.hooks.flush(5)
    delivery = listener.received[0]
    assert delivery.event == "Issue Hook"
    assert delivery.body["object_kind"] == "work_item"
    assert delivery.body["object_attributes"]["type"] == "Task"
    assert delivery.body["object_attributes"]["action"] == "open"


def test_delivery_headers_and_signature(server, world, project, listener, issue, person):
    """Secret in clear, instance, ids, and a Standard Webhooks signature over the raw bytes."""
    key = bytes(range(32))
    signing_token = "whsec_" + base64.b64encode(key).decode()
    world.add_hook(project, listener.url, token="sécret", signing_token=signing_token)
    server.discussions.comment(issue, person("dana"), "Ünicode")
    server.hooks.flush(5)
    delivery = listener.received[0]
    headers = delivery.headers
    assert headers["x-gitlab-token"].encode("latin-1").decode() == "sécret"
    assert headers["x-gitlab-instance"] == server.url
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("GitLab/")
    assert headers["webhook-id"] == headers["idempotency-key"]
    assert headers["x-gitlab-webhook-uuid"] != headers["idempotency-key"]
    assert headers["x-gitlab-event-uuid"] != headers["idempotency-key"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + delivery.raw
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"


def test_without_secrets_there_are_no_secret_headers(tracker, world, project, listener, issue, person):
    """A hook without tokens sends neither token nor signature."""
    world.add_hook(project, listener.url)
    tracker.discussions.comment(issue, person("dana"), "one")
    tracker.hooks.flush(5)
    assert not {"x-gitlab-token", "webhook-signature"} & set(listener.received[0].headers)


def test_failures_are_not_retried_and_pause_the_hook(tracker, world, project, listener, issue, person, clock):
    """The fourth failure pauses for a minute, the next for two; events meanwhile are lost."""
    hook = world.add_hook(project, listener.url)
    listener.status = 500

    def comment():
        tracker.discussions.comment(issue, person("dana"), "hello")
        tracker.hooks.flush(5)
        return len(listener.received)

    assert [comment() for _ in range(5)] == [1, 2, 3, 4, 4]
    assert tracker.hooks.alert_status(hook) == "temporarily_disabled"
    clock.advance(seconds=61)
    assert comment() == 5
    clock.advance(seconds=61)
    assert comment() == 5
    clock.advance(seconds=61)
    listener.status = 302
    assert comment() == 6
    assert hook.failures == 0


def test_forty_failures_disable_for_good_until_a_test_succeeds(server, world, project, listener, issue, person, clock, client):
    """The 40th failure ends a hook; only a successful test request brings it back."""
    hook = world.add_hook(project, listener.url)
    hook.failures = 39
    listener.status = 404
    server.discussions.comment(issue, person("dana"), "hello")
    server.hooks.flush(5)
    clock.advance(days=400)
    assert server.hooks.alert_status(hook) == "disabled"
    remote = hook_client(client).hooks.get(hook.id)
    with pytest.raises(gitlab.GitlabHookTestError):
        remote.test("note_events")
    listener.status = 200
    remote.test("note_events")
    assert server.hooks.alert_status(hook) == "executable"


def test_a_hook_that_cannot_be_reached_counts_as_failure(tracker, world, project, issue, person):
    """A refused connection is logged as an internal error and not retried."""
    hook = world.add_hook(project, "http://127.0.0.1:9/closed")
    tracker.discussions.comment(issue, person("dana"), "hello")
    tracker.hooks.flush(5)
    assert (hook.failures, len(world.deliveries)) == (1, 1)
    assert world.deliveries[0].error == "ConnectionError"


def test_hooks_are_managed_over_the_api(client, world, listener):
    """Maintainers create, change and delete hooks; secrets are accepted and never returned."""
    with pytest.raises(gitlab.GitlabListError) as refused:
        hook_client(client, "dana").hooks.list(get_all=True)
    assert refused.value.response_code == 403
    hooks = hook_client(client).hooks
    key = "whsec_" + base64.b64encode(b"k" * 32).decode()
    made = hooks.create({"url": listener.url, "token": "t", "signing_token": key, "note_events": True})
    shape = made.attributes
    assert (shape["token_present"], shape["signing_token_present"]) == (True, True)
    assert not {"token", "signing_token"} & set(shape)
    assert (shape["note_events"], shape["emoji_events"]) == (True, False)
    made.url, made.emoji_events = listener.url + "/other", True
    made.save()
    again = hooks.get(made.id).attributes
    assert (again["token_present"], again["emoji_events"]) == (False, True)
    made.delete()
    assert world.hooks == {}


@pytest.mark.parametrize(
    "sent",
    [
        {"url": "ftp://example.com/"},
        {"url": "not an address"},
        {"url": "https://example.com", "signing_token": "whsec_short"},
    ],
)
def test_bad_hooks_are_422(client, sent):
    """An address or signing token that cannot work is refused when the hook is made."""
    with pytest.raises(gitlab.GitlabCreateError) as refused:
        hook_client(client).hooks.create(sent)
    assert refused.value.response_code == 422


def test_local_addresses_can_be_blocked(client, world, listener):
    """With loopback switched off, hooks to this machine answer 422 as on a real instance."""
    world.loopback_hooks = False
    for url in (listener.url, "http://localhost:1/", "http://10.0.0.1/", "http://[::1]/"):
        with pytest.raises(gitlab.GitlabCreateError) as refused:
            hook_client(client).hooks.create({"url": url})
        assert refused.value.response_code == 422
    hook_client(client).hooks.create({"url": "https://example.com/hook"})


def test_a_resend_keeps_the_idempotency_key(client, server, world, project, listener, issue, person):
    """The log shows a delivery without its secret, and resending it keeps its key and body."""
    hook = world.add_hook(project, listener.url, token="secret")
    server.discussions.comment(issue, person("dana"), "hello")
    server.hooks.flush(5)
    api = client("omar")
    path = f"/projects/77/hooks/{hook.id}/events"
    log = api.http_get(path)
    assert log[0]["response_status"] == "202"
    assert "secret" not in str(log)
    api.http_post(f"{path}/{log[0]['id']}/resend")
    first, second = listener.received
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.raw == second.raw
    assert first.headers["x-gitlab-webhook-uuid"] != second.headers["x-gitlab-webhook-uuid"]


def test_a_call_that_carries_the_chain_back_does_not_fire_the_hook_again(server, world, project, listener, issue, person):
    """Only a client that returns X-Gitlab-Event-UUID is protected from its own loop."""
    world.add_hook(project, listener.url)
    server.discussions.comment(issue, person("dana"), "hello")
    server.hooks.flush(5)
    chain = listener.received[0].headers["x-gitlab-event-uuid"]
    token = next(t.value for t in world.tokens if t.user_id == 9001)
    url = f"{server.url}/api/v4/projects/77/issues/12/notes"
    for carried in ({"X-Gitlab-Event-UUID": chain}, {}):
        headers = {"PRIVATE-TOKEN": token, **carried}
        assert requests.post(url, json={"body": "x"}, headers=headers, timeout=5).status_code == 201
    server.hooks.flush(5)
    assert len(listener.received) == 2


def test_hooks_carry_either_time_format(tracker, world, project, listener, issue, person):
    """Hook times come with whole seconds and `UTC`, or in ISO form when that is chosen."""
    world.add_hook(project, listener.url)
    tracker.discussions.comment(issue, person("dana"), "one")
    world.iso_hook_times = True
    tracker.discussions.comment(issue, person("dana"), "two")
    tracker.hooks.flush(5)
    times = [d.body["object_attributes"]["created_at"] for d in listener.received]
    assert times == ["2026-11-03 09:00:00 UTC", "2026-11-03T09:00:00.000Z"]


def test_without_a_server_flush_delivers(listener):
    """`flush` delivers in the calling thread when nothing runs in the background."""
    from bot.sandbox.discussions import Discussions

    world = demo_world()
    hooks = Hooks(world)
    issue = world.issue_at(77, 12)
    world.add_hook(world.projects[77], listener.url)
    Discussions(world, hooks).comment(issue, world.user_named("dana"), "hello")
    assert hooks.flush(5) is True
    assert listener.events() == ["Note Hook"]
    hooks.stop()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("drop", ["two", "three"]),
        ("double", ["one", "one", "two", "three"]),
        ("delay", ["two", "three", "one"]),
        ("reorder", ["two", "one", "three"]),
    ],
)
def test_deliveries_go_wrong_on_request(tracker, world, project, listener, issue, person, kind, expected):
    """A delivery is dropped, doubled with the same key, late, or overtaken by the next."""
    world.add_hook(project, listener.url)
    tracker.faults.add_hook(kind, event="Note Hook", seconds=0.2)
    for text in ("one", "two", "three"):
        tracker.discussions.comment(issue, person("dana"), text)
    tracker.hooks.flush(5)
    assert [d.body["object_attributes"]["note"] for d in listener.received] == expected
    if kind == "double":
        keys = [d.headers["idempotency-key"] for d in listener.received[:2]]
        assert keys[0] == keys[1]


def test_flush_says_when_it_gives_up(tracker, world, project, listener, issue, person):
    """`flush` raises instead of pretending that everything was delivered."""
    world.add_hook(project, listener.url)
    tracker.faults.add_hook("delay", seconds=5)
    tracker.discussions.comment(issue, person("dana"), "late")
    with pytest.raises(TimeoutError):
        tracker.hooks.flush(0.05)
    assert listener.events() == []


def test_a_receiver_that_never_answers_is_a_failure(tracker, world, project, issue, person):
    """After the timeout, 10 s by default, the delivery counts as failed and is not repeated."""
    assert tracker.hooks.timeout == 10.0
    tracker.hooks.timeout = 0.05
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hook = world.add_hook(project, f"http://127.0.0.1:{silent.getsockname()[1]}/")
        tracker.discussions.comment(issue, person("dana"), "hello")
        tracker.hooks.flush(5)
    assert (hook.failures, world.deliveries[0].error) == (1, "ReadTimeout")
    assert len(world.deliveries) == 1
