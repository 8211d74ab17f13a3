"""Quick actions: found in a text and taken out of it, after contract section 7; not run here.

Known commands vanish from the text whether they can run or not; unknown `/words` stay.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from markdown_it import MarkdownIt

# What `quick_effects` carries out.
_WITH_EFFECT = (
    "assign award close confidential done label labels lock move react reassign relabel reopen"
    " title todo unassign unlabel unlock"
)
# Of these the sandbox only knows the name: they are taken out and do nothing.
_WITHOUT_EFFECT = (
    "add_child add_contacts add_email approve assign_reviewer blocked_by blocks board_move cc"
    " checkin_reminder clear_health_status clear_weight clone convert_to_ticket copy_metadata"
    " create_merge_request draft due duplicate epic estimate estimate_time health_status"
    " invite_email iteration link merge milestone page promote promote_to promote_to_incident"
    " publish ready reassign_reviewer rebase relate remove_child remove_contacts remove_due_date"
    " remove_email remove_epic remove_estimate remove_iteration remove_milestone remove_parent"
    " remove_time_estimate remove_time_spent remove_zoom request_changes request_review"
    " run_pipeline set_parent severity ship spend spend_time spent submit_review subscribe tag"
    " target_branch timeline type unapprove unassign_reviewer unlink unsubscribe weight zoom"
)
_KNOWN = frozenset(f"{_WITH_EFFECT} {_WITHOUT_EFFECT}".split())
_SUBSTITUTIONS = {"shrug": "¯\\＿(ツ)＿/¯", "tableflip": "(╯°□°)╯︵ ┻━┻"}
_COMMAND = re.compile(r"/([A-Za-z_]+)(?:[ \t]+(.*))?[ \t]*")
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True)
class Command:
    """One command line."""

    name: str
    argument: str


@dataclass(frozen=True)
class Extract:
    """The text that is stored and the commands that were taken out of it."""

    body: str
    commands: tuple[Command, ...]


def extract(text: str) -> Extract:
    """Normalise a text as GitLab stores it and take the known command lines out."""
    lines = text.replace("\r", "").rstrip().split("\n")
    commands: list[Command] = []
    dropped: set[int] = set()
    for number in _candidates(lines):
        match = _COMMAND.fullmatch(lines[number])
        name = match.group(1).lower() if match else ""
        argument = (match.group(2) or "").strip() if match else ""
        if name in _SUBSTITUTIONS:
            lines[number] = f"{argument} {_SUBSTITUTIONS[name]}".strip()
        elif name in _KNOWN:
            commands.append(Command(name, argument))
            dropped.add(number)
    kept = [line for number, line in enumerate(lines) if number not in dropped]
    return Extract("\n".join(kept).rstrip(), tuple(commands))


def _candidates(lines: list[str]) -> list[int]:
    """The lines that begin with a slash, in a top-level paragraph, outside code spans."""
    if not any(line.startswith("/") for line in lines):
        return []
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table"]).disable("inline")
    found: list[int] = []
    for token in parser.parse("\n".join(lines)):
        if token.type == "paragraph_open" and token.level == 0 and token.map:
            first, end = token.map
            found += _outside_code(lines, first, end)
    return found


def _outside_code(lines: list[str], first: int, end: int) -> list[int]:
    text = "\n".join(lines[first:end])
    spans = _code_spans(text)
    found, position = [], 0
    for number in range(first, end):
        inside = any(begin < position < close for begin, close in spans)
        if lines[number].startswith("/") and not inside:
            found.append(number)
        position += len(lines[number]) + 1
    return found


def _code_spans(text: str) -> list[tuple[int, int]]:
    """The ranges of code spans: a run of backticks up to the next run of the same length."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    by_length: dict[int, list[int]] = {}
    for index, (begin, end) in enumerate(runs):
        by_length.setdefault(end - begin, []).append(index)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        begin, end = runs[index]
        # An escaped backtick opens nothing; the rest of its run may.
        length = end - begin - (begin > 0 and text[begin - 1] == "\\")
        same = by_length.get(length, [])
        later = bisect_right(same, index)
        if later < len(same):
            index = same[later]
            spans.append((begin, runs[index][1]))
        index += 1
    return spans
