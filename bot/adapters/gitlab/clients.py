"""Makes python-gitlab clients, one for each thread, that can reach one instance and nothing else. Not here: sending."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, local
from typing import Any
from weakref import WeakSet

import gitlab
import requests
from pydantic import SecretStr
from requests.adapters import HTTPAdapter

from bot.core.errors import ConfigError

PER_PAGE = 100  # the most GitLab gives (contract section 4)


def token_is_plausible(token: str) -> bool:
    """Visible ASCII only: anything else would end up, spelled out, in the error text of the HTTP library."""
    return re.fullmatch(r"[!-~]+", token) is not None


@dataclass
class Mine:
    """What one thread has to itself. python-gitlab's errors leave the headers out, so the last answer's are kept here."""

    client: gitlab.Gitlab
    headers: Mapping[str, str] = field(default_factory=dict)

    def keep_headers(self, response: requests.Response, **_: Any) -> None:
        self.headers = response.headers


class _ThroughProxy(HTTPAdapter):
    """Uses the configured proxy: a session's own gives way to the environment's in requests."""

    def __init__(self, proxy: str) -> None:
        super().__init__()
        self._proxies = {"http": proxy, "https": proxy}

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        return super().send(request, *args, **{**options, "proxies": self._proxies})


class Clients:
    """A client for each thread that asks: a `requests.Session` must not be shared between threads."""

    def __init__(self, url: str, token: SecretStr, *, timeout: float, ca_file: Path | None, proxy: str | None) -> None:
        """Connects to nothing yet. Raises `ConfigError` for values that can never work."""
        if not token_is_plausible(token.get_secret_value()):
            raise ConfigError("the GitLab token is empty, or holds spaces or characters that no token has: copy it again")
        if ca_file is not None and not ca_file.is_file():
            raise ConfigError(f"gitlab.ca_file: {ca_file} is no file: name the authority's certificate in PEM format")
        self._url = url
        self._root = _as_sent(f"{url}/")
        self._token = token
        self._timeout = timeout
        self._verify: bool | str = True if ca_file is None else str(ca_file)
        self._proxy = proxy
        self._local = local()
        self._sessions: WeakSet[requests.Session] = WeakSet()
        self._lock = Lock()

    def mine(self) -> Mine:
        """This thread's."""
        kept: Mine | None = getattr(self._local, "mine", None)
        if kept is None:
            kept = self._local.mine = self._make()
        return kept

    def close(self) -> None:
        """Close what the clients of all threads hold open."""
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.close()

    def _make(self) -> Mine:
        session = requests.Session()
        session.adapters.clear()
        # Only this address is mounted, so no link and no redirect can carry the token to another.
        session.mount(self._root, HTTPAdapter() if self._proxy is None else _ThroughProxy(self._proxy))
        client = gitlab.Gitlab(
            self._url,
            oauth_token=self._token.get_secret_value(),  # GitLab takes access tokens of every kind as a bearer
            ssl_verify=self._verify,
            timeout=self._timeout,
            per_page=PER_PAGE,
            retry_transient_errors=False,  # it would repeat writes as well
            keep_base_url=True,  # links in answers may name another address than the one GitLab is reached at
            session=session,
        )
        mine = Mine(client)
        session.hooks["response"].append(mine.keep_headers)
        with self._lock:
            self._sessions.add(session)
        return mine


def _as_sent(url: str) -> str:
    """The address as requests writes it (host in ASCII, path escaped)."""
    try:
        return requests.Request("GET", url).prepare().url or url
    except requests.RequestException as error:
        raise ConfigError(f"gitlab.url: {url} is not an address") from error
