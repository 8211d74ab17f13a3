"""What a receiver of hooks must not assume, each with the listener as the receiver and people acting over HTTP."""

from __future__ import annotations

import base64
from datetime import datetime

import pytest
import requests

from bot.sandbox.seed import BOT

pytestmark = pytest.mark.slow  # about the tracker, not about the bot

HIDDEN = "Which database?\n\n<!-- hitl:1 {} -->"


@pytest.fixture
def told(server, listener):
    """What the listener has received once everything is delivered."""

    def read():
        server.hooks.flush(5)
        return listener.received

    return read


def test_below_19_the_idempotency_key_is_all_there_is(world, project, listener, as_person, told):
    """Before 19.0 nothing is signed and there is no webhook-id, whatever tokens the hook has."""
    world.version = "18.11.0"
    world.add_hook(project, listener.url, signing_token="whsec_" + base64.b64encode(b"k" * 32).decode())
    as_person("dana").notes.create({"body": "one"})
    headers = told()[0].headers
    assert headers["idempotency-key"]
    assert not {"webhook-id", "webhook-timestamp", "webhook-signature"} & set(headers)


def test_two_hooks_tell_one_event_under_two_keys(world, project, listener, as_person, told):
    """Two hooks that hear of the same comment deliver the same bytes under different keys."""
    for _ in range(2):
        world.add_hook(project, listener.url)
    as_person("dana").notes.create({"body": "one"})
    first, second = told()
    assert first.raw == second.raw
    assert first.headers["idempotency-key"] != second.headers["idempotency-key"]


def test_a_chain_id_is_shared_by_different_deliveries(server, world, project, listener, as_person, told):
    """X-Gitlab-Event-UUID names a chain: two different comments can come under the same one, with keys of their own."""
    world.add_hook(project, listener.url)
    as_person("dana").notes.create({"body": "one"})
    chain = told()[0].headers["x-gitlab-event-uuid"]
    world.add_hook(project, listener.url)
    requests.post(
        f"{server.url}/api/v4/projects/77/issues/12/notes",
        json={"body": "two"},
        headers={"PRIVATE-TOKEN": world.tokens[0].value, "X-Gitlab-Event-UUID": chain},
        timeout=5,
    )
    one, two = told()
    assert [each.body["object_attributes"]["note"] for each in (one, two)] == ["one", "two"]
    assert one.headers["x-gitlab-event-uuid"] == two.headers["x-gitlab-event-uuid"]
    assert one.headers["idempotency-key"] != two.headers["idempotency-key"]


@pytest.mark.parametrize(("failure", "minutes"), [(3, 0), (4, 1), (5, 2), (6, 4), (14, 1024), (15, 1440), (39, 1440)])
def test_pauses_double_up_to_a_day(world, project, listener, as_person, told, clock, client, failure, minutes):
    """From the fourth failure on a hook pauses, for twice as long each time and at most for a day."""
    hook = world.add_hook(project, listener.url)
    hook.failures, listener.status = failure - 1, 400
    as_person("dana").notes.create({"body": "one"})
    told()
    shown = client("omar").projects.get(77).hooks.get(hook.id)
    if minutes == 0:
        assert (shown.alert_status, shown.disabled_until) == ("executable", None)
    else:
        pause = datetime.fromisoformat(shown.disabled_until) - clock()
        assert (shown.alert_status, pause.total_seconds()) == ("temporarily_disabled", minutes * 60)


def test_4xx_counts_like_5xx(world, project, listener, as_person, told):
    """A receiver that answers 404 to what is not for it is paused like one that fails."""
    hook = world.add_hook(project, listener.url)
    listener.status = 404
    for _ in range(5):
        as_person("dana").notes.create({"body": "one"})
        told()
    assert (hook.failures, len(listener.received)) == (4, 4)


def test_the_note_is_told_raw_with_its_hidden_comment(world, project, listener, as_person, told):
    """The hook's `note` and REST's `body` are the Markdown as stored, hidden comment included."""
    world.add_hook(project, listener.url)
    note = as_person(BOT).notes.create({"body": HIDDEN})
    assert told()[0].body["object_attributes"]["note"] == HIDDEN
    assert as_person("stranger").notes.get(note.id).body == HIDDEN


