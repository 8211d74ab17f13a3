"""Serving an application with uvicorn: in the foreground until a signal, or from a thread. Not here: what is served."""

import socket
from collections.abc import Callable
from threading import Thread
from types import TracebackType

import uvicorn
from fastapi import FastAPI

from bot.core.errors import ConfigError

GRACE = 10  # seconds that open requests get when the server stops: as long as a POST of questions may wait


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises `ConfigError` when the address cannot be had."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048)
    except OSError as error:
        raise ConfigError(f"server.host/port: cannot listen on {host}:{port} ({error.strerror}): choose another") from error


def serve(app: FastAPI, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; open requests are finished first."""
    _Server(app, on_ready).run(sockets=[listener])


class ServerThread:
    """The same from a thread, for demos and tests: `with ServerThread(app) as server: server.url`."""

    def __init__(self, app: FastAPI, host: str = "127.0.0.1", port: int = 0) -> None:
        self.app = app
        self._listener = listen(host, port)
        self.url = f"http://{host}:{self._listener.getsockname()[1]}"
        self._server = _Server(app, lambda: None)
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, name="hitl-web", daemon=True)

    def start(self) -> None:
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.005)

    def begin_stop(self) -> None:
        """Stop soon, without waiting for it."""
        self._server.should_exit = True

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=GRACE + 5)

    def __enter__(self) -> "ServerThread":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class _Server(uvicorn.Server):
    """Tells when it is ready: started, and able to answer."""

    def __init__(self, app: FastAPI, on_ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app, log_config=None, access_log=False, timeout_graceful_shutdown=GRACE, server_header=False, lifespan="on"
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()
