"""Who may do what: the whole table of roles, account states and memberships."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from bot.core.eligibility import (
    Account,
    Membership,
    Policy,
    Standing,
    Verdict,
    Why,
    may_answer,
    may_continue,
    may_start,
    role_name,
)

TODAY = date(2026, 3, 2)
BOT = 9001
FORMER_BOT = 9000
BOTS = frozenset({BOT, FORMER_BOT})
POLICY = Policy()
DANA = Account(id=201, username="dana")
ROLES = [None, 0, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60]
MEMBERS = [role for role in ROLES if role is not None]
VERBS = ["answer", "start", "continue", "continue own item", "continue own incident", "continue incident"]
LEAST = {
    "answer": 15,
    "start": 30,
    "continue": 15,
    "continue own item": 10,
    "continue own incident": 15,
    "continue incident": 15,
}


def standing(role: int | None, account: Account = DANA, **member: object) -> Standing:
    return Standing(account, None if role is None else replace(Membership(role), **member))


def judge(verb: str, who: Standing, policy: Policy = POLICY) -> Verdict:
    if verb == "answer":
        return may_answer(who, policy, bot_ids=BOTS, today=TODAY)
    if verb == "start":
        return may_start(who, policy, bot_ids=BOTS, today=TODAY)
    return may_continue(who, policy, owns_item="own" in verb, incident="incident" in verb, bot_ids=BOTS, today=TODAY)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("role", ROLES)
def test_by_role(verb: str, role: int | None) -> None:
    """An active person may do what their role in the project reaches, unknown roles compared as numbers."""
    why = Why.NOT_A_MEMBER if role is None else Why.ROLE_BELOW_THRESHOLD if role < LEAST[verb] else None
    verdict = judge(verb, standing(role))
    assert (verdict.why, verdict.role, verdict.allowed) == (why, role, why is None)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("account", "member", "why"),
    [
        pytest.param(replace(DANA, state="blocked"), {}, Why.BLOCKED, id="blocked"),
        pytest.param(replace(DANA, state="deactivated"), {}, Why.BLOCKED, id="deactivated"),
        pytest.param(replace(DANA, state="banned"), {}, Why.BLOCKED, id="banned"),
        pytest.param(replace(DANA, state=""), {}, Why.BLOCKED, id="no state"),
        pytest.param(replace(DANA, bot=True), {}, Why.BOT, id="another bot"),
        pytest.param(replace(DANA, bot=True, state="blocked"), {}, Why.BOT, id="a blocked bot"),
        pytest.param(replace(DANA, id=BOT), {}, Why.BOT_ITSELF, id="the bot itself"),
        pytest.param(replace(DANA, id=BOT, bot=True), {}, Why.BOT_ITSELF, id="the bot itself, flagged"),
        pytest.param(replace(DANA, id=FORMER_BOT), {}, Why.BOT_ITSELF, id="a former bot"),
        pytest.param(DANA, {"state": "blocked"}, Why.BLOCKED, id="membership of a blocked user"),
        pytest.param(DANA, {"membership_state": "awaiting"}, Why.MEMBERSHIP_AWAITING, id="awaiting"),
        pytest.param(DANA, {"membership_state": "created"}, Why.MEMBERSHIP_AWAITING, id="unknown membership state"),
        pytest.param(DANA, {"expires_at": TODAY - timedelta(days=1)}, Why.MEMBERSHIP_EXPIRED, id="expired yesterday"),
        pytest.param(DANA, {"expires_at": TODAY}, Why.MEMBERSHIP_EXPIRED, id="expires today"),
        pytest.param(
            replace(DANA, admin=True), {"expires_at": TODAY}, Why.MEMBERSHIP_EXPIRED, id="administrator, membership expired"
        ),
    ],
)
def test_no_role_makes_up_for_a_bad_account(verb: str, account: Account, member: dict[str, object], why: Why) -> None:
    """Bots, inactive people and memberships that do not hold now may do nothing, whatever the role."""
    verdicts = {judge(verb, standing(role, account, **member)) for role in MEMBERS}
    assert {(verdict.why, verdict.allowed) for verdict in verdicts} == {(why, False)}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("account", "member"),
    [
        pytest.param(DANA, {"expires_at": TODAY + timedelta(days=1)}, id="expires tomorrow"),
        pytest.param(replace(DANA, admin=True), {}, id="administrator and member"),
        pytest.param(replace(DANA, username="labbott", name="Lena Abbott"), {}, id="bot in the name"),
        pytest.param(replace(DANA, username="project_77_bot_0a1b"), {}, id="named like the bot"),
    ],
)
def test_what_makes_no_difference(verb: str, account: Account, member: dict[str, object]) -> None:
    """A date still to come, instance rights and names change nothing: the role in the project decides."""
    allowed = [role for role in MEMBERS if judge(verb, standing(role, account, **member)).allowed]
    assert allowed == [role for role in MEMBERS if role >= LEAST[verb]]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("account", "why"),
    [
        pytest.param(DANA, Why.NOT_A_MEMBER, id="stranger"),
        pytest.param(replace(DANA, admin=True), Why.ADMINISTRATOR_NOT_A_MEMBER, id="administrator"),
        pytest.param(replace(DANA, state="blocked"), Why.BLOCKED, id="blocked"),
        pytest.param(replace(DANA, bot=True), Why.BOT, id="bot"),
        pytest.param(replace(DANA, id=BOT), Why.BOT_ITSELF, id="the bot itself"),
    ],
)
def test_without_membership(verb: str, account: Account, why: Why) -> None:
    """Nobody without a membership may do anything, and an administrator is told exactly that."""
    assert judge(verb, standing(None, account)) == Verdict(why, None)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("role", ROLES)
def test_a_failed_look_up_is_no_consent(verb: str, role: int | None) -> None:
    """What could not be looked up is unknown: not allowed, and not called a missing role either."""
    unknown = replace(standing(role), unknown=True)
    assert judge(verb, unknown) == Verdict(Why.LOOKUP_FAILED, None)


@pytest.mark.parametrize("verb", VERBS)
def test_the_bot_needs_no_look_up(verb: str) -> None:
    """The bot is told by its id, also when nothing else is known."""
    assert judge(verb, replace(standing(None, replace(DANA, id=BOT)), unknown=True)).why is Why.BOT_ITSELF


@pytest.mark.parametrize("role", ROLES)
def test_a_guest_may_continue_their_own_item_and_still_not_answer(role: int | None) -> None:
    """Continue and answering are two rules: role 10 continues what they wrote or are assigned to, and answers nothing."""
    may = [judge(verb, standing(role)).allowed for verb in ("continue own item", "continue", "answer")]
    reaches = -1 if role is None else role
    assert may == [reaches >= 10, reaches >= 15, reaches >= 15]


@pytest.mark.parametrize("least", [10, 20, 35, 50])
def test_the_policy_moves_the_line(least: int) -> None:
    """Each rule has its own least role, and changing one leaves the others alone."""
    for verb, policy in [
        ("answer", Policy(answer=least)),
        ("start", Policy(start=least)),
        ("continue", Policy(resume=least)),
        ("continue own item", Policy(resume_own_item=least)),
    ]:
        assert judge(verb, standing(least), policy).allowed
        assert judge(verb, standing(least - 1), policy).why is Why.ROLE_BELOW_THRESHOLD
        others = [other for other in ("answer", "start", "continue", "continue own item") if other != verb]
        assert [judge(other, standing(20), policy) for other in others] == [judge(other, standing(20)) for other in others]


@pytest.mark.parametrize(
    ("role", "name"), [(None, "no role"), (10, "Guest"), (15, "Planner"), (25, "Security Manager"), (35, "role 35")]
)
def test_roles_are_named(role: int | None, name: str) -> None:
    """Roles are called as GitLab calls them; unknown ones by their number."""
    assert role_name(role) == name
