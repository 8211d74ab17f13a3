"""Claims under competition: what `bot.ports.Inbox` and `Outbox` promise to several processes at once, on every database."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bot.adapters.store import SqlStore
from bot.core.effects import React
from bot.core.events import Arrival, LookAt

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LEASE = timedelta(minutes=2)


def an_arrival(number: int) -> Arrival:
    return Arrival(look=LookAt(project_id=7, item_iid=number), delivery_key=None, fingerprint=f"f{number}", received_at=NOW)


def an_effect(lane: str, number: int) -> React:
    return React(effect_id=f"{lane}/{number}", lane=lane, run_id="r1", note_id=902, name="eyes")


class TestRaces:
    def test_inbox_rows_are_claimed_once(self, store: SqlStore, other: SqlStore) -> None:
        """Two processes with two threads each take every arrival exactly once."""
        with store.unit() as unit:
            for number in range(40):
                unit.inbox.put(an_arrival(number))
        taken: list[int] = []

        def work(where: SqlStore) -> None:
            while True:
                with where.unit() as unit:
                    row = unit.inbox.claim(NOW, LEASE)
                if row is None:
                    return
                taken.append(row.work.item_iid)
                with where.unit() as unit:
                    unit.inbox.done(row.id)

        _at_once([(work, place) for place in (store, other, store, other)])
        assert sorted(taken) == list(range(40))

    def test_lanes_keep_their_order(self, store: SqlStore, other: SqlStore) -> None:
        """While two processes put and two deliver, no lane has two effects in work, and each keeps the order of putting."""
        lanes, each = ("a", "b", "c"), 12
        delivered: dict[str, list[int]] = {lane: [] for lane in lanes}
        in_work: set[str] = set()
        overlaps: list[str] = []
        putting = threading.Event()
        numbers = {lane: iter(range(2 * each)) for lane in lanes}

        def put(where: SqlStore) -> None:
            for _ in range(each):
                for lane in lanes:
                    with where.unit() as unit:
                        unit.outbox.put(an_effect(lane, next(numbers[lane])), NOW)

        def deliver(where: SqlStore) -> None:
            while True:
                finishing = putting.is_set()
                with where.unit() as unit:
                    row = unit.outbox.claim(NOW, LEASE)
                if row is None:
                    with where.snapshot() as unit:
                        if finishing and not unit.outbox.due(NOW):
                            return
                    continue
                lane, _, number = row.work.effect_id.partition("/")
                if lane in in_work:
                    overlaps.append(row.work.effect_id)
                in_work.add(lane)
                delivered[lane].append(int(number))
                time.sleep(0.001)
                in_work.discard(lane)
                with where.unit() as unit:
                    unit.outbox.done(row.id)

        workers = [threading.Thread(target=deliver, args=(place,)) for place in (store, other)]
        for worker in workers:
            worker.start()
        _at_once([(put, store), (put, other)])
        putting.set()
        for worker in workers:
            worker.join()
        assert overlaps == []
        # A number is drawn inside the unit, so it tells the order in which the effects were put.
        assert delivered == {lane: list(range(2 * each)) for lane in lanes}


def _at_once(jobs: list[tuple[Callable[[SqlStore], None], SqlStore]]) -> None:
    threads = [threading.Thread(target=job, args=(store,)) for job, store in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
