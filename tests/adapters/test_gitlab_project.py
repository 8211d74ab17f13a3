"""What `ProjectGateway` promises beside the port: which calls it makes, and what a 404 means where."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
import responses
from pydantic import SecretStr

from bot.adapters.gitlab.connection import Connection
from bot.adapters.gitlab.project import ProjectGateway
from bot.core.errors import Gone, Refused, Unavailable
from bot.core.models import Person
from bot.ports import Gateway, Posted
from bot.testing.clock import MovableClock

URL = "https://gitlab.example.com"
API = f"{URL}/api/v4"
ISSUE = f"{API}/projects/77/issues/12"
PAGE = f"{URL}/acme/platform/api/-/issues/12"
THREAD = "6a9c1750b37d513a43987b574953fceb50b03ce7"
AT = datetime(2026, 11, 3, 9, 0, 1, tzinfo=UTC)
BOT = {"id": 9001, "username": "project_77_bot_0a1b", "name": "Question bot", "state": "active"}
DANA = {"id": 201, "username": "dana", "name": "Dana R", "state": "active"}
QUICK = {"commands_changes": {"state_event": "close"}, "summary": ["Closed this issue."]}


def a_note(note_id: int, **more: Any) -> dict[str, Any]:
    return {"id": note_id, "body": "text", "author": DANA, "created_at": "2026-11-03T09:00:01.000Z", **more}


def a_thread(thread_id: str, *notes: dict[str, Any]) -> dict[str, Any]:
    return {"id": thread_id, "individual_note": False, "notes": list(notes)}


def path_of(call: responses.Call) -> str:
    return f"{call.request.method} {(call.request.url or '').removeprefix(API)}"


@pytest.fixture
def gitlab() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        mock.get(f"{API}/projects/acme%2Fplatform%2Fapi", json={"id": 77, "path_with_namespace": "acme/platform/api"})
        mock.get(f"{API}/user", json={**BOT, "bot": True})
        yield mock


@pytest.fixture
def gateway(clock: MovableClock) -> ProjectGateway:
    connection = Connection(URL, SecretStr("glpat-x"), sleep=lambda _: None, clock=clock)
    return ProjectGateway(connection, "acme/platform/api", clock=clock)


def test_it_is_a_gateway(gateway: ProjectGateway) -> None:
    """The class fills in the whole port, and its representation names project and instance only."""
    port: Gateway = gateway
    assert repr(port) == f"ProjectGateway(Connection('{URL}'), 'acme/platform/api')"


def test_what_never_changes_is_asked_once(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """Whose token it is and which project it is are asked once each."""
    for _ in range(3):
        assert gateway.identity() == Person(id=9001, username="project_77_bot_0a1b", name="Question bot")
        assert gateway.project_id() == 77
    assert len(gitlab.calls) == 2


def test_a_failed_look_up_is_not_kept(clock: MovableClock) -> None:
    """After a project could not be found, it is looked for again."""
    gateway = ProjectGateway(Connection(URL, SecretStr("glpat-x"), clock=clock), "acme/api", clock=clock)
    with responses.RequestsMock() as gitlab:
        gitlab.get(f"{API}/projects/acme%2Fapi", status=404, json={"message": "404 Project Not Found"})
        gitlab.get(f"{API}/projects/acme%2Fapi", json={"id": 5, "path_with_namespace": "acme/api"})
        with pytest.raises(Gone, match="project acme/api"):
            gateway.project_id()
        assert gateway.project_id() == 5


def test_items_are_read(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """An item comes with the page people read it at; a missing one is `Gone`."""
    issue = {"iid": 12, "title": "Choose", "author": DANA, "state": "opened", "confidential": True}
    gitlab.get(ISSUE, json={**issue, "web_url": f"{URL}/acme/platform/api/-/work_items/12"})
    gitlab.get(f"{API}/projects/77/issues/13", status=404, json={"message": "404 Not found"})
    assert gateway.item(12).url == f"{URL}/acme/platform/api/-/work_items/12"
    with pytest.raises(Gone):
        gateway.item(13)


def test_all_threads_over_three_pages(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """All discussions come oldest first over three pages of a hundred, and a page is fetched when it is needed."""
    for page in (1, 2, 3):
        link = {"Link": f'<{ISSUE}/discussions?page={page + 1}&per_page=100>; rel="next"'} if page < 3 else {}
        query = {"per_page": "100"} if page == 1 else {"per_page": "100", "page": str(page)}
        rows = [a_thread(f"{page}a", a_note(page * 10)), a_thread(f"{page}b", a_note(page * 10 + 1))]
        match = [responses.matchers.query_param_matcher(query)]
        gitlab.get(f"{ISSUE}/discussions", json=rows, headers=link, match=match)
    threads = gateway.threads(12)
    assert next(threads).id == "1a"
    assert [path_of(call) for call in gitlab.calls][1:] == ["GET /projects/77/issues/12/discussions?per_page=100"]
    rest = list(threads)
    assert [thread.id for thread in rest] == ["1b", "2a", "2b", "3a", "3b"]
    assert rest[-1].notes[0].url == f"{PAGE}#note_31"


def test_one_thread_is_one_call(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """A thread is read by its id, with its notes in order."""
    gitlab.get(f"{ISSUE}/discussions/{THREAD}", json=a_thread(THREAD, a_note(1), a_note(2)))
    thread = gateway.thread(12, THREAD)
    assert thread is not None
    assert [note.id for note in thread.notes] == [1, 2]
    assert thread.notes[1].url == f"{PAGE}#note_2"


def test_what_is_gone_is_none(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """A thread or note that is not there, or not visible, is None."""
    gitlab.get(f"{ISSUE}/discussions/{THREAD}", status=404, json={"message": "404 Discussion Not Found"})
    gitlab.get(f"{ISSUE}/notes/5", status=404, json={"message": "404 Not found"})
    assert gateway.thread(12, THREAD) is None
    assert gateway.note(12, 5) is None


@pytest.mark.parametrize("discussion_id", ["", "..", "a/b", "a?b"])
def test_ids_name_nothing_else(gitlab: responses.RequestsMock, gateway: ProjectGateway, discussion_id: str) -> None:
    """An id that would name another resource is no thread, and a reply to it is refused unsent."""
    assert gateway.thread(12, discussion_id) is None
    with pytest.raises(Refused):
        gateway.reply(12, discussion_id, "x")
    assert len(gitlab.calls) == 0


def test_a_project_out_of_sight_says_nothing_about_people(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """When the token loses the project, a membership is not "none" and a thread not gone: `Gone` is raised."""
    lost = {"message": "404 Project Not Found"}
    gitlab.get(f"{API}/projects/77/members/all/201", status=404, json=lost)
    gitlab.get(f"{ISSUE}/discussions/{THREAD}", status=404, json=lost)
    with pytest.raises(Gone):
        gateway.membership(201)
    with pytest.raises(Gone):
        gateway.thread(12, THREAD)


def test_opening_a_thread(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """A question is one POST, and comes back with both ids, its address and GitLab's time."""
    gitlab.post(
        f"{ISSUE}/discussions",
        status=201,
        json=a_thread(THREAD, a_note(9)),
        match=[responses.matchers.json_params_matcher({"body": "Which?"})],
    )
    assert gateway.open_thread(12, "Which?") == Posted(9, THREAD, f"{PAGE}#note_9", AT)


