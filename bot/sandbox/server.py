"""The sandbox as a running HTTP server on this machine, started and stopped from Python."""

from __future__ import annotations

import asyncio
import socket
from threading import Thread
from types import TracebackType
from typing import cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.sandbox.app import create_app
from bot.sandbox.tracker import Tracker
from bot.sandbox.world import World


class Connections:
    """The open connections by client address, so that a fault can cut one."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], asyncio.Transport] = {}

    def cut(self, client: tuple[str, int]) -> None:
        """End a connection without an answer; called on the server's own loop."""
        transport = self._open.get(client)
        if transport is not None:
            transport.abort()

    def protocol(self) -> type[H11Protocol]:
        """The HTTP protocol, keeping this list of its connections."""
        connections = self._open

        class Listed(H11Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                peer = transport.get_extra_info("peername")
                self.listed_as = (peer[0], peer[1])
                connections[self.listed_as] = cast(asyncio.Transport, transport)
                super().connection_made(cast(asyncio.Transport, transport))

            def connection_lost(self, exc: Exception | None) -> None:
                connections.pop(self.listed_as, None)
                super().connection_lost(exc)

        return Listed


class SandboxServer:
    """Serves a world from a thread.

    `url` is where others reach it: known once it is started, unless it is given.
    """

    def __init__(self, world: World, host: str = "127.0.0.1", port: int = 0, url: str | None = None) -> None:
        self.world = world
        self.tracker = Tracker.over(world)
        self.hooks = self.tracker.hooks
        self.faults = self.tracker.faults
        self.limits = self.tracker.limits
        self.issues = self.tracker.issues
        self.discussions = self.tracker.discussions
        self._host = host
        self._port = port
        self._external = url
        self._server: uvicorn.Server | None = None
        self._thread: Thread | None = None

    @property
    def url(self) -> str:
        """The base address, without a slash at the end."""
        return self.world.url

    def start(self) -> None:
        """Listen and serve; returns when requests are answered."""
        listener = socket.create_server((self._host, self._port))
        port = listener.getsockname()[1]
        self.world.url = (self._external or f"http://{self._host}:{port}").rstrip("/")
        connections = Connections()
        config = uvicorn.Config(
            create_app(self.world, self.tracker, connections.cut),
            http=connections.protocol(),
            log_config=None,
            log_level="warning",
            access_log=False,
            # The client's address names the connection, so no header may change it.
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listener]}, name="sandbox", daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.005)
            if not self._thread.is_alive():
                raise RuntimeError("the sandbox server did not start")

    def begin_stop(self) -> None:
        """Stop soon, without waiting for it."""
        if self._server is not None:
            self._server.should_exit = True

    def stop(self) -> None:
        """Stop serving and delivering hooks."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
            self._server = self._thread = None

    def __enter__(self) -> SandboxServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
