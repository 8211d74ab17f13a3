"""Reactions on issues and notes: given, withdrawn, and told to the Emoji Hook."""

from __future__ import annotations

from bot.sandbox import emoji, events, rules
from bot.sandbox.hooks import Hooks
from bot.sandbox.records import Award, Issue, Note, User
from bot.sandbox.refusals import Forbidden, NotFound
from bot.sandbox.world import World


class Awards:
    """What people may do with reactions."""

    def __init__(self, world: World, hooks: Hooks) -> None:
        self._world = world
        self._hooks = hooks

    def give(self, issue: Issue, note: Note | None, actor: User, name: str) -> Award:
        """React; 404 for an unknown name, a duplicate or no right (section 4)."""
        with self._world.lock:
            self._require_sight(issue, note, actor)
            project = self._world.projects[issue.project_id]
            wanted = emoji.canonical(name)
            target = note or issue
            taken = any(a.user_id == actor.id and a.name == wanted for a in target.awards)
            system = note is not None and note.system
            if wanted is None or taken or system or not rules.can_react(project, issue, actor):
                raise NotFound("Award Emoji")
            award = Award(self._world.next_id("award"), wanted, actor.id, self._world.now())
            target.awards.append(award)
            self._changed(issue, note)
            self._hooks.fire(events.emoji_event(self._world, award, issue, note, "award"))
            return award

    def withdraw(self, issue: Issue, note: Note | None, actor: User, award_id: int) -> None:
        """Take a reaction back; only who gave it or an administrator may (section 4)."""
        with self._world.lock:
            self._require_sight(issue, note, actor)
            project = self._world.projects[issue.project_id]
            target = note or issue
            award = next((a for a in target.awards if a.id == award_id), None)
            if award is None:
                raise NotFound("Award Emoji")
            if award.user_id != actor.id and not actor.admin:
                raise Forbidden
            if not rules.can_react(project, issue, actor):
                raise Forbidden
            target.awards.remove(award)
            self._changed(issue, note)
            self._hooks.fire(events.emoji_event(self._world, award, issue, note, "revoke"))

    def withdraw_named(self, issue: Issue, note: Note | None, actor: User, name: str) -> None:
        """Take one's own reaction of that name back."""
        wanted = emoji.canonical(name)
        mine = [a for a in (note or issue).awards if a.user_id == actor.id and a.name == wanted]
        if not mine:
            raise NotFound("Award Emoji")
        self.withdraw(issue, note, actor, mine[0].id)

    def _require_sight(self, issue: Issue, note: Note | None, actor: User) -> None:
        project = self._world.projects[issue.project_id]
        if not rules.can_read_issue(project, issue, actor):
            raise NotFound("Issue")
        if note and not rules.can_read_note(project, issue, note, actor):
            raise NotFound("Note")

    def _changed(self, issue: Issue, note: Note | None) -> None:
        # A reaction bumps its note only, never the issue (section 3).
        if note:
            note.updated_at = self._world.now()
        issue.version += 1
