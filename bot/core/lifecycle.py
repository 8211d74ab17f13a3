"""The life of a run as a table. All transitions live here; `docs/lifecycle.md` draws it and a test keeps both in step.

Not here: who may cause a transition (`core.eligibility`) or what it sets off (`core.decide`).
"""

from datetime import datetime
from enum import StrEnum

from bot.core.errors import Conflict
from bot.core.models import Run, RunStatus


class Trigger(StrEnum):
    """What moves a run on."""

    ASK = "ask"
    CONTINUE = "continue"
    RESUMED = "resumed"
    FINISH = "finish"
    FAIL = "fail"
    CANCEL = "cancel"


TRANSITIONS: dict[tuple[RunStatus, Trigger], RunStatus] = {
    (RunStatus.RUNNING, Trigger.ASK): RunStatus.AWAITING_INPUT,
    (RunStatus.AWAITING_INPUT, Trigger.ASK): RunStatus.AWAITING_INPUT,
    (RunStatus.AWAITING_INPUT, Trigger.CONTINUE): RunStatus.RESUMING,
    (RunStatus.RESUMING, Trigger.RESUMED): RunStatus.RUNNING,
    (RunStatus.RUNNING, Trigger.FINISH): RunStatus.FINISHED,
    (RunStatus.AWAITING_INPUT, Trigger.FINISH): RunStatus.FINISHED,
    (RunStatus.RESUMING, Trigger.FINISH): RunStatus.FINISHED,
    (RunStatus.RUNNING, Trigger.FAIL): RunStatus.FAILED,
    (RunStatus.AWAITING_INPUT, Trigger.FAIL): RunStatus.FAILED,
    (RunStatus.RESUMING, Trigger.FAIL): RunStatus.FAILED,
    (RunStatus.RUNNING, Trigger.CANCEL): RunStatus.CANCELLED,
    (RunStatus.AWAITING_INPUT, Trigger.CANCEL): RunStatus.CANCELLED,
    (RunStatus.RESUMING, Trigger.CANCEL): RunStatus.CANCELLED,
}


def move(run: Run, trigger: Trigger, now: datetime, *, reason: str | None = None) -> Run:
    """The run after `trigger`. Raises `Conflict` (code `wrong_state`) when the table has no such step."""
    target = TRANSITIONS.get((run.status, trigger))
    if target is None:
        raise Conflict(f"run {run.id} is {run.status}: it cannot {trigger} now", code="wrong_state")
    opens_round = trigger is Trigger.ASK and run.status is RunStatus.RUNNING
    return run.model_copy(
        update={
            "status": target,
            "round": run.round + 1 if opens_round else run.round,
            "reason": reason if reason is not None else run.reason,
            "updated_at": now,
        }
    )


def drawing() -> str:
    """The table as a Mermaid state diagram, one line a transition."""
    lines = ["stateDiagram-v2", "    [*] --> running"]
    lines += [f"    {source} --> {target}: {trigger}" for (source, trigger), target in TRANSITIONS.items()]
    ends = (RunStatus.FINISHED, RunStatus.FAILED, RunStatus.CANCELLED)
    return "\n".join([*lines, *(f"    {end} --> [*]" for end in ends)])
