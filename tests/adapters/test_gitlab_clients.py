"""Where requests go and with what: address, timeout, authority and proxy; one client a thread; the token nowhere else."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import responses
from pydantic import SecretStr

from bot.adapters.gitlab.connection import Connection
from bot.core.errors import ConfigError, Refused
from bot.testing.clock import MovableClock

URL = "https://gitlab.example.com"
API = f"{URL}/api/v4"
TOKEN = "glpat-do-not-tell-anybody"
NOTES = "/projects/77/issues/12/notes"


@pytest.fixture
def gitlab() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@dataclass
class Line:
    """A connection whose sleeps are recorded and whose jitter is the middle."""

    url: str = URL
    slept: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = Connection(
            self.url, SecretStr(TOKEN), sleep=self.slept.append, jitter=lambda: 0.5, clock=MovableClock()
        )

    def read(self, path: str = "/version") -> Any:
        return self.connection.call("GET", path, write=False, about="project group/project").data

    def write(self) -> Any:
        return self.connection.call("POST", NOTES, write=True, about="project group/project", body={"body": "x"}).data


@pytest.fixture
def line() -> Line:
    return Line()


def test_links_to_another_address_come_back_to_this_one(gitlab: responses.RequestsMock, line: Line) -> None:
    """Behind a proxy GitLab links to its own address; the next page is still asked for at the configured one."""
    gitlab.get(f"{API}/rows", json=[1], headers={"Link": '<http://inside.example/api/v4/rows?page=2>; rel="next"'})
    gitlab.get(f"{API}/rows", json=[2])
    assert list(line.connection.pages("/rows", about="project group/project")) == [1, 2]


def test_urls_may_have_a_path(gitlab: responses.RequestsMock) -> None:
    """An instance below a path is reached there, its pages as well."""
    base = "https://example.com/git/lab"
    gitlab.get(f"{base}/api/v4/rows", json=[1], headers={"Link": f'<{base}/api/v4/rows?page=2>; rel="next"'})
    gitlab.get(f"{base}/api/v4/rows", json=[2])
    assert list(Line(f"{base}/").connection.pages("/rows", about="project group/project")) == [1, 2]


def test_redirects_within_the_instance_are_followed_when_reading(gitlab: responses.RequestsMock, line: Line) -> None:
    """GitLab redirects reads of a project's old path to its id, and the token goes along."""
    gitlab.get(f"{API}/projects/old", status=301, headers={"Location": f"{API}/projects/77"})
    gitlab.get(f"{API}/projects/77", json={"id": 77})
    assert line.read("/projects/old") == {"id": 77}
    assert gitlab.calls[1].request.headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("elsewhere", ["https://elsewhere.example/api/v4/version", "https://gitlab.example.com.evil.example/"])
def test_nothing_is_sent_to_another_address(gitlab: responses.RequestsMock, line: Line, elsewhere: str) -> None:
    """A redirect away from the instance is refused before anything, above all the token, is sent there."""
    gitlab.get(f"{API}/version", status=302, headers={"Location": elsewhere})
    gitlab.get(elsewhere, json={})
    with pytest.raises(Refused, match=r"correct gitlab\.url"):
        line.read()
    assert [call.request.url for call in gitlab.calls] == [f"{API}/version"]


def test_redirected_writes_are_refused(gitlab: responses.RequestsMock, line: Line) -> None:
    """A redirected POST would arrive as a GET: it is refused with what to correct."""
    gitlab.post(f"{API}{NOTES}", status=301, headers={"Location": f"{API}/elsewhere"})
    gitlab.get(f"{API}/elsewhere", json={})
    with pytest.raises(Refused, match=r"correct gitlab\.url"):
        line.write()


def test_timeout_ca_and_proxy_are_passed_on(gitlab: responses.RequestsMock, tmp_path: Path) -> None:
    """Every request has the configured timeout, authority and proxy, whatever the environment says."""
    authority = tmp_path / "ca.pem"
    authority.write_text("an authority")
    gitlab.get(f"{API}/version", json={})
    connection = Connection(URL, SecretStr(TOKEN), timeout=7, ca_file=authority, proxy="http://proxy.example:3128")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HTTPS_PROXY", "http://other.example:1")
        environment.setenv("REQUESTS_CA_BUNDLE", "other.pem")
        connection.call("GET", "/version", write=False, about="nothing")
    sent = gitlab.calls[0].request.req_kwargs
    assert sent["timeout"] == 7
    assert sent["verify"] == str(authority)
    assert sent["proxies"]["https"] == "http://proxy.example:3128"


def test_the_default_timeout_is_explicit(gitlab: responses.RequestsMock, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without configuration a hung GitLab is given up after 20 seconds, and certificates are checked."""
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    gitlab.get(f"{API}/version", json={})
    line.read()
    sent = gitlab.calls[0].request.req_kwargs
    assert (sent["timeout"], sent["verify"]) == (20.0, True)


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "glpat-ü"])
def test_impossible_tokens_are_refused_at_once(token: str) -> None:
    """A token that cannot be one is a configuration error, which does not repeat it."""
    with pytest.raises(ConfigError) as caught:
        Connection(URL, SecretStr(token))
    assert not token or token not in str(caught.value)


def test_a_missing_authority_is_a_configuration_error(tmp_path: Path) -> None:
    """A `ca_file` that is not there is named before the first request."""
    with pytest.raises(ConfigError, match=r"gitlab\.ca_file"):
        Connection(URL, SecretStr(TOKEN), ca_file=tmp_path / "missing.pem")


def test_each_thread_has_a_client_of_its_own(line: Line) -> None:
    """Two threads never share a client, one thread keeps its own."""
    together = Barrier(2)

    def clients() -> tuple[int, int]:
        first = id(line.connection.client())
        together.wait(10)
        return first, id(line.connection.client())

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.submit(clients), pool.submit(clients)
        assert one.result()[0] == one.result()[1]
        assert one.result()[0] != two.result()[0]


def test_closing_twice_is_fine(gitlab: responses.RequestsMock, line: Line) -> None:
    """A connection can be closed more than once, and by any thread."""
    gitlab.get(f"{API}/version", json={})
    line.read()
    line.connection.close()
    line.connection.close()


def test_impossible_addresses_are_refused_at_once() -> None:
    """A URL that is none is a configuration error, before the first request."""
    with pytest.raises(ConfigError, match=r"gitlab\.url"):
        Connection("https://", SecretStr(TOKEN))


def test_addresses_may_need_rewriting(gitlab: responses.RequestsMock) -> None:
    """An instance is reached under the address HTTP makes of its URL: capitals and foreign letters do no harm."""
    gitlab.get("https://xn--gitlab-mller-klb.example/api/v4/version", json={"version": "19.0"})
    assert Line("https://Gitlab-Müller.example").read() == {"version": "19.0"}
