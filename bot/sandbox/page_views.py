"""What the pages show, as values for the templates: people, notes, threads, and who may do what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot import markup
from bot.sandbox import rules
from bot.sandbox.emoji import CHARACTERS
from bot.sandbox.records import Award, Issue, Note, Project, User, is_resolved
from bot.sandbox.world import World

# What the page offers; the API knows more.
OFFERED = (
    "arrow_forward",
    "thumbsup",
    "thumbsdown",
    "regional_indicator_a",
    "regional_indicator_b",
    "regional_indicator_c",
)
_HUES = 8


@dataclass(frozen=True)
class PersonView:
    """A name with its badge."""

    username: str
    name: str
    initials: str
    hue: int
    role: str
    bot: bool


@dataclass(frozen=True)
class ReactionView:
    """A reaction with everybody who gave it."""

    name: str
    character: str
    count: int
    people: str
    mine: bool


@dataclass(frozen=True)
class NoteView:
    """A note as one person sees it."""

    id: int
    author: PersonView
    html: str
    source: str
    at: datetime
    edited_by: str | None
    system: bool
    internal: bool
    resolved: bool
    reactions: list[ReactionView]
    may_edit: bool
    may_delete: bool
    may_react: bool


@dataclass(frozen=True)
class ThreadView:
    """A discussion as one person sees it."""

    id: str
    notes: list[NoteView]
    plain: bool
    system: bool
    resolved: bool
    resolved_by: str | None
    gist: str
    may_resolve: bool
    may_reply: bool


@dataclass(frozen=True)
class IssueView:
    """An issue as one person sees it."""

    issue: Issue
    author: PersonView
    assignees: list[PersonView]
    html: str
    reactions: list[ReactionView]
    threads: list[ThreadView]
    open_threads: int
    may_comment: bool
    may_update: bool
    may_reopen: bool


def person(project: Project | None, user: User) -> PersonView:
    """A person with the role they have in a project."""
    role = rules.role_name(project, user) if project else None
    words = user.name.replace("_", " ").split()
    initials = "".join(word[0] for word in words[:2]).upper() or "?"
    state = "" if user.state == "active" else f", {user.state}"
    role = "Admin" if user.admin and not role else role
    hue = sum(map(int, str(user.id))) % _HUES
    return PersonView(user.username, user.name, initials, hue, (role or "no role") + state, user.bot)


def issue_view(world: World, issue: Issue, user: User) -> IssueView:
    """Everything the issue's page shows to a person."""
    project = world.projects[issue.project_id]
    threads = [_thread(world, project, issue, thread, user) for thread in issue.threads()]
    shown = [thread for thread in threads if thread]
    return IssueView(
        issue=issue,
        author=person(project, world.users[issue.author_id]),
        assignees=[person(project, world.users[n]) for n in issue.assignee_ids],
        html=markup.render(issue.description),
        reactions=_reactions(world, issue.awards, user),
        threads=shown,
        open_threads=sum(not (t.plain or t.system or t.resolved) for t in shown),
        may_comment=rules.can_comment(project, issue, user),
        may_update=rules.can_update_issue(project, issue, user),
        may_reopen=rules.can_reopen(project, issue, user),
    )


def _thread(world: World, project: Project, issue: Issue, thread: list[Note], user: User) -> ThreadView | None:
    notes = [note for note in thread if rules.can_read_note(project, issue, note, user)]
    if not notes:
        return None
    first = notes[0]
    by = next((note.resolved_by_id for note in notes if note.resolved_by_id), None)
    return ThreadView(
        id=first.discussion_id,
        notes=[_note(world, project, issue, note, user) for note in notes],
        plain=first.type is None,
        system=first.system,
        resolved=is_resolved(notes),
        resolved_by=world.users[by].name if by else None,
        gist=_gist(first.body),
        may_resolve=rules.can_resolve(project, issue, first, user),
        may_reply=not first.system and rules.can_comment(project, issue, user),
    )


def _note(world: World, project: Project, issue: Issue, note: Note, user: User) -> NoteView:
    editor = world.users[note.updated_by_id].name if note.updated_by_id else None
    return NoteView(
        id=note.id,
        author=person(project, world.users[note.author_id]),
        html=markup.render(note.body),
        source=note.body,
        at=note.created_at,
        edited_by=editor,
        system=note.system,
        internal=note.internal,
        resolved=note.resolved,
        reactions=_reactions(world, note.awards, user),
        may_edit=rules.can_edit_note(project, issue, note, user),
        may_delete=rules.can_delete_note(project, issue, note, user),
        may_react=not note.system and rules.can_react(project, issue, user),
    )


def _reactions(world: World, awards: list[Award], user: User) -> list[ReactionView]:
    given: dict[str, list[int]] = {}
    for award in awards:
        given.setdefault(award.name, []).append(award.user_id)
    return [
        ReactionView(
            name,
            CHARACTERS[name],
            len(user_ids),
            ", ".join(world.users[n].name for n in user_ids),
            user.id in user_ids,
        )
        for name, user_ids in given.items()
    ]


def _gist(body: str) -> str:
    """The first line that says something, without Markdown's marks."""
    lines = (line.strip("#>*-_ |`") for line in body.split("\n") if not line.startswith("<"))
    text = next((line for line in lines if line), "")
    return text if len(text) <= 90 else text[:89].rstrip() + "…"
