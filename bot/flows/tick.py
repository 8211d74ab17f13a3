"""Work off what is due: first what was heard, then what is to be said, until nothing is left.

Called by the worker; safe to call from several threads and processes at once, because every row is claimed.
"""

from bot.core.effects import lane_of
from bot.core.errors import HitlError
from bot.core.retries import wait_after
from bot.flows.deliver import deliver_next
from bot.flows.hear import hear
from bot.flows.parts import Event, Parts

MOST_ATTEMPTS = 20  # a row that failed this often without a named error is parked, for a person to look at


def drain(parts: Parts, *, most: int = 1_000) -> int:
    """Rows worked on. Stops after `most`, so that a caller can look up in between."""
    worked = 0
    while worked < most:
        if not (hear_next(parts) or deliver_next(parts)):
            return worked
        worked += 1
    return worked


def hear_next(parts: Parts) -> bool:
    """Follow up one hint of the inbox. False when none is due."""
    with parts.store.unit() as unit:
        row = unit.inbox.claim(parts.clock.now(), parts.lease)
    if row is None:
        return False
    look = row.work
    about: dict[str, object] = {"kind": "hear", "lane": lane_of(look.project_id, look.item_iid), "note": look.note_id}
    parts.note(Event.TAKEN, {**about, "attempt": row.attempt})
    if row.attempt > MOST_ATTEMPTS:
        parts.note(Event.GIVEN_UP, {**about, "code": "kept_failing"})
        with parts.store.unit() as unit:
            unit.inbox.park(row.id, "it kept failing without a named error: see the log")
        return True
    try:
        hear(parts, look)
    except HitlError as error:
        pause = wait_after(error, row.attempt)
        with parts.store.unit() as unit:
            if pause is None:
                unit.inbox.park(row.id, error.message)
            else:
                unit.inbox.again(row.id, parts.clock.now() + pause, error.message)
        parts.note(Event.GIVEN_UP if pause is None else Event.RETRY, {**about, "code": error.code, "pause": pause})
        return True
    with parts.store.unit() as unit:
        unit.inbox.done(row.id)
    parts.note(Event.DONE, about)
    return True
