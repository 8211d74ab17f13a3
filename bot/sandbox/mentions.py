"""Who a text mentions and what it refers to, and what follows from that: to-dos, system notes.

Scanned over the rendered text outside code and links. A backslash before a sigil does not
protect: after rendering it is gone. That is the hardest reading of contract section 7.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from bot import markup
from bot.sandbox import rules
from bot.sandbox.records import Issue, Note, Project, User
from bot.sandbox.world import World

_SKIPPED = {"a", "code", "pre", "style"}
_MENTION = re.compile(r"(?<!\w)@([A-Za-z0-9_](?:[\w./-]*[\w-])?)")
_REFERENCE = re.compile(r"(?<![\w/&])((?:[\w.-]+/)*[\w.-]+)?#(\d+)(?!\w)")


def note_saved(world: World, note: Note, before: str = "") -> None:
    """Act on what a note mentions; after an edit only on what is new in it."""
    issue = world.issues[note.issue_id]
    _act(world, issue, note, world.users[note.author_id], before)


def description_saved(world: World, issue: Issue, actor: User, before: str = "") -> None:
    """Act on what a description mentions; after an edit only on what is new in it."""
    _act(world, issue, None, actor, before)


def mentioned(world: World, project: Project, text: str) -> list[User]:
    """The users a text mentions, in order; `@all` and a parent group mean their members."""
    groups = _groups(project)
    found: dict[int, User] = {}
    for chunk in _visible(text):
        for name in _MENTION.findall(chunk):
            lower = name.casefold()
            if lower == "all":
                users = [world.users[member.user_id] for member in project.members]
            elif lower in groups:
                inherited = [member for member in project.members if member.inherited]
                users = [world.users[member.user_id] for member in inherited]
            else:
                user = world.user_named(name)
                users = [user] if user else []
            found |= {user.id: user for user in users}
    return list(found.values())


def referenced(world: World, project: Project, text: str) -> list[Issue]:
    """The issues a text refers to: `#12`, `sibling#12` or `group/project#12`."""
    found: dict[int, Issue] = {}
    for chunk in _visible(text):
        for path, iid in _REFERENCE.findall(chunk):
            home = _project(world, project, path)
            issue = world.issue_at(home.id, int(iid)) if home else None
            if issue:
                found[issue.id] = issue
    return list(found.values())


def _act(world: World, issue: Issue, note: Note | None, author: User, before: str) -> None:
    text = note.body if note else issue.description
    project = world.projects[issue.project_id]
    known = {user.id for user in mentioned(world, project, before)}
    for user in mentioned(world, project, text):
        if user.id not in known and _sees(project, issue, note, user):
            world.todos.append((user.id, issue, note.id if note else None))
    for target in referenced(world, project, text):
        _cross_reference(world, target, issue, author)


def _sees(project: Project, issue: Issue, note: Note | None, user: User) -> bool:
    if note:
        return rules.can_read_note(project, issue, note, user)
    return rules.can_read_issue(project, issue, user)


def _cross_reference(world: World, target: Issue, source: Issue, author: User) -> None:
    home = world.projects[target.project_id]
    if target is source or not rules.can_read_issue(home, target, author):
        return
    path = "" if target.project_id == source.project_id else _path(world, source)
    body = f"mentioned in issue {path}#{source.iid}"
    # A reference that is already noted is not noted again.
    if not any(note.system and note.body == body for note in target.notes):
        world.store_note(target, author, body, system=True)


def _path(world: World, issue: Issue) -> str:
    return world.projects[issue.project_id].path


def _project(world: World, here: Project, path: str) -> Project | None:
    if not path:
        return here
    return world.project_at(path if "/" in path else f"{here.namespace}/{path}")


def _groups(project: Project) -> set[str]:
    parts = project.namespace.casefold().split("/")
    return {"/".join(parts[: end + 1]) for end in range(len(parts))}


def _visible(text: str) -> list[str]:
    if "@" not in text and "#" not in text and "&" not in text:
        return []
    reader = _Reader()
    reader.feed(markup.render(text))
    reader.close()
    return reader.chunks


class _Reader(HTMLParser):
    """Collects the text nodes that are in no code, link or style."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside += tag in _SKIPPED

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in _SKIPPED

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.chunks.append(data)
