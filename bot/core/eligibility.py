"""Who may do what: verdicts with a reason from a closed set. Fails closed; `unknown` is a third value.

Roles are numbers (contract section 4): 10 Guest, 15 Planner, 20 Reporter, 25 Security Manager, 30 Developer,
40 Maintainer, 50 Owner; numbers not in that list are compared like any other. Identity is the numeric user id.
Not here: looking anybody up.
"""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

ROLE_NAMES = {
    0: "no role", 5: "Minimal access", 10: "Guest", 15: "Planner", 20: "Reporter", 25: "Security Manager",
    30: "Developer", 40: "Maintainer", 50: "Owner", 60: "Administrator",
}  # fmt: skip


def role_name(role: int | None) -> str:
    """The role in GitLab's word; unknown numbers by number."""
    return "no role" if role is None else ROLE_NAMES.get(role, f"role {role}")


class Why(StrEnum):
    """Why somebody's word does not count, or may not be acted on."""

    BOT_ITSELF = "bot_itself"
    BOT = "bot"
    BLOCKED = "blocked"
    NOT_A_MEMBER = "not_a_member"
    ADMINISTRATOR_NOT_A_MEMBER = "administrator_not_a_member"
    MEMBERSHIP_AWAITING = "membership_awaiting"
    MEMBERSHIP_EXPIRED = "membership_expired"
    ROLE_BELOW_THRESHOLD = "role_below_threshold"
    LOOKUP_FAILED = "lookup_failed"


@dataclass(frozen=True)
class Membership:
    """`GET /projects/:id/members/all/:user_id`: the effective role in the project, inherited and invited included."""

    role: int
    state: str = "active"
    membership_state: str = "active"
    expires_at: date | None = None


@dataclass(frozen=True)
class Account:
    """`GET /users/:id`, as far as it matters here."""

    id: int
    username: str
    name: str = ""
    state: str = "active"
    bot: bool = False
    admin: bool = False


@dataclass(frozen=True)
class Standing:
    """What is known about one person in one project. `unknown` when a look-up failed: then nothing is decided."""

    account: Account
    membership: Membership | None
    unknown: bool = False


@dataclass(frozen=True)
class Verdict:
    """Yes (`why` is None) or no, because. `role` is the role it was decided on."""

    why: Why | None
    role: int | None

    @property
    def allowed(self) -> bool:
        return self.why is None


@dataclass(frozen=True)
class Policy:
    """The minimum roles, as numbers (DESIGN section 4)."""

    start: int = 30
    answer: int = 15
    resume: int = 15
    resume_own_item: int = 10


def may_answer(standing: Standing, policy: Policy, *, bot_ids: frozenset[int], today: date) -> Verdict:
    """Does this person's reply count (rows G43, G44)?"""
    return _judge(standing, policy.answer, bot_ids, today)


def may_start(standing: Standing, policy: Policy, *, bot_ids: frozenset[int], today: date) -> Verdict:
    """May a run be started for this person (row G42)?"""
    return _judge(standing, policy.start, bot_ids, today)


def may_continue(
    standing: Standing, policy: Policy, *, owns_item: bool, incident: bool, bot_ids: frozenset[int], today: date
) -> Verdict:
    """May this person press Continue (rows G38, G39)? The rule GitLab has for updating an item (contract section 6)."""
    least = policy.resume_own_item if owns_item and not incident else policy.resume
    return _judge(standing, least, bot_ids, today)


def _judge(standing: Standing, least: int, bot_ids: frozenset[int], today: date) -> Verdict:
    account, membership = standing.account, standing.membership
    role = None if membership is None else membership.role
    if account.id in bot_ids:
        return Verdict(Why.BOT_ITSELF, role)
    if standing.unknown:
        return Verdict(Why.LOOKUP_FAILED, None)
    if account.bot:
        return Verdict(Why.BOT, role)
    if account.state != "active":
        return Verdict(Why.BLOCKED, role)
    if membership is None:
        return Verdict(Why.ADMINISTRATOR_NOT_A_MEMBER if account.admin else Why.NOT_A_MEMBER, None)
    if membership.state != "active":
        return Verdict(Why.BLOCKED, role)
    if membership.membership_state != "active":
        return Verdict(Why.MEMBERSHIP_AWAITING, role)
    if membership.expires_at is not None and membership.expires_at <= today:
        return Verdict(Why.MEMBERSHIP_EXPIRED, role)
    if membership.role < least:
        return Verdict(Why.ROLE_BELOW_THRESHOLD, role)
    return Verdict(None, role)
