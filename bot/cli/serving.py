"""`hitl serve` and `hitl sandbox`: run until a signal."""

import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Timer

LONGEST_STOP = 13.0  # seconds from the signal to the end, whatever GitLab is doing; supervisors kill after 15 or more
log = logging.getLogger("bot.cli")


def serve(config: Path) -> None:
    """The bot in the foreground; prints one line with its URL when it answers.

    SIGTERM or SIGINT: nothing new is accepted, requests and the row in hand are finished, the exit code is 0.
    """
    from bot.adapters.logs import configure
    from bot.bootstrap import build
    from bot.settings import load
    from bot.web.server import listen
    from bot.web.server import serve as serve_app

    settings = load(config)
    configure(settings.log.format, settings.log.level)
    bot = build(settings)
    limit = Timer(LONGEST_STOP, _end, [bot.store.close])
    limit.daemon = True
    try:
        for notice in bot.notices:
            print(f"hitl: {notice}", file=sys.stderr)
        listener = listen(settings.server.host, settings.server.port)
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        app = bot.app()
        _survive_signals()

        def stopping() -> None:
            app.state.waiters.closing = True  # long polls answer 204 when they look again, within a second
            bot.worker.finish()
            if not limit.is_alive():
                limit.start()

        def ready() -> None:
            _before_the_server(stopping)
            bot.start()
            print(f"hitl serves {len(settings.projects)} project(s) on http://{shown}:{port}", flush=True)

        serve_app(app, listener, ready)
    finally:
        bot.close()
        limit.cancel()


def _survive_signals() -> None:
    """uvicorn stops on a signal, and then raises it again for whoever handled it before: that must not end us half way."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)


def _before_the_server(stopping: Callable[[], None]) -> None:
    """Let `stopping` run first when the server is told to stop. It is called once the server handles signals itself."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _both(stopping, signal.getsignal(number)))


def _both(first: Callable[[], None], then: object) -> Callable[[int, object], None]:
    def handle(number: int, frame: object) -> None:
        first()
        if callable(then):
            then(number, frame)

    return handle


def _end(close: Callable[[], None]) -> None:
    """What is still in hand waits for somebody else; its row comes back when its lease ends."""
    log.warning("stopped after %.0f s with work in hand: it is taken up again after the next start", LONGEST_STOP)
    close()
    os._exit(0)


def sandbox(port: int) -> None:
    """The sandbox tracker alone."""
    from bot.sandbox.seed import demo_world
    from bot.sandbox.server import SandboxServer

    stopped = Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with SandboxServer(demo_world(), port=port) as server:
        print(f"sandbox tracker on {server.url} (not a GitLab; nothing is kept)", flush=True)
        try:
            stopped.wait()
        except KeyboardInterrupt:
            print()
