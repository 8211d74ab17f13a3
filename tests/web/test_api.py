"""The API: statuses and problem bodies, who may call, and that the same POST twice is one."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from bot.client import Client
from bot.core.errors import Forbidden, NotFound
from bot.testing import Stage

CHOICE: dict[str, Any] = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
START: dict[str, Any] = {"project": "acme/platform/api", "item_iid": 12, "flow": "plan", "goal": "Plan it.", "owner": "dana"}


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One stage for all the requests that are refused and change nothing."""
    with Stage(tmp_path_factory.mktemp("api")) as stage:
        yield stage


def call(stage: Stage, method: str, path: str, body: Any = None, token: str | None = "", **headers: str) -> requests.Response:
    sent = dict(headers)
    if token is not None:
        sent["Authorization"] = f"Bearer {token or stage.key_secret}"
    return requests.request(method, f"{stage.web.url}/api/v1{path}", json=body, headers=sent, timeout=15)


def started(stage: Stage) -> str:
    answer = call(stage, "POST", "/runs", START)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def personal(stage: Stage, username: str) -> str:
    return stage.world.add_token(next(user for user in stage.world.users.values() if user.username == username))


@pytest.mark.parametrize("token", [None, "hitl_wrong", "glpat-wrong"], ids=["none", "unknown key", "unknown token"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/runs"), ("POST", "/runs"), ("GET", "/runs/x/resume"), ("POST", "/runs/x/continue")]
)
def test_without_a_credential_401(untouched: Stage, token: str | None, method: str, path: str) -> None:
    """No key, an unknown key, an unknown token: 401 with how to authenticate."""
    answer = call(untouched, method, path, START if path == "/runs" and method == "POST" else None, token)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["status"] == 401


def test_start_ask_and_see(stage: Stage) -> None:
    """A run starts `running`, awaits input at once when it asks, and questions say where they stand."""
    run = started(stage)
    assert call(stage, "GET", f"/runs/{run}").json()["status"] == "running"
    answer = call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    assert answer.status_code == 201
    placed = answer.json()["questions"][0]
    assert placed["url"].endswith(f"#note_{placed['note_id']}")
    assert placed["state"] == "open"
    assert call(stage, "GET", f"/runs/{run}").json()["status"] == "awaiting_input"
    shown = call(stage, "GET", f"/runs/{run}/questions").json()
    assert (shown["total"], shown["open"]) == (1, 1)


QUESTION_FAULTS = [
    ({**CHOICE, "options": list("abcdef")}, "too_many_options", "at most 5"),
    ({**CHOICE, "options": [{"key": "A", "label": "x"}, {"key": "a", "label": "y"}]}, "invalid", "unique"),
    ({**CHOICE, "options": ["two\nlines"]}, "invalid", "one line"),
    ({**CHOICE, "options": []}, "invalid", "needs options"),
    ({"text": "rm -rf?", "question_type": "approval"}, "invalid", "approval"),
    ({**CHOICE, "category": "tool_approval"}, "invalid", "approval"),
    ({"text": "  ", "question_type": "freeform"}, "invalid", "must not be blank"),
    ({**CHOICE, "recommended": ["Z"]}, "invalid", "recommended"),
    ({**CHOICE, "surprise": 1}, "invalid", "Extra inputs"),
    ({**CHOICE, "timeout_seconds": 60}, "deadline_not_supported", "deadlines"),
]


@pytest.mark.parametrize(("question", "code", "words"), QUESTION_FAULTS, ids=[words for _, _, words in QUESTION_FAULTS])
def test_bad_questions_are_refused_by_rule(stage: Stage, question: dict[str, Any], code: str, words: str) -> None:
    """422 with problem+json that names field and rule; nothing was asked (G13-G17, G83)."""
    run = started(stage)
    answer = call(stage, "POST", f"/runs/{run}/questions", {"questions": [question]})
    assert answer.status_code == 422
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["code"] == code
    assert problem["field"].startswith("questions.0")
    assert words in problem["detail"]
    assert call(stage, "GET", f"/runs/{run}").json()["status"] == "running"


START_FAULTS = [
    ({"item_iid": None}, 422, "item_iid"),
    ({"item_iid": 0}, 422, "item_iid"),
    ({"project": "acme/other"}, 422, "project"),
    ({"project": None, "item_iid": None, "item": "acme/platform/api!12"}, 422, "merge request"),
    ({"project": None, "item_iid": None, "item": "acme/platform&12"}, 422, "epic"),
    ({"project": "acme/platform/api!12"}, 422, "merge request"),
    ({"flow": "not a word"}, 422, "flow"),
    ({"resume": {"kind": "carrier-pigeon"}}, 422, "resume"),
    ({"owner": None}, 422, "owner"),
    ({"owner": "nobody-knows"}, 422, "nobody-knows"),
    ({"owner": "petra"}, 403, "role is too low"),
    ({"owner": "stranger"}, 403, "no membership"),
    ({"owner": "project_77_bot_0a1b"}, 403, "bot"),
    ({"item_iid": 9999}, 404, "does not exist"),
]


@pytest.mark.parametrize(
    ("change", "status", "words"), START_FAULTS, ids=[f"{words} {status}" for _, status, words in START_FAULTS]
)
def test_bad_starts_are_refused(untouched: Stage, change: dict[str, Any], status: int, words: str) -> None:
    """A run starts only on a project issue served here, for somebody who may start runs; else the reason."""
    answer = call(untouched, "POST", "/runs", {name: value for name, value in {**START, **change}.items() if value is not None})
    assert answer.status_code == status, answer.text
    assert words in answer.text


def test_an_unknown_run_is_404_and_so_is_another_projects(stage: Stage) -> None:
    """404 says nothing about runs of projects the caller is not for."""
    run = started(stage)
    assert call(stage, "GET", "/runs/nope").status_code == 404
    assert call(stage, "GET", f"/runs/{run}", token=personal(stage, "stranger")).status_code == 404
    assert call(stage, "GET", f"/runs/{run}", token=personal(stage, "gil")).status_code == 404
    assert call(stage, "GET", f"/runs/{run}", token=personal(stage, "petra")).status_code == 200
    assert call(stage, "GET", "/runs", token=personal(stage, "gil")).json() == {"runs": []}


def test_a_person_starts_runs_for_themselves_only(stage: Stage) -> None:
    """With a personal token the owner is that person; naming somebody else is 403."""
    mine = Client(stage.web.url, personal(stage, "dana"))
    with pytest.raises(Forbidden):
        mine.start(stage.item, flow="plan", goal="x", owner="omar")
    assert mine.start(stage.item, flow="plan", goal="x")["owner"]["username"] == "dana"
    with pytest.raises(Forbidden, match="role is too low"):
        Client(stage.web.url, personal(stage, "petra")).start(stage.item, flow="other", goal="x")


def test_only_the_flow_or_the_owner_speaks_for_a_run(stage: Stage) -> None:
    """Another member sees the run but can neither ask nor end it."""
    run = started(stage)
    other = personal(stage, "omar")
    assert call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]}, other).status_code == 403
    assert call(stage, "POST", f"/runs/{run}/finish", {}, other).status_code == 403
    assert call(stage, "POST", f"/runs/{run}/finish", {}, personal(stage, "dana")).json()["status"] == "finished"


