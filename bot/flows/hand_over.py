"""Give a resume document to where the flow is resumed, when the flow does not fetch it itself; say so when it cannot be.

Not here: the ways there (adapters), or the retry schedule (`core.retries`).
"""

from dataclasses import dataclass
from datetime import datetime

from bot.core.effects import HandOver, PostNote, hand_over_id, lane_of
from bot.core.errors import Conflict, Gone, HitlError, Invalid, NotFound, VersionConflict
from bot.core.lifecycle import Trigger, move
from bot.core.models import Run, RunStatus, TargetSpec
from bot.core.payload import NoteKind
from bot.flows.parts import Parts, Project
from bot.ports import Outgoing, StoredResume


def check_target(project: Project, spec: TargetSpec) -> None:
    """Raises `Invalid` (field `resume`) for a target this project does not have, or may not use like this."""
    if spec.kind == "pull":
        return
    target = project.targets.get(spec.kind)
    if target is None:
        message = f"{project.path} has no {spec.kind} target: configure one, or use pull"
        raise Invalid(message, field="resume", code="target_not_configured")
    target.check(spec)


def hand_over(parts: Parts, project: Project, run: Run, effect: HandOver) -> None:
    """Deliver one document. Raises the `RemoteError` family."""
    with parts.store.snapshot() as unit:
        resume = unit.resumes.get(effect.resume_id)
    target = project.targets.get(run.target.kind)
    if resume is None or target is None:
        raise Gone(f"run {run.id} has no {run.target.kind} target any more: configure it, then `hitl resume redrive`")
    target.hand_over(run, resume.id, resume.document)
    delivered(parts, run.id, resume)


def delivered(parts: Parts, run_id: str, resume: StoredResume) -> None:
    """The flow has the document: it runs again, and the answers in it are delivered. Once, however often it is said."""
    now = parts.clock.now()
    try:
        with parts.store.unit() as unit:
            run = unit.runs.get(run_id)
            if run is None or resume.delivered_at is not None:
                return
            if run.status is RunStatus.RESUMING and run.round == resume.round:
                unit.runs.save(move(run, Trigger.RESUMED, now))
            unit.resumes.delivered(resume.id, now)
            for asked in unit.questions.of_run(run_id):
                if asked.closed and asked.delivered_in is None and asked.round <= resume.round:
                    unit.questions.save(asked.model_copy(update={"delivered_in": resume.id}))
    except VersionConflict:
        return  # another request handed over the same document at the same moment, and has marked it
    parts.announce(run_id)


def given_up(run: Run, effect: HandOver, error: HitlError) -> PostNote:
    """What is said on the item when a flow could not be reached."""
    return PostNote(
        effect_id=f"gave_up:{effect.resume_id}",
        lane=lane_of(run.project_id, run.item_iid),
        run_id=run.id,
        discussion_id=None,
        note_kind=NoteKind.STATUS,
        template="gave_up",
        values={"flow": run.flow, "resume": effect.resume_id, "error": error.message},
    )


@dataclass(frozen=True)
class ResumeStatus:
    """How far a resume is: `outgoing` is None for `pull`, where the flow comes for it."""

    resume: StoredResume
    run: Run
    outgoing: Outgoing | None


def status_of(parts: Parts, resume_id: str) -> ResumeStatus:
    """Raises `NotFound`."""
    with parts.store.snapshot() as unit:
        resume = unit.resumes.get(resume_id)
        run = None if resume is None else unit.runs.get(resume.run_id)
        outgoing = unit.outbox.find(hand_over_id(resume_id))
    if resume is None or run is None:
        raise NotFound(f"there is no resume {resume_id}", code="resume_not_found")
    return ResumeStatus(resume, run, outgoing)


def redrive(parts: Parts, resume_id: str) -> datetime:
    """Hand a resume over again from now. Raises `NotFound`, and `Conflict` when there is nothing to do."""
    status = status_of(parts, resume_id)
    now = parts.clock.now()
    if status.outgoing is None:
        raise Conflict(f"resume {resume_id} is fetched by its flow (pull): there is nothing to send", code="nothing_to_redrive")
    if not status.run.live:
        raise Conflict(f"run {status.run.id} is {status.run.status}: its resume is not wanted any more", code="wrong_state")
    with parts.store.unit() as unit:
        if not unit.outbox.revive(hand_over_id(resume_id), now):
            raise Conflict(f"resume {resume_id} was handed over already", code="nothing_to_redrive")
    parts.wake()
    return now
