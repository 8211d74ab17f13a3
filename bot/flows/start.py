"""Start a run on an item, end one, list them. Who may start is judged here by the project role (row G42)."""

import hashlib

from bot.core.eligibility import may_start, role_name
from bot.core.errors import Conflict, Forbidden, Gone, Invalid, NotFound
from bot.core.lifecycle import Trigger, move
from bot.core.models import Frozen, Person, PullTarget, QuestionState, Run, RunStatus, TargetSpec, Word
from bot.flows.callers import SPOKEN, Caller, KeyCaller, PersonCaller, may_see, must_be_flow, visible_run
from bot.flows.gather import standing_of
from bot.flows.hand_over import check_target
from bot.flows.parts import Parts, Project
from bot.ports import Unit

SUPERSEDED = QuestionState.SUPERSEDED
ENDS = {Trigger.FINISH: RunStatus.FINISHED, Trigger.FAIL: RunStatus.FAILED, Trigger.CANCEL: RunStatus.CANCELLED}


class StartRun(Frozen):
    """What `POST /runs` takes. `id` makes it idempotent; `supersede` ends an older run of the same flow on the item."""

    project: str
    item_iid: int
    flow: Word
    goal: str
    owner: str | None = None
    id: Word | None = None
    supersede: bool = False
    resume: TargetSpec = PullTarget()


def start(parts: Parts, request: StartRun, caller: Caller, *, token: str | None = None) -> Run:
    """The run, new or, for an `id` (or idempotency `token`) seen before, the one that exists.

    Raises `Invalid`, `Forbidden`, `NotFound`, `Conflict`, and the `RemoteError` family.
    """
    run_id = request.id or _id_from(parts, caller, token)
    existing = _existing(parts, run_id, caller, request)
    if existing is not None:
        return _filled_in(parts, existing, request)
    project = parts.projects.by_path(request.project)
    project_id = project.gateway.project_id()
    if isinstance(caller, KeyCaller) and project_id not in caller.key.project_ids:
        raise Forbidden(f"this key is not for project {project.path}", code="project_not_in_key")
    check_target(project, request.resume)
    owner = _owner(parts, project, request.owner, caller)
    try:
        item = project.gateway.item(request.item_iid)
    except Gone as error:
        message = f"{project.path}#{request.item_iid} does not exist, or the bot's token cannot see it"
        raise NotFound(message, code="item_not_found") from error
    if item.moved:
        raise Invalid(f"{project.path}#{request.item_iid} was moved away", field="item_iid", code="item_moved")
    now = parts.clock.now()
    run = Run(
        id=run_id,
        flow=request.flow,
        goal=request.goal,
        instance=project.instance,
        project_id=project_id,
        project_path=project.path,
        item_iid=request.item_iid,
        owner=owner,
        bot_id=project.gateway.identity().id,
        claimed_by_key=caller.key.name if isinstance(caller, KeyCaller) else None,
        target=request.resume,
        created_at=now,
        updated_at=now,
    )
    superseded: list[str] = []
    with parts.store.unit() as unit:
        again = unit.runs.get(run.id)
        if again is not None:
            if not _same(again, request):
                raise Conflict(f"the id {run_id} is taken: choose another", code="id_taken")
            return again
        for other in unit.runs.on_item(project_id, request.item_iid):
            if other.flow != request.flow:
                continue
            if not request.supersede:
                message = f"flow {request.flow} already has run {other.id} on {project.path}#{request.item_iid}"
                raise Conflict(f"{message}: end it, or say supersede", code="run_exists")
            must_be_flow(caller, other)
            superseded.append(other.id)
            unit.runs.save(move(other, Trigger.CANCEL, now, reason=f"superseded by run {run.id}"))
            close_questions(unit, other, f"superseded by run {run.id}")
        unit.runs.add(run)
    for run_id_before in superseded:
        parts.announce(run_id_before)
    return run


