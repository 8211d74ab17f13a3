"""Which network addresses are public, and that the one that was looked up is the one connected to."""

import ipaddress
import socket
from contextlib import closing

import pytest

from bot.adapters.targets.address import read
from bot.adapters.targets.pinned import Deadline, Place, connected, is_public, places

INSIDE = [
    "0.0.0.0",  # noqa: S104 - an address to refuse, not one to listen on
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a00:1::",
    "2002:c0a8:101::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%2",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]


@pytest.mark.parametrize("text", INSIDE)
def test_inside(text: str) -> None:
    """Private, loopback, link-local, multicast, reserved and unspecified addresses, and what embeds one."""
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text",
    ["8.8.8.8", "93.184.216.34", "172.32.0.1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2606:4700::1111"],
)
def test_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


def test_what_is_no_ip_address_is_not_public() -> None:
    assert not Place(socket.AF_INET, (1, b"odd")).public


def test_the_first_address_that_answers_is_used() -> None:
    """A dead address does not hide a living one, and no name is looked up on the way."""
    with socket.create_server(("127.0.0.1", 0)) as living, socket.create_server(("127.0.0.1", 0)) as closed:
        dead_port = closed.getsockname()[1]
        closed.close()
        to = [Place(socket.AF_INET, ("127.0.0.1", port)) for port in (dead_port, living.getsockname()[1])]
        with closing(connected(read("http://nowhere.invalid/"), to, Deadline(5), None)) as sock:
            assert sock.getpeername() == living.getsockname()


def test_no_address_is_an_error() -> None:
    with pytest.raises(OSError, match="no address"):
        connected(read("http://nowhere.invalid/"), [], Deadline(5), None)


def test_a_name_is_looked_up_once() -> None:
    """What a second look-up would say makes no difference: the first answer is checked and connected to."""
    answers = iter(["93.184.216.34", "127.0.0.1"])

    def resolve(
        host: str, port: int, *, type: int
    ) -> list[tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int]]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, type, host, (next(answers), port))]

    found = places(read("https://rebinding.example/"), resolve)
    assert found == [Place(socket.AF_INET, ("93.184.216.34", 443))]
    assert all(place.public for place in found)
    assert next(answers) == "127.0.0.1"


def test_the_time_runs_out() -> None:
    with pytest.raises(TimeoutError):
        Deadline(0).left()
