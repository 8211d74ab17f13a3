"""Continue: who pressed it, what the threads say now, and the document the flow is resumed with.

Everything is read afresh; one commit ends the round; a second press of the same round finds the first one's resume.
Not here: the rules (core), or handing over to targets other than `pull`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core import decide
from bot.core.classify import classify
from bot.core.decide import Presser
from bot.core.effects import hand_over
from bot.core.eligibility import Verdict, may_continue, may_start, role_name
from bot.core.errors import Conflict, Forbidden, NotFound, VersionConflict
from bot.core.goal import ByKey, Named
from bot.core.models import AskedQuestion, Person, Run, RunStatus
from bot.core.thread import Item, Thread
from bot.flows.callers import SPOKEN, Caller, KeyCaller, PersonCaller, key_covers
from bot.flows.gather import description_hash, facts_for, standing_of
from bot.flows.hand_over import delivered
from bot.flows.parts import Event, Parts, Project
from bot.ports import FlowKey, StoredResume

TRIES = 5


@dataclass(frozen=True)
class ByPerson:
    """Pressed by somebody on the item (in `discussion_id`, if in a thread), on the page or with their own token."""

    person: Person
    discussion_id: str | None = None
    note_id: int | None = None


@dataclass(frozen=True)
class ByFlowKey:
    """Pressed with the flow's own key: judged by the owner's right."""

    key: FlowKey


@dataclass(frozen=True)
class Pressed:
    """The resume this round has, and where its run stands."""

    resume_id: str
    status: RunStatus


def presser_of(caller: Caller) -> ByPerson | ByFlowKey:
    """A caller of the API as the one who presses."""
    if isinstance(caller, KeyCaller):
        return ByFlowKey(caller.key)
    account = caller.account
    return ByPerson(Person(id=account.id, username=account.username, name=account.name))


def press(
    parts: Parts, run_id: str, by: ByPerson | ByFlowKey, *, round_: int | None = None, token: str | None = None
) -> Pressed:
    """Continue `run_id`. Raises `Forbidden` with the reason, `Conflict` (`wrong_state`), and the `RemoteError` family;
    then nothing was changed. Open questions never block (row G48).

    A command counts for `round_` only, the round it was read in, and once. The same idempotency `token` gets the same
    resume, whatever the flow did since.
    """
    resume_id = _resume_id(parts, run_id, token)
    for _ in range(TRIES):
        with parts.store.snapshot() as unit:
            run = unit.runs.get(run_id)
            if run is None:
                raise NotFound(f"there is no run {run_id}", code="run_not_found")
            questions = unit.questions.of_run(run_id)
            earlier = unit.resumes.get(resume_id) or unit.resumes.of_round(run_id, run.round)
            repeated = unit.resumes.get(resume_id) is not None
        if round_ is not None and run.round != round_:
            raise Conflict(f"run {run.id} is in another round by now", code="wrong_round")
        if earlier is not None and (repeated or (run.live and run.status is not RunStatus.AWAITING_INPUT)):
            return Pressed(earlier.id, run.status)
        if isinstance(by, ByPerson) and by.note_id in run.heard_commands:
            raise Conflict(f"that command was heard before in run {run.id}", code="heard_before")
        if run.status is not RunStatus.AWAITING_INPUT:
            raise Conflict(f"run {run.id} is {run.status}: there is nothing to continue", code="wrong_state")
        try:
            return _continue(parts, run, questions, by, resume_id)
        except VersionConflict:
            continue
    raise VersionConflict(f"run {run_id} kept changing while it was continued")


def _resume_id(parts: Parts, run_id: str, token: str | None) -> str:
    if token is None:
        return parts.ids.new(8)
    return hashlib.sha256(f"{run_id}\0{token}".encode()).hexdigest()[:16]


def _continue(parts: Parts, run: Run, questions: Sequence[AskedQuestion], by: ByPerson | ByFlowKey, resume_id: str) -> Pressed:
    project = parts.projects.of_run(run)
    item = project.gateway.item(run.item_iid)
    presser = _allowed(parts, project, run, item, by)
    current = _read_again(parts, project, run, questions)
    now = parts.clock.now()
    outcome = decide.continued(
        run,
        current,
        presser,
        resume_id=resume_id,
        description_changed=description_hash(item.description) != run.description_hash,
        now=now,
    )
    with parts.store.unit() as unit:
        heard = () if isinstance(by, ByFlowKey) or by.note_id is None else (by.note_id,)
        # A command is carried out once: read again, it must not continue the next round too.
        saved = unit.runs.save(outcome.run.model_copy(update={"heard_commands": (*run.heard_commands, *heard)}))
        for asked, before in zip(outcome.questions, questions, strict=True):
            if asked != before:
                unit.questions.save(asked)
            if asked.closed and not asked.posted:
                unit.outbox.cancel(asked.effect_id)
        document = outcome.document.model_dump_json().encode()
        unit.resumes.add(StoredResume(outcome.document.resume, run.id, run.round, document, now))
        for effect in outcome.effects:
            unit.outbox.put(effect, now)
        if run.target.kind != "pull":
            unit.outbox.put(hand_over(run.id, outcome.document.resume), now)
    for before, asked in zip(questions, outcome.questions, strict=True):
        parts.note_replies(before, asked)
    told = outcome.document
    parts.note(Event.CONTINUED, {"run": run.id, "resume": told.resume, "round": told.round, "mode": told.mode.value})
    parts.wake()
    parts.announce(run.id)
    return Pressed(outcome.document.resume, saved.status)


def _allowed(parts: Parts, project: Project, run: Run, item: Item, by: ByPerson | ByFlowKey) -> Presser:
    """The presser, whose right is looked up afresh; and the owner, who must still be allowed to start (row W12)."""
    judged = run.owner if isinstance(by, ByFlowKey) else by.person
    standing = standing_of(project, judged.id, fresh=True)
    today = parts.clock.now().date()
    verdict = may_continue(
        standing,
        project.policy,
        owns_item=judged.id == item.author_id or judged.id in item.assignee_ids,
        incident=item.issue_type == "incident",
        bot_ids=project.bot_ids(),
        today=today,
    )
    _must(verdict, f"{judged.username} ({role_name(verdict.role)}) may not continue runs on {run.project_path}#{run.item_iid}")
    owner = standing if judged.id == run.owner.id else standing_of(project, run.owner.id, fresh=True)
    right = may_start(owner, project.policy, bot_ids=project.bot_ids(), today=today)
    if right.why is not None:
        who = f"the run's owner {run.owner.username} ({role_name(right.role)})"
        message = f"{who} may not run flows here any more: {SPOKEN[right.why]}. Start a new run with another owner (supersede)"
        raise Forbidden(message, code="owner_not_allowed")
    if isinstance(by, ByFlowKey):
        return Presser(ByKey(key=by.key.name), f"the flow's key {by.key.name}")
    return Presser(Named(id=by.person.id, username=by.person.username), by.person.called, by.discussion_id)


def _must(verdict: Verdict, message: str) -> None:
    if verdict.why is not None:
        raise Forbidden(f"{message}: {SPOKEN[verdict.why]}", code=verdict.why.value)


def _read_again(parts: Parts, project: Project, run: Run, questions: Sequence[AskedQuestion]) -> list[AskedQuestion]:
    """This round's questions as their threads stand now; earlier rounds stay as they were continued."""
    threads: dict[str, Thread | None] = {
        asked.id: project.gateway.thread(run.item_iid, asked.discussion_id or "")
        for asked in questions
        if asked.posted and not asked.closed
    }
    facts = facts_for(parts, project, run, [thread for thread in threads.values() if thread is not None], fresh=True)
    return [
        decide.taken_over(asked, classify(asked, threads[asked.id], facts)) if asked.id in threads else asked
        for asked in questions
    ]


