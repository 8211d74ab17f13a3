"""Commands that work on the installation itself: keys, database, recovery. They read the configuration, not the API."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from bot.ports import FlowKey


@contextmanager
def _bot(config: Path) -> Iterator["Bot"]:
    from bot.bootstrap import build
    from bot.settings import load

    bot = build(load(config))
    try:
        for notice in bot.notices:
            print(f"hitl: {notice}", file=sys.stderr)
        yield bot
    finally:
        bot.close()


def create(projects: list[str], name: str, owners: list[str], config: Path, *, as_json: bool) -> None:
    from bot.flows.keys import create_key

    with _bot(config) as bot:
        key, secret = create_key(bot.parts, name=name, projects=projects, owners=owners)
    if as_json:
        print(json.dumps({"id": key.id, "key": secret}))
    else:
        print(f"{secret}\n", end="")
        print(f"hitl: key {key.id} ({name}); it is shown this once, keep it like a password", file=sys.stderr)


def upgrade(config: Path) -> None:
    with _bot(config):
        print("the database is up to date")


def recover(item: str, config: Path, *, as_json: bool) -> None:
    from bot.core.items import parse_item
    from bot.flows.recover import recover as run

    with _bot(config) as bot:
        name = parse_item(item, instance=bot.settings.gitlab.url)
        found = run(bot.parts, name.project, name.iid)
    if as_json:
        print(json.dumps({"runs": found.runs, "questions": found.questions}))
    else:
        print(f"added {found.runs} run(s) and {found.questions} question(s) from the notes of {name.project}#{name.iid}")


def list_keys(config: Path, *, as_json: bool) -> None:
    with _bot(config) as bot:
        with bot.parts.store.snapshot() as unit:
            keys = unit.keys.listed()
        paths = _paths(bot)
    if as_json:
        print(json.dumps([_shown_key(key, paths) for key in keys]))
        return
    for key in keys:
        shown = _shown_key(key, paths)
        state = f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "valid"
        print(f"{key.id}  {state:<18}  {key.name:<16}  {', '.join(shown['projects'])}  made {key.created_at:%Y-%m-%d}")


def revoke(key_id: str, config: Path) -> None:
    from bot.core.errors import NotFound

    with _bot(config) as bot:
        with bot.parts.store.unit() as unit:
            known = unit.keys.revoke(key_id, bot.parts.clock.now())
        if not known:
            raise NotFound(f"there is no key {key_id} that could be revoked: see `hitl keys list`")
    print(f"revoked {key_id}: flows that use it get 401 from now on")


def show_resume(resume_id: str, config: Path, *, as_json: bool) -> None:
    from bot.flows.hand_over import status_of

    with _bot(config) as bot:
        status = status_of(bot.parts, resume_id)
    resume, outgoing = status.resume, status.outgoing
    delivered = None if resume.delivered_at is None else resume.delivered_at.isoformat()
    shown = {
        "resume": resume.id,
        "run": resume.run_id,
        "round": resume.round,
        "target": status.run.target.kind,
        "delivered_at": delivered,
        "state": "pull" if outgoing is None else outgoing.state,
        "attempts": 0 if outgoing is None else outgoing.attempts,
        "next_at": outgoing.due_at.isoformat() if outgoing is not None and outgoing.state == "pending" else None,
        "error": None if outgoing is None else outgoing.error,
        "document": json.loads(resume.document),
    }
    if as_json:
        print(json.dumps(shown))
        return
    for name, value in shown.items():
        if name != "document" and value is not None:
            print(f"{name:<13} {value}")
    print(json.dumps(shown["document"], indent=2, ensure_ascii=False))


def redrive_resume(resume_id: str, config: Path) -> None:
    from bot.flows.hand_over import redrive

    with _bot(config) as bot:
        redrive(bot.parts, resume_id)
    print(f"resume {resume_id} is due now; the running bot hands it over within a second")


def _paths(bot: "Bot") -> dict[int, str]:
    """Project ids of keys as paths, without asking GitLab: what runs have recorded."""
    with bot.parts.store.snapshot() as unit:
        return {run.project_id: run.project_path for run in unit.runs.listed()}


def _shown_key(key: "FlowKey", paths: dict[int, str]) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "projects": [paths.get(project_id, str(project_id)) for project_id in key.project_ids],
        "owners": list(key.owners),
        "created_at": key.created_at.isoformat(),
        "revoked_at": None if key.revoked_at is None else key.revoked_at.isoformat(),
    }
