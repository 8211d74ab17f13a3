"""Commands that use the bot's API like any flow: ask, continue, questions."""

import json
import sys
import time
from dataclasses import dataclass
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from bot.cli.failing import NO_ANSWER
from bot.client import Client
from bot.core.eligibility import role_name
from bot.core.errors import NotFound, Unauthenticated
from bot.core.items import parse_item


@dataclass(frozen=True)
class Asked:
    """What the options of `hitl ask` say."""

    text: str
    options: tuple[str, ...]
    recommended: tuple[str, ...]
    multi: bool
    yes_no: bool
    options_only: bool

    def question(self) -> dict[str, Any]:
        kind = "yes_no" if self.yes_no else "freeform"
        if self.options:
            kind = "multi_select" if self.multi else "multiple_choice"
        return {
            "text": self.text,
            "question_type": kind,
            "options": [{"label": label} for label in self.options],
            "recommended": list(self.recommended),
            "allow_freeform": not self.options_only,
        }


def ask(
    item: str,
    asked: Asked,
    *,
    flow: str,
    goal: str,
    owner: str | None,
    wait: bool,
    timeout: float | None,
    url: str,
    token: str,
    as_json: bool,
) -> None:
    client = _client(url, token)
    run = client.start(item, flow=flow, goal=goal or asked.text, owner=owner)
    placed = client.ask(run["id"], [asked.question()])[0]
    if not wait:
        shown = {"run": run["id"], "question": placed["id"], "url": placed["url"]}
        print(json.dumps(shown) if as_json else f"{placed['url'] or 'not posted yet'}\nrun {run['id']}")
        return
    print(f"asked: {placed['url'] or 'it will be posted shortly'}\nwaiting for Continue …", file=sys.stderr)
    document = _wait(client, run["id"], timeout)
    if document is None:
        print(f"hitl: no answer yet; the question stays open (run {run['id']})", file=sys.stderr)
        raise typer.Exit(NO_ANSWER)
    client.finish(run["id"])
    print(json.dumps(document) if as_json else _told(document["questions"][-1]))


def press_continue(target: str, *, url: str, token: str, as_json: bool) -> None:
    client = _client(url, token)
    pressed = client.press_continue(_run_named(client, target))
    print(json.dumps(pressed) if as_json else f"continued: resume {pressed['resume']}, the run is {pressed['status']}")


def questions(item: str, *, url: str, token: str, as_json: bool) -> None:
    client = _client(url, token)
    name = parse_item(item)
    runs = client.runs(project=name.project, item_iid=name.iid)
    shown = [{**run, **client.questions(run["id"])} for run in runs]
    if as_json:
        print(json.dumps(shown))
        return
    console = Console(highlight=False)
    if not shown:
        console.print(f"nothing was asked on {name.project}#{name.iid}")
    for run in shown:
        status = run["status"].replace("_", " ")
        owner = escape(run["owner"]["username"])
        console.print(f"[bold]{escape(run['flow'])}[/]  {status}  {run['open']} of {run['total']} open  by {owner}")
        for number, question in enumerate(run["questions"], start=1):
            mark = "☑" if question["answer"] else "○"
            line = Text(f"  {mark} {number}  {_short(question['text']):<42} {_told(question)}")
            console.print(line, soft_wrap=True)
        if run["status"] == "awaiting_input":
            console.print(f"continue: hitl continue {run['id'][:6]}")


def _client(url: str, token: str) -> Client:
    if not token:
        raise Unauthenticated("no credential: set HITL_KEY to a flow's key (`hitl keys create`) or to your own GitLab token")
    return Client(url, token)


def _run_named(client: Client, target: str) -> str:
    if "/" in target:
        name = parse_item(target)
        runs = client.runs(project=name.project, item_iid=name.iid)
    else:
        known = client.runs()
        runs = [run for run in known if run["id"] == target] or [run for run in known if run["id"].startswith(target)]
    waiting = [run for run in runs if run["status"] == "awaiting_input"] or runs[:1]
    if len(waiting) != 1:
        names = ", ".join(f"{run['id']} ({run['flow']})" for run in waiting)
        raise NotFound(f"{target} names {len(waiting) or 'no'} waiting runs{f': {names}' if names else ''}")
    return str(waiting[0]["id"])


def _wait(client: Client, run_id: str, timeout: float | None) -> dict[str, Any] | None:
    until = None if timeout is None else time.monotonic() + timeout
    while until is None or time.monotonic() < until:
        left = 25.0 if until is None else max(0.1, until - time.monotonic())
        document = client.wait(run_id, left)
        if document is not None:
            return document
    return None


def _told(question: dict[str, Any]) -> str:
    """How one question stands, in a line."""
    answer = question["answer"]
    if answer is not None:
        who = "the default" if answer["by"] is None else f"{answer['by']['username']}, {role_name(answer['by']['role'])}"
        said = "; ".join(f"{key} {label}" for key, label in zip(answer["keys"], answer["labels"], strict=False)) or ", ".join(
            answer["keys"]
        )
        words = answer["reason"] if answer["kind"] == "rejected" else answer["text"]
        told = ": ".join(part for part in ("none" if answer["kind"] == "rejected" else said, words) if part)
        return f"{told} · {who}"
    if question["state"] == "needs_eligible":
        return "needs an eligible answer"
    if question["conflicting"]:
        return "answers differ: " + ", ".join(
            f"{given['by']['username']} {'+'.join(given['keys'])}" for given in question["conflicting"]
        )
    return str(question["state"]).replace("_", " ")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"
