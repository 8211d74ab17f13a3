"""Issues through python-gitlab: rights, updates, moves, reactions, to-dos, quick actions."""

from __future__ import annotations

from contextlib import suppress

import gitlab
import pytest

from bot.sandbox.refusals import OnlyCommands
from bot.sandbox.seed import BOT


def status_of(call, *args, **kwargs):
    with pytest.raises(gitlab.GitlabError) as caught:
        call(*args, **kwargs)
    return caught.value.response_code


def test_an_issue_has_the_fields_a_bot_reads(as_person):
    """State, type, confidentiality, lock, move, counts, people and address are there."""
    shape = as_person(BOT).attributes
    assert (shape["iid"], shape["project_id"], shape["state"]) == (12, 77, "opened")
    assert (shape["issue_type"], shape["confidential"], shape["moved_to_id"]) == (
        "issue",
        False,
        None,
    )
    assert shape["author"]["username"] == "dana"
    assert [a["id"] for a in shape["assignees"]] == [201]
    assert shape["web_url"].endswith("/acme/platform/api/-/issues/12")
    assert shape["labels"] == ["importer"]
    as_person("dana").notes.create({"body": "x"})
    assert as_person(BOT).user_notes_count == 1


@pytest.mark.parametrize(
    ("who", "sees"),
    [("petra", True), ("omar", True), ("dana", True), ("gil", False), ("stranger", False)],
)
def test_confidential_issues_are_404_below_planner(client, issue, who, sees):
    """A confidential issue is for Planners and up, its author and its assignees."""
    issue.confidential = True
    issue.assignee_ids, issue.author_id = [], 204
    issues = client(who).projects.get(77).issues
    if sees:
        assert issues.get(12).confidential is True
        assert [i.iid for i in issues.list(get_all=True)] == [12]
    else:
        assert status_of(issues.get, 12) == 404
        assert issues.list(get_all=True) == []
        issue.assignee_ids = [202, 777]
        assert issues.get(12).iid == 12


@pytest.mark.parametrize(("who", "allowed"), [("petra", True), ("dana", True), ("gil", False), ("stranger", False)])
def test_who_updates_an_issue(as_person, issue, who, allowed):
    """Planners and up update any issue; Guests and strangers do not."""
    issue.author_id, issue.assignee_ids = 204, []
    mine = as_person(who)
    mine.description = "changed"
    if allowed:
        mine.save()
        assert issue.description == "changed"
    else:
        assert status_of(mine.save) == 403


def test_a_guest_updates_their_own_issue_but_not_its_metadata(client, issue):
    """Author or assignee Guests edit text and state, not incidents; metadata is dropped."""
    issue.assignee_ids = [202]
    remote = client("gil").projects.get(77).issues.get(12)
    remote.description, remote.labels, remote.confidential = "mine", ["decision"], True
    remote.save()
    assert (issue.description, issue.labels, issue.confidential) == ("mine", ["importer"], False)
    issue.issue_type = "incident"
    remote.description = "again"
    assert status_of(remote.save) == 403


def test_a_locked_discussion_blocks_reopening(as_person, server, issue, person):
    """Closing a locked issue works; reopening it does not."""
    server.issues.lock(issue, person("omar"))
    mine = as_person("omar")
    mine.state_event = "close"
    mine.save()
    assert issue.state == "closed"
    mine.state_event = "reopen"
    assert status_of(mine.save) == 403


def test_issues_are_filtered_by_update(client, clock, server, issue, person, project):
    """`updated_after` finds what was commented on and misses what was only resolved."""
    thread = server.discussions.open_thread(issue, person(BOT), "Which?")
    other = server.issues.create(project, person("petra"), "Another")
    clock.advance(minutes=5)
    since = clock().isoformat()
    server.discussions.resolve(thread.discussion_id, person(BOT))
    issues = client(BOT).projects.get(77).issues
    assert issues.list(updated_after=since, get_all=True) == []
    server.discussions.comment(other, person("gil"), "hello")
    assert [i.iid for i in issues.list(updated_after=since, get_all=True)] == [other.iid]
    assert [i.iid for i in issues.list(iids=[12], get_all=True)] == [12]
    assert [i.iid for i in issues.list(state="closed", get_all=True)] == []


def test_issues_are_created_and_deleted(client, world):
    """A Guest opens an issue without labels; only Owners delete one, with all its notes."""
    made = client("gil").projects.get(77).issues.create({"title": "New", "labels": "decision"})
    assert (made.iid, made.labels) == (13, [])
    made.notes.create({"body": "x"})
    remote = client("omar").projects.get(77).issues.get(13)
    assert status_of(remote.delete) == 403
    world.set_role(world.projects[77], world.user_named("omar"), 50)
    remote.delete()
    assert status_of(client("omar").projects.get(77).issues.get, 13) == 404
    assert status_of(client("omar").projects.get(77).issues.create, {"title": " "}) == 400


