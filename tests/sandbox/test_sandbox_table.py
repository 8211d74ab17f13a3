"""docs/gitlab.md says what we rely on; every row of it is held by a test that is there, and every trap by a row."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gitlab.md"
TRAPS = range(1, 16)


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    id: str
    behaviour: str
    source: str
    trap: str
    safe: str
    test: str

    @property
    def traps(self) -> set[int]:
        return {int(number) for number in re.findall(r"\d+", self.trap)}

    @property
    def tests(self) -> list[tuple[str, str]]:
        return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", self.test)


def rows() -> list[Row]:
    """The table's rows, in their order."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| T")]
    return [Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines]


@cache
def functions(file: str) -> dict[str, str]:
    """The test functions of a file, with what they say they promise."""
    tree = ast.parse((ROOT / file).read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {node.name: ast.get_docstring(node) or "" for node in found}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_rows_are_held_by_tests(row: Row) -> None:
    """Each row has a behaviour, a marked source with its section, and names tests that exist and say what they promise."""
    assert row.behaviour
    assert re.fullmatch(r"(\[[SDMIUT]\])+ [1-7](, [1-7])*", row.source)
    assert row.tests
    assert len(row.tests) == row.test.count("`") // 2, "something in the last column is no test"
    for file, name in row.tests:
        assert functions(file).get(name), f"{row.id}: {file} has no {name}, or it does not say what it promises"


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_unsure_rows_say_why_the_bot_is_safe(row: Row) -> None:
    """What was only concluded, or is only generally known, says how the bot does without it."""
    unsure = "[I]" in row.source or "[U]" in row.source
    assert bool(row.safe) == unsure


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_are_covered(trap: int) -> None:
    """Each of the fifteen traps is met by at least one row."""
    assert [row.id for row in rows() if trap in row.traps]


def test_ids_are_counted_up() -> None:
    """The table is there, and its ids run from T1 without gap or repetition."""
    ids = [row.id for row in rows()]
    assert len(ids) >= 45
    assert ids == [f"T{number}" for number in range(1, len(ids) + 1)]
    assert {number for row in rows() for number in row.traps} == set(TRAPS)
