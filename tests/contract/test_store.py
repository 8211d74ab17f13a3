"""What the facets of `bot.ports.Unit` promise about values, on every database. Inbox and outbox: `test_store_queues`."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bot.adapters.store import SqlStore
from bot.core.errors import VersionConflict
from bot.core.models import (
    Answer,
    AnswerKind,
    AskedQuestion,
    Option,
    Person,
    Question,
    QuestionState,
    QuestionType,
    Run,
    RunStatus,
    Speaker,
)
from bot.ports import FlowKey, Recorded, StoredResume

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, UTC)
SECOND = timedelta(seconds=1)


def a_run(run_id: str = "r1", **change: object) -> Run:
    values: dict[str, object] = {
        "id": run_id,
        "flow": "plan",
        "goal": "choose a database ✓ \N{NULL}",
        "instance": "https://gitlab.example.com",
        "project_id": 3_000_000_000,
        "project_path": "group/project",
        "item_iid": 12,
        "owner": Person(id=201, username="dana"),
        "bot_id": 900,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Run.model_validate(values | change)


def a_question(question_id: str = "q1", **change: object) -> AskedQuestion:
    question = Question(
        text="Which database?",
        question_type=QuestionType.MULTI_SELECT,
        options=(Option(key="A", label="PostgreSQL"), Option(key="B", label="SQLite")),
        default=("A",),
        metadata={"any": ["thing", 1, None, {"deep": True}]},
    )
    values: dict[str, object] = {
        "id": question_id,
        "run_id": "r1",
        "round": 1,
        "position": 1,
        "total": 1,
        "project_id": 7,
        "item_iid": 12,
        "question": question,
        "effect_id": f"ask:{question_id}",
    }
    return AskedQuestion.model_validate(values | change)


class TestRuns:
    def test_comes_back_equal(self, store: SqlStore) -> None:
        """A stored run is the run that was added, to the microsecond."""
        with store.unit() as unit:
            unit.runs.add(a_run())
        with store.snapshot() as unit:
            assert unit.runs.get("r1") == a_run()
            assert unit.runs.get("r2") is None

    def test_save_counts_versions(self, store: SqlStore) -> None:
        """`save` stores the change and returns it with the next version."""
        with store.unit() as unit:
            unit.runs.add(a_run())
            saved = unit.runs.save(a_run(status=RunStatus.AWAITING_INPUT))
        assert (saved.version, saved.status) == (1, RunStatus.AWAITING_INPUT)
        with store.snapshot() as unit:
            assert unit.runs.get("r1") == saved

    def test_lost_update(self, store: SqlStore) -> None:
        """Saving what somebody else changed meanwhile is a `VersionConflict`, and their change stays."""
        with store.unit() as unit:
            unit.runs.add(a_run())
            first = unit.runs.save(a_run(reason="first"))
        with pytest.raises(VersionConflict), store.unit() as unit:
            unit.runs.save(a_run(reason="second"))
        with store.snapshot() as unit:
            assert unit.runs.get("r1") == first

    def test_saving_an_unknown_run(self, store: SqlStore) -> None:
        """What was never added cannot be saved."""
        with pytest.raises(VersionConflict), store.unit() as unit:
            unit.runs.save(a_run())

    def test_the_same_id_twice(self, store: SqlStore) -> None:
        """The second run of an id is a `VersionConflict` that leaves the unit usable."""
        with store.unit() as unit:
            unit.runs.add(a_run())
            with pytest.raises(VersionConflict):
                unit.runs.add(a_run(reason="second"))
            assert unit.runs.get("r1") == a_run()

    def test_on_item_gives_live_runs_oldest_first(self, store: SqlStore) -> None:
        """An item's runs come oldest first, in the order of adding within one instant, and without ended ones."""
        with store.unit() as unit:
            unit.runs.add(a_run("z", item_iid=5))
            unit.runs.add(a_run("a", item_iid=5))
            unit.runs.add(a_run("older", item_iid=5, created_at=NOW - SECOND))
            unit.runs.add(a_run("elsewhere", item_iid=6))
            unit.runs.add(a_run("other project", item_iid=5, project_id=8))
            assert [run.id for run in unit.runs.on_item(3_000_000_000, 5)] == ["older", "z", "a"]

    @pytest.mark.parametrize("status", list(RunStatus))
    def test_on_item_agrees_with_the_model(self, store: SqlStore, status: RunStatus) -> None:
        """A run stands on its item exactly as long as it is live."""
        with store.unit() as unit:
            unit.runs.add(a_run(status=status))
            assert bool(unit.runs.on_item(3_000_000_000, 12)) is a_run(status=status).live

    def test_listed(self, store: SqlStore) -> None:
        """Runs are listed newest first, by every filter alone and together; no projects means no runs."""
        with store.unit() as unit:
            unit.runs.add(a_run("r1", project_id=1))
            unit.runs.add(a_run("r2", project_id=2, status=RunStatus.FINISHED))
            unit.runs.add(a_run("r3", project_id=2, item_iid=13, created_at=NOW - SECOND))

            def ids(**filters: object) -> list[str]:
                return [run.id for run in unit.runs.listed(**filters)]

            assert ids() == ["r2", "r1", "r3"]
            assert ids(project_ids=[2]) == ["r2", "r3"]
            assert ids(project_ids=[1, 2], item_iid=12) == ["r2", "r1"]
            assert ids(status=RunStatus.FINISHED) == ["r2"]
            assert ids(project_ids=[2], status=RunStatus.RUNNING, item_iid=13) == ["r3"]
            assert ids(project_ids=[]) == []


