"""What `bot.ports.Inbox` and `Outbox` promise about order, claims and leases, on every database."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, select, update

from bot.adapters.store import SqlStore
from bot.adapters.tables import inbox, outbox
from bot.core.effects import Effect, PostNote, PostQuestion, React
from bot.core.events import Arrival, LookAt
from bot.core.payload import NoteKind
from bot.ports import Outgoing, QueueCounts, Unit

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LEASE = timedelta(minutes=2)


def an_arrival(name: str, *, delivery_key: str | None = None, iid: int = 12) -> Arrival:
    look = LookAt(project_id=7, item_iid=iid, note_id=902, discussion_id="d\0é")
    return Arrival(look=look, delivery_key=delivery_key, fingerprint=name, received_at=NOW)


def an_effect(effect_id: str, lane: str = "item:7:12") -> Effect:
    return PostQuestion(effect_id=effect_id, lane=lane, run_id="r1", question_id="q1")


def put_effects(store: SqlStore, *named: str) -> None:
    """`lane/effect` each, in this order."""
    with store.unit() as unit:
        for name in named:
            assert unit.outbox.put(an_effect(name, name.partition("/")[0]), NOW)


def error_of(unit: Unit, effect_id: str) -> str | None:
    found = unit.outbox.find(effect_id)
    return None if found is None else found.error


def claimed(store: SqlStore, now: datetime = NOW, *, lane: str | None = None) -> str | None:
    with store.unit() as unit:
        row = unit.outbox.claim(now, LEASE, lane=lane)
    return None if row is None else row.work.effect_id


class TestInbox:
    def test_each_key_deduplicates(self, store: SqlStore) -> None:
        """An arrival is stored once by its delivery key and once by its fingerprint, whichever comes again."""
        with store.unit() as unit:
            assert unit.inbox.put(an_arrival("f1", delivery_key="d1"))
            assert not unit.inbox.put(an_arrival("f1", delivery_key="d1"))
            assert not unit.inbox.put(an_arrival("f1", delivery_key="d2"))
            assert not unit.inbox.put(an_arrival("f2", delivery_key="d1"))
            assert not unit.inbox.put(an_arrival("f1"))
            assert unit.inbox.put(an_arrival("f2", delivery_key="d2"))

    def test_no_delivery_key(self, store: SqlStore) -> None:
        """Arrivals without a delivery key are told apart by their fingerprints alone."""
        with store.unit() as unit:
            assert unit.inbox.put(an_arrival("f1"))
            assert unit.inbox.put(an_arrival("f2"))
            assert not unit.inbox.put(an_arrival("f2"))

    def test_done_is_remembered(self, store: SqlStore) -> None:
        """A delivery that was worked off is still known when it comes again."""
        with store.unit() as unit:
            unit.inbox.put(an_arrival("f1"))
            row = unit.inbox.claim(NOW, LEASE)
            assert row is not None
            unit.inbox.done(row.id)
            assert not unit.inbox.put(an_arrival("f1"))
            assert unit.inbox.claim(NOW + 10 * LEASE, LEASE) is None

    def test_in_order(self, store: SqlStore) -> None:
        """Arrivals are claimed in the order they came, as they came, each by one worker."""
        with store.unit() as unit:
            for iid in (3, 1, 2):
                unit.inbox.put(an_arrival(f"f{iid}", iid=iid))
            rows = [unit.inbox.claim(NOW, LEASE) for _ in range(4)]
        assert [row and (row.attempt, row.work) for row in rows] == [
            *((1, an_arrival("", iid=iid).look) for iid in (3, 1, 2)),
            None,
        ]

    def test_not_before_it_is_due(self, store: SqlStore) -> None:
        """A row that is to be tried again waits for its time, lets later ones pass, and counts its attempts."""
        with store.unit() as unit:
            unit.inbox.put(an_arrival("f1", iid=1))
            unit.inbox.put(an_arrival("f2", iid=2))
            first = unit.inbox.claim(NOW, LEASE)
            assert first is not None
            unit.inbox.again(first.id, NOW + SECOND, "GitLab did not answer \0\ud800")
            second = unit.inbox.claim(NOW, LEASE)
            assert second is not None
            assert second.work.item_iid == 2
            assert unit.inbox.claim(NOW, LEASE) is None
            once_more = unit.inbox.claim(NOW + SECOND, LEASE)
            assert once_more is not None
            assert (once_more.id, once_more.attempt) == (first.id, 2)

    def test_parked(self, store: SqlStore) -> None:
        """A parked row is never claimed again."""
        with store.unit() as unit:
            unit.inbox.put(an_arrival("f1"))
            row = unit.inbox.claim(NOW, LEASE)
            assert row is not None
            unit.inbox.park(row.id, "it kept failing")
            assert unit.inbox.claim(NOW + 10 * LEASE, LEASE) is None
            assert unit.inbox.due(NOW + 10 * LEASE) == 0

    def test_due_counts(self, store: SqlStore) -> None:
        """`due` counts what could be claimed and what is being worked on, not what waits for its time or is settled."""
        with store.unit() as unit:
            for name in ("f1", "f2", "f3"):
                unit.inbox.put(an_arrival(name))
            assert unit.inbox.due(NOW) == 3
            rows = [unit.inbox.claim(NOW, LEASE), unit.inbox.claim(NOW, LEASE)]
            assert unit.inbox.due(NOW) == 3
            unit.inbox.done(rows[0].id)
            unit.inbox.again(rows[1].id, NOW + SECOND, "later")
            assert unit.inbox.due(NOW) == 1
            assert unit.inbox.due(NOW + SECOND) == 2


class TestLeases:
    def test_ends(self, store: SqlStore) -> None:
        """A claim holds until its lease ends, not longer; then the row comes back with the next attempt."""
        with store.unit() as unit:
            unit.inbox.put(an_arrival("f1"))
            assert unit.inbox.claim(NOW, LEASE) is not None
            assert unit.inbox.claim(NOW + LEASE - SECOND, LEASE) is None
            row = unit.inbox.claim(NOW + LEASE, LEASE)
            assert row is not None
            assert row.attempt == 2
            assert unit.inbox.claim(NOW + LEASE, LEASE) is None

    @pytest.mark.parametrize("late", ["done", "again", "park"])
    def test_settled_once(self, store: SqlStore, url: str, open_engine: Callable[..., Engine], late: str) -> None:
        """A worker that lost its lease cannot undo how the row was settled meanwhile."""
        put_effects(store, "a/1")
        with store.unit() as unit:
            row = unit.outbox.claim(NOW, LEASE)
            assert row is not None
            assert unit.outbox.cancel("a/1")
        with store.unit() as unit:
            match late:
                case "done":
                    unit.outbox.done(row.id)
                case "again":
                    unit.outbox.again(row.id, NOW, "late")
                case _:
                    unit.outbox.park(row.id, "late")
        assert claimed(store) is None
        with open_engine(url).connect() as connection:
            assert connection.execute(select(outbox.c.state, outbox.c.error)).one() == ("cancelled", None)

    def test_rolled_back_claim(self, store: SqlStore) -> None:
        """A claim whose unit fails was never made."""
        with store.unit() as unit:
            unit.inbox.put(an_arrival("f1"))

        def fail() -> None:
            with store.unit() as unit:
                unit.inbox.claim(NOW, LEASE)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        with store.unit() as unit:
            row = unit.inbox.claim(NOW, LEASE)
            assert row is not None
            assert row.attempt == 1

    def test_unreadable(self, store: SqlStore, url: str, open_engine: Callable[..., Engine]) -> None:
        """A row that this version cannot read is put off with a reason, and the others go on."""
        with store.unit() as unit:
            unit.inbox.put(an_arrival("f1", iid=1))
            unit.inbox.put(an_arrival("f2", iid=2))
        put_effects(store, "a/1", "a/2", "b/1")
        with open_engine(url).begin() as connection:
            connection.execute(update(inbox).where(inbox.c.fingerprint == "f1").values(body='{"from": "the future"}'))
            connection.execute(update(outbox).where(outbox.c.effect_id == "a/1").values(body='{"kind": "dance"}'))
        with store.unit() as unit:
            row = unit.inbox.claim(NOW, LEASE)
            assert row is not None
            assert row.work.item_iid == 2
        assert claimed(store) == "b/1"
        assert claimed(store) is None
        with store.snapshot() as unit:
            assert "cannot read" in (error_of(unit, "a/1") or "")


class TestOutbox:
    def test_comes_back_equal(self, store: SqlStore) -> None:
        """Every kind of effect is claimed as the value that was put."""
        values = {"why": "no_match", "keys": ["A"], "deep": {"x": None}}
        effects: list[Effect] = [
            an_effect("1", "a"),
            PostNote(
                effect_id="2",
                lane="b",
                run_id="r1",
                discussion_id=None,
                note_kind=NoteKind.HINT,
                template="hint",
                values=values,
            ),
            React(effect_id="3", lane="c", run_id="r1", note_id=902, name="eyes"),
        ]
        with store.unit() as unit:
            for effect in effects:
                unit.outbox.put(effect, NOW)
            rows = [unit.outbox.claim(NOW, LEASE) for _ in effects]
        assert [row and row.work for row in rows] == effects

    def test_once(self, store: SqlStore) -> None:
        """An effect id is kept once, even after it was delivered."""
        put_effects(store, "a/1")
        with store.unit() as unit:
            assert not unit.outbox.put(an_effect("a/1", "another lane"), NOW)
            row = unit.outbox.claim(NOW, LEASE)
            assert row is not None
            unit.outbox.done(row.id)
            assert not unit.outbox.put(an_effect("a/1"), NOW)

    def test_lane_waits_for_the_one_in_work(self, store: SqlStore, other: SqlStore) -> None:
        """While the oldest of a lane is claimed the lane stands still, for every process, and other lanes go on."""
        put_effects(store, "a/1", "a/2", "b/1")
        assert [claimed(store), claimed(other), claimed(store)] == ["a/1", "b/1", None]

    def test_lane_waits_for_the_one_put_off(self, store: SqlStore) -> None:
        """A lane does not overtake its oldest effect while that waits to be tried again; nor is it counted as due."""
        put_effects(store, "a/1", "a/2")
        with store.unit() as unit:
            row = unit.outbox.claim(NOW, LEASE)
            assert row is not None
            unit.outbox.again(row.id, NOW + SECOND, "429")
            assert unit.outbox.claim(NOW, LEASE) is None
            assert unit.outbox.due(NOW) == 0
            assert unit.outbox.due(NOW + SECOND) == 1
        assert claimed(store, NOW + SECOND) == "a/1"

    @pytest.mark.parametrize("end", ["done", "park", "cancel"])
    def test_lane_goes_on(self, store: SqlStore, end: str) -> None:
        """Delivered, parked and cancelled effects do not hold up their lane."""
        put_effects(store, "a/1", "a/2")
        with store.unit() as unit:
            row = unit.outbox.claim(NOW, LEASE)
            assert row is not None
            match end:
                case "done":
                    unit.outbox.done(row.id)
                case "park":
                    unit.outbox.park(row.id, "given up")
                case _:
                    assert unit.outbox.cancel("a/1")
        assert claimed(store) == "a/2"

    def test_one_lane_only(self, store: SqlStore) -> None:
        """A claim can be bound to a lane."""
        put_effects(store, "a/1", "b/1")
        assert claimed(store, lane="b") == "b/1"
        assert claimed(store, lane="b") is None
        assert claimed(store, lane="c") is None

    def test_cancel(self, store: SqlStore) -> None:
        """Only what is unfinished can be cancelled, and then it does not come back, though its worker fails later."""
        put_effects(store, "a/1", "b/1", "c/1")
        with store.unit() as unit:
            first, second = unit.outbox.claim(NOW, LEASE), unit.outbox.claim(NOW, LEASE)
            assert first is not None
            assert second is not None
            unit.outbox.done(first.id)
            assert not unit.outbox.cancel("a/1")
            assert unit.outbox.cancel("b/1")
            assert not unit.outbox.cancel("b/1")
            assert unit.outbox.cancel("c/1")
            assert not unit.outbox.cancel("unknown")
            unit.outbox.again(second.id, NOW, "too late")
            assert unit.outbox.claim(NOW + 10 * LEASE, LEASE) is None

    def test_error(self, store: SqlStore) -> None:
        """The last error of an unfinished effect can be read; there is none before it failed or after it was delivered."""
        put_effects(store, "a/1")
        with store.unit() as unit:
            assert error_of(unit, "a/1") is None
            for error in ("first", "second"):
                row = unit.outbox.claim(NOW, LEASE)
                assert row is not None
                unit.outbox.again(row.id, NOW, error)
                assert error_of(unit, "a/1") == error
            row = unit.outbox.claim(NOW, LEASE)
            assert row is not None
            unit.outbox.done(row.id)
            assert error_of(unit, "a/1") is None
            assert error_of(unit, "unknown") is None

    def test_find_and_revive(self, store: SqlStore) -> None:
        """An effect can be looked up; a parked or waiting one becomes due again, one in hand or finished does not."""
        put_effects(store, "a/1", "b/1")
        later = NOW + timedelta(days=3)
        with store.unit() as unit:
            row = unit.outbox.claim(NOW, LEASE)
            assert row is not None
            assert unit.outbox.find("a/1") == Outgoing("pending", 1, NOW, None)
            unit.outbox.park(row.id, "gone")
            assert unit.outbox.find("a/1") == Outgoing("parked", 1, NOW, "gone")
            assert unit.outbox.revive("a/1", later)
            assert unit.outbox.find("a/1") == Outgoing("pending", 1, later, None)
            assert unit.outbox.cancel("b/1")
            assert not unit.outbox.revive("b/1", later)
            row = unit.outbox.claim(later, LEASE)
            assert row is not None
            assert (row.work.effect_id, row.attempt) == ("a/1", 2)
            assert not unit.outbox.revive("a/1", later), "it is in hand"
            unit.outbox.done(row.id)
            assert not unit.outbox.revive("a/1", later)
            assert not unit.outbox.revive("unknown", later)
            assert unit.outbox.find("unknown") is None


class TestCounts:
    def test_empty(self, store: SqlStore) -> None:
        """Queues without rows count nothing, and have no oldest row."""
        with store.snapshot() as unit:
            assert unit.inbox.counts(NOW) == unit.outbox.counts(NOW) == QueueCounts(0, 0, 0, None)

    def test_inbox(self, store: SqlStore) -> None:
        """Due and in hand, put off, given up; what is done counts nowhere."""
        with store.unit() as unit:
            for name in ("f1", "f2", "f3", "f4", "f5"):
                unit.inbox.put(an_arrival(name))
            rows = [unit.inbox.claim(NOW, LEASE) for _ in range(4)]
            unit.inbox.done(rows[0].id)
            unit.inbox.again(rows[1].id, NOW + SECOND, "later")
            unit.inbox.park(rows[2].id, "given up")
            assert unit.inbox.counts(NOW) == QueueCounts(due=2, waiting=1, parked=1, oldest_due=NOW)
            assert unit.inbox.counts(NOW + SECOND) == QueueCounts(due=3, waiting=0, parked=1, oldest_due=NOW)

    def test_outbox(self, store: SqlStore) -> None:
        """What stands behind another row of its lane waits; cancelled effects count nowhere."""
        put_effects(store, "a/1", "a/2", "b/1", "c/1")
        with store.unit() as unit:
            row = unit.outbox.claim(NOW, LEASE, lane="a")
            assert row is not None
            unit.outbox.again(row.id, NOW + 2 * SECOND, "429")
            unit.outbox.cancel("c/1")
            assert unit.outbox.counts(NOW) == QueueCounts(due=1, waiting=2, parked=0, oldest_due=NOW)
            row = unit.outbox.claim(NOW, LEASE, lane="b")
            assert row is not None
            unit.outbox.done(row.id)
            assert unit.outbox.counts(NOW) == QueueCounts(due=0, waiting=2, parked=0, oldest_due=None)
            later = NOW + 2 * SECOND
            assert unit.outbox.counts(later) == QueueCounts(due=1, waiting=1, parked=0, oldest_due=later)

    def test_a_revived_effect_waits_for_the_one_in_hand(self, store: SqlStore) -> None:
        """A later effect of the lane that was claimed meanwhile is finished first: never two of one lane at once."""
        put_effects(store, "a/1", "a/2")
        with store.unit() as unit:
            row = unit.outbox.claim(NOW, LEASE)
            assert row is not None
            unit.outbox.park(row.id, "gone")
        with store.unit() as unit:
            second = unit.outbox.claim(NOW, LEASE)
            assert second is not None
            assert unit.outbox.revive("a/1", NOW)
        assert claimed(store) is None
        with store.unit() as unit:
            unit.outbox.done(second.id)
        assert claimed(store) == "a/1"
