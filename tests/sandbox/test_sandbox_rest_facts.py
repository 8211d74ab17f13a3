"""What a client of the REST API must not assume, through python-gitlab with the tokens of the people concerned."""

from __future__ import annotations

from datetime import date

import gitlab
import pytest
import requests

from bot.sandbox.seed import BOT

pytestmark = pytest.mark.slow  # about the tracker, not about the bot

QUOTED = """\
B, please.

<details><summary>...</summary>

> **Question 1 of 1**
>
> <!-- hitl:1 {"id": "q1"} -->

</details>"""


def status_of(call, *args, **kwargs):
    with pytest.raises(gitlab.GitlabError) as caught:
        call(*args, **kwargs)
    return caught.value.response_code


def test_threads_are_paged_oldest_first_100_at_most(world, issue, person, server):
    """Discussions come oldest first, 20 a page unless asked, never over 100, and X-Next-Page leads to the rest."""
    for number in range(103):
        world.store_note(issue, person("dana"), f"note {number}")
    url = f"{server.url}/api/v4/projects/77/issues/12/discussions"
    headers = {"PRIVATE-TOKEN": world.tokens[0].value}
    first = requests.get(url, headers=headers, timeout=5)
    assert (len(first.json()), first.headers["X-Total"]) == (20, "103")
    page = requests.get(f"{url}?per_page=500", headers=headers, timeout=5)
    rest = requests.get(f"{url}?per_page=500&page={page.headers['X-Next-Page']}", headers=headers, timeout=5)
    bodies = [each["notes"][0]["body"] for each in page.json() + rest.json()]
    assert (len(page.json()), bodies) == (100, [f"note {number}" for number in range(103)])
    assert rest.headers["X-Next-Page"] == ""


def test_notes_of_a_thread_come_oldest_first(as_person, clock):
    """Inside a discussion the question comes first and the replies follow in order."""
    thread = as_person(BOT).discussions.create({"body": "Which?"})
    for who in ("dana", "gil"):
        clock.advance(seconds=1)
        as_person(who).discussions.get(thread.id).notes.create({"body": who})
    assert [note["body"] for note in as_person(BOT).discussions.get(thread.id).attributes["notes"]] == ["Which?", "dana", "gil"]


def test_a_page_may_hold_less_than_it_was_asked_for(as_person, issue):
    """Notes that may not be read are left out after the page is cut, so a short page is not the last one."""
    issue.assignee_ids = []
    mine = as_person("petra")
    for body, internal in (("one", False), ("secret", True), ("two", False)):
        mine.notes.create({"body": body, "internal": internal})
    seen = as_person("gil").notes.list(per_page=2, page=1, sort="asc")
    assert [note.body for note in seen] == ["one"]
    assert [note.body for note in as_person("gil").notes.list(per_page=2, get_all=True, sort="asc")] == ["one", "two"]


def test_threads_are_never_opened_internal_and_replies_inherit(as_person):
    """`internal` is ignored when a thread is opened; a reply is as internal as the note it answers."""
    mine = as_person("petra")
    opened = mine.discussions.create({"body": "Which?", "internal": True})
    assert opened.attributes["notes"][0]["internal"] is False
    hidden = mine.notes.create({"body": "secret", "internal": True})
    discussion = next(each for each in mine.discussions.list(get_all=True) if each.attributes["notes"][0]["id"] == hidden.id)
    assert mine.discussions.get(discussion.id).notes.create({"body": "also"}).internal is True


def test_a_thread_without_a_readable_note_is_404(as_person, issue):
    """A discussion of internal notes does not exist for who may not read them, whether read or answered."""
    issue.assignee_ids = []
    as_person("petra").notes.create({"body": "secret", "internal": True})
    discussion = as_person("petra").discussions.list(get_all=True)[0]
    assert status_of(as_person("gil").discussions.get, discussion.id) == 404
    guest = as_person("gil").discussions
    path = f"{guest.path}/{discussion.id}/notes"
    assert status_of(guest.gitlab.http_post, path, post_data={"body": "x"}) == 404


def test_unresolving_opens_every_note(as_person):
    """Unresolving a thread opens all its notes, and a reply to it is open again."""
    mine = as_person("dana")
    thread = mine.discussions.create({"body": "Which?"})
    thread.notes.create({"body": "A"})
    path = f"/projects/77/issues/12/discussions/{thread.id}"
    for resolved in (True, False):
        notes = mine.manager.gitlab.http_put(path, post_data={"resolved": resolved})["notes"]
        assert [note["resolved"] for note in notes] == [resolved, resolved]
    assert mine.discussions.get(thread.id).notes.create({"body": "B"}).resolved is False


def test_an_expired_membership_is_still_listed(client, world, project, clock):
    """A membership that ended yesterday still answers, with its date: the comparison is the client's."""
    world.add_member(project, world.add_user("amy", id=301), 30, expires_at=date(2026, 11, 2))
    found = client(BOT).projects.get(77).members_all.get(301)
    assert (found.access_level, found.expires_at, found.state) == (30, "2026-11-02", "active")
    assert date.fromisoformat(found.expires_at) < clock().date()


@pytest.mark.parametrize("level", [5, 10, 15, 20, 25, 30, 35, 40, 50])
def test_roles_are_numbers_and_new_ones_appear(client, world, project, person, level):
    """`members/all` answers the level as a number, Planner, Security Manager and unknown ones included."""
    world.set_role(project, person("gil"), level)
    assert client(BOT).projects.get(77).members_all.get(202).access_level == level
    assert status_of(client(BOT).projects.get(77).members_all.get, 777) == 404


