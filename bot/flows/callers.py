"""Who calls the API, and what they may see: a flow with its key, or a person with their own GitLab token."""

from dataclasses import dataclass

from bot.core.eligibility import Account, Why
from bot.core.errors import Forbidden, NotFound
from bot.core.models import Run
from bot.flows.parts import Parts
from bot.ports import FlowKey


@dataclass(frozen=True)
class KeyCaller:
    """A flow. It sees the runs of its key's projects."""

    key: FlowKey

    @property
    def label(self) -> str:
        return f"key:{self.key.id}"


@dataclass(frozen=True)
class PersonCaller:
    """A person. They see the runs of projects where their replies would count, and their own."""

    account: Account

    @property
    def label(self) -> str:
        return f"person:{self.account.id}"


Caller = KeyCaller | PersonCaller


def visible_run(parts: Parts, caller: Caller, run_id: str) -> Run:
    """The run, or `NotFound`: whether it exists is nobody's business who may not see it."""
    with parts.store.snapshot() as unit:
        run = unit.runs.get(run_id)
    if run is None or not may_see(parts, caller, run):
        raise NotFound(f"there is no run {run_id}", code="run_not_found")
    return run


def may_see(parts: Parts, caller: Caller, run: Run) -> bool:
    if isinstance(caller, KeyCaller):
        return key_covers(caller, run)
    if caller.account.id == run.owner.id:
        return True
    project = parts.projects.of_run(run)
    membership = project.gateway.membership(caller.account.id)
    return membership is not None and membership.state == "active" and membership.role >= project.policy.answer


def key_covers(caller: KeyCaller, run: Run) -> bool:
    """A key is for its projects and, where it names owners, for their runs only."""
    return run.project_id in caller.key.project_ids and (not caller.key.owners or run.owner.id in caller.key.owners)


def must_be_flow(caller: Caller, run: Run) -> None:
    """Only the flow itself, or the run's owner, may ask, report or fetch for it. Raises `Forbidden`."""
    if isinstance(caller, PersonCaller) and caller.account.id != run.owner.id:
        raise Forbidden(f"run {run.id} belongs to {run.owner.username}", code="not_your_run")
    if isinstance(caller, KeyCaller) and not key_covers(caller, run):
        raise Forbidden(f"this key is not for runs of {run.owner.username}", code="owner_not_in_key")


SPOKEN = {
    Why.BOT_ITSELF: "that is the bot itself",
    Why.BOT: "bot accounts cannot do this",
    Why.BLOCKED: "the account or membership is not active",
    Why.NOT_A_MEMBER: "no membership in the project",
    Why.ADMINISTRATOR_NOT_A_MEMBER: "an instance administrator who is not a member of the project has no role in it",
    Why.MEMBERSHIP_AWAITING: "the membership is not approved yet",
    Why.MEMBERSHIP_EXPIRED: "the membership has expired",
    Why.ROLE_BELOW_THRESHOLD: "the project role is too low",
    Why.LOOKUP_FAILED: "the role could not be looked up",
}
