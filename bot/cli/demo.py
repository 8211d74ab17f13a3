"""`hitl demo`: everything on loopback, and a flow that asks. Stays up for a person with a browser."""

import signal
import tempfile
from pathlib import Path
from threading import Event, Thread
from typing import Any

from rich.console import Console
from rich.markup import escape

from bot.client import Client
from bot.core.errors import ConfigError
from bot.testing.stage import Stage
from bot.web.server import listen

FLOW = "plan"
GOAL = "Write the plan for the importer: database, environments, constraints."
OWNER = "dana"
QUESTIONS: list[dict[str, Any]] = [
    {
        "text": "Which database should the importer use?",
        "question_type": "multiple_choice",
        "options": [
            {"key": "A", "label": "PostgreSQL", "description": "the read replicas already run it"},
            {"key": "B", "label": "SQLite", "description": "nothing to operate"},
            {"key": "C", "label": "Let the team decide"},
        ],
        "recommended": ["A"],
        "stage": "database",
    },
    {
        "text": "Where should it run first?",
        "question_type": "multi_select",
        "options": [{"label": "Staging"}, {"label": "The nightly batch host"}, {"label": "Production, read-only"}],
        "stage": "environments",
    },
    {"text": "Is there anything the importer must not break?", "question_type": "freeform", "stage": "constraints"},
]


def start_flow(client: Client, item: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The example flow up to its questions: the run, and where they stand."""
    run = client.start(item, flow=FLOW, goal=GOAL, owner=OWNER)
    return run, client.ask(run["id"], QUESTIONS)


def stay(*, tracker_port: int, bot_port: int) -> None:
    """Run until interrupted."""
    console = Console(highlight=False)
    stopped = Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with (
        tempfile.TemporaryDirectory(prefix="hitl-demo-") as folder,
        Stage(Path(folder), working=True, poll_seconds=5, tracker_port=_free(tracker_port), bot_port=_free(bot_port)) as stage,
    ):
        run, _ = start_flow(stage.client, stage.item)
        console.print("\n[bold]hitl demo[/] · a sandbox tracker, the bot and an example flow, all on this machine\n")
        console.print(f"  1. Open       [link]{stage.item_url}[/link]")
        console.print("  2. Choose who you are, and answer in the three threads:")
        for question in QUESTIONS:
            console.print(f"       · {escape(question['text'])}")
        console.print("  3. Comment    [bold]hitl continue[/]   as dana, petra or omar, and watch this terminal\n")
        console.print(f"  bot API       {stage.web.url}/api/v1   run {run['id']}")
        console.print("  stop          Ctrl-C\n")
        console.print("[dim]The flow waits. Open questions do not block it: it then uses its best assumptions.[/]")
        Thread(target=_follow, args=[console, stage.client, run["id"], stopped], daemon=True).start()
        try:
            stopped.wait()
        except KeyboardInterrupt:
            console.print("\nstopping")
        stopped.set()


def _free(port: int) -> int:
    """The usual port where it is free, any other where not."""
    try:
        listen("127.0.0.1", port).close()
    except ConfigError:
        return 0
    return port


def _follow(console: Console, client: Client, run_id: str, stopped: Event) -> None:
    """The flow: wait without holding anything but one request, then go on."""
    document = None
    while document is None and not stopped.is_set():
        document = client.wait(run_id)
    if document is None:
        return
    by = document["continued_by"]
    who = escape(str(by.get("username") or by.get("key")))
    console.print(f"\n[bold green]The flow resumes[/] (mode {document['mode']}), continued by {who}\n")
    console.print(document["goal"], markup=False)
    client.finish(run_id)
    console.print("\n[dim]The run is finished. Ctrl-C stops the demo; `make demo` starts it afresh.[/]")
