"""People, tokens, members and projects through python-gitlab."""

from __future__ import annotations

from datetime import date

import gitlab
import pytest
import requests

from bot.sandbox.seed import BOT


def status_of(call, *args, **kwargs):
    with pytest.raises(gitlab.GitlabError) as caught:
        call(*args, **kwargs)
    return caught.value.response_code


def with_token(server, value):
    return gitlab.Gitlab(server.url, private_token=value, timeout=5)


def test_own_identity_has_the_bot_flag(client):
    """`GET /user` answers the token's user; bots are marked, people are not."""
    api = client(BOT)
    api.auth()
    assert (api.user.id, api.user.username, api.user.bot) == (9001, BOT, True)
    assert client("dana").http_get("/users/201")["bot"] is False


def test_users_are_found_by_exact_name(client):
    """`users?username=` is an array: one for the exact name, none for a part of it."""
    api = client("dana")
    assert [u.id for u in api.users.list(username="Gil", get_all=True)] == [202]
    assert api.users.list(username="gi", get_all=True) == []
    assert status_of(api.users.get, 31337) == 404


def test_bearer_works_and_nothing_else(server, world):
    """A token is taken from PRIVATE-TOKEN or a Bearer header; without one, 401."""
    token = world.tokens[0].value
    url = f"{server.url}/api/v4/user"
    good = requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=5)
    assert good.json()["username"] == "dana"
    for headers in ({}, {"Authorization": f"Basic {token}"}, {"PRIVATE-TOKEN": "wrong"}):
        answer = requests.get(url, headers=headers, timeout=5)
        assert (answer.status_code, answer.json()) == (401, {"message": "401 Unauthorized"})


def test_tokens_that_do_not_hold(server, world, person, clock):
    """Expired and revoked tokens are 401, a blocked user is 403, a weak scope is 403."""
    dana = person("dana")
    expired = world.add_token(dana, expires_at=clock().date())
    read = world.add_token(dana, scopes=("read_api",))
    revoked = world.add_token(dana)
    next(t for t in world.tokens if t.value == revoked).revoked = True
    assert status_of(with_token(server, expired).http_get, "/user") == 401
    assert status_of(with_token(server, revoked).http_get, "/user") == 401
    issue = with_token(server, read).projects.get(77).issues.get(12)
    with pytest.raises(gitlab.GitlabCreateError) as weak:
        issue.notes.create({"body": "x"})
    assert weak.value.response_code == 403
    assert b"insufficient_scope" in weak.value.response_body
    world.block(dana)
    assert status_of(with_token(server, read).http_get, "/user") == 403


def test_a_token_describes_and_rotates_itself(server, world, client):
    """Rotation gives a new value once, ends the old one, and keeps the user."""
    api = client(BOT)
    before = api.personal_access_tokens.get("self")
    assert (before.active, before.user_id, before.scopes) == (True, 9001, ["api"])
    old = api.private_token
    fresh = api.http_post("/personal_access_tokens/self/rotate")
    assert fresh["token"] != old
    assert fresh["expires_at"] == "2026-11-10"
    assert status_of(api.http_get, "/user") == 401
    assert with_token(server, fresh["token"]).http_get("/user")["id"] == 9001


def test_rotating_with_a_rotated_token_revokes_the_whole_family(server, client):
    """Using an already rotated token to rotate also ends the fresh one."""
    api = client(BOT)
    fresh = api.http_post("/projects/77/access_tokens/self/rotate")["token"]
    assert status_of(api.http_post, "/personal_access_tokens/self/rotate") == 401
    assert status_of(with_token(server, fresh).http_get, "/user") == 401


def test_projects_by_id_and_encoded_path(client, world):
    """A project is found by number or by its URL-encoded path, subgroups included."""
    api = client("dana")
    assert api.projects.get("acme/platform/api").id == 77
    assert api.projects.get("Acme/Platform/API").id == 77
    assert api.projects.get(77).path_with_namespace == "acme/platform/api"
    note = api.http_post("/projects/acme%2Fplatform%2Fapi/issues/12/notes", post_data={"body": "x"})
    assert note["noteable_iid"] == 12
    for unknown in ("acme/platform/none", 4711):
        assert status_of(api.projects.get, unknown) == 404


