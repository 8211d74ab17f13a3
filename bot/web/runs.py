"""`/api/v1/runs`: start, list, show and end runs; ask, and see how the questions stand."""

import time
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from bot.core.effects import lane_of
from bot.core.errors import Invalid
from bot.core.goal import Named, ShownQuestion, shown
from bot.core.items import parse_item
from bot.core.lifecycle import Trigger
from bot.core.models import AskedQuestion, PullTarget, Question, QuestionState, Run, RunStatus, TargetSpec, Word
from bot.flows import start as starting
from bot.flows.ask import ask
from bot.flows.callers import visible_run
from bot.flows.deliver import deliver_next
from bot.flows.parts import Parts
from bot.web.callers import CallerOf, PartsOf
from bot.web.once import once

POSTING_WAIT = 10.0  # seconds a POST of questions waits for its threads
router = APIRouter(prefix="/api/v1")


class Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StartBody(Body):
    """Name the item by `project` and `item_iid`, or by `item`: `group/project#12` or its URL."""

    id: Word | None = None
    project: str | None = None
    item_iid: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    item: str | None = None
    flow: Word
    goal: Annotated[str, Field(max_length=100_000)]
    owner: str | None = None
    supersede: bool = False
    resume: TargetSpec = PullTarget()


class QuestionsBody(Body):
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=100)]


class FinishBody(Body):
    outcome: Literal["finished", "failed"] = "finished"
    reason: Annotated[str, Field(max_length=1_000)] | None = None
    url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2_000)] | None = None


class CancelBody(Body):
    reason: Annotated[str, Field(max_length=1_000)] | None = None


class ShownRun(Body):
    id: str
    status: RunStatus
    flow: str
    goal: str
    project: str
    item_iid: int
    item_url: str
    owner: Named
    claimed_by_key: str | None
    round: int
    reason: str | None
    url: str | None
    created_at: datetime
    updated_at: datetime


class ShownRuns(Body):
    runs: tuple[ShownRun, ...]


class PlacedQuestion(Body):
    """Where a question stands; nulls while it is not posted yet."""

    id: str
    url: str | None
    note_id: int | None
    discussion_id: str | None
    state: QuestionState


class PlacedQuestions(Body):
    questions: tuple[PlacedQuestion, ...]


class ShownQuestions(BaseModel):
    total: int
    open: int
    questions: tuple[ShownQuestion, ...]


@router.post("/runs", status_code=201, response_model=ShownRun)
def start_run(request: Request, body: StartBody, caller: CallerOf, parts: PartsOf) -> Response:
    """Start a run on an item. The same `id` again gives the same run."""

    def action(token: str | None) -> ShownRun:
        project, iid = _item_of(body, parts)
        wanted = starting.StartRun(project=project, item_iid=iid, **body.model_dump(exclude={"project", "item_iid", "item"}))
        return shown_run(starting.start(parts, wanted, caller, token=token))

    return once(request, parts, caller, body, 201, action)


@router.get("/runs")
def list_runs(
    caller: CallerOf,
    parts: PartsOf,
    project: Annotated[str | None, Query()] = None,
    item_iid: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> ShownRuns:
    """The runs the caller may see, newest first."""
    return ShownRuns(runs=tuple(map(shown_run, starting.listed(parts, caller, project=project, item_iid=item_iid))))


@router.get("/runs/{run_id}")
def get_run(run_id: str, caller: CallerOf, parts: PartsOf) -> ShownRun:
    return shown_run(visible_run(parts, caller, run_id))


@router.post("/runs/{run_id}/questions", status_code=201, response_model=PlacedQuestions)
def post_questions(request: Request, run_id: str, body: QuestionsBody, caller: CallerOf, parts: PartsOf) -> Response:
    """Ask on the item. Waits up to 10 s for the threads; what is not posted by then has nulls and follows by itself."""

    def action(token: str | None) -> PlacedQuestions:
        questions = ask(parts, caller, run_id, body.questions, token=token)
        return PlacedQuestions(questions=tuple(map(_placed, _posted(parts, run_id, questions))))

    return once(request, parts, caller, body, 201, action)


@router.get("/runs/{run_id}/questions")
def get_questions(run_id: str, caller: CallerOf, parts: PartsOf) -> ShownQuestions:
    """All questions of the run as they were last read."""
    visible_run(parts, caller, run_id)
    with parts.store.snapshot() as unit:
        questions = unit.questions.of_run(run_id)
    waiting = [asked for asked in questions if asked.state.is_open and not asked.closed]
    return ShownQuestions(total=len(questions), open=len(waiting), questions=tuple(map(shown, questions)))


@router.post("/runs/{run_id}/finish", response_model=ShownRun)
def finish_run(request: Request, run_id: str, body: FinishBody, caller: CallerOf, parts: PartsOf) -> Response:
    trigger = Trigger.FINISH if body.outcome == "finished" else Trigger.FAIL
    return once(
        request, parts, caller, body, 200,
        lambda _: shown_run(starting.end(parts, caller, run_id, trigger, reason=body.reason, url=body.url)),
    )  # fmt: skip


@router.post("/runs/{run_id}/cancel", response_model=ShownRun)
def cancel_run(request: Request, run_id: str, body: CancelBody, caller: CallerOf, parts: PartsOf) -> Response:
    return once(
        request, parts, caller, body, 200,
        lambda _: shown_run(starting.end(parts, caller, run_id, Trigger.CANCEL, reason=body.reason or "cancelled")),
    )  # fmt: skip


def shown_run(run: Run) -> ShownRun:
    return ShownRun(
        **run.model_dump(include={"id", "status", "flow", "goal", "item_iid", "claimed_by_key", "round", "reason", "url"}),
        project=run.project_path,
        item_url=f"{run.instance}/{run.project_path}/-/issues/{run.item_iid}",
        owner=Named(id=run.owner.id, username=run.owner.username),
        created_at=run.created_at,
        updated_at=run.updated_at,
    )


def _item_of(body: StartBody, parts: Parts) -> tuple[str, int]:
    if body.item is not None:
        name = parse_item(body.item, instance=parts.instance)
        return name.project, name.iid
    if body.project is None or body.item_iid is None:
        raise Invalid(
            "name the item: project and item_iid, or item", field="item_iid" if body.project else "project", code="no_item"
        )
    if any(sign in body.project for sign in "#!&"):
        name = parse_item(body.project, instance=parts.instance)
        return name.project, name.iid
    return body.project, body.item_iid


def _posted(parts: Parts, run_id: str, questions: list[AskedQuestion]) -> list[AskedQuestion]:
    """The questions once they are posted, helping the worker meanwhile."""
    ids = {asked.id for asked in questions}
    lane = lane_of(questions[0].project_id, questions[0].item_iid)
    until = time.monotonic() + POSTING_WAIT
    while True:
        with parts.store.snapshot() as unit:
            current = [asked for asked in unit.questions.of_run(run_id) if asked.id in ids]
        if all(asked.posted or asked.closed for asked in current) or time.monotonic() >= until:
            return current
        if not deliver_next(parts, lane=lane):
            time.sleep(0.05)


def _placed(asked: AskedQuestion) -> PlacedQuestion:
    return PlacedQuestion(**asked.model_dump(include={"id", "note_id", "discussion_id", "state"}), url=asked.note_url)