def test_graphql_has_no_role_of_an_author_to_lean_on(server, world):
    """`maxAccessLevelOfAuthor` is null for strangers and epics on GitLab; the sandbox does not offer it at all."""
    query = '{ namespace(fullPath: "acme/platform/api") { workItem(iid: "12") { id maxAccessLevelOfAuthor } } }'
    headers = {"PRIVATE-TOKEN": world.tokens[0].value}
    answer = requests.post(f"{server.url}/api/graphql", json={"query": query}, headers=headers, timeout=5)
    assert (answer.status_code, list(answer.json())) == (200, ["errors"])


def test_the_list_of_users_does_not_say_who_is_a_bot(client):
    """`users?username=` has neither the bot flag nor a role; only the account by id has the flag."""
    listed = client(BOT).http_list("/users", query_data={"username": BOT}, get_all=True)[0]
    assert not {"bot", "access_level"} & set(listed)
    assert client(BOT).http_get("/users/9001")["bot"] is True


def test_a_blocked_account_shows_its_state(client, world, person):
    """The state of an account tells that it is blocked, and its memberships stay."""
    world.block(person("petra"))
    assert client(BOT).http_get("/users/203")["state"] == "blocked"
    assert client(BOT).projects.get(77).members_all.get(203).access_level == 15


def test_a_locked_issue_still_takes_the_bot(as_person, issue):
    """On a locked issue the bot, a member, still opens threads, replies and reacts."""
    issue.discussion_locked = True
    thread = as_person(BOT).discussions.create({"body": "Which?"})
    reply = thread.notes.create({"body": "A"})
    as_person(BOT).notes.get(reply.id).awardemojis.create({"name": "eyes"})


def test_a_guest_bot_is_blind_to_confidential_issues(client, world, project, issue, person):
    """A bot that is only a Guest gets 404 for a confidential issue, as if there were none; a Planner sees it."""
    issue.confidential = True
    issues = client(BOT).projects.get(77).issues
    assert issues.get(12).confidential is True
    world.set_role(project, person(BOT), 10)
    assert status_of(issues.get, 12) == 404
    assert status_of(client(BOT).http_get, "/projects/77/issues/12/discussions") == 404


def test_a_move_cannot_be_followed(client, world, person):
    """`moved_to_id` is a global id: neither it nor the new project can be read with a project's token."""
    target = world.add_project("acme/other", id=80)
    world.add_member(target, person("omar"), 40)
    client("omar").projects.get(77).issues.get(12).move(80)
    moved_to = client(BOT).projects.get(77).issues.get(12).moved_to_id
    for path in (f"/issues/{moved_to}", f"/projects/80/issues/{world.issues[moved_to].iid}"):
        assert status_of(client(BOT).http_get, path) == 404


def test_a_rotated_token_is_the_same_user_and_a_new_one_is_not(client, server, world, project, as_person):
    """After rotation the bot still edits its own notes; a bot made anew cannot, because it is somebody else."""
    note = as_person(BOT).notes.create({"body": "Which?"})
    fresh = client(BOT).http_post("/projects/77/access_tokens/self/rotate")["token"]
    other = world.add_user("project_77_bot_ffff", bot=True)
    world.add_member(project, other, 15)
    path = f"/projects/77/issues/12/notes/{note.id}"
    rotated = gitlab.Gitlab(server.url, private_token=fresh, timeout=5)
    anew = gitlab.Gitlab(server.url, private_token=world.add_token(other), timeout=5)
    assert rotated.http_put(path, post_data={"body": "Which one?"})["author"]["id"] == 9001
    assert status_of(anew.http_put, path, post_data={"body": "mine"}) == 403
    assert anew.http_get("/user")["id"] != 9001


def test_a_quoted_or_copied_payload_is_text_like_any_other(as_person):
    """Anybody may post a payload, and mail quotes one: GitLab stores it as it is, and only the author id tells whose it is."""
    copied = as_person("stranger").notes.create({"body": 'Hello\n\n<!-- hitl:1 {"id": "q1"} -->'})
    quoted = as_person("dana").notes.create({"body": QUOTED})
    bodies = {note.id: (note.author["id"], note.body) for note in as_person(BOT).notes.list(get_all=True)}
    assert bodies[copied.id] == (777, 'Hello\n\n<!-- hitl:1 {"id": "q1"} -->')
    assert bodies[quoted.id] == (201, QUOTED)


def test_other_noteable_paths_take_the_iid_and_not_the_id(client, as_person, issue):
    """The issue of a note is named by its iid; the global id, which notes show, is not found."""
    note = as_person("dana").notes.create({"body": "x"})
    assert (note.noteable_id, note.noteable_iid) == (issue.id, 12)
    assert status_of(client("dana").http_get, f"/projects/77/issues/{issue.id}/notes") == 404


def test_rotation_without_a_date_lasts_a_week(client):
    """A rotation that names no date ends after seven days, and more than a year is refused."""
    assert (
        status_of(client(BOT).http_post, "/personal_access_tokens/self/rotate", post_data={"expires_at": "2028-01-01"}) == 400
    )
    fresh = client(BOT).http_post("/personal_access_tokens/self/rotate", post_data={"expires_at": "2027-11-03"})
    assert fresh["expires_at"] == "2027-11-03"
