"""What GitLab shows of a discussion: inert values, already taken out of JSON. They fetch nothing."""

from dataclasses import dataclass
from datetime import datetime

from bot.core.models import Person


@dataclass(frozen=True)
class Note:
    """One comment as it stands now; `body` is the stored Markdown, hidden comments included."""

    id: int
    author: Person
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    system: bool = False
    internal: bool = False
    resolvable: bool = False
    resolved: bool = False


@dataclass(frozen=True)
class Thread:
    """A discussion with its notes, oldest first."""

    id: str
    notes: tuple[Note, ...]

    @property
    def resolved(self) -> bool:
        """All resolvable notes are resolved (contract section 4): the thread itself carries no flag."""
        resolvable = [note for note in self.notes if note.resolvable]
        return bool(resolvable) and all(note.resolved for note in resolvable)


@dataclass(frozen=True)
class Item:
    """An issue or work item, as far as it matters here."""

    iid: int
    title: str
    description: str
    url: str
    author_id: int
    assignee_ids: tuple[int, ...]
    state: str
    issue_type: str
    confidential: bool
    moved: bool
