"""What every flow is given: the ports, filled in by `bootstrap`, and the projects this installation serves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from bot.core.eligibility import Policy
from bot.core.errors import Invalid, RemoteError
from bot.core.models import AskedQuestion, Run
from bot.ports import Announce, Clock, Gateway, Ids, People, Renderer, ResumeTarget, Store, Wake


class Event(StrEnum):
    """What flows tell the operator (`Parts.note`): with ids and reason codes, never with what people wrote or are called."""

    TAKEN = "row taken"
    DONE = "row done"
    RETRY = "row failed, will be tried again"
    GIVEN_UP = "row given up"
    POSTED = "question posted"
    REPLY = "reply read"
    CONTINUED = "run continued"
    REFUSED = "command refused"


@dataclass(frozen=True)
class Project:
    """A configured project, with the way to reach it."""

    path: str
    instance: str
    gateway: Gateway
    policy: Policy = Policy()
    former_bot_ids: frozenset[int] = frozenset()
    targets: Mapping[str, ResumeTarget] = field(default_factory=dict)

    def bot_ids(self) -> frozenset[int]:
        return self.former_bot_ids | {self.gateway.identity().id}

    def names(self) -> tuple[str, ...]:
        """What may open a command: `hitl`, or a mention of the bot."""
        return ("hitl", f"@{self.gateway.identity().username}")


class Projects:
    """The configured projects. Kept by numeric id where it is known; the path is for looking up."""

    def __init__(self, projects: Sequence[Project]) -> None:
        self._projects = tuple(projects)

    def by_path(self, path: str) -> Project:
        """Raises `Invalid` (field `project`) when no such project is configured."""
        for project in self._projects:
            if project.path.casefold() == path.strip("/").casefold():
                return project
        raise Invalid(
            f"project {path!r} is not configured here: add it under [[projects]] in the configuration",
            field="project",
            code="project_not_configured",
        )

    def of_run(self, run: Run) -> Project:
        """The project of a run; by id when its path was changed since."""
        for project in self._projects:
            if project.path == run.project_path:
                return project
        return self.by_id(run.project_id)

    def by_id(self, project_id: int) -> Project:
        trouble: RemoteError | None = None
        for project in self._projects:
            try:
                if project.gateway.project_id() == project_id:
                    return project
            except RemoteError as error:
                trouble = error
        if trouble is not None:
            raise trouble
        raise Invalid(f"project {project_id} is not configured here any more", field="project", code="project_not_configured")

    @property
    def all(self) -> tuple[Project, ...]:
        return self._projects


@dataclass(frozen=True)
class Parts:
    """Everything a flow may use. `keys` sign and verify payloads: the first signs, all verify."""

    store: Store
    projects: Projects
    people: People
    renderer: Renderer
    clock: Clock
    ids: Ids
    instance: str
    keys: tuple[bytes, ...] = field(repr=False)
    lease: timedelta = timedelta(minutes=2)  # longer than every timeout towards GitLab in one step together
    wake: Wake = lambda: None
    announce: Announce = lambda run_id: None
    note: Callable[[str, dict[str, object]], None] = lambda event, fields: None

    def note_replies(self, before: AskedQuestion, after: AskedQuestion) -> None:
        """Say of each reply that is new, or counts differently now, whether it counts."""
        for reply in after.replies:
            if reply not in before.replies:
                ids: dict[str, object] = {"run": after.run_id, "question": after.id, "note": reply.note_id}
                self.note(Event.REPLY, {**ids, "counted": reply.counted, "why": reply.why})
