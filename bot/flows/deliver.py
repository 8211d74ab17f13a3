"""Do what was decided: take the oldest effect of a lane, act on GitLab, record the result.

Delivery is at least once. Each note carries its effect id in its payload, so from the second attempt on the first
one's note is looked for before another is posted.
"""

from dataclasses import dataclass

from bot.core.effects import Effect, HandOver, PostNote, PostQuestion, React
from bot.core.errors import HitlError, Refused, VersionConflict
from bot.core.events import Arrival, LookAt
from bot.core.models import AskedQuestion, QuestionState, Run
from bot.core.payload import Asked, NoteKind, Ours, Payload, asked, decode, seal
from bot.core.retries import wait_after, wait_for_target
from bot.flows.hand_over import given_up, hand_over
from bot.flows.parts import Event, Parts, Project
from bot.ports import Claimed, Posted


@dataclass(frozen=True)
class Done:
    """What an effect came to; `posted` when it made, or found, a note."""

    posted: Posted | None = None


def deliver_next(parts: Parts, *, lane: str | None = None) -> bool:
    """Deliver one effect, of `lane` if given. False when none is due. A failure is recorded on its row, never raised."""
    with parts.store.unit() as unit:
        row = unit.outbox.claim(parts.clock.now(), parts.lease, lane=lane)
    if row is None:
        return False
    parts.note(Event.TAKEN, {**_about(row), "attempt": row.attempt})
    with parts.store.snapshot() as unit:
        run = unit.runs.get(row.work.run_id)
        asked_question = unit.questions.get(row.work.question_id) if isinstance(row.work, PostQuestion) else None
    try:
        if (
            run is None
            or (isinstance(row.work, HandOver) and not run.live)
            or (isinstance(row.work, PostQuestion) and (asked_question is None or asked_question.closed))
        ):
            _finish(parts, row, None, Done())
        else:
            done = _act(parts, parts.projects.of_run(run), run, asked_question, row)
            _finish(parts, row, asked_question, done)
    except HitlError as error:
        _failed(parts, row, error)
    return True


def _about(row: Claimed[Effect]) -> dict[str, object]:
    """What is told of a row, whatever became of it."""
    effect = row.work
    told: dict[str, object] = {"effect": effect.effect_id, "kind": effect.kind, "run": effect.run_id, "lane": effect.lane}
    return {**told, "question": effect.question_id} if isinstance(effect, PostQuestion) else told


def _act(parts: Parts, project: Project, run: Run, asked_question: AskedQuestion | None, row: Claimed[Effect]) -> Done:
    effect = row.work
    if isinstance(effect, React):
        project.gateway.react(run.item_iid, effect.note_id, effect.name)
        return Done()
    if isinstance(effect, HandOver):
        hand_over(parts, project, run, effect)
        return Done()
    if row.attempt > 1:
        found = _posted_before(parts, project, run, effect.effect_id)
        if found is not None:
            return Done(found)
    if isinstance(effect, PostQuestion) and asked_question is not None:
        body = _question_note(parts, run, asked_question)
        return Done(project.gateway.open_thread(run.item_iid, body))
    if isinstance(effect, PostNote):
        payload = _payload(run, effect.effect_id, effect.note_kind, effect.question_id, None, effect.round)
        body = _sealed(parts.renderer.note(effect.template, effect.values), payload, parts.keys[0])
        if effect.discussion_id is not None:
            return Done(project.gateway.reply(run.item_iid, effect.discussion_id, body))
        return Done(project.gateway.comment(run.item_iid, body))
    return Done()


def _question_note(parts: Parts, run: Run, asked_question: AskedQuestion) -> str:
    question = asked_question.question
    values = {
        "flow": run.flow,
        "position": asked_question.position,
        "total": asked_question.total,
        "mention": asked_question.mention,
        "question": question,
    }
    payload = _payload(
        run, asked_question.effect_id, NoteKind.QUESTION, asked_question.id, asked(question), asked_question.round
    )
    return _sealed(parts.renderer.note("question", values), payload, parts.keys[0])


