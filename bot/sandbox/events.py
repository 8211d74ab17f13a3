"""Hook bodies, built from records as contract sections 2 and 3 say; nothing is sent here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.sandbox.entities import Json, issue_url, timestamp
from bot.sandbox.records import Award, Issue, Note, User
from bot.sandbox.world import World

Changes = dict[str, tuple[object, object]]


@dataclass(frozen=True)
class Event:
    """Something hooks are told: the header name, the trigger that must be ticked, the body."""

    name: str
    trigger: str
    project_id: int
    body: Json


def note_event(world: World, note: Note, action: str) -> Event:
    """A comment was created or its text changed; `user` is the author in both cases."""
    issue = world.issues[note.issue_id]
    confidential = note.internal or issue.confidential
    body: Json = {
        "object_kind": "note",
        "event_type": "confidential_note" if confidential else "note",
        "user": _user(world, world.users[note.author_id]),
        **_where(world, issue.project_id),
        "object_attributes": {**_note(world, note), "action": action},
        "issue": _issue(world, issue),
    }
    if confidential:
        name, trigger = "Confidential Note Hook", "confidential_note_events"
    else:
        name, trigger = "Note Hook", "note_events"
    return Event(name, trigger, issue.project_id, body)


def emoji_event(world: World, award: Award, issue: Issue, note: Note | None, event: str) -> Event:
    """A reaction was given or withdrawn; there is no confidential scope (section 3)."""
    anchor = f"#note_{note.id}" if note else ""
    body: Json = {
        "object_kind": "emoji",
        "event_type": event,
        "user": _user(world, world.users[award.user_id]),
        **_where(world, issue.project_id),
        "object_attributes": {
            "id": award.id,
            "name": award.name,
            "user_id": award.user_id,
            "awardable_type": "Note" if note else "Issue",
            "awardable_id": note.id if note else issue.id,
            "created_at": _time(world, award.created_at),
            "updated_at": _time(world, award.created_at),
            "awarded_on_url": issue_url(world, issue) + anchor,
        },
        "issue": _issue(world, issue),
    }
    if note:
        body["note"] = _note(world, note)
    return Event("Emoji Hook", "emoji_events", issue.project_id, body)


def issue_event(world: World, issue: Issue, actor: User, action: str, changes: Changes) -> Event:
    """An issue or work item was opened, closed, reopened or updated by `actor`."""
    labels = [_label(world, issue, name) for name in issue.labels]
    body: Json = {
        "object_kind": "issue" if issue.issue_type == "issue" else "work_item",
        "event_type": "confidential_issue" if issue.confidential else "issue",
        "user": _user(world, actor),
        **_where(world, issue.project_id),
        "object_attributes": {
            **_issue(world, issue),
            "url": issue_url(world, issue),
            "action": action,
        },
        "labels": labels,
        "assignees": [_user(world, world.users[user_id]) for user_id in issue.assignee_ids],
        "changes": {
            field: {"previous": _value(world, before), "current": _value(world, after)}
            for field, (before, after) in changes.items()
        },
    }
    if issue.confidential:
        name, trigger = "Confidential Issue Hook", "confidential_issues_events"
    else:
        name, trigger = "Issue Hook", "issues_events"
    return Event(name, trigger, issue.project_id, body)


def _user(world: World, user: User) -> Json:
    return {
        "id": user.id,
        "name": user.name,
        "username": user.username,
        "avatar_url": None,
        "email": "[REDACTED]",
    }


def _where(world: World, project_id: int) -> Json:
    project = world.projects[project_id]
    url = f"{world.url}/{project.path}"
    return {
        "project_id": project.id,
        "project": {
            "id": project.id,
            "name": project.name,
            "description": None,
            "web_url": url,
            "avatar_url": None,
            "namespace": project.namespace,
            "visibility_level": {"private": 0, "internal": 10, "public": 20}[project.visibility],
            "path_with_namespace": project.path,
            "default_branch": project.default_branch,
        },
        "repository": {"name": project.name, "url": url, "description": None, "homepage": url},
    }


def _note(world: World, note: Note) -> Json:
    issue = world.issues[note.issue_id]
    return {
        "attachment": None,
        "author_id": note.author_id,
        "change_position": None,
        "commit_id": None,
        "created_at": _time(world, note.created_at),
        "discussion_id": note.discussion_id,
        "id": note.id,
        "internal": note.internal,
        "line_code": None,
        "note": note.body,
        "noteable_id": issue.id,
        # The base class, whatever the work item type (section 2).
        "noteable_type": "Issue",
        "original_position": None,
        "position": None,
        "project_id": note.project_id,
        "resolved_at": _time(world, note.resolved_at),
        "resolved_by_id": note.resolved_by_id,
        "resolved_by_push": None,
        "st_diff": None,
        "system": note.system,
        "type": note.type,
        "updated_at": _time(world, note.updated_at),
        "updated_by_id": note.updated_by_id,
        "description": note.body,
        "url": f"{issue_url(world, issue)}#note_{note.id}",
    }


def _issue(world: World, issue: Issue) -> Json:
    return {
        "id": issue.id,
        "iid": issue.iid,
        "title": issue.title,
        "description": issue.description,
        "state": issue.state,
        "state_id": 1 if issue.state == "opened" else 2,
        "author_id": issue.author_id,
        "assignee_id": issue.assignee_ids[0] if issue.assignee_ids else None,
        "assignee_ids": list(issue.assignee_ids),
        "project_id": issue.project_id,
        "labels": [_label(world, issue, name) for name in issue.labels],
        "confidential": issue.confidential,
        "discussion_locked": issue.discussion_locked or None,
        "moved_to_id": issue.moved_to_id,
        "duplicated_to_id": None,
        "milestone_id": None,
        "created_at": _time(world, issue.created_at),
        "updated_at": _time(world, issue.updated_at),
        "closed_at": _time(world, issue.closed_at),
        "updated_by_id": issue.updated_by_id,
        "last_edited_at": _time(world, issue.last_edited_at),
        "type": _type_name(issue.issue_type),
    }


def _type_name(issue_type: str) -> str:
    return issue_type.replace("_", " ").capitalize()


def _label(world: World, issue: Issue, title: str) -> Json:
    known = (x for x in world.projects[issue.project_id].labels if x.name == title)
    record = next(known, None)
    return {
        "id": record.id if record else None,
        "title": title,
        "color": record.color if record else None,
        "project_id": issue.project_id,
    }


def _value(world: World, value: object) -> object:
    return _time(world, value) if isinstance(value, datetime) else value


def _time(world: World, moment: datetime | None) -> str | None:
    # Hooks carry either format, depending on the version (section 2); the older one has no
    # fractions of a second, which is the harder one to order by.
    if moment is None or world.iso_hook_times:
        return timestamp(moment)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
