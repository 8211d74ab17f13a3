"""What quick actions do, with the rights of the person who wrote them; finding them is not here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.sandbox.awards import Awards
from bot.sandbox.issues import Issues
from bot.sandbox.quick_actions import Command
from bot.sandbox.records import Issue, User
from bot.sandbox.refusals import NotFound, Refusal
from bot.sandbox.world import World

Changes = dict[str, object]
Effect = Callable[[Issue, User, str], Changes]

_LABEL = re.compile(r'~"([^"]+)"|~(\S+)|"([^"]+)"|(\S+)')


@dataclass
class Outcome:
    """What running commands changed, in words for the answer."""

    changes: Changes = field(default_factory=dict)
    summary: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class QuickEffects:
    """Runs commands in order; one that fails changes nothing and does not stop the others."""

    def __init__(self, world: World, issues: Issues, awards: Awards) -> None:
        self._world = world
        self._issues = issues
        self._awards = awards
        self._effects: dict[str, Effect] = {
            "close": lambda issue, actor, _: self._state(issue, actor, closing=True),
            "reopen": lambda issue, actor, _: self._state(issue, actor, closing=False),
            "title": self._title,
            "confidential": lambda issue, actor, _: self._confidential(issue, actor),
            "lock": lambda issue, actor, _: self._lock(issue, actor, True),
            "unlock": lambda issue, actor, _: self._lock(issue, actor, False),
            "label": self._label,
            "labels": self._label,
            "unlabel": self._unlabel,
            "relabel": self._relabel,
            "assign": self._assign,
            "reassign": self._reassign,
            "unassign": self._unassign,
            "react": self._react,
            "award": self._react,
            "move": self._move,
            "todo": lambda issue, actor, _: self._todo(issue, actor),
            "done": lambda issue, actor, _: self._done(issue, actor),
        }

    def run(self, commands: tuple[Command, ...], issue: Issue, actor: User) -> Outcome:
        """Carry commands out and say what came of them."""
        outcome = Outcome()
        for command in commands:
            effect = self._effects.get(command.name)
            if effect is None:
                outcome.changes[command.name] = command.argument
                outcome.summary.append(f"/{command.name} does nothing in the sandbox.")
                continue
            try:
                outcome.changes |= effect(issue, actor, command.argument)
            except Refusal:
                outcome.failed.append(f"Could not apply {command.name} command.")
            else:
                outcome.summary.append(f"Applied {command.name} command.")
        return outcome

    def _state(self, issue: Issue, actor: User, closing: bool) -> Changes:
        self._issues.set_state(issue, actor, "close" if closing else "reopen")
        return {"state_event": "close" if closing else "reopen"}

    def _title(self, issue: Issue, actor: User, argument: str) -> Changes:
        self._issues.update(issue, actor, title=argument)
        return {"title": argument}

    def _confidential(self, issue: Issue, actor: User) -> Changes:
        self._issues.require_admin(issue, actor)
        self._issues.set_confidential(issue, actor)
        return {"confidential": True}

    def _lock(self, issue: Issue, actor: User, locked: bool) -> Changes:
        self._issues.require_admin(issue, actor)
        self._issues.lock(issue, actor, locked)
        return {"discussion_locked": locked}

    def _label(self, issue: Issue, actor: User, argument: str) -> Changes:
        named = self._existing_labels(issue, argument)
        return self._set_labels(issue, actor, list(dict.fromkeys([*issue.labels, *named])))

    def _unlabel(self, issue: Issue, actor: User, argument: str) -> Changes:
        gone = set(self._existing_labels(issue, argument)) if argument else set(issue.labels)
        return self._set_labels(issue, actor, [x for x in issue.labels if x not in gone])

    def _relabel(self, issue: Issue, actor: User, argument: str) -> Changes:
        return self._set_labels(issue, actor, self._existing_labels(issue, argument))

    def _set_labels(self, issue: Issue, actor: User, labels: list[str]) -> Changes:
        self._issues.require_admin(issue, actor)
        self._issues.update(issue, actor, labels=labels)
        return {"labels": labels}

    def _existing_labels(self, issue: Issue, argument: str) -> list[str]:
        known = {label.name for label in self._world.projects[issue.project_id].labels}
        names = ["".join(groups) for groups in _LABEL.findall(argument)]
        found = [name for name in names if name in known]
        if not found:
            raise NotFound("Label")
        return found

    def _assign(self, issue: Issue, actor: User, argument: str) -> Changes:
        named = self._people(actor, argument)
        return self._set_assignees(issue, actor, list(dict.fromkeys([*issue.assignee_ids, *named])))

    def _reassign(self, issue: Issue, actor: User, argument: str) -> Changes:
        return self._set_assignees(issue, actor, self._people(actor, argument))

    def _unassign(self, issue: Issue, actor: User, argument: str) -> Changes:
        gone = set(self._people(actor, argument)) if argument else set(issue.assignee_ids)
        left = [user_id for user_id in issue.assignee_ids if user_id not in gone]
        return self._set_assignees(issue, actor, left)

    def _set_assignees(self, issue: Issue, actor: User, user_ids: list[int]) -> Changes:
        self._issues.require_admin(issue, actor)
        self._issues.update(issue, actor, assignee_ids=user_ids)
        return {"assignee_ids": user_ids}

    def _people(self, actor: User, argument: str) -> list[int]:
        found: list[int] = []
        for word in argument.replace(",", " ").split():
            user = actor if word == "me" else self._world.user_named(word.removeprefix("@"))
            if user:
                found.append(user.id)
        if not found:
            raise NotFound("User")
        return found

    def _react(self, issue: Issue, actor: User, argument: str) -> Changes:
        name = argument.strip(":")
        self._awards.give(issue, None, actor, name)
        return {"emoji_award": name}

    def _move(self, issue: Issue, actor: User, argument: str) -> Changes:
        target = self._world.project_at(argument)
        if target is None:
            raise NotFound("Project")
        self._issues.move(issue, actor, target)
        return {"target_project": target.path}

    def _todo(self, issue: Issue, actor: User) -> Changes:
        self._world.todos.append((actor.id, issue, None))
        return {"todo_event": "add"}

    def _done(self, issue: Issue, actor: User) -> Changes:
        kept = [t for t in self._world.todos if not (t[0] == actor.id and t[1] is issue)]
        self._world.todos[:] = kept
        return {"todo_event": "done"}
