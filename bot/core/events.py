"""What may have happened outside. Inert: a hint where to look, never a fact (DESIGN section 2)."""

from datetime import datetime

from bot.core.models import Frozen


class LookAt(Frozen):
    """Look at an item again: at one note of it, or (without `note_id`) at all its questions."""

    project_id: int
    item_iid: int
    note_id: int | None = None
    discussion_id: str | None = None


class Arrival(Frozen):
    """A delivery, ready for the inbox. Both keys deduplicate (contract section 1, case B15)."""

    look: LookAt
    delivery_key: str | None
    fingerprint: str
    received_at: datetime