def end(parts: Parts, caller: Caller, run_id: str, trigger: Trigger, *, reason: str | None, url: str | None = None) -> Run:
    """Finish, fail or cancel a run; its open questions are closed with it. Ending it the same way again changes nothing."""
    run = visible_run(parts, caller, run_id)
    must_be_flow(caller, run)
    now = parts.clock.now()
    with parts.store.unit() as unit:
        run = unit.runs.get(run_id) or run
        if not run.live and run.status == ENDS[trigger]:
            return run
        ended = move(run, trigger, now, reason=reason)
        ended = unit.runs.save(ended.model_copy(update={"url": url} if url else {}))
        close_questions(unit, run, f"the run {ended.status}")
    parts.announce(run_id)
    return ended


def listed(parts: Parts, caller: Caller, *, project: str | None = None, item_iid: int | None = None) -> list[Run]:
    """The runs this caller may see, newest first."""
    wanted = None if project is None else [parts.projects.by_path(project).gateway.project_id()]
    if isinstance(caller, KeyCaller):
        allowed = list(caller.key.project_ids)
        wanted = allowed if wanted is None else [project_id for project_id in wanted if project_id in allowed]
    with parts.store.snapshot() as unit:
        runs = unit.runs.listed(project_ids=wanted, item_iid=item_iid)
    return [run for run in runs if may_see(parts, caller, run)]


def close_questions(unit: Unit, run: Run, reason: str) -> None:
    """Close what the run still asks; what was not posted yet is not posted any more."""
    for asked in unit.questions.of_run(run.id):
        if asked.closed:
            continue
        if not asked.posted:
            unit.outbox.cancel(asked.effect_id)
        change = {"closed": True} if asked.answer is not None else {"closed": True, "state": SUPERSEDED, "reason": reason}
        unit.questions.save(asked.model_copy(update=change))


def _id_from(parts: Parts, caller: Caller, token: str | None) -> str:
    if token is None:
        return parts.ids.new(6)
    return hashlib.sha256(f"{caller.label}\0{token}".encode()).hexdigest()[:12]


def _existing(parts: Parts, run_id: str, caller: Caller, request: StartRun) -> Run | None:
    with parts.store.snapshot() as unit:
        run = unit.runs.get(run_id)
    if run is not None and not (may_see(parts, caller, run) and _same(run, request)):
        raise Conflict(f"the id {run_id} is taken: choose another", code="id_taken")
    return run


def _same(run: Run, request: StartRun) -> bool:
    """The same id means the same run only for the same flow on the same item."""
    asked_for = (request.project.strip("/").casefold(), request.item_iid, request.flow)
    return (run.project_path.casefold(), run.item_iid, run.flow) == asked_for


def _filled_in(parts: Parts, run: Run, request: StartRun) -> Run:
    """A run that was recovered from notes lacks its goal: the flow brings it again."""
    if run.goal or not request.goal:
        return run
    with parts.store.unit() as unit:
        return unit.runs.save(run.model_copy(update={"goal": request.goal}))


def _owner(parts: Parts, project: Project, username: str | None, caller: Caller) -> Person:
    """The run's owner, who must be allowed to start runs. A person starts runs for themselves only."""
    if isinstance(caller, PersonCaller):
        account = caller.account
        if username is not None and username.casefold() != account.username.casefold():
            message = "your own token starts runs for yourself only: leave owner out, or use a flow's key"
            raise Forbidden(message, code="owner_is_not_you")
    else:
        if username is None:
            raise Invalid("a flow's key must name the owner of the run", field="owner", code="owner_missing")
        found = project.gateway.find_account(username.removeprefix("@"))
        if found is None:
            raise Invalid(f"GitLab knows no user {username!r}", field="owner", code="owner_unknown")
        account = found
        if caller.key.owners and account.id not in caller.key.owners:
            raise Forbidden(f"this key is not for runs of {account.username}", code="owner_not_in_key")
    verdict = may_start(
        standing_of(project, account.id, fresh=True),
        project.policy,
        bot_ids=project.bot_ids(),
        today=parts.clock.now().date(),
    )
    if verdict.why is not None:
        message = f"{account.username} ({role_name(verdict.role)}) may not start runs in {project.path}: {SPOKEN[verdict.why]}"
        raise Forbidden(message, code=verdict.why.value)
    return Person(id=account.id, username=account.username, name=account.name)
