"""Routes about pipelines: trigger tokens, and pipelines that are recorded and never run."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox import entities, rules
from bot.sandbox.call import Ask, Call, gone, made, shown
from bot.sandbox.parameters import Parameters
from bot.sandbox.records import Pipeline, Project, Trigger, User
from bot.sandbox.refusals import Forbidden, Invalid, NotFound
from bot.sandbox.tracker import Tracker
from bot.sandbox.world import World

routes = APIRouter(prefix="/api/v4/projects/{project_id}")


@routes.post("/trigger/pipeline")
async def trigger_pipeline(request: Request, project_id: int) -> Response:
    """A pipeline by trigger token, with the rights of the token's owner (section 9)."""
    tracker: Tracker = request.app.state.tracker
    params = await Parameters.of(request)
    if request.headers.get("x-gitlab-event") == "Pipeline Hook":
        raise Forbidden
    with tracker.world.lock:
        secret = params.required("token")
        project = tracker.world.projects.get(project_id)
        triggers = project.triggers if project else []
        trigger = next((each for each in triggers if each.token == secret), None)
        if project is None or trigger is None:
            raise NotFound
        owner = tracker.world.users[trigger.owner_id]
        if not rules.can_run_pipelines(project, owner):
            raise Invalid({"base": ["Insufficient permissions to create a new pipeline"]})
        pipeline = _record(tracker.world, project, owner, "trigger", params)
        return made(entities.pipeline(tracker.world, project, pipeline))


@routes.post("/pipeline")
def create_pipeline(call: Ask, project_id: int) -> Response:
    """A pipeline as the caller, for Developers and up."""
    with call.world.lock:
        project = _runnable(call, project_id)
        pipeline = _record(call.world, project, call.user, "api", call.params)
        return made(entities.pipeline(call.world, project, pipeline))


@routes.get("/pipelines")
def pipelines(call: Ask, project_id: int) -> Response:
    """The recorded pipelines, newest first."""
    with call.world.lock:
        project = call.project(project_id)
        return call.page(project.pipelines[::-1], lambda each: entities.pipeline(call.world, project, each))


@routes.get("/pipelines/{pipeline_id}/variables")
def variables(call: Ask, project_id: int, pipeline_id: int) -> Response:
    """The variables a pipeline was asked for with."""
    with call.world.lock:
        project = _runnable(call, project_id)
        found = next((each for each in project.pipelines if each.id == pipeline_id), None)
        if found is None:
            raise NotFound
        return shown([{"key": k, "value": v} for k, v in found.variables.items()])


@routes.get("/triggers")
def triggers(call: Ask, project_id: int) -> Response:
    """The trigger tokens of a project; only one's own are shown in full."""
    with call.world.lock:
        project = _administered(call, project_id)
        return call.page(project.triggers, lambda each: _trigger(call, each))


@routes.post("/triggers")
def create_trigger(call: Ask, project_id: int) -> Response:
    """A new trigger token."""
    with call.world.lock:
        project = _administered(call, project_id)
        text = call.params.required("description")
        return made(_trigger(call, call.world.add_trigger(project, call.user, text)))


@routes.delete("/triggers/{trigger_id}")
def delete_trigger(call: Ask, project_id: int, trigger_id: int) -> Response:
    """Remove a trigger token."""
    with call.world.lock:
        project = _administered(call, project_id)
        left = [each for each in project.triggers if each.id != trigger_id]
        if len(left) == len(project.triggers):
            raise NotFound("Trigger")
        project.triggers[:] = left
        return gone()


def _trigger(call: Call, trigger: Trigger) -> entities.Json:
    own = trigger.owner_id == call.user.id
    return {
        "id": trigger.id,
        "token": trigger.token if own else trigger.token[:10],
        "description": trigger.description,
        "created_at": entities.timestamp(trigger.created_at),
        "owner": entities.user_basic(call.world, call.world.users[trigger.owner_id]),
    }


def _runnable(call: Call, project_id: int) -> Project:
    project = call.project(project_id)
    call.require(rules.can_run_pipelines(project, call.user))
    return project


def _administered(call: Call, project_id: int) -> Project:
    project = call.project(project_id)
    call.require(rules.has_role(project, call.user, rules.MAINTAINER))
    return project


def _record(world: World, project: Project, user: User, source: str, params: Parameters) -> Pipeline:
    ref = params.required("ref")
    if ref != project.default_branch:
        raise Invalid({"base": ["Reference not found"]})
    inputs = params.raw("inputs") or {}
    if not isinstance(inputs, dict):
        raise Invalid.parameter("inputs is invalid")
    number = world.next_id("pipeline")
    pipeline = Pipeline(
        id=number,
        iid=len(project.pipelines) + 1,
        ref=ref,
        source=source,
        user_id=user.id,
        created_at=world.now(),
        variables=_variables(params.raw("variables")),
        inputs=inputs,
    )
    project.pipelines.append(pipeline)
    return pipeline


def _variables(sent: object) -> dict[str, str]:
    """Variables as a map (triggers) or as a list of keys and values (pipelines)."""
    if sent is None:
        return {}
    pairs: dict[object, object] = {}
    if isinstance(sent, dict):
        pairs = sent
    elif isinstance(sent, list) and all(isinstance(each, dict) for each in sent):
        pairs = {each.get("key"): each.get("value") for each in sent}
    else:
        raise Invalid.parameter("variables is invalid")
    # A map of string to string; any other type is refused (section 9).
    if not all(isinstance(k, str) and isinstance(v, str) for k, v in pairs.items()):
        raise Invalid("400 Bad request - variables needs to be a map of key-valued strings")
    return {str(k): str(v) for k, v in pairs.items()}
