"""What `bot.ports.Store` promises about its two kinds of transaction, on every database."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine

from bot.adapters.store import SqlStore
from bot.core.errors import StoreUnavailable
from bot.ports import FlowKey, Unit

BRIEFLY = timedelta(seconds=0.2)


def add_key(unit: Unit, key_id: str = "k") -> None:
    unit.keys.add(FlowKey(key_id, "ci", (1,), (), datetime(2026, 3, 1, tzinfo=UTC)), f"hash of {key_id}")


class TestUnit:
    def test_committed(self, store: SqlStore, other: SqlStore) -> None:
        """When a unit ends cleanly, every process sees all of it."""
        with store.unit() as unit:
            add_key(unit, "a")
            add_key(unit, "b")
        with other.snapshot() as unit:
            assert [key.id for key in unit.keys.listed()] == ["a", "b"]

    def test_rolled_back(self, store: SqlStore) -> None:
        """A unit that ends with an exception leaves nothing behind, and the exception is the caller's own."""

        def fail() -> None:
            with store.unit() as unit:
                add_key(unit)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        with store.snapshot() as unit:
            assert unit.keys.listed() == []

    def test_writers_take_turns(self, store: SqlStore, other: SqlStore) -> None:
        """What a unit has checked stays true until it commits: of many that add if there is none, one adds."""
        start = threading.Barrier(8)

        def add_if_none(number: int, where: SqlStore) -> None:
            start.wait()
            with where.unit() as unit:
                if not unit.keys.listed():
                    time.sleep(0.02)
                    add_key(unit, f"k{number}")

        threads = [threading.Thread(target=add_if_none, args=(number, (store, other)[number % 2])) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.snapshot() as unit:
            assert len(unit.keys.listed()) == 1

    def test_first_come_first_served(self, store: SqlStore) -> None:
        """Threads of one process get their turn in the order they came, however busy it is."""
        served: list[int] = []

        def take_turn(number: int) -> None:
            with store.unit() as unit:
                served.append(number)
                add_key(unit, f"k{number}")

        threads = [threading.Thread(target=take_turn, args=(number,)) for number in range(12)]
        with store.unit():
            for thread in threads:
                thread.start()
                time.sleep(0.01)
            assert served == []
        for thread in threads:
            thread.join()
        assert served == list(range(12))

    @pytest.mark.parametrize("same_process", [True, False])
    def test_patience_ends(self, url: str, open_engine: Callable[..., Engine], same_process: bool) -> None:
        """A writer whose turn does not come gives up with `StoreUnavailable` that says the database is busy."""
        holder = SqlStore(open_engine(url, patience=BRIEFLY))
        impatient = holder if same_process else SqlStore(open_engine(url, patience=BRIEFLY))
        with holder.unit(), pytest.raises(StoreUnavailable, match="busy"), impatient.unit():
            pytest.fail("two writers at once")
        with impatient.unit() as unit:
            add_key(unit)


class TestSnapshot:
    def test_does_not_wait(self, store: SqlStore, other: SqlStore) -> None:
        """While somebody writes, a snapshot opens at once and shows what was committed before."""
        with store.unit() as unit:
            add_key(unit)
            began = time.monotonic()
            with store.snapshot() as here, other.snapshot() as there:
                assert here.keys.listed() == there.keys.listed() == []
            assert time.monotonic() - began < 1

    def test_does_not_hold_up(self, store: SqlStore, other: SqlStore) -> None:
        """While somebody reads, others write, and commit."""
        with store.snapshot() as reader:
            assert reader.keys.listed() == []
            with other.unit() as unit:
                add_key(unit)
            with other.snapshot() as later:
                assert len(later.keys.listed()) == 1

    def test_stands_still(self, store: SqlStore, other: SqlStore) -> None:
        """Two reads of one snapshot agree, whatever is committed in between."""
        with store.snapshot() as unit:
            assert unit.keys.listed() == []
            with other.unit() as writer:
                add_key(writer)
            assert unit.keys.listed() == []

    def test_only_reads(self, store: SqlStore) -> None:
        """Writing in a snapshot fails, and the connection it used can write afterwards."""
        with pytest.raises(StoreUnavailable), store.snapshot() as unit:
            add_key(unit)
        with store.unit() as unit:
            add_key(unit)

    def test_many_at_once(self, store: SqlStore) -> None:
        """Forty threads read and write at the same time, and nobody is turned away."""
        failures: list[Exception] = []

        def use(number: int) -> None:
            try:
                with store.snapshot() as unit:
                    unit.keys.listed()
                with store.unit() as unit:
                    add_key(unit, f"k{number}")
            except StoreUnavailable as error:
                failures.append(error)

        threads = [threading.Thread(target=use, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        with store.snapshot() as unit:
            assert len(unit.keys.listed()) == 40