def test_replying_and_commenting(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """A reply knows its thread; a comment's is not in GitLab's answer, so it is left empty."""
    gitlab.post(f"{ISSUE}/discussions/{THREAD}/notes", status=201, json=a_note(10))
    gitlab.post(f"{ISSUE}/notes", status=201, json=a_note(11))
    assert gateway.reply(12, THREAD, "x") == Posted(10, THREAD, f"{PAGE}#note_10", AT)
    assert gateway.comment(12, "x") == Posted(11, "", f"{PAGE}#note_11", AT)


def test_nothing_but_quick_actions_is_refused(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """202 means that no note was kept: that is `Refused`, never a note without an id."""
    gitlab.post(f"{ISSUE}/notes", status=202, json=QUICK)
    gitlab.post(f"{ISSUE}/discussions", status=202, json=QUICK)
    gitlab.post(f"{ISSUE}/discussions/{THREAD}/notes", status=202, json=QUICK)
    for write in (
        lambda: gateway.comment(12, "/close"),
        lambda: gateway.open_thread(12, "/close"),
        lambda: gateway.reply(12, THREAD, "/close"),
    ):
        with pytest.raises(Refused, match="only quick actions"):
            write()


@pytest.mark.parametrize("answer", [{}, {"id": 9}, {"id": THREAD, "notes": []}, a_thread(THREAD, {"id": 9})])
def test_an_unreadable_receipt_is_doubtful(
    gitlab: responses.RequestsMock, gateway: ProjectGateway, answer: dict[str, Any]
) -> None:
    """When a note was stored but the answer cannot be read, posting again would double it: doubtful."""
    gitlab.post(f"{ISSUE}/discussions", status=201, json=answer)
    with pytest.raises(Unavailable) as caught:
        gateway.open_thread(12, "Which?")
    assert caught.value.doubtful


@pytest.mark.parametrize("failure", [requests.ReadTimeout("slow"), requests.ConnectionError("cut")])
def test_a_question_is_posted_at_most_once(gitlab: responses.RequestsMock, gateway: ProjectGateway, failure: Exception) -> None:
    """A question whose answer got lost is one POST and doubtful; the caller looks for its note before posting again."""
    gitlab.post(f"{ISSUE}/discussions", body=failure)
    with pytest.raises(Unavailable) as caught:
        gateway.open_thread(12, "Which?")
    assert caught.value.doubtful
    assert [path_of(call) for call in gitlab.calls].count("POST /projects/77/issues/12/discussions") == 1


def test_a_write_that_never_began_is_not_doubtful(clock: MovableClock) -> None:
    """When already the project cannot be looked up, no note was sent."""
    gateway = ProjectGateway(Connection(URL, SecretStr("glpat-x"), sleep=lambda _: None, clock=clock), "a/b", clock=clock)
    with responses.RequestsMock() as gitlab:
        gitlab.get(f"{API}/projects/a%2Fb", status=503)
        with pytest.raises(Unavailable) as caught:
            gateway.comment(12, "x")
    assert not caught.value.doubtful


def test_reacting(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """A reaction is one POST with its name."""
    match = [responses.matchers.json_params_matcher({"name": "white_check_mark"})]
    gitlab.post(f"{ISSUE}/notes/9/award_emoji", status=201, json={"id": 1}, match=match)
    gateway.react(12, 9, "white_check_mark")


def test_reacting_twice_is_fine(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """GitLab answers a second reaction with 404; when ours is there already, that is what was wanted."""
    gitlab.post(f"{ISSUE}/notes/9/award_emoji", status=404, json={"message": "404 Award Emoji Not Found"})
    awards = [{"name": "thumbsup", "user": DANA}, {"name": "white_check_mark", "user": BOT}]
    gitlab.get(f"{ISSUE}/notes/9/award_emoji", json=awards)
    gateway.react(12, 9, "white_check_mark")


@pytest.mark.parametrize("awards", [[], [{"name": "eyes", "user": DANA}], [{"name": "heart", "user": BOT}]])
def test_reacting_to_what_is_gone(
    gitlab: responses.RequestsMock, gateway: ProjectGateway, awards: list[dict[str, Any]]
) -> None:
    """A 404 is `Gone` when the reaction is not there, or only somebody else's or another one is."""
    gitlab.post(f"{ISSUE}/notes/9/award_emoji", status=404, json={"message": "404 Award Emoji Not Found"})
    gitlab.get(f"{ISSUE}/notes/9/award_emoji", json=awards)
    with pytest.raises(Gone):
        gateway.react(12, 9, "eyes")


def test_addresses_follow_a_url_with_a_path(clock: MovableClock) -> None:
    """On an instance below a path, the address of a note has the path too, and the project's name as it is now."""
    base = "https://example.com/git"
    gateway = ProjectGateway(Connection(base, SecretStr("glpat-x"), clock=clock), "old/name", clock=clock)
    with responses.RequestsMock() as gitlab:
        gitlab.get(f"{base}/api/v4/projects/old%2Fname", json={"id": 7, "path_with_namespace": "new/name"})
        gitlab.post(f"{base}/api/v4/projects/7/issues/3/notes", status=201, json=a_note(4))
        assert gateway.comment(3, "x").url == f"{base}/new/name/-/issues/3#note_4"