def test_a_move_gives_everything_new_ids(client, world, server, issue, person, listener, project):
    """The copy has new ids everywhere and no note hooks; the original closes with moved_to_id."""
    target = world.add_project("acme/other", id=80)
    world.add_member(target, person("omar"), 40)
    thread = server.discussions.open_thread(issue, person(BOT), "Which?")
    server.discussions.reply(thread.discussion_id, person("dana"), "A")
    server.discussions.resolve(thread.discussion_id, person(BOT))
    server.hooks.flush(5)
    world.add_hook(project, listener.url)
    world.add_hook(target, listener.url, issues_events=False)
    client("omar").projects.get(77).issues.get(12).move(80)
    server.hooks.flush(5)
    original = client(BOT).projects.get(77).issues.get(12)
    copy = world.issues[original.moved_to_id]
    assert (original.state, copy.project_id, copy.iid, copy.state) == ("closed", 80, 1, "opened")
    copied = next(t for t in copy.threads() if t[0].type == "DiscussionNote")
    assert [n.body for n in copied] == ["Which?", "A"]
    assert [n.resolved for n in copied] == [True, True]
    assert [n.author_id for n in copied] == [9001, 201]
    assert not {n.id for n in copied} & {n.id for n in issue.notes}
    assert copied[0].discussion_id != thread.discussion_id
    assert listener.events() == ["Issue Hook"]
    assert listener.received[0].body["object_attributes"]["action"] == "close"
    assert listener.received[0].body["object_attributes"]["moved_to_id"] == copy.id
    assert status_of(client(BOT).projects.get, 80) == 404
    assert status_of(client("omar").projects.get(77).issues.get(12).move, 80) == 400


def test_reactions_are_one_per_person_and_name(as_person):
    """Aliases count as one name; unknown, doubled and foreign reactions are refused."""
    note = as_person("dana").notes.create({"body": "x"})
    mine = as_person("gil").notes.get(note.id)
    award = mine.awardemojis.create({"name": "+1"})
    assert (award.name, award.user["username"]) == ("thumbsup", "gil")
    assert status_of(mine.awardemojis.create, {"name": "thumbsup"}) == 404
    assert status_of(mine.awardemojis.create, {"name": "no_such_thing"}) == 404
    foreign = as_person("omar").notes.get(note.id)
    assert status_of(foreign.awardemojis.delete, award.id) == 403
    mine.awardemojis.delete(award.id)
    assert mine.awardemojis.list(get_all=True) == []
    on_issue = as_person("gil").awardemojis.create({"name": "regional_indicator_a"})
    assert (on_issue.awardable_type, on_issue.name) == ("Issue", "regional_indicator_a")


@pytest.mark.parametrize(
    "body",
    [
        "ask @dana",
        "ask \\@dana",
        "ask @DANA.",
        "**@dana**",
        "> @dana",
        "<details><summary>x</summary>\n\n@dana\n\n</details>",
        "&#64;dana",
        "@all",
    ],
)
def test_what_mentions(tracker, world, issue, person, body):
    """Mentions count wherever they are rendered as text, a backslash before them or not."""
    tracker.discussions.comment(issue, person(BOT), body)
    assert 201 in [user_id for user_id, _, _ in world.todos]


@pytest.mark.parametrize(
    "body",
    [
        "`@dana`",
        "```\n@dana\n```",
        "    @dana",
        "[@dana](http://example.com)",
        "<!-- @dana -->",
        "mail dana@dana",
        "@danae",
    ],
)
def test_what_does_not_mention(tracker, world, issue, person, body):
    """Code, links, hidden comments and mail addresses mention nobody."""
    tracker.discussions.comment(issue, person(BOT), "text\n\n" + body)
    assert world.todos == []


def test_an_edit_tells_only_the_newly_mentioned(tracker, world, issue, person):
    """An edit makes a to-do for who was not in the note before, and for nobody else."""
    note = tracker.discussions.comment(issue, person(BOT), "ask @dana")
    tracker.discussions.edit(note.id, person(BOT), "ask @dana and @gil")
    assert world.todos == [(201, issue, note.id), (202, issue, note.id)]


def test_only_who_sees_the_item_gets_a_todo(tracker, world, issue, person):
    """A mention on a confidential issue reaches nobody who cannot see it."""
    issue.confidential = True
    tracker.discussions.comment(issue, person("dana"), "ask @gil @petra @stranger @nobody")
    assert [user_id for user_id, _, _ in world.todos] == [203]


