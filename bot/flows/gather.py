"""Facts a decision needs, fetched: who the people in a thread are to the project. Failed look-ups are raised, never guessed."""

import hashlib
from collections.abc import Iterable

from bot.core.classify import Facts, people_to_judge
from bot.core.eligibility import Account, Standing
from bot.core.models import Run
from bot.core.thread import Thread
from bot.flows.parts import Parts, Project


def standing_of(project: Project, user_id: int, *, fresh: bool = False) -> Standing:
    """One person's role and account. The account is only asked for where the role could matter at all.

    Raises the `RemoteError` family; a person GitLab does not know is raised as `Gone`.
    """
    membership = project.gateway.membership(user_id, fresh=fresh)
    if membership is None or membership.role < min(project.policy.answer, project.policy.resume_own_item):
        return Standing(Account(user_id, ""), membership)
    return Standing(project.gateway.account(user_id), membership)


def facts_for(parts: Parts, project: Project, run: Run, threads: Iterable[Thread], *, fresh: bool = False) -> Facts:
    """Everything `classify` needs for these threads, each person looked up once."""
    bot_ids = project.bot_ids()
    people = frozenset[int]().union(*(people_to_judge(thread, bot_ids, parts.keys) for thread in threads))
    return Facts(
        standings={user_id: standing_of(project, user_id, fresh=fresh) for user_id in sorted(people)},
        policy=project.policy,
        bot_ids=bot_ids,
        keys=parts.keys,
        owner_id=run.owner.id,
        today=parts.clock.now().date(),
        names=project.names(),
    )


def description_hash(description: str) -> str:
    """What a change of the description is noticed by (row G51)."""
    return hashlib.sha256(description.encode("utf-8", "surrogatepass")).hexdigest()
