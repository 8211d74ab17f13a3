"""Take a delivery in: is it about an item we are asking on? Then it is durable before it is answered; work comes later.

Not here: authenticity and parsing (`wire`), or what the note says (`hear`).
"""

from datetime import timedelta
from enum import StrEnum

from bot.core.events import Arrival, LookAt
from bot.core.models import RunStatus
from bot.flows.parts import Parts
from bot.wire.gitlab import NoteDelivery


class Received(StrEnum):
    STORED = "stored"
    KNOWN = "known"
    NOT_OURS = "not_ours"


def receive(parts: Parts, delivery: NoteDelivery, sender_projects: frozenset[str]) -> Received:
    """Store the hint when a live run stands on the item, the sender speaks for its project, and the note is not the bot's."""
    with parts.store.snapshot() as unit:
        runs = unit.runs.on_item(delivery.project_id, delivery.item_iid)
    concerned = [run for run in runs if run.project_path in sender_projects]
    if not concerned or any(run.bot_id == delivery.author_id for run in concerned):
        return Received.NOT_OURS
    arrival = Arrival(
        look=LookAt(
            project_id=delivery.project_id,
            item_iid=delivery.item_iid,
            note_id=delivery.note_id,
            discussion_id=delivery.discussion_id,
        ),
        delivery_key=delivery.delivery_key,
        fingerprint=delivery.fingerprint,
        received_at=parts.clock.now(),
    )
    with parts.store.unit() as unit:
        new = unit.inbox.put(arrival)
    if not new:
        return Received.KNOWN
    parts.wake()
    return Received.STORED


def reread_projects(parts: Parts, paths: frozenset[str], why: str) -> int:
    """Mark all waiting items of these projects for reading again: something was said that we could not take in."""
    return _mark(parts, paths, f"{why}:{parts.ids.new(8)}")


def poll(parts: Parts, period: timedelta) -> int:
    """Mark all waiting items for reading again, once per period: hooks get lost, and none is sent for a resolve."""
    window = int(parts.clock.now().timestamp() // period.total_seconds())
    return _mark(parts, frozenset(project.path for project in parts.projects.all), f"poll:{window}")


def _mark(parts: Parts, paths: frozenset[str], why: str) -> int:
    now = parts.clock.now()
    with parts.store.snapshot() as unit:
        waiting = unit.runs.listed(status=RunStatus.AWAITING_INPUT)
    items = sorted({(run.project_id, run.item_iid) for run in waiting if run.project_path in paths})
    with parts.store.unit() as unit:
        marked = [
            unit.inbox.put(
                Arrival(
                    look=LookAt(project_id=project_id, item_iid=item_iid),
                    delivery_key=None,
                    fingerprint=f"{why}:{project_id}:{item_iid}",
                    received_at=now,
                )
            )
            for project_id, item_iid in items
        ]
    if any(marked):
        parts.wake()
    return sum(marked)
