"""Who looks at a page: the person chosen on it, since the sandbox has no login; form bodies.

A form is taken only from the sandbox's own pages, because a cookie without a login proves nothing.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends
from starlette.requests import Request

from bot.sandbox.records import User
from bot.sandbox.refusals import Forbidden, NotFound
from bot.sandbox.tracker import Tracker
from bot.sandbox.world import World

COOKIE = "sandbox_user"


class Visit:
    """A visit to a page: the tracker, the person, and the fields of a form."""

    def __init__(self, request: Request, tracker: Tracker, form: dict[str, str]) -> None:
        self.request = request
        self.tracker = tracker
        self.world = tracker.world
        self.form = form
        with self.world.lock:
            self.user = chosen(request, self.world)

    def text(self, name: str) -> str:
        """A field of the form; browsers send line ends as CR LF."""
        return self.form.get(name, "").replace("\r\n", "\n")


def chosen(request: Request, world: World) -> User:
    """The person named by `?as=` or the cookie, else the first one who is no bot."""
    name = request.query_params.get("as") or request.cookies.get(COOKIE) or ""
    user = world.user_named(name)
    if user:
        return user
    people = sorted(world.users.values(), key=lambda user: (user.bot, user.id))
    if not people:
        raise NotFound("User")
    return people[0]


async def _visit(request: Request) -> Visit:
    form: dict[str, str] = {}
    if request.method == "POST":
        require_own_page(request)
        raw = (await request.body()).decode("utf-8", "replace")
        form = dict(parse_qsl(raw, keep_blank_values=True))
    return Visit(request, request.app.state.tracker, form)


def require_own_page(request: Request) -> None:
    """403 for a form that was sent from somebody else's page."""
    source = request.headers.get("origin") or request.headers.get("referer")
    if source is not None and urlsplit(source).netloc != request.headers.get("host"):
        raise Forbidden({"message": "403 Forbidden - this form is not from a page of the sandbox"})


Visiting = Annotated[Visit, Depends(_visit)]
