"""Notes and threads through python-gitlab: shapes, conversion, resolving, rights, `updated_at`."""

from __future__ import annotations

import gitlab
import pytest

from bot.sandbox.discussions import MOST_COMMENTS
from bot.sandbox.refusals import NotFound
from bot.sandbox.seed import BOT


def resolve(issue, discussion_id, resolved=True):
    path = f"/projects/77/issues/12/discussions/{discussion_id}"
    return issue.manager.gitlab.http_put(path, post_data={"resolved": resolved})


def refusal(call, *args, **kwargs):
    with pytest.raises(gitlab.GitlabError) as caught:
        call(*args, **kwargs)
    return caught.value.response_code


def test_a_thread_is_opened_and_read_back(as_person):
    """A thread is a discussion of DiscussionNotes whose author shows neither role nor bot flag."""
    mine = as_person(BOT)
    made = mine.discussions.create({"body": "Which database?"})
    read = as_person("dana").discussions.get(made.id).attributes
    note = read["notes"][0]
    assert len(read["id"]) == 40
    assert (read["individual_note"], note["type"], note["resolvable"]) == (
        False,
        "DiscussionNote",
        True,
    )
    assert (note["resolved"], note["resolved_by"], note["noteable_iid"]) == (False, None, 12)
    assert note["author"]["id"] == 9001
    assert not {"bot", "access_level", "role"} & set(note["author"])


def test_a_plain_note_is_not_resolvable(as_person):
    """A plain note has type null, is an individual note, and has no resolved fields at all."""
    mine = as_person("dana")
    note = mine.notes.create({"body": "Hello"}).attributes
    assert (note["type"], note["resolvable"]) == (None, False)
    assert not {"resolved", "resolved_by", "resolved_at"} & set(note)
    assert mine.discussions.list(get_all=True)[0].attributes["individual_note"] is True


def test_the_first_reply_turns_a_plain_note_into_a_thread(as_person, server, listener, project):
    """Replying to a plain note converts it, keeps its discussion id, and tells no hook of it."""
    mine = as_person("dana")
    note = mine.notes.create({"body": "Hello"})
    discussion = mine.discussions.list(get_all=True)[0]
    server.world.add_hook(project, listener.url)
    as_person("petra").discussions.get(discussion.id).notes.create({"body": "Hello back"})
    server.hooks.flush(5)
    assert mine.notes.get(note.id).type == "DiscussionNote"
    assert mine.discussions.get(discussion.id).attributes["individual_note"] is False
    assert [d.body["object_attributes"]["note"] for d in listener.received] == ["Hello back"]


def test_a_reply_to_a_resolved_thread_is_born_resolved(as_person):
    """A late reply does not reopen a thread: it is resolved, by its own author."""
    made = as_person(BOT).discussions.create({"body": "Which?"})
    resolve(as_person(BOT), made.id)
    late = as_person("gil").discussions.get(made.id).notes.create({"body": "B"})
    assert (late.resolved, late.resolved_by["username"]) == (True, "gil")
    notes = as_person(BOT).discussions.get(made.id).attributes["notes"]
    assert [note["resolved"] for note in notes] == [True, True]


@pytest.mark.parametrize(
    ("who", "status"),
    [("dana", None), ("omar", None), (BOT, None), ("petra", 403), ("gil", 403), ("stranger", 403)],
)
def test_who_resolves_the_bots_thread(as_person, issue, who, status):
    """Developers and up, and whoever started the thread; a Planner may not otherwise."""
    issue.author_id = 9001 if who == BOT else 204
    made = as_person(BOT).discussions.create({"body": "Which?"})
    if status is None:
        assert resolve(as_person(who), made.id)["notes"][0]["resolved_by"]["username"] == who
    else:
        assert refusal(resolve, as_person(who), made.id) == status


def test_the_issues_author_resolves_any_thread(as_person, issue, person):
    """A Guest may resolve a thread on an issue they authored."""
    issue.author_id = person("gil").id
    made = as_person(BOT).discussions.create({"body": "Which?"})
    assert resolve(as_person("gil"), made.id)["notes"][0]["resolved"] is True


def test_note_level_resolve_leaves_the_other_notes(as_person):
    """`resolved` on a note acts on that note alone, so the thread is not resolved by it."""
    mine = as_person(BOT)
    made = mine.discussions.create({"body": "Which?"})
    as_person("dana").discussions.get(made.id).notes.create({"body": "A"})
    first = made.attributes["notes"][0]["id"]
    path = f"/projects/77/issues/12/discussions/{made.id}/notes/{first}"
    mine.manager.gitlab.http_put(path, post_data={"resolved": True})
    notes = mine.discussions.get(made.id).attributes["notes"]
    assert [note["resolved"] for note in notes] == [True, False]
    assert refusal(mine.manager.gitlab.http_put, path, post_data={}) == 400
    both = {"resolved": True, "body": "x"}
    assert refusal(mine.manager.gitlab.http_put, path, post_data=both) == 400


def test_only_the_author_and_maintainers_change_a_note(as_person):
    """Below Maintainer nobody alters another's text; a Maintainer edits and deletes it."""
    note = as_person(BOT).notes.create({"body": "Which?"})
    for who in ("dana", "petra", "gil", "stranger"):
        other = as_person(who).notes.get(note.id)
        other.body = "changed"
        assert refusal(other.save) == 403
        assert refusal(other.delete) == 403
    maintained = as_person("omar").notes.get(note.id)
    maintained.body = "changed"
    maintained.save()
    assert as_person(BOT).notes.get(note.id).body == "changed"
    maintained.delete()
    assert refusal(as_person(BOT).notes.get, note.id) == 404


