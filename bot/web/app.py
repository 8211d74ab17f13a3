"""The application: routes, errors, and what they are given. Not here: starting a server or a worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from bot import __version__
from bot.flows.parts import Parts
from bot.web import health, metrics, problems, resumes, runs
from bot.web.hooks import gitlab_hook
from bot.web.waiting import Subscribe, Waiters
from bot.wire.gitlab import HookSecret


def create_app(
    parts: Parts,
    hook_secrets: tuple[HookSecret, ...],
    subscribe: Subscribe,
    *,
    standing: health.Health,
    numbers: metrics.Metrics,
) -> FastAPI:
    """The HTTP side of a bot. `subscribe` tells it when runs change; `standing` and `numbers` are what operators ask for."""
    waiters = Waiters(subscribe)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with waiters.connected():
            yield

    app = FastAPI(
        title="hitl", version=__version__, lifespan=lifespan, openapi_url="/api/v1/openapi.json", docs_url=None, redoc_url=None
    )
    app.state.parts = parts
    app.state.hook_secrets = hook_secrets
    app.state.waiters = waiters
    app.state.health = standing
    app.state.metrics = numbers
    app.add_middleware(metrics.CountRequests, metrics=numbers)
    problems.install(app)
    app.include_router(runs.router)
    app.include_router(resumes.router)
    # Plain Starlette routes: a hook needs its raw body and nothing of FastAPI's routing.
    app.router.routes.append(Route("/webhooks/gitlab", gitlab_hook, methods=["POST"]))
    app.router.routes += [*health.routes(), *metrics.routes()]
    return app
