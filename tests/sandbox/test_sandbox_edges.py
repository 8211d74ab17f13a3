"""What is special to a sandbox: faults, limits, GraphQL's two queries, paging, the server."""

from __future__ import annotations

import time
from threading import Thread

import gitlab
import pytest
import requests

from bot.sandbox import paging
from bot.sandbox.seed import BOT, demo_world
from bot.sandbox.server import SandboxServer
from bot.sandbox.world import World

pytestmark = pytest.mark.slow  # about the tracker, not about the bot


def headers_of(world, username=BOT):
    user = world.user_named(username)
    return {"PRIVATE-TOKEN": next(t.value for t in world.tokens if t.user_id == user.id)}


@pytest.fixture
def notes(server):
    """Posts a note as the bot and answers the response."""
    url = f"{server.url}/api/v4/projects/77/issues/12/notes"

    def post(body="x"):
        return requests.post(url, json={"body": body}, headers=headers_of(server.world), timeout=5)

    return post


def test_a_status_is_answered_and_nothing_done(server, notes, issue):
    """A 429 of the throttle is plain text with its headers, as often as asked, then ends."""
    server.faults.add("POST", "*/notes", times=2, status=429, retry_after=7,
                      headers={"RateLimit-Remaining": "0"})  # fmt: skip
    for _ in range(2):
        answer = notes()
        assert (answer.status_code, answer.text.strip()) == (429, "Retry later")
        assert (answer.headers["Retry-After"], answer.headers["RateLimit-Remaining"]) == ("7", "0")
    assert issue.notes == []
    assert notes().status_code == 201


def test_a_fault_can_wait_its_turn_and_miss_its_method(server, notes):
    """`skip` lets some requests pass first; another method is not hit."""
    server.faults.add("GET", "*/notes", times=None, status=500)
    server.faults.add("POST", "*/issues/12/notes", skip=1, status=503)
    assert [notes().status_code for _ in range(3)] == [201, 503, 201]


def test_a_dropped_connection_has_written(server, notes, issue):
    """A connection that is cut leaves the caller without an answer although the note exists."""
    server.faults.add("POST", "*/notes", cut="drop")
    with pytest.raises(requests.ConnectionError):
        notes("written")
    assert [note.body for note in issue.notes] == ["written"]
    assert notes("again").status_code == 201


def test_a_bad_gateway_has_written(server, notes, issue):
    """A 502 after the fact leaves a note behind."""
    server.faults.add("POST", "*/notes", cut="bad_gateway")
    assert notes("written").status_code == 502
    assert [note.body for note in issue.notes] == ["written"]


def test_a_delay_makes_a_caller_time_out(server, issue):
    """A request can be slower than the caller waits."""
    server.faults.add(path="*/user", delay=0.3)
    with pytest.raises(requests.Timeout):
        requests.get(f"{server.url}/api/v4/user", headers=headers_of(server.world), timeout=0.1)


def test_faults_are_switched_over_http(server, notes):
    """The switchboard is reachable by other processes, and not from somebody else's page."""
    board = f"{server.url}/-/sandbox/faults"
    rule = {"method": "POST", "path": "*/notes", "status": 500, "times": 1}
    made = requests.post(f"{board}/requests", json=rule, timeout=5)
    assert made.status_code == 201
    assert notes().status_code == 500
    hook = requests.post(f"{board}/hooks", json={"kind": "drop", "times": None}, timeout=5)
    listed = requests.get(board, timeout=5).json()
    assert [(each["on"], each["hits"]) for each in listed] == [("request", 1), ("hook", 0)]
    assert requests.delete(f"{board}/{hook.json()['id']}", timeout=5).status_code == 204
    assert requests.delete(f"{board}/{hook.json()['id']}", timeout=5).status_code == 404
    assert requests.delete(board, timeout=5).status_code == 204
    assert requests.get(board, timeout=5).json() == []
    assert requests.post(f"{board}/requests", json={"nonsense": 1}, timeout=5).status_code == 400
    foreign = {"Origin": "https://evil.example"}
    answer = requests.post(f"{board}/requests", json=rule, headers=foreign, timeout=5)
    assert answer.status_code == 403


def test_note_creation_is_limited_per_user_and_minute(server, notes, clock, as_person):
    """Over the limit `POST /notes` is 429 without headers; threads and others are not limited."""
    server.limits.turn_on(notes_create=2)
    assert [notes().status_code for _ in range(3)] == [201, 201, 429]
    refused = notes()
    words = "This endpoint has been requested too many times. Try again later."
    assert refused.json() == {"message": {"error": words}}
    assert "Retry-After" not in refused.headers
    as_person(BOT).discussions.create({"body": "a thread"})
    as_person("dana").notes.create({"body": "somebody else"})
    clock.advance(seconds=61)
    assert notes().status_code == 201


def test_resolving_is_limited(server, as_person, clock):
    """The limiter of resolving counts resolve and unresolve over both routes."""
    server.limits.turn_on(discussions_resolve=2)
    mine = as_person(BOT)
    thread = mine.discussions.create({"body": "Which?"})
    path = f"/projects/77/issues/12/discussions/{thread.id}"
    note = f"{path}/notes/{thread.attributes['notes'][0]['id']}"
    put = mine.manager.gitlab.http_put
    put(path, post_data={"resolved": True})
    put(note, post_data={"resolved": False})
    with pytest.raises(gitlab.GitlabHttpError) as limited:
        put(path, post_data={"resolved": True}, obey_rate_limit=False)
    assert limited.value.response_code == 429


