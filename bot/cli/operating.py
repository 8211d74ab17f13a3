"""Commands that work on the installation itself: keys, database, recovery. They read the configuration, not the API."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.bootstrap import Bot


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