def test_continue_in_the_wrong_state_is_409_with_the_state(stage: Stage) -> None:
    """A run that asked nothing, or has ended, cannot be continued."""
    run = started(stage)
    answer = call(stage, "POST", f"/runs/{run}/continue", {})
    assert answer.status_code == 409
    assert "running" in answer.json()["detail"]
    call(stage, "POST", f"/runs/{run}/cancel", {"reason": "changed our minds"})
    assert call(stage, "POST", f"/runs/{run}/continue").status_code == 409
    assert call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]}).status_code == 409


def test_continue_by_role(stage: Stage) -> None:
    """Planner and up may continue, with their own token too; a Guest and a stranger may not (G38, G39)."""
    run = started(stage)
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    assert call(stage, "POST", f"/runs/{run}/continue", {}, personal(stage, "gil")).status_code == 404
    answer = call(stage, "POST", f"/runs/{run}/continue", {}, personal(stage, "petra"))
    assert answer.status_code == 202
    assert answer.json()["status"] == "resuming"
    assert call(stage, "GET", f"/runs/{run}/resume", token=personal(stage, "petra")).status_code == 200
    assert call(stage, "GET", f"/runs/{run}").json()["status"] == "resuming", "read by a member, not fetched by the flow"
    document = call(stage, "GET", f"/runs/{run}/resume").json()
    assert document["continued_by"]["username"] == "petra"
    assert call(stage, "GET", f"/runs/{run}").json()["status"] == "running"