def test_a_private_project_is_404_for_strangers(client, world):
    """Not visible and missing cannot be told apart."""
    world.add_project("acme/secret", id=78, visibility="private")
    api = client("dana")
    for path in ("/projects/78", "/projects/acme%2Fsecret", "/projects/78/members/all/201"):
        assert status_of(api.http_get, path) == 404
    assert [p.id for p in api.projects.list(get_all=True)] == [77]


def test_members_direct_and_inherited(client, world, project, person):
    """Inherited members are only under /all; the highest level wins; strangers are 404."""
    gil = person("gil")
    world.add_member(project, gil, 30, inherited=True)
    zoe = world.add_user("zoe", id=300)
    world.add_member(project, zoe, 15, inherited=True, expires_at=date(2026, 12, 31))
    remote = client("dana").projects.get(77)
    assert remote.members.get(202).access_level == 10
    assert remote.members_all.get(202).access_level == 30
    assert status_of(remote.members.get, 300) == 404
    found = remote.members_all.get(300)
    assert (found.access_level, found.expires_at, found.state) == (15, "2026-12-31", "active")
    assert status_of(remote.members_all.get, 777) == 404
    ids = [m.id for m in remote.members_all.list(get_all=True)]
    assert sorted(ids) == [201, 202, 203, 204, 300, 9001]
    assert 300 not in [m.id for m in remote.members.list(get_all=True)]


def test_administrators_are_no_members(client, world):
    """An instance administrator without membership is 404 in the members API."""
    world.add_user("root", id=1, admin=True)
    assert status_of(client("dana").projects.get(77).members_all.get, 1) == 404


def test_member_states_show(client, world, project, person):
    """Awaiting memberships are listed, blocked accounts have that state, changed roles show."""
    remote = client("dana").projects.get(77)
    world.add_member(project, world.add_user("amy", id=301), 30, membership_state="awaiting")
    assert remote.members_all.get(301).membership_state == "awaiting"
    world.block(person("petra"))
    assert remote.members_all.get(203).state == "blocked"
    world.set_role(project, person("gil"), 25)
    assert remote.members_all.get(202).access_level == 25
    world.remove_member(project, person("gil"))
    assert status_of(remote.members_all.get, 202) == 404


def test_labels_are_made_by_planners(client):
    """Planners make labels, Guests do not, and a name is taken once."""
    labels = client("petra").projects.get(77).labels
    labels.create({"name": "hitl", "color": "#123456"})
    assert "hitl" in [label.name for label in labels.list(get_all=True)]
    assert status_of(labels.create, {"name": "hitl", "color": "#123456"}) == 400
    guest = client("gil").projects.get(77).labels
    assert status_of(guest.create, {"name": "x", "color": "#123456"}) == 403


def test_metadata_names_the_version(client):
    """`/version` and `/metadata` name the version the sandbox follows."""
    api = client(BOT)
    assert api.version()[0] == "19.5.0"
    assert api.http_get("/metadata")["version"] == "19.5.0"


def test_pipelines_are_recorded_for_triggers(client, world, project, person):
    """A trigger starts a pipeline with string variables as its owner; anything else is refused."""
    remote = client("omar").projects.get(77)
    secret = remote.triggers.create({"description": "resume"}).token
    made = remote.trigger_pipeline("main", secret, variables={"HITL_RESUME": "r1"})
    assert (made.source, made.ref, made.user["username"]) == ("trigger", "main", "omar")
    assert project.pipelines[0].variables == {"HITL_RESUME": "r1"}
    assert status_of(remote.trigger_pipeline, "main", "wrong") == 404
    assert status_of(remote.trigger_pipeline, "nowhere", secret) == 400
    assert status_of(remote.trigger_pipeline, "main", secret, variables={"N": 1}) == 400
    world.set_role(project, person("omar"), 20)
    assert status_of(remote.trigger_pipeline, "main", secret) == 400


def test_unknown_routes_and_bad_ids_speak_gitlab(server, world):
    """Unknown routes are 404 and malformed ids 400, in GitLab's error shapes."""
    headers = {"PRIVATE-TOKEN": world.tokens[0].value}
    unknown = requests.get(f"{server.url}/api/v4/nothing", headers=headers, timeout=5)
    assert (unknown.status_code, unknown.json()) == (404, {"error": "404 Not Found"})
    bad = requests.get(f"{server.url}/api/v4/projects/77/issues/x", headers=headers, timeout=5)
    assert (bad.status_code, bad.json()) == (400, {"error": "iid is invalid"})
