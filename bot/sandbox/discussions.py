"""What people do with notes and threads: write, reply, edit, delete, resolve, react.

Every operation has the rights of the person who does it, so scripted people in tests and callers
of the API are held to the same rules. Rate limits belong to the API and are not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.sandbox import events, mentions, rules
from bot.sandbox.awards import Awards
from bot.sandbox.hooks import Hooks
from bot.sandbox.issues import Issues
from bot.sandbox.quick_actions import Extract, extract
from bot.sandbox.quick_effects import QuickEffects
from bot.sandbox.records import Award, Issue, Note, Project, User, is_resolved
from bot.sandbox.refusals import Forbidden, Invalid, NotFound, OnlyCommands
from bot.sandbox.world import World

LONGEST_BODY = 1_000_000
MOST_COMMENTS = 5_000


@dataclass(frozen=True)
class _Draft:
    """A note that is about to be written, and where it goes."""

    body: str
    type: str | None = None
    discussion_id: str | None = None
    internal: bool = False
    created_at: datetime | None = None
    resolved: bool = False


class Discussions:
    """Operations on the notes and threads of issues."""

    def __init__(self, world: World, hooks: Hooks) -> None:
        self._world = world
        self._hooks = hooks
        self._awards = Awards(world, hooks)
        self._effects = QuickEffects(world, Issues(world, hooks), self._awards)
        self.commands_changes: dict[int, dict[str, object]] = {}

    def comment(
        self,
        issue: Issue,
        author: User,
        body: str,
        internal: bool = False,
        created_at: datetime | None = None,
    ) -> Note:
        """Write a plain note; raises `OnlyCommands` if the text was nothing but quick actions."""
        with self._world.lock:
            project = self._commentable(issue, author)
            # Without the right to write internal notes the note is silently public (section 4).
            internal = internal and rules.can_set_internal(project, author)
            draft = _Draft(body, internal=internal, created_at=created_at)
            return self._write(issue, author, draft)

    def open_thread(self, issue: Issue, author: User, body: str, created_at: datetime | None = None) -> Note:
        """Open a thread; the note returned is its first. Threads cannot be opened internal."""
        with self._world.lock:
            self._commentable(issue, author)
            return self._write(issue, author, _Draft(body, "DiscussionNote", created_at=created_at))

    def reply(
        self,
        discussion_id: str,
        author: User,
        body: str,
        created_at: datetime | None = None,
    ) -> Note:
        """Reply; a plain note becomes a thread, and a resolved thread stays resolved."""
        with self._world.lock:
            issue, thread = self._thread(discussion_id, author)
            self._commentable(issue, author)
            first = thread[0]
            if first.system:
                raise Invalid("400 Bad request - Discussion can not be replied to")
            draft = _Draft(
                body, "DiscussionNote", discussion_id, first.internal, created_at,
                is_resolved(thread),
            )  # fmt: skip
            note = self._write(issue, author, draft)
            # The conversion changes the first note silently: no hook (section 2).
            first.type = "DiscussionNote"
            return note

    def edit(self, note_id: int, author: User, body: str) -> Note:
        """Change a note's text; one left empty by its commands is deleted (section 7)."""
        with self._world.lock:
            note, issue = self._note(note_id, author, rules.can_edit_note)
            taken = extract(_within_limits(body))
            if not taken.body:
                self._world.remove_note(note)
                raise self._only_commands(taken, issue, author)
            before = note.body
            if taken.body != before:
                now = self._world.now()
                note.body, note.updated_at, note.last_edited_at = taken.body, now, now
                note.updated_by_id, issue.updated_at = author.id, now
                issue.version += 1
                mentions.note_saved(self._world, note, before)
                self._hooks.fire(events.note_event(self._world, note, "update"))
            self._run(taken, issue, author, note)
            return note

    def delete(self, note_id: int, author: User) -> None:
        """Delete a note: no hook, and the issue is not touched (sections 2 and 3)."""
        with self._world.lock:
            note, _ = self._note(note_id, author, rules.can_delete_note)
            self._world.remove_note(note)

    def resolve(self, discussion_id: str, actor: User, resolved: bool = True) -> list[Note]:
        """Resolve or unresolve a whole thread: no hook, and the issue is not touched."""
        with self._world.lock:
            issue, thread = self._thread(discussion_id, actor)
            project = self._world.projects[issue.project_id]
            if not rules.can_resolve(project, issue, thread[0], actor):
                raise Forbidden
            for note in thread:
                if note.resolvable and note.resolved != resolved:
                    self._mark(note, actor, resolved)
            issue.version += 1
            return thread

    def resolve_note(self, note_id: int, actor: User, resolved: bool = True) -> Note:
        """Resolve or unresolve one note only, checked against that note alone (section 6)."""
        with self._world.lock:
            note, issue = self._note(note_id, actor, rules.can_resolve)
            if note.resolved != resolved:
                self._mark(note, actor, resolved)
                # This saves the note, and saving a note touches its issue (section 3).
                issue.updated_at = self._world.now()
                issue.version += 1
            return note

    def react(self, note_id: int, actor: User, name: str) -> Award:
        """React to a note."""
        with self._world.lock:
            note = self._known(note_id)
            return self._awards.give(self._world.issues[note.issue_id], note, actor, name)

    def unreact(self, note_id: int, actor: User, name: str) -> None:
        """Take one's own reaction to a note back."""
        with self._world.lock:
            note = self._known(note_id)
            self._awards.withdraw_named(self._world.issues[note.issue_id], note, actor, name)

    def _write(self, issue: Issue, author: User, draft: _Draft) -> Note:
        taken = extract(_within_limits(draft.body))
        if not taken.body:
            raise self._only_commands(taken, issue, author)
        if sum(not note.system for note in issue.notes) >= MOST_COMMENTS:
            raise Invalid('400 Bad request - Note {:base=>["Maximum number of comments exceeded"]}')
        created_at = draft.created_at if self._may_date(issue, author) else None
        note = self._world.store_note(
            issue, author, taken.body, draft.discussion_id, draft.type,
            internal=draft.internal, created_at=created_at,
        )  # fmt: skip
        if draft.resolved:
            # Born resolved, by its own author (section 4).
            note.resolved_by_id, note.resolved_at = author.id, self._world.now()
        mentions.note_saved(self._world, note)
        self._hooks.fire(events.note_event(self._world, note, "create"))
        self._run(taken, issue, author, note)
        return note

    def _run(self, taken: Extract, issue: Issue, author: User, note: Note) -> None:
        if taken.commands:
            outcome = self._effects.run(taken.commands, issue, author)
            self.commands_changes[note.id] = outcome.changes

    def _only_commands(self, taken: Extract, issue: Issue, author: User) -> Exception:
        if not taken.commands:
            return Invalid('400 Bad request - Note {:note=>["can\'t be blank"]}')
        outcome = self._effects.run(taken.commands, issue, author)
        if not outcome.summary:
            return Invalid("400 Bad request - " + " ".join(outcome.failed))
        return OnlyCommands(outcome.changes, outcome.summary + outcome.failed)

    def _mark(self, note: Note, actor: User, resolved: bool) -> None:
        now = self._world.now()
        note.resolved_at = now if resolved else None
        note.resolved_by_id = actor.id if resolved else None
        # `updated_at` of a note also moves on resolve (section 4).
        note.updated_at = now

    def _may_date(self, issue: Issue, author: User) -> bool:
        # `created_at` is for administrators and owners; otherwise it is dropped (section 4).
        project = self._world.projects[issue.project_id]
        return rules.has_role(project, author, rules.OWNER)

    def _commentable(self, issue: Issue, author: User) -> Project:
        project = self._world.projects[issue.project_id]
        if not rules.can_read_issue(project, issue, author):
            raise NotFound("Issue")
        if not rules.can_comment(project, issue, author):
            raise Forbidden
        return project

    def _known(self, note_id: int) -> Note:
        note = self._world.notes.get(note_id)
        if note is None:
            raise NotFound("Note")
        return note

    def _note(self, note_id: int, actor: User, allowed: rules.NoteRule) -> tuple[Note, Issue]:
        note = self._known(note_id)
        issue = self._world.issues[note.issue_id]
        project = self._world.projects[issue.project_id]
        if not rules.can_read_note(project, issue, note, actor):
            raise NotFound("Note")
        if not allowed(project, issue, note, actor):
            raise Forbidden
        return note, issue

    def _thread(self, discussion_id: str, actor: User) -> tuple[Issue, list[Note]]:
        for issue in self._world.issues.values():
            thread = issue.thread(discussion_id)
            if thread:
                project = self._world.projects[issue.project_id]
                if rules.can_read_note(project, issue, thread[0], actor):
                    return issue, thread
        raise NotFound("Discussion")


def _within_limits(body: str) -> str:
    if len(body) > LONGEST_BODY:
        raise Invalid('400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}')
    return body
