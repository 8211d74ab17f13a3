"""The copy a move makes: a new record with new note and discussion ids, no hooks (section 3)."""

from __future__ import annotations

from dataclasses import replace

from bot.sandbox.records import Award, Issue, Project
from bot.sandbox.world import World


def copy_issue(world: World, issue: Issue, target: Project) -> Issue:
    """Copy an issue with its notes into another project."""
    copy = world.add_issue(
        target,
        world.users[issue.author_id],
        issue.title,
        issue.description,
        issue_type=issue.issue_type,
        confidential=issue.confidential,
    )
    copy.labels = list(issue.labels)
    copy.awards = _copies(world, issue.awards)
    for thread in issue.threads():
        discussion_id: str | None = None
        for note in thread:
            author = world.users[note.author_id]
            stored = world.store_note(copy, author, note.body, discussion_id)
            discussion_id = stored.discussion_id
            kept = replace(
                note,
                id=stored.id,
                issue_id=copy.id,
                project_id=target.id,
                discussion_id=discussion_id,
                awards=_copies(world, note.awards),
            )
            vars(stored).update(vars(kept))
    return copy


def _copies(world: World, awards: list[Award]) -> list[Award]:
    return [replace(award, id=world.next_id("award")) for award in awards]