def test_references_leave_a_system_note(tracker, world, project, issue, person):
    """`#13` and `api#13` note the mention there once; code and escapes of code do not."""
    other = world.add_issue(project, person("petra"), "Other", iid=13)
    tracker.discussions.comment(issue, person("dana"), "`#13` and <!-- #13 -->")
    assert other.notes == []
    tracker.discussions.comment(issue, person("dana"), "see \\#13, acme/platform/api#13 and #12")
    tracker.discussions.comment(issue, person("dana"), "again #13")
    assert [(n.system, n.body) for n in other.notes] == [(True, "mentioned in issue #12")]
    assert all(not n.system for n in issue.notes)


def test_system_notes_cannot_be_answered_or_edited(as_person, server, issue, person):
    """A system note is no thread: replying is 400 and editing 403, even for Maintainers."""
    server.issues.edit_description(issue, person("petra"), "New")
    mine = as_person("omar")
    note = mine.notes.list(get_all=True, activity_filter="only_activity")[0]
    assert (note.system, note.resolvable) == (True, False)
    discussion = mine.discussions.list(get_all=True)[0]
    assert status_of(discussion.notes.create, {"body": "x"}) == 400
    note.body = "x"
    assert status_of(note.save) == 403


def test_commands_are_taken_out_and_run(as_person, issue):
    """A known command line vanishes from the text and runs with the author's rights."""
    note = as_person("petra").notes.create({"body": "Done.\n/close\nBye"})
    assert (note.body, issue.state) == ("Done.\nBye", "closed")
    assert note.commands_changes == {"state_event": "close"}


def test_commands_without_the_right_vanish_and_do_nothing(as_person, issue):
    """A command the author may not run is removed all the same."""
    note = as_person("stranger").notes.create({"body": "Done.\n/close"})
    assert (note.body, issue.state) == ("Done.", "opened")


@pytest.mark.parametrize(
    "body",
    [
        "```\n/close\n```",
        "> /close",
        "- x\n  /close",
        "- /close",
        "> lazily continued\n/close",
        "- lazily continued\n/close",
        "text `a\n/close\nb`",
        " /close",
        "\\/close",
        "/closed",
        "/unknown thing",
        "<div>\n/close\n</div>",
        "# /close",
        "| a |\n|---|\n| /close |",
        "<!-- x\n/close\n-->",
    ],
)
def test_what_is_no_command(tracker, issue, person, body):
    """Code, quotes, lists, tables, HTML, escapes and unknown words are text and stay."""
    note = tracker.discussions.comment(issue, person("omar"), "text\n\n" + body)
    assert (note.body, issue.state) == ("text\n\n" + body, "opened")


@pytest.mark.parametrize("body", ["/CLOSE", "/close now", "a\n/close", "b\n\n/close  \r\n"])
def test_what_is_a_command(tracker, issue, person, body):
    """A line of a top-level paragraph that begins with a known word, whatever its case."""
    with suppress(OnlyCommands):
        tracker.discussions.comment(issue, person("omar"), body)
    assert issue.state == "closed"


def test_only_commands_are_not_saved(as_person, issue):
    """A comment of nothing but commands answers 202 without a note; failed ones 400."""
    mine = as_person("petra")
    path = "/projects/77/issues/12/notes"
    answer = mine.manager.gitlab.http_request("post", path, post_data={"body": "/close"})
    assert answer.status_code == 202
    assert answer.json()["commands_changes"] == {"state_event": "close"}
    assert issue.notes == []
    assert status_of(as_person("stranger").notes.create, {"body": "/reopen"}) == 400


def test_commands_run_on_edit_and_may_delete_the_note(as_person, issue):
    """An edit that adds a command runs it; one that leaves only commands deletes the note."""
    note = as_person("petra").notes.create({"body": "text"})
    note.body = "text\n/close"
    note.save()
    assert (issue.state, issue.notes[0].body) == ("closed", "text")
    note.body = "/reopen"
    note.save()
    assert (issue.state, issue.notes) == ("opened", [])


def test_commands_change_labels_people_and_titles(tracker, world, issue, person):
    """Labels, assignees, title, lock and confidentiality follow their commands."""
    commands = "/label ~decision\n/assign @petra\n/title Renamed\n/lock\n/confidential\n/shrug ok"
    note = tracker.discussions.comment(issue, person("omar"), commands)
    assert note.body == "ok ¯\\＿(ツ)＿/¯"
    assert (issue.title, issue.labels) == ("Renamed", ["importer", "decision"])
    assert issue.assignee_ids == [201, 203]
    assert (issue.discussion_locked, issue.confidential) == (True, True)


def test_a_command_fires_an_issue_hook_besides(tracker, world, project, listener, issue, person):
    """A comment with a command tells both its note and the change of the issue."""
    world.add_hook(project, listener.url)
    tracker.discussions.comment(issue, person("petra"), "Done.\n/close")
    tracker.hooks.flush(5)
    assert listener.events() == ["Note Hook", "Issue Hook"]
