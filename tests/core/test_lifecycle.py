"""The life of a run: every state against every trigger, and the drawing in the documentation."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.core.errors import Conflict
from bot.core.lifecycle import TRANSITIONS, Trigger, drawing, move
from bot.core.models import Person, Run, RunStatus

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "lifecycle.md"
BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NOW = BEGIN + timedelta(hours=3)

# DESIGN section 4, written down a second time: rows are states, columns triggers, a dash is a conflict.
TABLE = """
                ask             continue   resumed   finish     fail     cancel
running         awaiting_input  -          -         finished   failed   cancelled
awaiting_input  awaiting_input  resuming   -         finished   failed   cancelled
resuming        -               -          running   finished   failed   cancelled
finished        -               -          -         -          -        -
failed          -               -          -         -          -        -
cancelled       -               -          -         -          -        -
"""
HEAD, *ROWS = [line.split() for line in TABLE.strip().splitlines()]
CELLS = [
    pytest.param(RunStatus(state), Trigger(trigger), target, id=f"{state}, {trigger}")
    for state, *targets in ROWS
    for trigger, target in zip(HEAD, targets, strict=True)
]
STEPS = [cell for cell in CELLS if cell.values[2] != "-"]


def run_in(status: RunStatus, **fields: object) -> Run:
    return Run.model_validate(
        {
            "id": "run_7f3c",
            "flow": "plan",
            "goal": "Plan it.",
            "instance": "https://gitlab.example.com",
            "project_id": 77,
            "project_path": "acme/platform/api",
            "item_iid": 12,
            "owner": Person(id=201, username="dana"),
            "bot_id": 9001,
            "status": status,
            "round": 2,
            "version": 5,
            "created_at": BEGIN,
            "updated_at": BEGIN,
            **fields,
        }
    )


def test_the_table_names_every_state_and_trigger() -> None:
    """Nothing is left out of the table above."""
    assert {row[0] for row in ROWS} == set(RunStatus)
    assert set(HEAD) == set(Trigger)


@pytest.mark.parametrize(("status", "trigger", "target"), CELLS)
def test_every_state_and_trigger(status: RunStatus, trigger: Trigger, target: str) -> None:
    """Each trigger moves each state as the table says, or is a conflict that names the state."""
    if target == "-":
        with pytest.raises(Conflict, match=rf"run_7f3c is {status}.*{trigger}") as refusal:
            move(run_in(status), trigger, NOW)
        assert refusal.value.code == "wrong_state"
    else:
        assert move(run_in(status), trigger, NOW).status == target


@pytest.mark.parametrize(("status", "trigger", "target"), STEPS)
def test_what_a_step_changes(status: RunStatus, trigger: Trigger, target: str) -> None:
    """A step changes state, time and perhaps round and reason, nothing else, and leaves the old run as it was."""
    before = run_in(status)
    after = move(before, trigger, NOW)
    moved = {"status": RunStatus(target), "updated_at": NOW, "round": after.round}
    assert after == before.model_copy(update=moved)
    assert before == run_in(status)


@pytest.mark.parametrize(("status", "trigger", "target"), STEPS)
def test_a_round_begins_with_the_first_question(status: RunStatus, trigger: Trigger, target: str) -> None:
    """Asking while running opens the next round; asking more while waiting, and every other step, stays in it."""
    opens = status is RunStatus.RUNNING and trigger is Trigger.ASK
    assert move(run_in(status), trigger, NOW).round == (3 if opens else 2), target


@pytest.mark.parametrize(
    ("had", "given", "has"),
    [
        pytest.param(None, None, None, id="none"),
        pytest.param(None, "superseded by run_8", "superseded by run_8", id="the first"),
        pytest.param("tests failed", None, "tests failed", id="kept"),
        pytest.param("tests failed", "given up", "given up", id="replaced"),
        pytest.param("tests failed", "", "", id="an empty one was given"),
    ],
)
def test_the_reason(had: str | None, given: str | None, has: str | None) -> None:
    """A reason stays with the run until another is given."""
    assert move(run_in(RunStatus.RUNNING, reason=had), Trigger.CANCEL, NOW, reason=given).reason == has


@pytest.mark.parametrize("status", RunStatus)
def test_what_has_ended_does_not_move(status: RunStatus) -> None:
    """A run is live exactly as long as something can move it."""
    assert run_in(status).live is any(source is status for source, _ in TRANSITIONS)


def test_a_whole_life() -> None:
    """Two rounds and an end, counted as they come."""
    run = run_in(RunStatus.RUNNING, round=0)
    told = []
    for trigger in ("ask", "ask", "continue", "resumed", "ask", "continue", "resumed", "finish"):
        run = move(run, Trigger(trigger), NOW)
        told.append((run.status.value, run.round))
    assert told == [
        ("awaiting_input", 1),
        ("awaiting_input", 1),
        ("resuming", 1),
        ("running", 1),
        ("awaiting_input", 2),
        ("resuming", 2),
        ("running", 2),
        ("finished", 2),
    ]


def test_the_drawing_in_the_documentation() -> None:
    """`docs/lifecycle.md` draws the table as it is."""
    _, _, rest = DOCUMENT.read_text().partition("```mermaid\n")
    fence, closed, _ = rest.partition("\n```")
    assert closed
    assert fence == drawing()


def test_the_drawing_has_every_step_once() -> None:
    """The drawing begins in `running`, has one line a step, and ends where no step leads on."""
    lines = [line.strip() for line in drawing().splitlines()]
    assert lines[:2] == ["stateDiagram-v2", "[*] --> running"]
    steps = [f"{source} --> {target}: {trigger}" for source, trigger, target in (cell.values for cell in STEPS)]
    ends = [f"{status} --> [*]" for status in RunStatus if not run_in(status).live]
    assert sorted(lines[2:]) == sorted(steps + ends)
