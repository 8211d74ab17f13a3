"""The callback target against real servers on loopback: what is sent, what answers mean, and what is never connected to."""

import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr
from standardwebhooks import Webhook, WebhookVerificationError

from bot.adapters.system import SystemClock
from bot.adapters.targets.callback import CallbackTarget
from bot.core.errors import ConfigError, Invalid, RateLimited, Refused, Unavailable
from bot.core.models import CallbackTarget as CallbackSpec
from bot.ports import ResumeTarget
from bot.testing.clock import START, MovableClock

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
DOCUMENT = '{"format":1,"goal":"Größe <b>","questions":[]}'.encode()
RESUME = "5f0c"


@dataclass
class Receiver:
    """A server that keeps what it gets and answers as told."""

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hitl"


@contextmanager
def _serving(receiver: Receiver, context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            receiver.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((self.path, dict(self.headers.items()), body))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(receiver.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Tests are quiet."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hangs up is part of the tests."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        receiver.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with _serving(Receiver()) as receiver:
        yield receiver


@contextmanager
def _raw(*pieces: bytes, pause: float = 0.0) -> Iterator[str]:
    """A server that reads something, sends `pieces` with pauses, and hangs until the test is over."""
    over = Event()

    def talk(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            for piece in pieces:
                if over.wait(pause):
                    return
                try:
                    connection.sendall(piece)
                except OSError:
                    return
            over.wait(10)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=talk, args=(server,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/hitl"
        finally:
            over.set()
            thread.join()


def _run(url: str) -> Any:
    return SimpleNamespace(id="r1", target=CallbackSpec(url=url))


def _target(*allowed: str, **options: Any) -> CallbackTarget:
    return CallbackTarget(
        allowed, SecretStr(SECRET), **{"allow_private": True, "timeout": 5.0, "clock": SystemClock(), **options}
    )


def _send(url: str, **options: Any) -> None:
    target: ResumeTarget = _target(url.partition("?")[0], **options)
    target.hand_over(_run(url), RESUME, DOCUMENT)


def _found(*hosts: str, port: int | None = None) -> Any:
    """A resolver that answers with `hosts` in turn, all of a turn at once when they are joined by a comma."""
    turns = iter(hosts)

    def resolve(host: str, asked: int, *, type: int) -> list[Any]:
        return [
            (socket.AF_INET6 if ":" in ip else socket.AF_INET, type, 6, "", (ip, asked if port is None else port))
            for ip in next(turns).split(",")
        ]

    return resolve


def test_the_exact_bytes_arrive_signed(receiver: Receiver) -> None:
    """As the library of Standard Webhooks verifies them, at the path and query that were given."""
    _send(f"{receiver.url}?run=1&x=%2F")
    path, headers, body = receiver.got[0]
    assert path == "/hitl?run=1&x=%2F"
    assert body == DOCUMENT
    assert headers["Content-Type"] == "application/json"
    assert headers["webhook-id"] == RESUME
    Webhook(SECRET).verify(body, headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(body + b" ", headers, json_parse=False)


def test_the_id_stays_and_the_time_moves_on(receiver: Receiver) -> None:
    """A retry is signed anew, with the id of the first attempt and the same bytes."""
    clock = MovableClock()
    target = _target(receiver.url, clock=clock)
    for _ in range(2):
        target.hand_over(_run(receiver.url), RESUME, DOCUMENT)
        clock.move(minutes=10)
    (_, first, body), (_, second, again) = receiver.got
    assert body == again
    assert first["webhook-id"] == second["webhook-id"]
    assert int(first["webhook-timestamp"]) == START.timestamp()
    assert int(second["webhook-timestamp"]) - int(first["webhook-timestamp"]) == 600
    assert first["webhook-signature"] != second["webhook-signature"]


def test_proxies_of_the_environment_are_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _send(receiver.url)
    assert len(receiver.got) == 1


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_taken(receiver: Receiver, status: int) -> None:
    receiver.status = status
    _send(receiver.url)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(receiver: Receiver, status: int) -> None:
    """Not even to the same server; the message says where it would have gone, without password and query."""
    receiver.status = status
    receiver.headers = {"Location": f"http://dana:hunter2@127.0.0.1:{receiver.port}/other?token=s3cret"}
    with pytest.raises(Unavailable, match=f"{status}.*127.0.0.1:{receiver.port}/other") as caught:
        _send(receiver.url)
    assert receiver.connections == 1
    assert "hunter2" not in caught.value.message
    assert "s3cret" not in caught.value.message


def test_410_ends_it(receiver: Receiver) -> None:
    receiver.status = 410
    with pytest.raises(Refused, match="410") as caught:
        _send(receiver.url)
    assert caught.value.code == "callback_refused"


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ({"Retry-After": "120"}, timedelta(seconds=120)),
        ({"Retry-After": "Mon, 02 Mar 2026 09:05:00 GMT"}, timedelta(minutes=5)),
        ({"Retry-After": "Mon, 02 Mar 2026 08:00:00 GMT"}, timedelta(0)),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_429_says_how_long(receiver: Receiver, header: dict[str, str], wait: timedelta | None) -> None:
    receiver.status, receiver.headers = 429, header
    with pytest.raises(RateLimited, match="429") as caught:
        _send(receiver.url, clock=MovableClock(datetime(2026, 3, 2, 9, 0, tzinfo=UTC)))
    asked = caught.value.retry_after
    assert asked == wait or (asked is not None and wait is not None and abs(asked - wait) < timedelta(seconds=1))


@pytest.mark.parametrize("status", [400, 401, 404, 413, 500, 502, 503])
def test_everything_else_is_tried_again(receiver: Receiver, status: int) -> None:
    """It may have arrived; the message holds the URL without its query, the status, and a short piece of the answer."""
    receiver.status, receiver.body = status, b"no\n\x1b[31m " + SECRET.removeprefix("whsec_").encode() + b" " + b"x" * 100_000
    with pytest.raises(Unavailable) as caught:
        _send(f"{receiver.url}?token=s3cret")
    message = caught.value.message
    assert caught.value.doubtful
    assert caught.value.code == "callback_unavailable"
    assert f"{receiver.url}: {status} (no [31m [secret] xxx" in message
    assert "s3cret" not in message
    assert SECRET.removeprefix("whsec_") not in message
    assert message.count("x") < 200


@pytest.mark.parametrize(
    ("pieces", "pause"),
    [
        ((), 0.0),
        ((b"HTTP/1.1 200 OK\r\n",), 0.0),
        ((b"HTTP/1.1 200 OK\r\nX: ", *[b"x"] * 100), 0.05),
    ],
    ids=["silent", "half an answer", "byte by byte"],
)
def test_a_hanging_receiver_is_left(pieces: tuple[bytes, ...], pause: float) -> None:
    """The whole exchange has one deadline, however often a byte comes."""
    began = time.monotonic()
    with _raw(*pieces, pause=pause) as url:
        with pytest.raises(Unavailable, match=r"no answer in 0\.3 s") as caught:
            _send(url, timeout=0.3)
        assert time.monotonic() - began < 2
    assert caught.value.doubtful


def test_a_body_without_end_is_not_waited_for() -> None:
    """The status has been said: 64 kB are read at most."""
    with _raw(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 200_000) as url:
        began = time.monotonic()
        _send(url)
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("said", [b"220 mail.example ESMTP\r\n" + b"y" * 1000, b"HTTP/1.1 2000 Odd\r\n\r\n"])
def test_what_does_not_speak_http_is_named(said: bytes) -> None:
    with _raw(said + b"\r\n") as url, pytest.raises(Unavailable, match="not HTTP") as caught:
        _send(url)
    assert caught.value.doubtful
    assert "yyy" not in caught.value.message


def test_a_connection_that_never_was_leaves_no_doubt() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Unavailable, match="no connection") as caught:
        _send(f"http://127.0.0.1:{port}/hitl")
    assert not caught.value.doubtful


def test_an_unknown_host_leaves_no_doubt() -> None:
    def resolve(host: str, port: int, *, type: int) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(Unavailable, match="not found") as caught:
        _send("http://nowhere.invalid/hitl", resolve=resolve)
    assert not caught.value.doubtful


@pytest.mark.parametrize(
    "ip",
    [
        *("10.0.0.1", "127.0.0.1", "169.254.169.254", "224.0.0.1", "240.0.0.1", "::", "::1", "fe80::1", "fd00::1"),
        *("::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1"),
    ],
)
def test_inside_addresses_are_refused(receiver: Receiver, ip: str) -> None:
    """Whatever the name stands for besides, and without any connection."""
    resolve = _found(f"93.184.216.34,{ip}", port=receiver.port)
    with pytest.raises(Refused, match="not a public address"):
        _send("http://hooks.example.com/hitl", resolve=resolve, allow_private=False)
    assert receiver.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
def test_inside_hosts_are_refused_however_written(receiver: Receiver, host: str) -> None:
    """With the system's own resolver, which reads more spellings than one thinks of."""
    with pytest.raises((Refused, Unavailable)):
        _send(f"http://{host}:{receiver.port}/hitl", allow_private=False)
    assert receiver.connections == 0


def test_a_name_cannot_point_elsewhere_in_between(receiver: Receiver) -> None:
    """One look-up; the connection goes to its answer, the request still names the host."""
    resolve = _found("127.0.0.1", "203.0.113.7")
    _send(f"http://rebinding.example:{receiver.port}/hitl", resolve=resolve)
    assert receiver.got[0][1]["Host"] == f"rebinding.example:{receiver.port}"
    assert resolve("rebinding.example", 80, type=1)[0][4][0] == "203.0.113.7"  # the second answer was never asked for


def test_only_allowed_urls(receiver: Receiver) -> None:
    """`check` names the field; a run from before the rules changed is refused for good, and nothing is sent."""
    target = _target(f"{receiver.url}/flows")
    target.check(CallbackSpec(url=f"{receiver.url}/flows/a"))
    with pytest.raises(Invalid) as caught:
        target.check(CallbackSpec(url=f"{receiver.url}?token=s3cret"))
    assert (caught.value.field, caught.value.code) == ("resume.url", "url_not_allowed")
    assert "s3cret" not in caught.value.message
    with pytest.raises(Refused, match="nothing was sent"):
        target.hand_over(_run(receiver.url), RESUME, DOCUMENT)
    with pytest.raises(Invalid):
        _target().check(CallbackSpec(url=receiver.url))
    assert receiver.connections == 0


@pytest.mark.parametrize("secret", ["whsec_", "whsec_c2hvcnQ=", "not base64 at all, but long enough to be", "gehéim" * 9])
def test_a_weak_secret_is_a_configuration_error(secret: str) -> None:
    with pytest.raises(ConfigError) as caught:
        CallbackTarget([], SecretStr(secret), clock=SystemClock())
    assert (secret.removeprefix("whsec_") or "nothing") not in caught.value.message


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for hooks.example.com, with its key in the same file."""
    folder = tmp_path_factory.mktemp("tls")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=hooks.example.com"
    files = ["-addext", "subjectAltName=DNS:hooks.example.com", "-keyout", "key.pem", "-out", "cert.pem"]
    try:
        subprocess.run([*make.split(), *files], cwd=folder, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    both = folder / "both.pem"
    both.write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())
    return both


@pytest.fixture
def secure(authority: Path) -> Iterator[Receiver]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority)
    with _serving(Receiver(), context) as receiver:
        yield receiver


def test_tls_is_verified_for_the_name(secure: Receiver, authority: Path) -> None:
    """The connection goes to an address, the certificate has to be the host's."""
    _send(f"https://hooks.example.com:{secure.port}/hitl", resolve=_found("127.0.0.1"), ca_file=authority)
    assert secure.got[0][2] == DOCUMENT


def test_another_names_certificate_is_refused(secure: Receiver, authority: Path) -> None:
    with pytest.raises(Unavailable, match="certificate") as caught:
        _send(f"https://other.example.com:{secure.port}/hitl", resolve=_found("127.0.0.1"), ca_file=authority)
    assert not caught.value.doubtful
    assert secure.got == []


def test_an_unknown_authority_is_refused(secure: Receiver) -> None:
    with pytest.raises(Unavailable, match="certificate"):
        _send(f"https://hooks.example.com:{secure.port}/hitl", resolve=_found("127.0.0.1"))
    assert secure.got == []


def test_a_missing_authority_file_is_a_configuration_error(secure: Receiver, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.pem"):
        _send(f"https://hooks.example.com:{secure.port}/hitl", resolve=_found("127.0.0.1"), ca_file=tmp_path / "none.pem")
