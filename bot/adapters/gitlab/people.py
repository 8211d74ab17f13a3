"""`bot.ports.People`: asks GitLab whose personal token this is. The token lives for one request and is nowhere else kept."""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pydantic import SecretStr

from bot.adapters.gitlab import parse
from bot.adapters.gitlab.clients import token_is_plausible
from bot.adapters.gitlab.connection import TIMEOUT, Connection
from bot.core.eligibility import Account
from bot.core.errors import TokenRefused, Unauthenticated
from bot.flows.keys import PREFIX


class TokenPeople:
    """People of one instance, by their own tokens. Each is asked about anew, so that a revoked token ends at once."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float = TIMEOUT,
        ca_file: Path | None = None,
        proxy: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = url
        self._timeout = timeout
        self._ca_file = ca_file
        self._proxy = proxy
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"TokenPeople({self._url!r})"

    def who(self, token: str) -> Account:
        """The account behind `token`. Raises `Unauthenticated`, and the `RemoteError` family."""
        if token.startswith(PREFIX):
            raise Unauthenticated("this is a flow's key, not a GitLab token", code="not_a_gitlab_token")
        if not token_is_plausible(token):
            raise Unauthenticated("this is not a GitLab token", code="not_a_gitlab_token")
        connection = Connection(
            self._url,
            SecretStr(token),
            timeout=self._timeout,
            ca_file=self._ca_file,
            proxy=self._proxy,
            sleep=self._sleep,
        )
        with closing(connection):
            try:
                answer = connection.call("GET", "/user", write=False, about="whose token is this")
            except TokenRefused as error:
                message = "GitLab does not accept this token: it is wrong, expired or revoked; make one with scope `read_api`"
                raise Unauthenticated(message, code="token_refused") from error
        return parse.account(answer.data)
