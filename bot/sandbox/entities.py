"""Records as the JSON of the REST API (contract section 4); no decisions about who may see them."""

from __future__ import annotations

from datetime import datetime
from zlib import crc32

from bot.sandbox.records import (
    TRIGGERS_OF_NOTHING,
    Award,
    Hook,
    HookDelivery,
    Issue,
    Label,
    Member,
    Note,
    Pipeline,
    Project,
    Token,
    User,
)
from bot.sandbox.world import World

Json = dict[str, object]


def timestamp(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC with milliseconds, as the REST API writes times."""
    if moment is None:
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def issue_url(world: World, issue: Issue) -> str:
    """The address of the issue's page."""
    return f"{world.url}/{world.projects[issue.project_id].path}/-/issues/{issue.iid}"


def user_basic(world: World, user: User) -> Json:
    """An account as it appears inside other records: no bot flag and no role."""
    return {
        "id": user.id,
        "username": user.username,
        "public_email": "",
        "name": user.name,
        "state": user.state,
        "locked": False,
        "avatar_url": None,
        "web_url": f"{world.url}/{user.username}",
    }


def user_full(world: World, user: User) -> Json:
    """An account by itself: the only shape with the bot flag."""
    return {
        **user_basic(world, user),
        "created_at": timestamp(user.created_at),
        "bio": "",
        "bot": user.bot,
    }


def user_own(world: World, user: User) -> Json:
    """The account of the token that asks."""
    own = {**user_full(world, user), "email": f"{user.username}@sandbox.invalid"}
    return {**own, "is_admin": True} if user.admin else own


def _user(world: World, user_id: int | None) -> Json | None:
    return None if user_id is None else user_basic(world, world.users[user_id])


def token(record: Token, active: bool) -> Json:
    """A token without its value."""
    return {
        "id": record.id,
        "name": record.name,
        "revoked": record.revoked,
        "created_at": timestamp(record.created_at),
        "description": None,
        "scopes": list(record.scopes),
        "user_id": record.user_id,
        "last_used_at": timestamp(record.last_used_at),
        "active": active,
        "expires_at": record.expires_at.isoformat() if record.expires_at else None,
    }


def member(world: World, record: Member) -> Json:
    """A membership; `state` is the account's, unless the membership has one of its own."""
    user = world.users[record.user_id]
    return {
        **user_basic(world, user),
        "state": record.state if user.state == "active" else user.state,
        "access_level": record.access_level,
        "created_at": timestamp(record.created_at),
        "expires_at": record.expires_at.isoformat() if record.expires_at else None,
        "membership_state": record.membership_state,
        "member_role": None,
    }


def project(world: World, record: Project, access_level: int) -> Json:
    """A project, with what its client needs; the sandbox has no repository."""
    opened = [i for i in world.issues.values() if i.project_id == record.id and i.state == "opened"]
    return {
        "id": record.id,
        "description": None,
        "name": record.name,
        "name_with_namespace": " / ".join(record.path.split("/")),
        "path": record.name,
        "path_with_namespace": record.path,
        "created_at": timestamp(record.created_at),
        "default_branch": record.default_branch,
        "web_url": f"{world.url}/{record.path}",
        "visibility": record.visibility,
        "archived": False,
        "empty_repo": True,
        "issues_enabled": True,
        "issues_access_level": "enabled",
        "open_issues_count": len(opened),
        "namespace": _namespace(world, record.namespace),
        "permissions": {
            "project_access": {"access_level": access_level} if access_level else None,
            "group_access": None,
        },
    }


def _namespace(world: World, path: str) -> Json:
    return {
        # Groups are no records here, so the number is made from the name.
        "id": crc32(path.encode()),
        "name": path.rpartition("/")[2],
        "path": path.rpartition("/")[2],
        "kind": "group",
        "full_path": path,
        "parent_id": crc32(path.rpartition("/")[0].encode()) if "/" in path else None,
        "avatar_url": None,
        "web_url": f"{world.url}/groups/{path}",
    }


def label(record: Label) -> Json:
    """A project label."""
    return {
        "id": record.id,
        "name": record.name,
        "color": record.color,
        "text_color": "#FFFFFF",
        "description": record.description,
        "is_project_label": True,
    }


def issue(world: World, record: Issue) -> Json:
    """An issue; `moved_to_id` is a global id, everything else uses the iid."""
    home = world.projects[record.project_id]
    assignees = [user_basic(world, world.users[user_id]) for user_id in record.assignee_ids]
    reference = f"#{record.iid}"
    return {
        "id": record.id,
        "iid": record.iid,
        "project_id": record.project_id,
        "title": record.title,
        "description": record.description,
        "state": record.state,
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.updated_at),
        "closed_at": timestamp(record.closed_at),
        "closed_by": _user(world, record.closed_by_id),
        "labels": list(record.labels),
        "milestone": None,
        "assignees": assignees,
        "assignee": assignees[0] if assignees else None,
        "author": _user(world, record.author_id),
        "type": record.issue_type.upper(),
        "issue_type": record.issue_type,
        "user_notes_count": sum(not note.system for note in record.notes),
        "upvotes": sum(award.name == "thumbsup" for award in record.awards),
        "downvotes": sum(award.name == "thumbsdown" for award in record.awards),
        "due_date": None,
        "confidential": record.confidential,
        "discussion_locked": record.discussion_locked or None,
        "moved_to_id": record.moved_to_id,
        "web_url": issue_url(world, record),
        "references": {"short": reference, "relative": reference, "full": home.path + reference},
        "imported": False,
        "imported_from": "none",
    }


