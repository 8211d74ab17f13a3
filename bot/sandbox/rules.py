"""Who may do what: pure functions over records, after contract section 6.

An administrator may do everything; a user who is not active may do nothing. Roles are compared
as numbers, so unknown levels (such as 25) work. Expired memberships still count here, because
GitLab enacts expiry by a later job and a client has to compare the date itself (section 4).
"""

from __future__ import annotations

from collections.abc import Callable

from bot.sandbox.records import Issue, Member, Note, Project, User

IssueRule = Callable[[Project, Issue, User], bool]
NoteRule = Callable[[Project, Issue, Note, User], bool]

GUEST = 10
PLANNER = 15
DEVELOPER = 30
MAINTAINER = 40
OWNER = 50

ROLE_NAMES = {
    5: "Minimal",
    10: "Guest",
    15: "Planner",
    20: "Reporter",
    25: "Security Manager",
    30: "Developer",
    40: "Maintainer",
    50: "Owner",
}


def membership(project: Project, user: User, direct_only: bool = False) -> Member | None:
    """The membership that shows in the members API: the highest one of the user."""
    mine = [member for member in project.members if member.user_id == user.id and not (direct_only and member.inherited)]
    return max(mine, key=lambda member: member.access_level, default=None)


def role(project: Project, user: User) -> int:
    """The level the user's memberships give; 0 without any that is in force."""
    levels = [
        member.access_level
        for member in project.members
        if member.user_id == user.id and member.state == "active" and member.membership_state == "active"
    ]
    return max(levels, default=0)


def role_name(project: Project, user: User) -> str | None:
    """The human name of the role, or None for somebody without one."""
    level = role(project, user)
    return ROLE_NAMES.get(level, str(level)) if level else None


def is_active(user: User) -> bool:
    """Whether the account may do anything at all."""
    return user.state == "active"


def has_role(project: Project, user: User, level: int) -> bool:
    """Whether the user has at least that level, or is an administrator."""
    return is_active(user) and (user.admin or role(project, user) >= level)


def concerns(issue: Issue, user: User) -> bool:
    """Whether the user is the author or an assignee of the issue."""
    return user.id == issue.author_id or user.id in issue.assignee_ids


def can_read_project(project: Project, user: User) -> bool:
    """Public and internal projects are open to every account, private ones to Guests and up."""
    return is_active(user) and (project.visibility != "private" or has_role(project, user, GUEST))


def can_read_issue(project: Project, issue: Issue, user: User) -> bool:
    """Confidential issues are for Planners and up, the author and the assignees."""
    if not can_read_project(project, user):
        return False
    return not issue.confidential or has_role(project, user, PLANNER) or concerns(issue, user)


def can_read_note(project: Project, issue: Issue, note: Note, user: User) -> bool:
    """Internal notes are for Planners and up, and for the issue's author and assignees."""
    if not can_read_issue(project, issue, user):
        return False
    return not note.internal or has_role(project, user, PLANNER) or concerns(issue, user)


def can_create_issue(project: Project, user: User) -> bool:
    """Everybody who can read the project may open an issue in it."""
    return can_read_project(project, user)


def can_comment(project: Project, issue: Issue, user: User) -> bool:
    """Everybody who reads the issue may comment; on a locked one only members (any role)."""
    if not can_read_issue(project, issue, user):
        return False
    return not issue.discussion_locked or has_role(project, user, GUEST)


def can_react(project: Project, issue: Issue, user: User) -> bool:
    """Reactions follow comments: a locked discussion takes them from non-members."""
    return can_comment(project, issue, user)


def can_set_internal(project: Project, user: User) -> bool:
    """Planners and up may write internal notes."""
    return has_role(project, user, PLANNER)


def can_edit_note(project: Project, issue: Issue, note: Note, user: User) -> bool:
    """The author (not on a locked issue as a non-member) and Maintainers; never system notes."""
    if note.system or not can_read_note(project, issue, note, user):
        return False
    own = note.author_id == user.id and can_comment(project, issue, user)
    return own or has_role(project, user, MAINTAINER)


def can_delete_note(project: Project, issue: Issue, note: Note, user: User) -> bool:
    """Deleting follows editing."""
    return can_edit_note(project, issue, note, user)


def can_resolve(project: Project, issue: Issue, note: Note, user: User) -> bool:
    """Developers and up; the author of the note (for a thread: its first); the issue's author."""
    if not note.resolvable or not can_read_note(project, issue, note, user):
        return False
    if has_role(project, user, DEVELOPER):
        return True
    return user.id in (note.author_id, issue.author_id) and can_comment(project, issue, user)


def can_update_issue(project: Project, issue: Issue, user: User) -> bool:
    """Planners and up; Guests where they are author or assignee, incidents excepted."""
    if not can_read_issue(project, issue, user):
        return False
    if has_role(project, user, PLANNER):
        return True
    return has_role(project, user, GUEST) and concerns(issue, user) and issue.issue_type != "incident"


def can_reopen(project: Project, issue: Issue, user: User) -> bool:
    """Reopening follows updating, but a locked discussion blocks it."""
    return can_update_issue(project, issue, user) and not issue.discussion_locked


def can_admin_issue(project: Project, issue: Issue, user: User) -> bool:
    """Labels, assignees, lock and confidentiality: Planners and up."""
    return can_read_issue(project, issue, user) and has_role(project, user, PLANNER)


def can_move(source: Project, target: Project, issue: Issue, user: User) -> bool:
    """Moving needs the right to administer the issue here and to create issues there."""
    return can_admin_issue(source, issue, user) and has_role(target, user, PLANNER)


def can_delete_issue(project: Project, issue: Issue, user: User) -> bool:
    """Owners and administrators."""
    return can_read_issue(project, issue, user) and has_role(project, user, OWNER)


def can_admin_hooks(project: Project, user: User) -> bool:
    """Maintainers and up."""
    return has_role(project, user, MAINTAINER)


def can_run_pipelines(project: Project, user: User) -> bool:
    """Developers and up."""
    return has_role(project, user, DEVELOPER)
