"""Delivery of hooks: headers, signature, log, pausing; what is in a body is `events`' business.

Follows contract section 1: 10 seconds, no retry, the failure count pauses and at last disables
a hook, and events of a disabled hook are dropped.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from datetime import timedelta

import requests

from bot.sandbox.chains import CARRIED, Chains
from bot.sandbox.events import Event
from bot.sandbox.faults import Faults
from bot.sandbox.post import Post
from bot.sandbox.records import Hook, HookDelivery
from bot.sandbox.world import World

FAILURES_BEFORE_PAUSE = 4
FAILURES_BEFORE_END = 40
LONGEST_PAUSE = timedelta(hours=24)
KEPT_RESPONSE = 8 * 1024
LARGEST_BODY = 25 * 1024 * 1024
# GitLab keeps two days; a soak test makes more of them than fit into memory.
KEPT_DELIVERIES = 5_000


def is_permanently_disabled(hook: Hook) -> bool:
    """Whether only a successful test request brings the hook back."""
    return hook.failures >= FAILURES_BEFORE_END


class Hooks:
    """Sends events to the hooks of their project, one after the other, in a thread of its own."""

    def __init__(self, world: World, faults: Faults | None = None, timeout: float = 10.0) -> None:
        self.world = world
        self.timeout = timeout
        self.auto_disabling = True
        self._post = Post(self._deliver, faults or Faults())
        self._chains = Chains()
        self._session = requests.Session()
        # A proxy set for this machine is not for hooks to addresses on it.
        self._session.trust_env = False

    def start(self) -> None:
        """Begin to deliver in the background."""
        self._post.start()

    def stop(self) -> None:
        """Stop delivering; what has not been sent is dropped."""
        self._post.stop()
        self._session.close()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything is delivered; raises TimeoutError if it takes longer."""
        return self._post.flush(timeout)

    def fire(self, event: Event) -> None:
        """Queue an event for every hook of its project that asked for it."""
        with self.world.lock:
            body = json.dumps(event.body, ensure_ascii=False).encode()
            chain = CARRIED.get() or str(uuid.uuid4())
            for hook in self.world.hooks.values():
                if hook.project_id != event.project_id or not hook.triggers.get(event.trigger):
                    continue
                if self.alert_status(hook) != "executable" or len(body) > LARGEST_BODY:
                    continue
                if not self._chains.admits(chain, hook.id, self.world.now()):
                    continue
                self._post.put(self._prepare(hook, event, body, chain, str(uuid.uuid4())))

    def test(self, hook: Hook, event: Event) -> HookDelivery:
        """Send an event now, whatever the hook's state; success brings a disabled hook back."""
        body = json.dumps(event.body, ensure_ascii=False).encode()
        delivery = self._prepare(hook, event, body, str(uuid.uuid4()), str(uuid.uuid4()))
        self._deliver(delivery)
        return delivery

    def resend(self, delivery: HookDelivery) -> HookDelivery:
        """Send a logged event again now, under the same Idempotency-Key."""
        again = HookDelivery(
            id=self.world.next_id("delivery"),
            hook_id=delivery.hook_id,
            event=delivery.event,
            trigger=delivery.trigger,
            idempotency_key=delivery.idempotency_key,
            chain=delivery.chain,
            body=delivery.body,
        )
        self._deliver(again)
        return again

    def alert_status(self, hook: Hook) -> str:
        """`executable`, `temporarily_disabled` or `disabled`, as the API names it."""
        if self.auto_disabling and is_permanently_disabled(hook):
            return "disabled"
        until = hook.disabled_until
        if self.auto_disabling and until is not None and until > self.world.now():
            return "temporarily_disabled"
        return "executable"

    def _prepare(self, hook: Hook, event: Event, body: bytes, chain: str, key: str) -> HookDelivery:
        number = self.world.next_id("delivery")
        return HookDelivery(number, hook.id, event.name, event.trigger, key, chain, body)

    def _deliver(self, delivery: HookDelivery) -> None:
        with self.world.lock:
            hook = self.world.hooks.get(delivery.hook_id)
            if hook is None:
                return
            delivery.url = hook.url
            delivery.sent_at = now = self.world.now()
            verify = hook.enable_ssl_verification
            sent = self._headers(hook, delivery, str(int(now.timestamp())))
            # The log does not keep the secret in clear.
            delivery.headers = {name: value if isinstance(value, str) else "[REDACTED]" for name, value in sent.items()}
        began = time.monotonic()
        try:
            answer = self._session.post(
                delivery.url, data=delivery.body, headers=sent, timeout=self.timeout,
                allow_redirects=False, verify=verify,
            )  # fmt: skip
        except requests.RequestException as error:
            delivery.error = type(error).__name__
        else:
            delivery.status = answer.status_code
            delivery.response_body = answer.text[:KEPT_RESPONSE]
            delivery.response_headers = dict(list(answer.headers.items())[:50])
        delivery.duration = time.monotonic() - began
        with self.world.lock:
            self.world.deliveries.append(delivery)
            del self.world.deliveries[:-KEPT_DELIVERIES]
            self._count(hook, delivery.succeeded)

    def _headers(self, hook: Hook, delivery: HookDelivery, stamp: str) -> dict[str, str | bytes]:
        headers: dict[str, str | bytes] = {
            "Content-Type": "application/json",
            "User-Agent": f"GitLab/{self.world.version}",
            "X-Gitlab-Event": delivery.event,
            "X-Gitlab-Event-UUID": delivery.chain,
            # Random per attempt: no delivery id.
            "X-Gitlab-Webhook-UUID": str(uuid.uuid4()),
            "X-Gitlab-Instance": self.world.url,
            "Idempotency-Key": delivery.idempotency_key,
        }
        if hook.token is not None:
            # Bytes, because header text is limited to Latin-1.
            headers["X-Gitlab-Token"] = hook.token.encode()
        if not self.world.has_signed_hooks:
            return headers
        headers |= {"webhook-id": delivery.idempotency_key, "webhook-timestamp": stamp}
        if hook.signing_token is not None:
            signature = sign(hook.signing_token, delivery.idempotency_key, stamp, delivery.body)
            headers["webhook-signature"] = signature
        return headers

    def _count(self, hook: Hook, succeeded: bool) -> None:
        if succeeded:
            hook.failures, hook.disabled_until = 0, None
            return
        hook.failures += 1
        beyond = hook.failures - FAILURES_BEFORE_PAUSE
        if beyond >= 0:
            # The exponent is bounded because the pause is: 2**11 minutes are over a day.
            pause = timedelta(minutes=2 ** min(beyond, 11))
            hook.disabled_until = self.world.now() + min(pause, LONGEST_PAUSE)


def sign(signing_token: str, message_id: str, stamp: str, body: bytes) -> str:
    """The Standard Webhooks signature of a body (section 1)."""
    key = base64.b64decode(signing_token.removeprefix("whsec_"))
    text = f"{message_id}.{stamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
