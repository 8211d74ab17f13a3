"""`hitl explain`: how a question stands, and which notes of its thread made it so. Reads the configuration, not the API."""

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.core.models import Answer
    from bot.flows.explain import Explained, ExplainedNote


def explain(question_id: str, config: Path, *, as_json: bool) -> None:
    from bot.bootstrap import build
    from bot.flows.explain import explain as run
    from bot.settings import load

    with closing(build(load(config))) as bot:
        found = run(bot.parts, question_id)
    shown = _shown(found)
    if as_json:
        print(json.dumps(shown))
        return
    state = shown["state"] if shown["state"] == shown["now"] else f"{shown['state']} (its thread reads {shown['now']} now)"
    print(f"{found.asked.id}  {state.replace('_', ' ')}{'  closed with its round' if found.asked.closed else ''}")
    if shown["reason"]:
        print(_line(f"because: {shown['reason']}"))
    for answer in [shown["answer"]] if shown["answer"] else shown["conflicting"]:
        said = " ".join([answer["kind"], *answer["keys"]])
        words = answer["text"] or answer["reason"]
        print(_line(f"answer: {said} · {answer['by'] or 'the default'}{f': {words}' if words else ''}"))
    print(f"made by: {', '.join(map(str, shown['made_by'])) or 'no note'}")
    for note in found.notes:
        print(_line(_told(note)))


def _told(note: "ExplainedNote") -> str:
    from bot.core.eligibility import role_name

    who = note.author if note.read_as is None else f"{note.author}, {role_name(note.role)}"
    verdict = "counted" if note.counted else f"not counted: {note.why}"
    return f"  note {note.note_id}  {who:<28}  {note.read_as or '-':<18}  {verdict}"


def _shown(found: "Explained") -> dict[str, Any]:
    asked, now = found.asked, found.now
    held = asked if asked.closed else now  # what was continued with stays, whatever was written afterwards
    return {
        "question": asked.id,
        "run": asked.run_id,
        "url": asked.note_url,
        "state": held.state.value,
        "now": now.state.value,
        "closed": asked.closed,
        "reason": held.reason,
        "answer": None if held.answer is None else _answer(held.answer),
        "conflicting": [_answer(answer) for answer in held.conflicting],
        "made_by": list(found.made_by),
        "notes": [
            {
                "note_id": note.note_id,
                "author": note.author,
                "role": note.role,
                "read_as": note.read_as,
                "counted": note.counted,
                "why": note.why,
            }
            for note in found.notes
        ],
    }


def _answer(answer: "Answer") -> dict[str, Any]:
    return {
        **answer.model_dump(include={"keys", "text", "reason", "note_id"}),
        "kind": answer.kind.value,
        "keys": list(answer.keys),
        "by": None if answer.by is None else answer.by.username,
    }


def _line(text: str) -> str:
    """People wrote some of this: one line, and nothing a terminal would obey."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