def test_a_guest_may_continue_on_their_own_item(stage: Stage) -> None:
    """Author of the item and Guest: they may press Continue with their own token, and see nothing else of the run (G44)."""
    gil = next(user for user in stage.world.users.values() if user.username == "gil")
    mine = stage.world.add_issue(stage.world.projects[stage.project_id], author=gil, title="Mine", description="", iid=44)
    run = call(stage, "POST", "/runs", {**START, "item_iid": mine.iid}).json()["id"]
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    token = personal(stage, "gil")
    assert call(stage, "GET", f"/runs/{run}", token=token).status_code == 404
    assert call(stage, "POST", f"/runs/{run}/continue", {}, personal(stage, "stranger")).status_code == 404
    answer = call(stage, "POST", f"/runs/{run}/continue", {}, token)
    assert answer.status_code == 202, answer.text


def test_the_resume_is_the_same_bytes_and_older_ones_stay(stage: Stage) -> None:
    """204 before Continue; then one document, byte for byte, also by its id; an unknown id is 404."""
    run = started(stage)
    assert call(stage, "GET", f"/runs/{run}/resume").status_code == 409
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    assert call(stage, "GET", f"/runs/{run}/resume").status_code == 204
    resume = call(stage, "POST", f"/runs/{run}/continue").json()["resume"]
    served = [call(stage, "GET", f"/runs/{run}/resume").content for _ in range(3)]
    assert len(set(served)) == 1
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    assert call(stage, "GET", f"/runs/{run}/resume").status_code == 204
    assert call(stage, "GET", f"/runs/{run}/resume?resume={resume}").content == served[0]
    assert call(stage, "GET", f"/runs/{run}/resume?resume=nope").status_code == 404


def test_a_waiting_flow_is_woken(stage: Stage) -> None:
    """A long poll returns as soon as somebody continues, well before its time is over."""
    run = started(stage)
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    got: list[requests.Response] = []
    waiting = threading.Thread(target=lambda: got.append(call(stage, "GET", f"/runs/{run}/resume?wait=14")))
    began = time.monotonic()
    waiting.start()
    call(stage, "POST", f"/runs/{run}/continue")
    waiting.join()
    assert got[0].status_code == 200
    assert time.monotonic() - began < 10


def test_the_same_post_twice_is_one(stage: Stage) -> None:
    """Under one Idempotency-Key: the same answer, byte for byte, and one thread; with another body 422."""
    key = {"Idempotency-Key": "k-1"}
    first = call(stage, "POST", "/runs", START, **key)
    again = call(stage, "POST", "/runs", START, **key)
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert call(stage, "POST", "/runs", {**START, "goal": "Other."}, **key).status_code == 422
    run = first.json()["id"]
    asks = [
        call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]}, **{"Idempotency-Key": "k-2"}) for _ in range(2)
    ]
    assert asks[0].json() == asks[1].json()
    assert call(stage, "GET", f"/runs/{run}/questions").json()["total"] == 1


def test_asking_again_after_a_lost_record_asks_nothing_twice(stage: Stage) -> None:
    """When the process dies after asking and before recording the answer, the repeated POST finds the question."""
    run = started(stage)
    key = {"Idempotency-Key": "k-3"}
    first = call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]}, **key).json()
    with stage.bot.parts.store.unit() as unit:
        unit.replays.forget(f"key:{stage.key.id}", "k-3")
    again = call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]}, **key).json()
    assert again["questions"][0]["id"] == first["questions"][0]["id"]
    assert call(stage, "GET", f"/runs/{run}/questions").json()["total"] == 1


