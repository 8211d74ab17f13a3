"""How long to wait after a failure, and when trying again is given up."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import (
    Conflict,
    Gone,
    HitlError,
    NotPermitted,
    RateLimited,
    Refused,
    StoreUnavailable,
    TokenRefused,
    Unavailable,
    VersionConflict,
)
from bot.core.retries import LONGEST, wait_after


def limited(seconds: float | None) -> RateLimited:
    return RateLimited("429", retry_after=None if seconds is None else timedelta(seconds=seconds))


ERRORS: list[HitlError] = [
    *[TokenRefused("401"), NotPermitted("403"), Gone("404"), Refused("422"), limited(None), limited(7)],
    *[Unavailable("502"), Unavailable("timeout", doubtful=True), VersionConflict("row"), StoreUnavailable("locked")],
]
by_name = pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__}: {error}")


@pytest.mark.parametrize(
    ("error", "attempt", "seconds"),
    [
        pytest.param(limited(7), 1, 7, id="a limit that says how long"),
        pytest.param(limited(7), 2_000, 7, id="a limit is never given up"),
        pytest.param(limited(0), 1, 0, id="a limit that is over"),
        pytest.param(limited(None), 1, 60, id="a limit that does not say"),
        pytest.param(limited(86_400), 1, 3_600, id="a limit of a day is looked at every hour"),
        pytest.param(VersionConflict("row"), 1, 0, id="somebody was faster"),
        pytest.param(VersionConflict("row"), 19, 0, id="somebody was faster 19 times"),
        pytest.param(VersionConflict("row"), 20, 5, id="somebody is always faster"),
        pytest.param(VersionConflict("row"), 5_000, 5, id="a lost race is never given up"),
        pytest.param(Refused("422"), 1, None, id="refused: the same again is refused again"),
        pytest.param(Gone("404"), 1, 10, id="not there yet"),
        pytest.param(Gone("404"), 2, 20, id="not there yet, the second time"),
        pytest.param(Gone("404"), 3, 30, id="not there yet, the third time"),
        pytest.param(Gone("404"), 4, None, id="not there at all"),
        pytest.param(TokenRefused("401"), 1, 60, id="a token that may be replaced"),
        pytest.param(TokenRefused("401"), 49, 49 * 60, id="a token still not replaced"),
        pytest.param(TokenRefused("401"), 50, None, id="a token nobody replaces"),
        pytest.param(NotPermitted("403"), 1, 60, id="a right that may be given"),
        pytest.param(NotPermitted("403"), 50, None, id="a right nobody gives"),
        pytest.param(Unavailable("502"), 1, 2, id="an outage"),
        pytest.param(Unavailable("502"), 2, 4, id="an outage, doubled"),
        pytest.param(Unavailable("502"), 8, 256, id="an outage, still doubled"),
        pytest.param(Unavailable("502"), 9, 300, id="an outage, every five minutes"),
        pytest.param(Unavailable("502"), 899, 300, id="an outage of three days"),
        pytest.param(Unavailable("502"), 900, None, id="an outage without end"),
        pytest.param(Unavailable("timeout", doubtful=True), 1, 2, id="a doubtful write is tried again"),
        pytest.param(StoreUnavailable("locked"), 1, 2, id="our own database"),
        pytest.param(Conflict("wrong state"), 1, 2, id="whatever has no rule of its own"),
    ],
)
def test_the_pause(error: HitlError, attempt: int, seconds: float | None) -> None:
    """Each kind of failure waits its own time, and what cannot get better by itself is not tried again."""
    assert wait_after(error, attempt) == (None if seconds is None else timedelta(seconds=seconds))


@by_name
def test_pauses_grow_until_the_end(error: HitlError) -> None:
    """Pauses never shrink, never exceed an hour, and what was given up stays given up."""
    pauses = [wait_after(error, attempt) for attempt in range(1, 1_200)]
    waited = [pause for pause in pauses if pause is not None]
    assert waited == sorted(waited)
    assert all(timedelta(0) <= pause <= LONGEST for pause in waited)
    assert pauses[len(waited) :] == [None] * (len(pauses) - len(waited))


def test_outages_of_two_days_are_outlived() -> None:
    """GitLab may be away for a weekend and everything still arrives."""
    pauses = [wait_after(Unavailable("502"), attempt) for attempt in range(1, 1_000)]
    assert sum((pause for pause in pauses if pause is not None), timedelta(0)) > timedelta(days=2)


@given(st.sampled_from(ERRORS), st.integers(1, 10**9))
def test_any_attempt_has_an_answer(error: HitlError, attempt: int) -> None:
    """No number of attempts overflows."""
    pause = wait_after(error, attempt)
    assert pause is None or timedelta(0) <= pause <= LONGEST


@given(st.timedeltas(min_value=timedelta(0)))
def test_any_wait_that_is_asked_for(asked: timedelta) -> None:
    """What GitLab asks for is kept up to an hour."""
    assert wait_after(RateLimited("429", retry_after=asked), 1) == min(asked, LONGEST)
