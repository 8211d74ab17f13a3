"""Routes about projects: the project itself, members, labels, and pipelines asked for."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter
from starlette.responses import Response

from bot.sandbox import entities, rules
from bot.sandbox.call import Ask, Call, made, shown
from bot.sandbox.records import Member, Project
from bot.sandbox.refusals import Invalid, NotFound

routes = APIRouter(prefix="/api/v4/projects")


@routes.get("")
def projects(call: Ask) -> Response:
    """The projects the caller can see; `membership` leaves those they are a member of."""
    with call.world.lock:
        found = [p for p in call.world.projects.values() if rules.can_read_project(p, call.user)]
        if call.params.flag("membership"):
            found = [p for p in found if rules.membership(p, call.user)]
        return call.page(found, lambda project: _project(call, project))


@routes.get("/{project_id}")
def project(call: Ask, project_id: int) -> Response:
    """One project, by id or URL-encoded path."""
    with call.world.lock:
        return shown(_project(call, call.project(project_id)))


@routes.get("/{project_id}/members")
def direct_members(call: Ask, project_id: int) -> Response:
    """Direct members only."""
    with call.world.lock:
        project = call.project(project_id)
        return _members(call, (m for m in project.members if not m.inherited))


@routes.get("/{project_id}/members/all")
def all_members(call: Ask, project_id: int) -> Response:
    """Direct and inherited members, each user once with the highest level."""
    with call.world.lock:
        project = call.project(project_id)
        user_ids = dict.fromkeys(m.user_id for m in project.members)
        highest = (rules.membership(project, call.world.users[n]) for n in user_ids)
        return _members(call, (m for m in highest if m))


@routes.get("/{project_id}/members/all/{user_id}")
def any_member(call: Ask, project_id: int, user_id: int) -> Response:
    """One member, direct or inherited; 404 for everybody else, administrators included."""
    return _member(call, project_id, user_id, direct_only=False)


@routes.get("/{project_id}/members/{user_id}")
def direct_member(call: Ask, project_id: int, user_id: int) -> Response:
    """One direct member."""
    return _member(call, project_id, user_id, direct_only=True)


@routes.get("/{project_id}/labels")
def labels(call: Ask, project_id: int) -> Response:
    """The labels of a project."""
    with call.world.lock:
        return call.page(call.project(project_id).labels, entities.label)


@routes.post("/{project_id}/labels")
def create_label(call: Ask, project_id: int) -> Response:
    """A new label, from Planners up."""
    with call.world.lock:
        project = call.project(project_id)
        call.require(rules.has_role(project, call.user, rules.PLANNER))
        name, color = call.params.required("name"), call.params.required("color")
        if any(label.name == name for label in project.labels):
            raise Invalid({"title": ["has already been taken"]})
        label = call.world.add_label(project, name, color)
        label.description = call.params.text("description")
        return made(entities.label(label))


def _project(call: Call, project: Project) -> dict[str, object]:
    return entities.project(call.world, project, rules.role(project, call.user))


def _members(call: Call, members: Iterable[Member]) -> Response:
    wanted = call.params.numbers("user_ids")
    query = (call.params.text("query") or "").casefold()
    found = [
        member
        for member in members
        if (wanted is None or member.user_id in wanted) and query in _names(call, member).casefold()
    ]
    return call.page(found, lambda member: entities.member(call.world, member))


def _names(call: Call, member: Member) -> str:
    user = call.world.users[member.user_id]
    return f"{user.username} {user.name}"


def _member(call: Call, project_id: int, user_id: int, direct_only: bool) -> Response:
    with call.world.lock:
        project = call.project(project_id)
        user = call.world.users.get(user_id)
        member = rules.membership(project, user, direct_only) if user else None
        if member is None:
            raise NotFound
        return shown(entities.member(call.world, member))