def test_plain_and_thread_notes_have_their_discussion(world, project, listener, as_person, told):
    """`discussion_id` is the id REST has, for plain notes too; `type` tells the two kinds apart."""
    world.add_hook(project, listener.url)
    mine = as_person("dana")
    mine.notes.create({"body": "plain"})
    mine.discussions.create({"body": "thread"})
    heard = [each.body["object_attributes"] for each in told()]
    assert [each["type"] for each in heard] == [None, "DiscussionNote"]
    assert [each["discussion_id"] for each in heard] == [each.id for each in mine.discussions.list(get_all=True)]


def test_a_comment_on_a_task_is_one_on_an_issue(world, project, listener, client, told):
    """Work items of other types are `Issue` to a note hook; the type is in `issue.type`."""
    task = client("petra").projects.get(77).issues.create({"title": "A task", "issue_type": "task"})
    world.add_hook(project, listener.url)
    task.notes.create({"body": "one"})
    body = told()[0].body
    assert (body["object_attributes"]["noteable_type"], body["issue"]["type"]) == ("Issue", "Task")


def test_comments_and_system_notes_fire_what_they_are(world, project, listener, as_person, told):
    """A comment fires no issue hook, and the system note of an edit fires no note hook."""
    world.add_hook(project, listener.url)
    mine = as_person("petra")
    mine.notes.create({"body": "one"})
    told()
    assert listener.events() == ["Note Hook"]
    mine.title = "Renamed"
    mine.save()
    told()
    assert listener.events() == ["Note Hook", "Issue Hook"]
    assert any(note.system for note in mine.notes.list(get_all=True))


def test_a_deleted_issue_is_told_to_nobody(world, project, listener, client, person, told):
    """Deleting an issue with its comments fires no hook."""
    world.set_role(project, person("omar"), 50)
    world.add_hook(project, listener.url)
    client("omar").projects.get(77).issues.get(12).delete()
    assert told() == []


def test_resolving_leaves_no_trace(world, project, listener, as_person, told, clock):
    """Resolving and unresolving a thread fires no hook, writes no system note and does not touch the issue."""
    mine = as_person("dana")
    thread = mine.discussions.create({"body": "Which?"})
    told()
    before = as_person("dana").updated_at
    world.add_hook(project, listener.url)
    clock.advance(minutes=1)
    for resolved in (True, False):
        path = f"/projects/77/issues/12/discussions/{thread.id}"
        mine.manager.gitlab.http_put(path, post_data={"resolved": resolved})
    assert told() == []
    assert as_person("dana").updated_at == before
    assert not any(note.system for note in mine.notes.list(get_all=True))


def test_emoji_hooks_hear_the_bot_and_show_internal_notes(world, project, listener, as_person, told):
    """The bot's own reaction fires, and the plain emoji hook carries the text of an internal note."""
    hidden = as_person("petra").notes.create({"body": "secret", "internal": True})
    told()
    world.add_hook(project, listener.url, confidential_note_events=False)
    as_person(BOT).notes.get(hidden.id).awardemojis.create({"name": "eyes"})
    delivery = told()[0]
    assert (delivery.event, delivery.body["object_attributes"]["user_id"]) == ("Emoji Hook", 9001)
    assert delivery.body["note"]["note"] == "secret"


def test_an_update_can_come_before_its_create(server, world, project, listener, as_person, told):
    """Order is not promised: the edit of a comment is heard before the comment when that is asked for."""
    world.add_hook(project, listener.url)
    server.faults.add_hook("reorder", event="Note Hook")
    note = as_person("dana").notes.create({"body": "one"})
    note.body = "two"
    note.save()
    actions = [each.body["object_attributes"]["action"] for each in told()]
    assert actions == ["update", "create"]


def test_confidential_issues_need_their_own_trigger(world, project, issue, listener, as_person, told):
    """Changes of a confidential issue go only to the confidential trigger, under a header of its own."""
    issue.confidential = True
    world.add_hook(project, listener.url, confidential_issues_events=False)
    mine = as_person("petra")
    mine.description = "one"
    mine.save()
    assert told() == []
    world.add_hook(project, listener.url, issues_events=False)
    mine.description = "two"
    mine.save()
    assert [each.event for each in told()] == ["Confidential Issue Hook"]