def test_limits_are_off_by_default(server, notes):
    """A sandbox that is only tried out limits nobody."""
    server.limits.per_minute["notes_create"] = 1
    assert [notes().status_code for _ in range(3)] == [201] * 3


def ask(server, query, variables=None, username=BOT):
    answer = requests.post(
        f"{server.url}/api/graphql",
        json={"query": query, "variables": variables},
        headers=headers_of(server.world, username),
        timeout=5,
    )
    assert answer.status_code == 200
    return answer.json()


PERMISSIONS = """
query($path: ID!, $iid: String!) {
  namespace(fullPath: $path) {
    workItem(iid: $iid) { id iid rights: userPermissions { updateWorkItem createNote } }
  }
}
"""


def test_graphql_knows_the_current_user(server):
    """`currentUser` is the token's user."""
    data = ask(server, "{ currentUser { id username } }")["data"]
    assert data == {"currentUser": {"id": "gid://gitlab/User/9001", "username": BOT}}


@pytest.mark.parametrize(("who", "updates"), [(BOT, True), ("gil", False)])
def test_graphql_tells_the_tokens_rights(server, issue, who, updates):
    """`userPermissions` are the rights of the token's user."""
    data = ask(server, PERMISSIONS, {"path": "acme/platform/api", "iid": "12"}, who)["data"]
    rights = data["namespace"]["workItem"]["rights"]
    assert rights == {"updateWorkItem": updates, "createNote": True}


def test_graphql_answers_null_for_the_invisible(server, issue):
    """A confidential item is null for a Guest, and an unknown project too."""
    issue.confidential, issue.assignee_ids = True, []
    variables = {"path": "acme/platform/api", "iid": "12"}
    assert ask(server, PERMISSIONS, variables, "gil")["data"]["namespace"] == {"workItem": None}
    variables["path"] = "no/where"
    assert ask(server, PERMISSIONS, variables)["data"]["namespace"] is None


@pytest.mark.parametrize(
    "query",
    [
        "",
        "{",
        "{ currentUser }",
        "{ currentUser { email } }",
        "{ projects { nodes { id } } }",
        "mutation { createNote(input: {}) { note { id } } }",
        '{ namespace(fullPath: "a") { workItem(iid: $missing) { id } } }',
        "{ currentUser { ...Everything } }",
        "{ currentUser { id } } trailing",
        "{ a" * 50,
        "x" * 10_001,
    ],
)
def test_graphql_does_not_guess(server, query):
    """Whatever else is asked is answered with errors and no data."""
    answer = ask(server, query)
    assert answer["errors"][0]["message"]
    assert "data" not in answer


def test_pages_carry_links_and_totals():
    """A middle page links to its neighbours and counts everything."""
    page = paging.cut(list(range(45)), 2, 20, "http://x/notes?sort=asc&page=2")
    assert page.items == list(range(20, 40))
    assert (page.headers["X-Total"], page.headers["X-Total-Pages"]) == ("45", "3")
    assert (page.headers["X-Page"], page.headers["X-Next-Page"]) == ("2", "3")
    assert '<http://x/notes?sort=asc&page=3&per_page=20>; rel="next"' in page.headers["Link"]
    assert 'rel="last"' in page.headers["Link"]


def test_above_ten_thousand_rows_nothing_is_counted():
    """Totals and the last page are left out above 10,000 rows; the next page is still named."""
    page = paging.cut(range(10_001), 1, 500, "http://x/notes")
    assert len(page.items) == 100
    assert not {"X-Total", "X-Total-Pages"} & set(page.headers)
    assert 'rel="last"' not in page.headers["Link"]
    assert page.headers["X-Next-Page"] == "2"
    assert paging.cut(range(10_000), 100, 100, "http://x/").headers["X-Next-Page"] == ""


def test_two_sandboxes_live_in_one_process():
    """Nothing is shared: two servers have their own worlds and addresses."""
    with SandboxServer(demo_world()) as one, SandboxServer(World()) as two:
        assert one.url != two.url
        assert len(one.world.users) == 6
        assert two.world.users == {}
        assert requests.get(two.url, timeout=5).status_code == 404


def test_a_stopped_server_answers_no_more():
    """After the context ends, nobody listens."""
    with SandboxServer(demo_world()) as server:
        url = server.url
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=1)


def test_the_demo_world_is_the_same_every_time():
    """Ids and tokens do not depend on the run, so a restarted demo keeps working."""
    one, two = demo_world(), demo_world()
    assert [t.value for t in one.tokens] == [t.value for t in two.tokens]
    assert list(one.users) == [201, 202, 203, 204, 777, 9001]


def test_many_writers_lose_nothing(server, issue):
    """Notes written at the same time all arrive, with ids of their own."""
    headers = headers_of(server.world)
    url = f"{server.url}/api/v4/projects/77/issues/12/notes"

    def write(number):
        for turn in range(5):
            requests.post(url, json={"body": f"{number}.{turn}"}, headers=headers, timeout=5)

    threads = [Thread(target=write, args=(number,)) for number in range(6)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < 5
    assert len({note.id for note in issue.notes}) == 30


def test_bodies_that_are_no_json_are_400(server):
    """Broken JSON and lone surrogates are refused, not stored."""
    url = f"{server.url}/api/v4/projects/77/issues/12/notes"
    headers = headers_of(server.world) | {"Content-Type": "application/json"}
    for raw in (b"{", b"\xff", b'{"body": "\\ud800"}', b"[" * 100_000):
        assert requests.post(url, data=raw, headers=headers, timeout=5).status_code == 400
    form = headers_of(server.world)
    assert requests.post(url, data={"body": "a form"}, headers=form, timeout=5).status_code == 201
