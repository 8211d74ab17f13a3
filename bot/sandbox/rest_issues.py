"""Routes about issues: list, read, open, update, move, delete, and reactions on them."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from bot.sandbox import entities, rules
from bot.sandbox.call import Ask, Call, gone, made, shown
from bot.sandbox.issues import Edits
from bot.sandbox.records import Award, Issue, User
from bot.sandbox.refusals import Invalid, NotFound

routes = APIRouter(prefix="/api/v4/projects/{project_id}/issues")

_TYPES = ("issue", "incident", "test_case", "task", "objective", "key_result", "ticket")


@routes.get("")
def issues(call: Ask, project_id: int) -> Response:
    """The issues of a project that the caller can see, filtered and sorted."""
    with call.world.lock:
        project = call.project(project_id)
        mine = (i for i in call.world.issues.values() if i.project_id == project.id)
        found = [issue for issue in mine if rules.can_read_issue(project, issue, call.user) and _matches(call, issue)]
        order = call.params.choice("order_by", ("created_at", "updated_at"), "created_at")
        newest_first = call.params.choice("sort", ("asc", "desc"), "desc") == "desc"
        found.sort(key=lambda i: (getattr(i, order), i.id), reverse=newest_first)
        return call.page(found, lambda issue: entities.issue(call.world, issue))


@routes.post("")
def create_issue(call: Ask, project_id: int) -> Response:
    """Open an issue."""
    with call.world.lock:
        project = call.project(project_id)
        params = call.params
        issue = call.tracker.issues.create(
            project,
            call.user,
            params.required("title"),
            params.text("description") or "",
            params.choice("issue_type", _TYPES, "issue"),
            params.flag("confidential") or False,
            params.words("labels") or [],
            _people(call, params.numbers("assignee_ids") or []),
        )
        return made(entities.issue(call.world, issue))


@routes.get("/{iid}")
def issue(call: Ask, project_id: int, iid: int) -> Response:
    """One issue."""
    with call.world.lock:
        return shown(entities.issue(call.world, call.issue(project_id, iid)))


@routes.put("/{iid}")
def update_issue(call: Ask, project_id: int, iid: int) -> Response:
    """Change fields and, with `state_event`, close or reopen."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        edits = _edits(call, issue)
        event = call.params.choice("state_event", ("close", "reopen", ""), "")
        if not edits and not event:
            raise Invalid.parameter("title, description, state_event, ... are missing, at least one parameter must be provided")
        if edits:
            call.tracker.issues.update(issue, call.user, **edits)
        if event == "close":
            call.tracker.issues.close(issue, call.user)
        elif event == "reopen":
            call.tracker.issues.reopen(issue, call.user)
        return shown(entities.issue(call.world, issue))


@routes.delete("/{iid}")
def delete_issue(call: Ask, project_id: int, iid: int) -> Response:
    """Delete an issue; Owners only, and no hook tells of it."""
    with call.world.lock:
        call.tracker.issues.delete(call.issue(project_id, iid), call.user)
        return gone()


@routes.post("/{iid}/move")
def move_issue(call: Ask, project_id: int, iid: int) -> Response:
    """Move to another project; answers the copy."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        target_id = call.params.number("to_project_id")
        if target_id is None:
            raise Invalid.missing("to_project_id")
        copy = call.tracker.issues.move(issue, call.user, call.project(target_id))
        return made(entities.issue(call.world, copy))


@routes.get("/{iid}/award_emoji")
def awards(call: Ask, project_id: int, iid: int) -> Response:
    """The reactions on an issue."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        return call.page(issue.awards, lambda award: _award(call, award, issue))


@routes.post("/{iid}/award_emoji")
def give_award(call: Ask, project_id: int, iid: int) -> Response:
    """React to an issue."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        award = call.tracker.awards.give(issue, None, call.user, call.params.required("name"))
        return made(_award(call, award, issue))


@routes.delete("/{iid}/award_emoji/{award_id}")
def withdraw_award(call: Ask, project_id: int, iid: int, award_id: int) -> Response:
    """Take a reaction back."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        call.tracker.awards.withdraw(issue, None, call.user, award_id)
        return gone()


def _award(call: Call, award: Award, issue: Issue) -> dict[str, object]:
    return entities.award(call.world, award, "Issue", issue.id)


def _matches(call: Call, issue: Issue) -> bool:
    params = call.params
    state = params.choice("state", ("opened", "closed", "all"), "all")
    after, before = params.moment("updated_after"), params.moment("updated_before")
    iids, author_id = params.numbers("iids"), params.number("author_id")
    labels, search = params.words("labels"), params.text("search")
    assignee_id, type_ = params.number("assignee_id"), params.text("issue_type")
    confidential = params.flag("confidential")
    return (
        state in ("all", issue.state)
        and (after is None or issue.updated_at >= after)
        and (before is None or issue.updated_at <= before)
        and (iids is None or issue.iid in iids)
        and (author_id is None or issue.author_id == author_id)
        and (assignee_id is None or assignee_id in issue.assignee_ids)
        and (type_ is None or issue.issue_type == type_)
        and (confidential is None or issue.confidential == confidential)
        and (labels is None or set(labels) <= set(issue.labels))
        and (search is None or search.casefold() in f"{issue.title} {issue.description}".casefold())
    )


def _edits(call: Call, issue: Issue) -> Edits:
    params = call.params
    edits: Edits = {}
    if "title" in params:
        edits["title"] = params.required("title")
    if "description" in params:
        edits["description"] = params.required("description")
    if "issue_type" in params:
        edits["issue_type"] = params.choice("issue_type", _TYPES, "issue")
    confidential, locked = params.flag("confidential"), params.flag("discussion_locked")
    if confidential is not None:
        edits["confidential"] = confidential
    if locked is not None:
        edits["discussion_locked"] = locked
    assignees = params.numbers("assignee_ids")
    if assignees is not None:
        edits["assignee_ids"] = [user.id for user in _people(call, assignees)]
    labels = params.words("labels")
    added, removed = params.words("add_labels"), params.words("remove_labels")
    if labels is not None or added or removed:
        wanted = [*(issue.labels if labels is None else labels), *(added or [])]
        edits["labels"] = [x for x in dict.fromkeys(wanted) if x not in (removed or [])]
    return edits


def _people(call: Call, user_ids: list[int]) -> list[User]:
    # 0 means nobody.
    unknown = [n for n in user_ids if n and n not in call.world.users]
    if unknown:
        raise NotFound("User")
    return [call.world.users[n] for n in user_ids if n]
