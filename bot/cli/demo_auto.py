"""`hitl demo --auto`: scripted people answer over HTTP; the story is then read back from the API and printed."""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from bot.cli.demo import start_flow
from bot.client import Client
from bot.core.eligibility import role_name
from bot.core.errors import Unavailable
from bot.testing.stage import Stage

PATIENCE = 30.0  # seconds for any one step


def run(*, as_json: bool) -> None:
    """Play it, print it, end."""
    with tempfile.TemporaryDirectory(prefix="hitl-demo-") as folder, Stage(Path(folder), working=True) as stage:
        told = play(stage)
    if as_json:
        print(json.dumps(told, ensure_ascii=False))
    else:
        _print(told)


def play(stage: Stage) -> dict[str, Any]:
    """Ask, answer, continue, resume: `{"story": […], "resume": {…}}`, both as the API tells them."""
    client = stage.client
    run, (database, environments, constraints) = start_flow(client, stage.item)
    run_id = run["id"]
    stage.person("gil").reply(database, "B")
    stage.person("dana").reply(database, "A\n\nThe read replicas already run it.")
    stage.person("petra").reply(environments, "A and C")
    stage.person("stranger").reply(environments, "B")
    stage.person("omar").reply(constraints, "Keep the nightly export as it is; finance reads it at six.")
    _until(
        lambda: sum(len(question["replies"]) for question in client.questions(run_id)["questions"]) >= 5, "all replies are read"
    )
    stage.person("petra").comment("hitl continue")
    document: dict[str, Any] | None = None
    until = time.monotonic() + PATIENCE
    while document is None and time.monotonic() < until:
        document = client.wait(run_id, 5)
    if document is None:
        raise Unavailable("the demo's flow was not resumed in time")
    client.finish(run_id)
    return {"story": story(client, run_id), "resume": document}


def story(client: Client, run_id: str) -> list[dict[str, Any]]:
    """What happened to a run, from the API alone: who was asked what, who said what, and what counted."""
    told: list[dict[str, Any]] = []
    for question in client.questions(run_id)["questions"]:
        told.append({"what": "asked", "question": question["id"], "text": question["text"], "url": question["url"]})
        told += [
            {
                "what": "said",
                "question": question["id"],
                "who": reply["by"]["username"],
                "role": role_name(reply["by"]["role"]),
                "text": reply["text"],
                "counted": reply["counted"],
                "why": reply["why"],
            }
            for reply in question["replies"]
        ]
        answer = question["answer"]
        told.append(
            {
                "what": "stands",
                "question": question["id"],
                "state": question["state"],
                "answer": None
                if answer is None
                else {name: answer[name] for name in ("kind", "keys", "labels", "text", "reason")},
            }
        )
    run = client.run(run_id)
    told.append({"what": "run", "id": run_id, "status": run["status"], "round": run["round"]})
    return told


def _until(met: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not met():
        if time.monotonic() > until:
            raise Unavailable(f"the demo waited in vain until {what}")
        time.sleep(0.05)


def _print(told: dict[str, Any]) -> None:
    console = Console(highlight=False)
    console.print("\n[bold]What happened[/] [dim](read back from the bot's API)[/]\n")
    for line in told["story"]:
        console.print(_line(line), soft_wrap=True)
    resume = told["resume"]
    by = resume["continued_by"].get("username") or resume["continued_by"].get("key")
    console.print(f"\n[bold]{by} continued.[/] The flow was resumed with this document:\n")
    console.print_json(json.dumps(resume, ensure_ascii=False))


def _line(line: dict[str, Any]) -> Text:
    match line["what"]:
        case "asked":
            return Text.assemble(("\n? ", "bold cyan"), (line["text"], "bold"))
        case "said":
            first = " ".join(line["text"].split())
            mark = ("  ✓ ", "green") if line["counted"] else ("  ✗ ", "red")
            why = "" if line["counted"] else f"  does not count: {line['why'].replace('_', ' ')}"
            return Text.assemble(mark, f"{line['who']} ({line['role']}): {first}", (why, "yellow"))
        case "stands":
            answer = line["answer"]
            said = "" if answer is None else f": {', '.join(answer['labels']) or answer['text'] or answer['reason']}"
            return Text.assemble(("  → ", "bold"), f"{line['state'].replace('_', ' ')}{said}")
        case _:
            return Text.assemble(("\n■ ", "bold cyan"), f"run {line['id']} is {line['status'].replace('_', ' ')}")
