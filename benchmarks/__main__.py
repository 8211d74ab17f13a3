"""`make bench`: prints a table and, with `--json`, one JSON value. Each row is a function that gives (ours, baseline)."""

import json
import sys
import time
from collections.abc import Callable

from markdown_it import MarkdownIt

from bot.core.models import Question
from bot.core.replies import read

ROUNDS = 7
Row = tuple[str, Callable[[], object], Callable[[], object]]


def rows() -> list[Row]:
    """Name, what is measured, and its baseline."""
    question = Question(text="Which?", question_type="multiple_choice", options=("PostgreSQL", "SQLite"), allow_freeform=True)  # type: ignore[arg-type]
    reply = "B\n\n" + "The replicas already run it, and nobody wants a second thing to operate.\n\n> A) PostgreSQL\n\n" * 20
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return [
        (
            "read a 2 kB reply ÷ markdown-it block parse of it",
            lambda: read(question, reply[:2048]),
            lambda: parser.parse(reply[:2048]),
        ),
        (
            "read a hostile 1 MB note ÷ a 100 kB one",
            lambda: read(question, "<!--" * 250_000),
            lambda: read(question, "<!--" * 25_000),
        ),
    ]


def seconds(action: Callable[[], object]) -> float:
    """The best of several rounds of one call, each long enough to be measured."""
    best = float("inf")
    for _ in range(ROUNDS):
        calls = 0
        began = time.perf_counter()
        while time.perf_counter() - began < 0.05:
            action()
            calls += 1
        best = min(best, (time.perf_counter() - began) / calls)
    return best


def main() -> None:
    measured = [{"what": name, "ratio": round(seconds(ours) / seconds(baseline), 2)} for name, ours, baseline in rows()]
    if "--json" in sys.argv:
        print(json.dumps(measured))
        return
    for row in measured:
        print(f"{row['ratio']:>8}  {row['what']}")


main()
