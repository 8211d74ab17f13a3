"""What can be done to an issue: create, update, close, reopen, move, delete; with its hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict, Unpack

from bot.sandbox import events, mentions, rules
from bot.sandbox.hooks import Hooks
from bot.sandbox.moving import copy_issue
from bot.sandbox.records import Issue, Project, User
from bot.sandbox.refusals import Forbidden, Invalid, NotFound
from bot.sandbox.world import World

StateEvent = Literal["close", "reopen"]


class Edits(TypedDict, total=False):
    """The fields of an issue that can be changed together."""

    title: str
    description: str
    issue_type: str
    confidential: bool
    discussion_locked: bool
    labels: list[str]
    assignee_ids: list[int]


# What only Planners and up may set; the update of a Guest's own issue drops it without an error.
_ADMIN_FIELDS = ("issue_type", "confidential", "discussion_locked", "labels", "assignee_ids")
_SYSTEM_NOTES = {
    "description": "changed the description",
    "confidential": "changed the confidentiality of this issue",
    "discussion_locked": "changed the lock of the discussion in this issue",
    "assignee_ids": "changed the assignees",
}


class Issues:
    """Operations on issues, each with the rights of the person who does it."""

    def __init__(self, world: World, hooks: Hooks) -> None:
        self._world = world
        self._hooks = hooks

    def create(
        self,
        project: Project,
        author: User,
        title: str,
        description: str = "",
        issue_type: str = "issue",
        confidential: bool = False,
        labels: Sequence[str] = (),
        assignees: Sequence[User] = (),
        iid: int | None = None,
    ) -> Issue:
        """Open an issue; people below Planner cannot set its labels and assignees."""
        with self._world.lock:
            if not rules.can_create_issue(project, author):
                raise Forbidden
            if not title.strip():
                raise Invalid({"title": ["can't be blank"]})
            planner = rules.has_role(project, author, rules.PLANNER)
            issue = self._world.add_issue(
                project, author, title, _normalised(description), iid, issue_type, confidential,
                assignees if planner else (),
            )  # fmt: skip
            issue.labels = list(labels) if planner else []
            mentions.description_saved(self._world, issue, author)
            self._fire(issue, author, "open", {})
            return issue

    def update(self, issue: Issue, actor: User, **edits: Unpack[Edits]) -> Issue:
        """Change fields; one Issue Hook tells all changes together."""
        with self._world.lock:
            project = self._require(issue, actor, rules.can_update_issue)
            wanted: dict[str, object] = {**edits}
            if not rules.can_admin_issue(project, issue, actor):
                wanted = {k: v for k, v in wanted.items() if k not in _ADMIN_FIELDS}
            if "title" in wanted and not str(wanted["title"]).strip():
                raise Invalid({"title": ["can't be blank"]})
            if "description" in wanted:
                wanted["description"] = _normalised(str(wanted["description"]))
            before = {name: getattr(issue, name) for name in wanted}
            changed = {name: value for name, value in wanted.items() if before[name] != value}
            if not changed:
                return issue
            for name, value in changed.items():
                setattr(issue, name, value)
            if "title" in changed or "description" in changed:
                issue.last_edited_at = self._world.now()
            changes = {name: (before[name], value) for name, value in changed.items()}
            changes |= self._touch(issue, actor)
            self._note_changes(issue, actor, changes)
            if "description" in changed:
                text = str(before["description"])
                mentions.description_saved(self._world, issue, actor, text)
            self._fire(issue, actor, "update", _named(changes))
            return issue

    def set_state(self, issue: Issue, actor: User, event: StateEvent) -> Issue:
        """Close or reopen; doing it twice changes nothing and fires nothing."""
        with self._world.lock:
            allowed = rules.can_update_issue if event == "close" else rules.can_reopen
            self._require(issue, actor, allowed)
            target: Literal["opened", "closed"] = "closed" if event == "close" else "opened"
            if issue.state == target:
                return issue
            closed_at = issue.closed_at
            issue.state = target
            issue.closed_at = self._world.now() if target == "closed" else None
            issue.closed_by_id = actor.id if target == "closed" else None
            changes: events.Changes = {
                "state_id": (1, 2) if target == "closed" else (2, 1),
                "closed_at": (closed_at, issue.closed_at),
                **self._touch(issue, actor),
            }
            self._fire(issue, actor, event, changes)
            return issue

    def close(self, issue: Issue, actor: User) -> Issue:
        """Close the issue."""
        return self.set_state(issue, actor, "close")

    def reopen(self, issue: Issue, actor: User) -> Issue:
        """Reopen the issue; a locked discussion blocks that (section 6)."""
        return self.set_state(issue, actor, "reopen")

    def edit_description(self, issue: Issue, actor: User, text: str) -> Issue:
        """Change the description."""
        return self.update(issue, actor, description=text)

    def set_confidential(self, issue: Issue, actor: User, confidential: bool = True) -> Issue:
        """Make the issue confidential or visible again."""
        return self.update(issue, actor, confidential=confidential)

    def lock(self, issue: Issue, actor: User, locked: bool = True) -> Issue:
        """Lock or unlock the discussion."""
        return self.update(issue, actor, discussion_locked=locked)

    def move(self, issue: Issue, actor: User, target: Project) -> Issue:
        """Move to another project: the copy has new ids everywhere, the original is closed."""
        with self._world.lock:
            source = self._require(issue, actor, rules.can_update_issue)
            if source is target or issue.moved_to_id is not None:
                raise Invalid("Cannot move issue")
            if not rules.can_move(source, target, issue, actor):
                raise Invalid("Cannot move issue due to insufficient permissions!")
            copy = copy_issue(self._world, issue, target)
            there, here = f"{target.path}#{copy.iid}", f"{source.path}#{issue.iid}"
            issue.moved_to_id = copy.id
            self._world.store_note(issue, actor, f"moved to {there}", system=True)
            self._world.store_note(copy, actor, f"moved from {here}", system=True)
            self._fire(copy, actor, "open", {})
            if issue.state == "opened":
                self.set_state(issue, actor, "close")
            return copy

    def delete(self, issue: Issue, actor: User) -> None:
        """Delete the issue with its notes; no hook is sent (section 3)."""
        with self._world.lock:
            self._require(issue, actor, rules.can_delete_issue)
            self._world.remove_issue(issue)

    def require_admin(self, issue: Issue, actor: User) -> None:
        """Refuse unless the person may set labels, assignees, lock and confidentiality."""
        self._require(issue, actor, rules.can_admin_issue)

    def _require(self, issue: Issue, actor: User, allowed: rules.IssueRule) -> Project:
        project = self._world.projects[issue.project_id]
        if not rules.can_read_issue(project, issue, actor):
            raise NotFound("Issue")
        if not allowed(project, issue, actor):
            raise Forbidden
        return project

    def _touch(self, issue: Issue, actor: User) -> events.Changes:
        now = self._world.now()
        changes: events.Changes = {
            "updated_at": (issue.updated_at, now),
            "updated_by_id": (issue.updated_by_id, actor.id),
        }
        issue.updated_at, issue.updated_by_id = now, actor.id
        issue.version += 1
        return {name: pair for name, pair in changes.items() if pair[0] != pair[1]}

    def _note_changes(self, issue: Issue, actor: User, changes: events.Changes) -> None:
        for name, (before, after) in changes.items():
            text = _SYSTEM_NOTES.get(name)
            if name == "title":
                text = f"changed title from **{before}** to **{after}**"
            if text:
                self._world.store_note(issue, actor, text, system=True)

    def _fire(self, issue: Issue, actor: User, action: str, changes: events.Changes) -> None:
        self._hooks.fire(events.issue_event(self._world, issue, actor, action, changes))


def _named(changes: events.Changes) -> events.Changes:
    # Hooks say `assignees` where the record has ids.
    return {"assignees" if name == "assignee_ids" else name: v for name, v in changes.items()}


def _normalised(text: str) -> str:
    return text.replace("\r", "")
