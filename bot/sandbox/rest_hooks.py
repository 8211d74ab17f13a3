"""Routes about hooks: register, change, remove, test, the log, and resending from it."""

from __future__ import annotations

import base64
import binascii
import ipaddress
from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.responses import Response

from bot.sandbox import entities, events, rules
from bot.sandbox.call import Ask, Call, gone, made, shown
from bot.sandbox.records import HOOK_TRIGGERS, Award, Hook, HookDelivery, Issue, Note, Project
from bot.sandbox.refusals import Invalid, NotFound, Unprocessable

routes = APIRouter(prefix="/api/v4/projects/{project_id}/hooks")

_MOST_EVENTS = 20


@routes.get("")
def hooks(call: Ask, project_id: int) -> Response:
    """The hooks of a project, for Maintainers and up."""
    with call.world.lock:
        project = _administered(call, project_id)
        found = [hook for hook in call.world.hooks.values() if hook.project_id == project.id]
        return call.page(found, lambda hook: _shape(call, hook))


@routes.post("")
def create_hook(call: Ask, project_id: int) -> Response:
    """A new hook; triggers that are not named are off."""
    with call.world.lock:
        project = _administered(call, project_id)
        url = _url(call, call.params.required("url"))
        signing_token = _signing_token(call)
        chosen = {name: call.params.flag(name) or False for name in HOOK_TRIGGERS}
        token = call.params.text("token") or None
        hook = call.world.add_hook(project, url, token, signing_token, **chosen)
        _describe(call, hook)
        return made(_shape(call, hook))


@routes.get("/{hook_id}")
def hook(call: Ask, project_id: int, hook_id: int) -> Response:
    """One hook, without its secrets."""
    with call.world.lock:
        return shown(_shape(call, _hook(call, project_id, hook_id)))


@routes.put("/{hook_id}")
def update_hook(call: Ask, project_id: int, hook_id: int) -> Response:
    """Change a hook; a new address resets the secret token, unless one is sent along."""
    with call.world.lock:
        hook = _hook(call, project_id, hook_id)
        url = call.params.text("url")
        if url is not None and _url(call, url) != hook.url:
            hook.url, hook.token = url, None
        if "token" in call.params:
            hook.token = call.params.text("token") or None
        if "signing_token" in call.params:
            hook.signing_token = _signing_token(call)
        for name in HOOK_TRIGGERS:
            flag = call.params.flag(name)
            if flag is not None:
                hook.triggers[name] = flag
        _describe(call, hook)
        return shown(_shape(call, hook))


@routes.delete("/{hook_id}")
def delete_hook(call: Ask, project_id: int, hook_id: int) -> Response:
    """Remove a hook."""
    with call.world.lock:
        del call.world.hooks[_hook(call, project_id, hook_id).id]
        return gone()


@routes.get("/{hook_id}/events")
def hook_events(call: Ask, project_id: int, hook_id: int) -> Response:
    """The log of a hook, newest first, at most 20 a page."""
    with call.world.lock:
        hook = _hook(call, project_id, hook_id)
        log = [each for each in call.world.deliveries if each.hook_id == hook.id]
        return call.page(log[::-1], entities.delivery, most=_MOST_EVENTS)


@routes.post("/{hook_id}/events/{delivery_id}/resend")
def resend(call: Ask, project_id: int, hook_id: int, delivery_id: int) -> Response:
    """Send a logged event again, under its old Idempotency-Key."""
    with call.world.lock:
        hook = _hook(call, project_id, hook_id)
        log = (each for each in call.world.deliveries if each.id == delivery_id)
        delivery = next((each for each in log if each.hook_id == hook.id), None)
        if delivery is None:
            raise NotFound("Hook Log")
    # The receiver may call back while it handles the event, so the lock is not held.
    return _sent(call.tracker.hooks.resend(delivery))


@routes.post("/{hook_id}/test/{trigger}")
def test(call: Ask, project_id: int, hook_id: int, trigger: str) -> Response:
    """Send a sample made from the newest issue or note; success brings a disabled hook back."""
    with call.world.lock:
        hook = _hook(call, project_id, hook_id)
        if trigger not in HOOK_TRIGGERS:
            raise Invalid.parameter("trigger does not have a valid value")
        sample = _sample(call, call.world.projects[project_id], trigger)
    return _sent(call.tracker.hooks.test(hook, sample))


def _sent(delivery: HookDelivery) -> Response:
    if not delivery.succeeded:
        raise Unprocessable({"message": delivery.error or f"Hook answered {delivery.status}"})
    return made({"message": "201 Created"})


def _sample(call: Call, project: Project, trigger: str) -> events.Event:
    world = call.world
    mine = [issue for issue in world.issues.values() if issue.project_id == project.id]
    wanted = [issue for issue in mine if trigger.endswith("issues_events") or _comments(issue)]
    if not wanted:
        raise Unprocessable({"message": "Ensure the project has issues with comments."})
    issue = wanted[-1]
    if trigger.endswith("issues_events"):
        return events.issue_event(world, issue, call.user, "update", {})
    note = _comments(issue)[-1]
    if trigger == "emoji_events":
        award = Award(0, "thumbsup", call.user.id, world.now())
        return events.emoji_event(world, award, issue, note, "award")
    return events.note_event(world, note, "create")


def _comments(issue: Issue) -> list[Note]:
    return [note for note in issue.notes if not note.system]


def _administered(call: Call, project_id: int) -> Project:
    project = call.project(project_id)
    call.require(rules.can_admin_hooks(project, call.user))
    return project


def _hook(call: Call, project_id: int, hook_id: int) -> Hook:
    project = _administered(call, project_id)
    found = call.world.hooks.get(hook_id)
    if found is None or found.project_id != project.id:
        raise NotFound("Hook")
    return found


def _shape(call: Call, hook: Hook) -> entities.Json:
    return entities.hook(hook, call.tracker.hooks.alert_status(hook))


def _describe(call: Call, hook: Hook) -> None:
    verify = call.params.flag("enable_ssl_verification")
    hook.name = call.params.text("name") or hook.name
    hook.description = call.params.text("description") or hook.description
    hook.enable_ssl_verification = hook.enable_ssl_verification if verify is None else verify


def _url(call: Call, url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Unprocessable({"error": "Invalid url given"})
    # A real instance refuses such addresses unless an administrator allows them (section 3).
    if not call.world.loopback_hooks and _is_local(parts.hostname):
        message = "is blocked: Requests to localhost are not allowed"
        raise Unprocessable({"message": {"url": [message]}})
    return url


def _is_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_private


def _signing_token(call: Call) -> str | None:
    token = call.params.text("signing_token") or None
    if token is None:
        return None
    try:
        key = base64.b64decode(token.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not token.startswith("whsec_") or len(key) != 32:
        raise Unprocessable({"message": {"signing_token": ["is invalid"]}})
    return token