def test_a_refused_post_can_be_sent_again_under_its_key(stage: Stage) -> None:
    """A refusal is not recorded: once the reason is gone, the same request succeeds."""
    key = {"Idempotency-Key": "k-4"}
    project = stage.world.projects[stage.project_id]
    petra = next(user for user in stage.world.users.values() if user.username == "petra")
    assert call(stage, "POST", "/runs", {**START, "owner": "petra"}, **key).status_code == 403
    stage.world.set_role(project, petra, 30)
    assert call(stage, "POST", "/runs", {**START, "owner": "petra"}, **key).status_code == 201


def test_the_same_run_id_is_the_same_run(stage: Stage) -> None:
    """A flow may choose the id; starting it again gives the run there is."""
    first = call(stage, "POST", "/runs", {**START, "id": "nightly-42"}).json()
    assert first["id"] == "nightly-42"
    assert call(stage, "POST", "/runs", {**START, "id": "nightly-42"}).json() == first
    assert call(stage, "POST", "/runs", {**START, "id": "nightly-42", "flow": "other"}).status_code == 409


def test_gitlab_away_is_503_and_changes_nothing(stage: Stage) -> None:
    """When roles cannot be looked up, Continue stops with 503 and Retry-After; the run still awaits input."""
    run = started(stage)
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    stage.tracker.faults.add(method="GET", path="*/members/all/*", status=503, times=100)
    answer = call(stage, "POST", f"/runs/{run}/continue")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    stage.tracker.faults.clear()
    assert call(stage, "GET", f"/runs/{run}").json()["status"] == "awaiting_input"
    assert call(stage, "POST", f"/runs/{run}/continue").status_code == 202


def test_a_key_for_one_owner_does_nothing_to_anothers_runs(stage: Stage) -> None:
    """It can neither start, see, ask, continue, fetch, end nor supersede them."""
    from bot.flows.keys import create_key

    _, secret = create_key(stage.bot.parts, name="omars", projects=["acme/platform/api"], owners=["omar"])
    other = Client(stage.web.url, secret)
    with pytest.raises(Forbidden, match="not for runs of dana"):
        other.start(stage.item, flow="new", goal="x", owner="dana")
    run = started(stage)
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    call(stage, "POST", f"/runs/{run}/continue")
    attempts: list[Any] = [
        lambda: other.run(run),
        lambda: other.questions(run),
        lambda: other.ask(run, [CHOICE]),
        lambda: other.press_continue(run),
        lambda: other.wait(run, 0),
        lambda: other.cancel(run),
    ]
    for attempt in attempts:
        with pytest.raises(NotFound):
            attempt()
    with pytest.raises(Forbidden, match="not for runs of dana"):
        other.start(stage.item, flow="plan", goal="x", owner="omar", supersede=True)
    with pytest.raises(Forbidden, match="belongs to dana"):
        Client(stage.web.url, personal(stage, "omar")).start(stage.item, flow="plan", goal="x", supersede=True)
    assert other.runs() == []
    assert call(stage, "GET", f"/runs/{run}").json()["status"] == "resuming", "nobody took the document from its flow"


def test_a_repeated_continue_after_a_lost_record_is_the_first_one(stage: Stage) -> None:
    """The process died before the answer was recorded, and the flow went on: the same key gets the same resume."""
    run = started(stage)
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    key = {"Idempotency-Key": "k-5"}
    first = call(stage, "POST", f"/runs/{run}/continue", {}, **key).json()
    call(stage, "GET", f"/runs/{run}/resume")
    call(stage, "POST", f"/runs/{run}/questions", {"questions": [CHOICE]})
    with stage.bot.parts.store.unit() as unit:
        unit.replays.forget(f"key:{stage.key.id}", "k-5")
    again = call(stage, "POST", f"/runs/{run}/continue", {}, **key).json()
    assert again["resume"] == first["resume"]
    assert again["status"] == "awaiting_input", "round 2 is not continued"


def test_unknown_paths_and_methods_answer_problems(stage: Stage) -> None:
    """Also what no route answers is problem+json."""
    assert call(stage, "GET", "/nothing").json()["status"] == 404
    assert call(stage, "DELETE", "/runs").json()["status"] == 405
    answer = requests.post(
        f"{stage.web.url}/api/v1/runs",
        data=b"{",
        headers={"Authorization": f"Bearer {stage.key_secret}", "Content-Type": "application/json"},
        timeout=10,
    )
    assert answer.status_code == 422
    assert json.loads(answer.text)["code"] == "invalid"
