"""The demo world: one project, one issue that needs a decision, and people of every role."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.sandbox.world import World, utc_now

BOT = "project_77_bot_0a1b"

DESCRIPTION = """\
The importer reads supplier price lists every night and has to keep them somewhere.

**What we know**

- about 2 million rows, growing by 10,000 a day
- two services read at the same time, one writes
- operations already runs PostgreSQL for the shop

**What is open**

Which database should the importer write to, and may it share the shop's server?
"""


def demo_world(clock: Callable[[], datetime] = utc_now) -> World:
    """Project `acme/platform/api` with issue 12, people by role, and a token for each."""
    world = World(clock=clock)
    project = world.add_project("acme/platform/api", id=77, visibility="public")
    dana = world.add_user("dana", name="Dana R", id=201)
    gil = world.add_user("gil", name="Gil N", id=202)
    petra = world.add_user("petra", name="Petra L", id=203)
    omar = world.add_user("omar", name="Omar K", id=204)
    stranger = world.add_user("stranger", name="Sam Stranger", id=777)
    bot = world.add_user(BOT, name="Question bot", id=9001, bot=True)
    for user, level in ((dana, 30), (gil, 10), (petra, 15), (omar, 40), (bot, 15)):
        world.add_member(project, user, level)
    for user in (dana, gil, petra, omar, stranger, bot):
        world.add_token(user, scopes=("api",), name=f"{user.username}'s token")
    for name, color in (("decision", "#6699cc"), ("importer", "#8fbc8f")):
        world.add_label(project, name, color)
    issue = world.add_issue(project, dana, "Importer: choose a database", DESCRIPTION, iid=12, assignees=(dana,))
    issue.labels = ["importer"]
    return world
