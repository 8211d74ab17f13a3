"""A connection to the very network address that was checked, so that a name cannot point elsewhere in between.

Not here: which URLs are allowed (`address`), or what is sent (`callback`).
"""

import io
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.adapters.targets.address import Address
from bot.core.errors import ConfigError

SockAddr = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
IP = ipaddress.IPv4Address | ipaddress.IPv6Address

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Set aside for protocols, relays and documentation; not every supported Python knows all of them.
_SPECIAL = tuple(
    ipaddress.ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "3fff::/20")
)


class Resolve(Protocol):
    """`socket.getaddrinfo`, as far as it is used."""

    def __call__(
        self, host: str, port: int, *, type: int
    ) -> Sequence[tuple[socket.AddressFamily, socket.SocketKind, int, str, SockAddr]]: ...


@dataclass(frozen=True)
class Place:
    """A network address that a name stood for when it was looked up."""

    family: socket.AddressFamily
    sockaddr: SockAddr

    @property
    def public(self) -> bool:
        """False as well for what is not an IP address at all."""
        try:
            return is_public(ipaddress.ip_address(str(self.sockaddr[0])))
        except ValueError:
            return False


class Deadline:
    """The moment by which all of it has to be over, however slowly the other side answers."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds. Raises `TimeoutError` when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is up")
        return left


class Line(io.RawIOBase):
    """A connected socket whose every wait ends at the deadline; the part of a socket that `http.client` uses."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        super().__init__()
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # mypy has no Buffer before 3.12
        self._sock.settimeout(self._deadline.left())
        return self._sock.recv_into(buffer)

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._sock.settimeout(self._deadline.left())
            rest = rest[self._sock.send(rest) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def close(self) -> None:
        """Nothing: `http.client` closes before it reads the body. Whoever opened the socket closes it."""


def is_public(ip: IP) -> bool:
    """True for an address on the open internet, False for everything that may be inside: also where one is embedded."""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(ip.ipv4_mapped)
        if ip in _NAT64:
            return is_public(ipaddress.IPv4Address(ip.packed[-4:]))
        if ip.sixtofour is not None:
            return is_public(ip.sixtofour)
        if ip not in _GLOBAL_UNICAST:
            return False
    inside = ip.is_multicast or ip.is_reserved or any(ip in network for network in _SPECIAL)
    return ip.is_global and not inside


def places(address: Address, resolve: Resolve) -> list[Place]:
    """What the host stands for now, asked once. Raises `OSError`."""
    found = resolve(address.host, address.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(Place(family, sockaddr) for family, _, _, _, sockaddr in found))


def connected(address: Address, to: Sequence[Place], deadline: Deadline, ca_file: Path | None) -> socket.socket:
    """A socket to the first of `to` that answers, for https with TLS verified for the host. Raises `OSError`."""
    context = _context(ca_file) if address.scheme == "https" else None
    sock = _first(to, deadline)
    if context is None:
        return sock
    try:
        sock.settimeout(deadline.left())
        return context.wrap_socket(sock, server_hostname=address.host)
    except OSError:
        sock.close()
        raise


def _first(to: Sequence[Place], deadline: Deadline) -> socket.socket:
    failure = OSError("the name has no address")
    for tried, place in enumerate(to):
        try:
            sock = socket.socket(place.family, socket.SOCK_STREAM)
        except OSError as error:  # a family this computer does not have
            failure = error
            continue
        try:
            # A share of the time for each, so that one silent address leaves some for the others.
            sock.settimeout(deadline.left() / (len(to) - tried))
            sock.connect(place.sockaddr)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            failure = error
            continue
        return sock
    raise failure


def _context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigError(f"{ca_file} cannot be used as the authority for callbacks ({error}): name a PEM file") from error
