"""`/metrics` for Prometheus: counters of what this process did, and gauges of the queues, read when asked.

Labels are words from closed sets; no person, item or text is in them. It is served to whoever reaches the port, so a
proxy that publishes the bot should not pass `/metrics` on.
"""

from collections.abc import Iterable

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.core.errors import StoreUnavailable
from bot.flows.parts import Event
from bot.ports import Clock, Store
from bot.web.health import Pulse

HOOKS = ("stored", "known", "not_ours", "ignored", "unreadable", "wrong_secret", "not_stored")
RESULTS = {Event.DONE: "done", Event.RETRY: "retry", Event.GIVEN_UP: "given_up"}
API = "/api/"


class Metrics:
    """The numbers of one bot. `note` listens to the flows, as `Parts.note` does."""

    def __init__(self, store: Store, clock: Clock, pulse: Pulse) -> None:
        self._registry = CollectorRegistry()  # its own, since two bots may live in one process
        self._hooks = self._counter("hitl_hooks", "Hook deliveries, by what became of them", "outcome")
        self._replies = self._counter("hitl_replies", "Replies read, new or counting differently now", "counted", "why")
        self._resumes = self._counter("hitl_resumes", "Rounds continued", "mode")
        self._deliveries = self._counter("hitl_deliveries", "Rows worked on: hints heard and effects done", "kind", "result")
        self._requests = self._counter("hitl_api_requests", "Requests of the API by class of status", "status")
        for outcome in HOOKS:
            self._hooks.labels(outcome)  # there from the start, so that a rate can be taken of the first one
        self._registry.register(Standing(store, clock, pulse))

    def note(self, event: str, fields: dict[str, object]) -> None:
        """Count what a flow says."""
        if event in RESULTS:
            self._deliveries.labels(str(fields["kind"]), RESULTS[Event(event)]).inc()
        elif event == Event.REPLY:
            self._replies.labels("yes" if fields["counted"] else "no", str(fields["why"] or "")).inc()
        elif event == Event.CONTINUED:
            self._resumes.labels(str(fields["mode"])).inc()

    def hook(self, outcome: str) -> None:
        """Count one delivery; `outcome` is one of `HOOKS`."""
        self._hooks.labels(outcome).inc()

    def request(self, status: int) -> None:
        self._requests.labels(f"{status // 100}xx").inc()

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)

    def _counter(self, name: str, said: str, *labels: str) -> Counter:
        return Counter(name, said, labels, registry=self._registry)


class Standing:
    """A collector: how the queues and the worker stand at the moment of asking."""

    def __init__(self, store: Store, clock: Clock, pulse: Pulse) -> None:
        self._store = store
        self._clock = clock
        self._pulse = pulse

    def collect(self) -> Iterable[Metric]:
        state, busy = self._pulse()
        yield GaugeMetricFamily("hitl_worker_up", "1 while the worker is there", value=float(state != "dead"))
        yield GaugeMetricFamily("hitl_worker_busy_seconds", "How long the row in hand takes", value=busy or 0.0)
        rows = GaugeMetricFamily("hitl_queue_rows", "Unfinished rows", labels=("queue", "state"))
        age = GaugeMetricFamily("hitl_queue_oldest_due_seconds", "Since when the oldest due row is due", labels=("queue",))
        try:
            with self._store.snapshot() as unit:
                now = self._clock.now()
                counted = {"inbox": unit.inbox.counts(now), "outbox": unit.outbox.counts(now)}
        except StoreUnavailable:
            counted = {}
        for queue, counts in counted.items():
            for state_of_row in ("due", "waiting", "parked"):
                rows.add_metric((queue, state_of_row), getattr(counts, state_of_row))
            late = 0.0 if counts.oldest_due is None else max(0.0, (now - counts.oldest_due).total_seconds())
            age.add_metric((queue,), late)
        yield from (rows, age)
        yield GaugeMetricFamily("hitl_database_up", "1 while the database can be read", value=float(bool(counted)))


class CountRequests:
    """Counts the answers of the API. An answer that never began, because of a fault, is a 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(API):
            await self._app(scope, receive, send)
            return
        status = 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            self._metrics.request(status)


def routes() -> list[BaseRoute]:
    return [Route("/metrics", _metrics)]


def _metrics(request: Request) -> Response:
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.text(), headers={"Cache-Control": "no-store"}, media_type=CONTENT_TYPE_LATEST)