def note(world: World, record: Note, commands_changes: Json | None = None) -> Json:
    """A note; `resolved*` appear only when it is resolvable."""
    parent = world.issues[record.issue_id]
    shape: Json = {
        "id": record.id,
        "type": record.type,
        "body": record.body,
        "attachment": None,
        "author": _user(world, record.author_id),
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.updated_at),
        "system": record.system,
        "noteable_id": parent.id,
        "noteable_type": "Issue",
        "project_id": record.project_id,
        "resolvable": record.resolvable,
        "confidential": record.internal,
        "internal": record.internal,
        "imported": False,
        "imported_from": "none",
        "noteable_iid": parent.iid,
        "commands_changes": commands_changes or {},
    }
    if record.resolvable:
        shape["resolved"] = record.resolved
        shape["resolved_by"] = _user(world, record.resolved_by_id)
        shape["resolved_at"] = timestamp(record.resolved_at)
    return shape


def discussion(world: World, thread: list[Note]) -> Json:
    """A discussion; its state is left to the client, as older versions do (section 4)."""
    return {
        "id": thread[0].discussion_id,
        "individual_note": thread[0].type is None,
        "notes": [note(world, record) for record in thread],
    }


def award(world: World, record: Award, awardable_type: str, awardable_id: int) -> Json:
    """A reaction on an issue or a note."""
    return {
        "id": record.id,
        "name": record.name,
        "user": _user(world, record.user_id),
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.created_at),
        "awardable_id": awardable_id,
        "awardable_type": awardable_type,
        "url": None,
    }


def hook(record: Hook, alert_status: str) -> Json:
    """A hook; its secrets are never returned, only whether they are set (section 1)."""
    return {
        "id": record.id,
        "url": record.url,
        "name": record.name,
        "description": record.description,
        "created_at": timestamp(record.created_at),
        "project_id": record.project_id,
        **dict.fromkeys(TRIGGERS_OF_NOTHING, False),
        **record.triggers,
        "enable_ssl_verification": record.enable_ssl_verification,
        "alert_status": alert_status,
        "disabled_until": timestamp(record.disabled_until),
        "token_present": record.token is not None,
        "signing_token_present": record.signing_token is not None,
        "url_variables": [],
        "custom_headers": [],
    }


def delivery(record: HookDelivery) -> Json:
    """An attempt from the hook's log."""
    return {
        "id": record.id,
        "url": record.url,
        "trigger": record.trigger,
        "request_headers": dict(record.headers),
        "request_data": record.body.decode(),
        "response_headers": dict(record.response_headers),
        "response_body": record.response_body,
        "execution_duration": round(record.duration, 3),
        "response_status": "internal error" if record.status is None else str(record.status),
        "created_at": timestamp(record.sent_at),
    }


def pipeline(world: World, home: Project, record: Pipeline) -> Json:
    """A recorded pipeline; it never runs, so it stays `created`."""
    return {
        "id": record.id,
        "iid": record.iid,
        "project_id": home.id,
        "ref": record.ref,
        "sha": "0" * 40,
        "status": "created",
        "source": record.source,
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.created_at),
        "web_url": f"{world.url}/{home.path}/-/pipelines/{record.id}",
        "user": _user(world, record.user_id),
    }
