"""Ask on the issue channel: check what may be asked there, store the questions, and leave posting to `deliver`.

Returns at once; the thread appears when the outbox is delivered. Not here: the card (templates) or the payload (core).
"""

import hashlib
from collections.abc import Sequence

from bot.core.effects import PostQuestion, lane_of
from bot.core.errors import Invalid
from bot.core.lifecycle import Trigger, move
from bot.core.models import AskedQuestion, OnDeadline, Question, Run
from bot.flows.callers import Caller, must_be_flow, visible_run
from bot.flows.gather import description_hash
from bot.flows.parts import Parts

MAX_OPTIONS = 5  # row G17: the issue channel shows five, and never cuts


def ask(
    parts: Parts, caller: Caller, run_id: str, questions: Sequence[Question], *, token: str | None = None
) -> list[AskedQuestion]:
    """Put `questions` to the people of the run's item; the run awaits input from now on.

    With an idempotency `token`, asking the same again returns what was asked the first time.
    Raises `NotFound`, `Forbidden`, `Invalid` (naming the question and rule), `Conflict`, and the `RemoteError` family.
    """
    run = visible_run(parts, caller, run_id)
    must_be_flow(caller, run)
    for index, question in enumerate(questions):
        _check(question, index)
    item = parts.projects.of_run(run).gateway.item(run.item_iid)
    now = parts.clock.now()
    with parts.store.unit() as unit:
        run = unit.runs.get(run_id) or run
        before = unit.questions.of_run(run_id)
        ids = [_question_id(parts, run, index, token) for index in range(len(questions))]
        known = {asked.id: asked for asked in before}
        if ids and all(question_id in known for question_id in ids):
            return [known[question_id] for question_id in ids]
        moved = move(run, Trigger.ASK, now).model_copy(update={"description_hash": description_hash(item.description)})
        earlier = [asked for asked in before if asked.round == moved.round]
        asked_now = [
            _asked(moved, question, question_id, len(earlier) + index + 1, len(earlier) + len(questions))
            for index, (question, question_id) in enumerate(zip(questions, ids, strict=True))
        ]
        unit.runs.save(moved)
        for asked in asked_now:
            unit.questions.add(asked)
            unit.outbox.put(
                PostQuestion(
                    effect_id=asked.effect_id,
                    lane=lane_of(run.project_id, run.item_iid),
                    run_id=run.id,
                    question_id=asked.id,
                ),
                now,
            )
    parts.wake()
    parts.announce(run_id)
    return asked_now


def _asked(run: Run, question: Question, question_id: str, position: int, total: int) -> AskedQuestion:
    return AskedQuestion(
        id=question_id,
        run_id=run.id,
        round=run.round,
        position=position,
        total=total,
        project_id=run.project_id,
        item_iid=run.item_iid,
        question=question.model_copy(update={"allow_freeform": question.allow_freeform is not False}),
        effect_id=f"ask:{question_id}",
        # One mention per pause, in its first question (row G64). The owner was checked when the run started.
        mention=run.owner.username if position == 1 else None,
    )


def _question_id(parts: Parts, run: Run, index: int, token: str | None) -> str:
    if token is None:
        return parts.ids.new(6)
    return hashlib.sha256(f"{run.id}\0{token}\0{index}".encode()).hexdigest()[:12]


def _check(question: Question, index: int) -> None:
    """The rules of this channel, besides the question's own."""
    if len(question.options) > MAX_OPTIONS:
        message = f"the issue channel shows at most {MAX_OPTIONS} options, this question has {len(question.options)}"
        raise Invalid(message, field=f"questions.{index}.options", code="too_many_options")
    if question.on_deadline is not OnDeadline.WAIT or question.timeout_seconds is not None or question.default is not None:
        message = "deadlines and defaults are not acted upon yet: leave out default, timeout_seconds and on_deadline"
        raise Invalid(message, field=f"questions.{index}.on_deadline", code="deadline_not_supported")
