"""Answers kept for a while: how many, how long, and which of two wins."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from bot.adapters.gitlab.cache import Cache
from bot.testing.clock import MovableClock


def test_the_cache_is_bounded(clock: MovableClock) -> None:
    """Of more people than it holds, those asked about longest ago are forgotten."""
    cache: Cache[int, int] = Cache(timedelta(minutes=1), 2, clock)
    asked: list[int] = []

    def ask(key: int) -> int:
        return cache.get(key, lambda: asked.append(key) or key)

    assert [ask(key) for key in (1, 2, 3, 3, 2, 1)] == [1, 2, 3, 3, 2, 1]
    assert asked == [1, 2, 3, 1]


def test_the_cache_keeps_the_latest_question(clock: MovableClock) -> None:
    """An old look-up that is answered late does not replace a fresh one."""
    cache: Cache[int, str] = Cache(timedelta(minutes=1), 10, clock)

    def slow() -> str:
        assert cache.get(1, lambda: "new", fresh=True) == "new"
        return "old"

    assert cache.get(1, slow) == "old"
    assert cache.get(1, lambda: "asked again") == "new"


def test_the_cache_is_shared_between_threads(clock: MovableClock) -> None:
    """Many threads at once get right values, and none fails."""
    cache: Cache[int, int] = Cache(timedelta(minutes=1), 5, clock)
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda number: cache.get(number % 20, lambda: number % 20), range(2_000)))
    assert values == [number % 20 for number in range(2_000)]
