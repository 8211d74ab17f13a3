"""`hitl serve` and `hitl sandbox`: run until a signal."""

import logging
import signal
import sys
from pathlib import Path
from threading import Event


def serve(config: Path) -> None:
    """The bot in the foreground; prints one line with its URL when it answers."""
    from bot.bootstrap import build
    from bot.settings import load
    from bot.web.server import listen
    from bot.web.server import serve as serve_app

    settings = load(config)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    bot = build(settings)
    try:
        for notice in bot.notices:
            print(f"hitl: {notice}", file=sys.stderr)
        listener = listen(settings.server.host, settings.server.port)
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host

        def ready() -> None:
            bot.start()
            print(f"hitl serves {len(settings.projects)} project(s) on http://{shown}:{port}", flush=True)

        serve_app(bot.app(), listener, ready)
    finally:
        bot.close()


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