def _sealed(card: str, payload: Payload, key: bytes) -> str:
    """The whole note. Raises `Refused`: what cannot be written now cannot be written later either."""
    try:
        return seal(card, payload, key)
    except ValueError as error:
        raise Refused(f"the note cannot be written: {error}") from error


def _payload(
    run: Run, effect_id: str, kind: NoteKind, question_id: str | None, carried: Asked | None, round_: int | None = None
) -> Payload:
    return Payload(
        instance=run.instance,
        project=run.project_id,
        item=run.item_iid,
        run=run.id,
        flow=run.flow,
        owner=run.owner.id,
        round=run.round if round_ is None else round_,
        effect=effect_id,
        kind=kind,
        question=question_id,
        asked=carried,
    )


def _posted_before(parts: Parts, project: Project, run: Run, effect_id: str) -> Posted | None:
    """The oldest note of the bot on the item that carries this effect id: an earlier attempt that did arrive."""
    bot_ids = project.bot_ids()
    for thread in project.gateway.threads(run.item_iid):
        for note in thread.notes:
            if note.author.id not in bot_ids:
                continue
            decoded = decode(note.body, parts.keys)
            if isinstance(decoded, Ours) and decoded.payload.effect == effect_id:
                return Posted(note.id, thread.id, note.url, note.created_at)
    return None


def _finish(parts: Parts, row: Claimed[Effect], asked_question: AskedQuestion | None, done: Done) -> None:
    for _ in range(5):
        try:
            with parts.store.unit() as unit:
                if asked_question is not None and done.posted is not None:
                    now_asked = unit.questions.get(asked_question.id) or asked_question
                    unit.questions.save(
                        now_asked.model_copy(
                            update={
                                "note_id": done.posted.note_id,
                                "discussion_id": done.posted.discussion_id,
                                "note_url": done.posted.url,
                                "posted_at": done.posted.created_at,
                            }
                        )
                    )
                unit.outbox.done(row.id)
                if done.posted is not None and row.attempt > 1:
                    # The first attempt did post it: people may have answered before we knew its thread.
                    unit.inbox.put(_look_again(parts, row))
        except VersionConflict:
            continue
        if asked_question is not None and done.posted is not None:
            parts.note(Event.POSTED, {**_about(row), "note": done.posted.note_id})
        parts.note(Event.DONE, _about(row))
        parts.announce(row.work.run_id)
        return
    raise VersionConflict(f"question of effect {row.work.effect_id} kept changing while it was posted")


def _look_again(parts: Parts, row: Claimed[Effect]) -> Arrival:
    effect = row.work
    _, project_id, item_iid = effect.lane.split(":")
    return Arrival(
        look=LookAt(project_id=int(project_id), item_iid=int(item_iid)),
        delivery_key=None,
        fingerprint=f"found:{effect.effect_id}",
        received_at=parts.clock.now(),
    )


def _failed(parts: Parts, row: Claimed[Effect], error: HitlError) -> None:
    """Try again later, or give up visibly: a question that cannot be posted says so in its state."""
    effect = row.work
    if isinstance(effect, HandOver):
        pause = wait_for_target(error, row.attempt, effect.effect_id)
    else:
        pause = wait_after(error, row.attempt)
    parts.note(Event.GIVEN_UP if pause is None else Event.RETRY, {**_about(row), "code": error.code, "pause": pause})
    with parts.store.unit() as unit:
        if pause is not None:
            unit.outbox.again(row.id, parts.clock.now() + pause, error.message)
            return
        unit.outbox.park(row.id, error.message)
        run = unit.runs.get(effect.run_id)
        if isinstance(effect, HandOver) and run is not None:
            unit.outbox.put(given_up(run, effect, error), parts.clock.now())
        asked_question = unit.questions.get(effect.question_id) if isinstance(effect, PostQuestion) else None
        if asked_question is not None and not asked_question.closed:
            change = {"closed": True, "state": QuestionState.SUPERSEDED, "reason": f"it could not be posted: {error.message}"}
            unit.questions.save(asked_question.model_copy(update=change))
    parts.announce(row.work.run_id)