class TestQuestions:
    @pytest.fixture(autouse=True)
    def _run(self, store: SqlStore) -> None:
        with store.unit() as unit:
            unit.runs.add(a_run())

    def test_comes_back_equal(self, store: SqlStore) -> None:
        """A question with answer, times and free metadata is what was stored."""
        answer = Answer(kind=AnswerKind.MULTI_SELECTED, keys=("A", "B"), by=Speaker(id=1, username="x", role=30), at=NOW)
        asked = a_question(state=QuestionState.ANSWERED, answer=answer, posted_at=NOW, note_id=902, discussion_id="d1")
        with store.unit() as unit:
            unit.questions.add(asked)
        with store.snapshot() as unit:
            assert unit.questions.get("q1") == asked
            assert unit.questions.get("q2") is None

    def test_versions(self, store: SqlStore) -> None:
        """Questions are compared and set like runs."""
        with store.unit() as unit:
            unit.questions.add(a_question())
            saved = unit.questions.save(a_question(note_id=902, discussion_id="d1"))
            assert saved.version == 1
            with pytest.raises(VersionConflict):
                unit.questions.save(a_question(hinted=True))
            with pytest.raises(VersionConflict):
                unit.questions.add(a_question())
            assert unit.questions.get("q1") == saved

    def test_of_run(self, store: SqlStore) -> None:
        """A run's questions come by round and position."""
        with store.unit() as unit:
            unit.runs.add(a_run("r2"))
            unit.questions.add(a_question("elsewhere", run_id="r2"))
            for question_id, round_, position in [("d", 2, 1), ("b", 1, 2), ("c", 1, 1)]:
                unit.questions.add(a_question(question_id, round=round_, position=position))
            assert [asked.id for asked in unit.questions.of_run("r1")] == ["c", "b", "d"]

    def test_in_thread(self, store: SqlStore) -> None:
        """A question is found by project and thread, once it was posted."""
        with store.unit() as unit:
            unit.questions.add(a_question())
            assert unit.questions.in_thread(7, "d1") is None
            saved = unit.questions.save(a_question(note_id=902, discussion_id="d1"))
            assert unit.questions.in_thread(7, "d1") == saved
            assert unit.questions.in_thread(8, "d1") is None


class TestResumes:
    @pytest.fixture(autouse=True)
    def _run(self, store: SqlStore) -> None:
        with store.unit() as unit:
            unit.runs.add(a_run())

    @pytest.mark.parametrize("document", [b"", b'{"a":1}\r\n ', bytes(range(256)), "✓é".encode() * 100_000])
    def test_bytes_are_identical(self, store: SqlStore, document: bytes) -> None:
        """A resume document comes back byte for byte, by its id and by its round."""
        with store.unit() as unit:
            unit.resumes.add(StoredResume("x", "r1", 1, document, NOW))
        with store.snapshot() as unit:
            found = unit.resumes.get("x")
            assert found == StoredResume("x", "r1", 1, document, NOW)
            assert type(found.document) is bytes
            assert unit.resumes.of_round("r1", 1) == found
            assert unit.resumes.of_round("r1", 2) is None
            assert unit.resumes.get("y") is None

    def test_one_a_round(self, store: SqlStore) -> None:
        """A second resume of a round is a `VersionConflict`; the first stays."""
        with store.unit() as unit:
            unit.resumes.add(StoredResume("x", "r1", 1, b"first", NOW))
        with pytest.raises(VersionConflict), store.unit() as unit:
            unit.resumes.add(StoredResume("y", "r1", 1, b"second", NOW))
        with store.unit() as unit:
            unit.resumes.add(StoredResume("z", "r1", 2, b"next round", NOW))
            found = unit.resumes.of_round("r1", 1)
            assert found is not None
            assert found.document == b"first"

    def test_delivered_once(self, store: SqlStore) -> None:
        """The time of the first delivery stays."""
        with store.unit() as unit:
            unit.resumes.add(StoredResume("x", "r1", 1, b"", NOW))
            unit.resumes.delivered("x", NOW + SECOND)
            unit.resumes.delivered("x", NOW + 2 * SECOND)
            found = unit.resumes.get("x")
            assert found is not None
            assert found.delivered_at == NOW + SECOND