def test_the_stored_body_loses_cr_and_trailing_space(as_person):
    """The text that is stored has no CR and no white space at its end."""
    note = as_person("dana").notes.create({"body": "one\r\ntwo  \r\n\r\n"})
    assert note.body == "one\ntwo"


def test_what_moves_an_issues_updated_at(as_person, clock, server, person):
    """A new or edited note touches the issue; resolving, deleting and reacting do not."""
    mine = as_person("dana")
    thread = mine.discussions.create({"body": "Which?"})
    reply = thread.notes.create({"body": "A"})

    def touched(action):
        before = as_person("dana").updated_at
        clock.advance(seconds=10)
        action()
        return as_person("dana").updated_at != before

    assert not touched(lambda: resolve(mine, thread.id))
    assert not touched(lambda: mine.notes.get(reply.id).awardemojis.create({"name": "thumbsup"}))
    assert not touched(lambda: mine.notes.delete(reply.id))
    assert touched(lambda: mine.notes.create({"body": "Hello"}))
    first = thread.attributes["notes"][0]["id"]
    assert touched(lambda: server.discussions.edit(first, person("dana"), "Which one?"))


def test_resolving_moves_the_notes_updated_at(as_person, clock):
    """A note's `updated_at` also moves on resolve, so it is no edit time."""
    mine = as_person("dana")
    thread = mine.discussions.create({"body": "Which?"})
    clock.advance(minutes=1)
    notes = resolve(mine, thread.id)["notes"]
    assert notes[0]["updated_at"] > notes[0]["created_at"]


def test_created_at_is_honoured_for_owners_only(as_person, world, project, person):
    """`created_at` is dropped without an error unless an Owner or administrator sends it."""
    sent = {"body": "Old", "created_at": "2020-01-01T00:00:00Z"}
    assert as_person("omar").notes.create(sent).created_at.startswith("2026")
    world.set_role(project, person("omar"), 50)
    assert as_person("omar").notes.create(sent).created_at == "2020-01-01T00:00:00.000Z"
    assert as_person("omar").discussions.list(get_all=True)[0].attributes["notes"][0]["body"] == "Old"


def test_notes_are_listed_newest_first_and_in_pages(as_person):
    """Notes come newest first, 20 a page by default, and following the links finds them all."""
    mine = as_person("dana")
    for number in range(25):
        mine.notes.create({"body": f"note {number}"})
    assert [n.body for n in mine.notes.list(get_all=False)][:1] == ["note 24"]
    assert len(mine.notes.list(get_all=False)) == 20
    assert len(mine.notes.list(get_all=True)) == 25
    assert mine.notes.list(get_all=False, sort="asc")[0].body == "note 0"


def test_internal_notes_are_for_planners_and_the_issues_people(as_person, issue, person):
    """Internal notes are hidden from Guests and strangers, unless they are assigned."""
    issue.assignee_ids = []
    hidden = as_person("petra").notes.create({"body": "secret", "internal": True})
    assert hidden.internal is True
    assert refusal(as_person("gil").notes.get, hidden.id) == 404
    assert as_person("gil").notes.list(get_all=True) == []
    assert as_person("gil").discussions.list(get_all=True) == []
    issue.assignee_ids = [person("gil").id]
    assert as_person("gil").notes.get(hidden.id).body == "secret"
    assert as_person("gil").notes.create({"body": "mine", "internal": True}).internal is False


def test_internal_notes_take_no_reaction_from_guests(tracker, issue, person):
    """Who cannot read an internal note cannot react to it, and is told it does not exist."""
    issue.assignee_ids = []
    hidden = tracker.discussions.comment(issue, person("petra"), "secret", internal=True)
    with pytest.raises(NotFound):
        tracker.discussions.react(hidden.id, person("gil"), "thumbsup")
    assert hidden.awards == []


def test_a_locked_discussion_takes_members_only(as_person, issue):
    """On a locked issue strangers cannot comment, edit or react; Guests still can."""
    own = as_person("stranger").notes.create({"body": "Hello"})
    issue.discussion_locked = True
    assert refusal(as_person("stranger").notes.create, {"body": "again"}) == 403
    own.body = "changed"
    assert refusal(own.save) == 403
    assert refusal(own.awardemojis.create, {"name": "thumbsup"}) == 404
    assert as_person("gil").notes.create({"body": "hello"}).body == "hello"


def test_blank_missing_and_too_long_bodies_are_400(as_person):
    """A note without text, or with more than a million characters, is refused with 400."""
    notes = as_person("dana").notes
    assert refusal(notes.create, {"body": " \n "}) == 400
    assert refusal(notes.gitlab.http_post, notes.path, post_data={}) == 400
    assert refusal(notes.create, {"body": "x" * 1_000_001}) == 400


def test_an_issue_takes_5000_comments(server, as_person, issue, person):
    """Beyond 5,000 comments creation fails."""
    for number in range(MOST_COMMENTS):
        server.world.store_note(issue, person("dana"), f"note {number}")
    assert refusal(as_person("dana").notes.create, {"body": "one more"}) == 400