def take(parts: Parts, caller: Caller, run: Run, resume_id: str | None = None) -> bytes | None:
    """The resume document for the flow (target `pull`): the same bytes each time, None while the round is still open.

    The first time it is served to the flow, the run is running again and its answers are delivered.
    Raises `NotFound` for an unknown `resume_id`, `Conflict` when nothing was ever asked.
    """
    with parts.store.snapshot() as unit:
        run = unit.runs.get(run.id) or run
        resume = unit.resumes.of_round(run.id, run.round) if resume_id is None else unit.resumes.get(resume_id)
    if resume_id is not None and (resume is None or resume.run_id != run.id):
        raise NotFound(f"run {run.id} has no resume {resume_id}", code="resume_not_found")
    if resume is None:
        if run.status is RunStatus.AWAITING_INPUT:
            return None
        raise Conflict(f"run {run.id} is {run.status} and has asked nothing in this round", code="wrong_state")
    if resume.round == run.round and run.status is RunStatus.RESUMING and _is_flow(caller, run):
        delivered(parts, run.id, resume)
    return resume.document


def _is_flow(caller: Caller, run: Run) -> bool:
    """The run's owner, or a key that is for the owner's runs."""
    return caller.account.id == run.owner.id if isinstance(caller, PersonCaller) else key_covers(caller, run)