class TestKeys:
    def test_found_by_hash_and_listed(self, store: SqlStore) -> None:
        """A key is found by its secret's hash; all are listed, oldest first; times come back in UTC."""
        berlin = NOW.astimezone(timezone(timedelta(hours=1)))
        first, second = FlowKey("b", "ci", (1, 2), (), berlin), FlowKey("a", "agent", (3,), (201,), NOW + SECOND)
        with store.unit() as unit:
            unit.keys.add(second, "hash 2")
            unit.keys.add(first, "hash 1")
            found = unit.keys.find("hash 1")
            assert found == first
            assert found.created_at.utcoffset() == timedelta(0)
            assert unit.keys.find("hash 3") is None
            assert unit.keys.listed() == [first, second]

    def test_revoked(self, store: SqlStore) -> None:
        """A key is revoked once, and says so wherever it is found."""
        with store.unit() as unit:
            unit.keys.add(FlowKey("a", "ci", (1,), (), NOW), "hash")
            assert unit.keys.revoke("a", NOW + SECOND)
            assert not unit.keys.revoke("a", NOW + 2 * SECOND)
            assert not unit.keys.revoke("b", NOW)
            found = unit.keys.find("hash")
            assert found is not None
            assert found.revoked_at == NOW + SECOND
            assert unit.keys.listed() == [found]

    @pytest.mark.parametrize(("key_id", "secret_hash"), [("a", "new"), ("new", "hash")])
    def test_taken(self, store: SqlStore, key_id: str, secret_hash: str) -> None:
        """Neither an id nor a secret belongs to two keys."""
        with store.unit() as unit:
            unit.keys.add(FlowKey("a", "ci", (1,), (), NOW), "hash")
            with pytest.raises(VersionConflict):
                unit.keys.add(FlowKey(key_id, "ci", (1,), (), NOW), secret_hash)


class TestReplays:
    def test_reserve_finish_replay(self, store: SqlStore) -> None:
        """The first caller reserves the key; later ones see it in progress, then the recorded answer."""
        with store.unit() as unit:
            assert unit.replays.begin("key:1", "k", "h", NOW) is None
        with store.unit() as unit:
            assert unit.replays.begin("key:1", "k", "h", NOW + SECOND) == Recorded("h", None, None, NOW)
            assert unit.replays.begin("key:2", "k", "h", NOW) is None
            unit.replays.finish("key:1", "k", 201, '{"id": 1}')
        with store.unit() as unit:
            assert unit.replays.begin("key:1", "k", "h", NOW + timedelta(days=1)) == Recorded("h", 201, '{"id": 1}', NOW)
            assert unit.replays.begin("key:1", "k", "another", NOW) == Recorded("h", 201, '{"id": 1}', NOW)

    def test_forgotten(self, store: SqlStore) -> None:
        """A forgotten key is free again."""
        with store.unit() as unit:
            unit.replays.begin("key:1", "k", "h", NOW)
            unit.replays.forget("key:1", "k")
            assert unit.replays.begin("key:1", "k", "h2", NOW) is None

    def test_abandoned(self, store: SqlStore) -> None:
        """After 60 s an unfinished reservation is taken over by one later request, if it is the same one."""
        late = NOW + timedelta(seconds=60)
        with store.unit() as unit:
            unit.replays.begin("key:1", "k", "h", NOW)
            assert unit.replays.begin("key:1", "k", "h", late - SECOND) is not None
            assert unit.replays.begin("key:1", "k", "another", late) is not None
            assert unit.replays.begin("key:1", "k", "h", late) is None
            assert unit.replays.begin("key:1", "k", "h", late) is not None
