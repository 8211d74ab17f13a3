"""The `hitl` command as a process: output, exit codes, one-line errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.testing import Stage


def hitl(
    *arguments: str, environment: dict[str, str] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """`hitl …` with a clean environment."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HITL_")}
    return subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**clean, "COLUMNS": "120", **(environment or {})},
        cwd=folder,
        check=False,
    )


def at(stage: Stage) -> dict[str, str]:
    return {"HITL_URL": stage.web.url, "HITL_KEY": stage.key_secret}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, "no such file"),
        (
            '[gitlab]\nurl = "https://x"\n[[projects]]\npath = "a/b"\ntoken = { env = "NOPE" }\n',
            "environment variable NOPE is not set",
        ),
        (
            '[gitlab]\nurl = "https://x"\n[database]\nurl = "sqlite:////no/such/folder/hitl.db"\n'
            '[[projects]]\npath = "a/b"\ntoken = { env = "T" }\nmode = "poll"\n',
            "/no/such/folder",
        ),
        (
            '[gitlab]\nurl = "https://x"\n[database]\nurl = "postgresql+psycopg://u:hunter2@127.0.0.1:1/db"\n'
            '[[projects]]\npath = "a/b"\ntoken = { env = "T" }\nmode = "poll"\n',
            "127.0.0.1",
        ),
    ],
    ids=["missing file", "missing variable", "unwritable SQLite", "unreachable PostgreSQL"],
)
def test_serve_says_what_is_wrong_in_one_line(tmp_path: Path, config: str | None, words: str) -> None:
    """Exit 2 and one line on standard error, without a traceback or a password."""
    if config is not None:
        (tmp_path / "config.toml").write_text(config)
    result = hitl("serve", environment={"T": "glpat-x"}, folder=tmp_path)
    assert result.returncode == 2
    lines = [line for line in result.stderr.splitlines() if "back it up" not in line]
    assert len(lines) == 1, result.stderr
    assert words in lines[0]
    assert "hunter2" not in result.stderr


def test_ask_continue_and_questions(stage: Stage) -> None:
    """A question in one line, how it stands, and Continue by the item's name."""
    stage.bot.start()
    asked = hitl(
        "ask", stage.item, "Which database?", "--option", "PostgreSQL", "--option", "SQLite", "--recommend", "A",
        "--owner", "dana", "--json", environment=at(stage),
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    placed = json.loads(asked.stdout)
    assert placed["url"].startswith(stage.item_url)
    listed = hitl("questions", stage.item, environment=at(stage))
    assert "ask  awaiting input  1 of 1 open  by dana" in listed.stdout
    assert "○ 1  Which database?" in listed.stdout
    continued = hitl("continue", stage.item, environment=at(stage))
    assert continued.returncode == 0, continued.stderr
    assert "the run is resuming" in continued.stdout


def test_ask_and_wait(stage: Stage) -> None:
    """`--wait` prints the answer once somebody continued; in time or exit 5, with the question left open."""
    stage.bot.start()
    late = hitl(
        "ask", stage.item, "Anything?", "--owner", "dana", "--flow", "late", "--wait", "--timeout", "0.3", environment=at(stage)
    )
    assert late.returncode == 5
    assert "no answer yet" in late.stderr
    command = [
        sys.executable,
        "-m",
        "bot",
        "ask",
        stage.item,
        "Which?",
        "-o",
        "PostgreSQL",
        "-o",
        "SQLite",
        "--owner",
        "dana",
        "--wait",
    ]
    waiting = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **at(stage)}
    )
    assert waiting.stderr is not None
    url = waiting.stderr.readline()
    note_id = int(url.rsplit("_", 1)[-1])
    thread = next(thread for thread in stage.person("dana").threads() if thread["notes"][0]["id"] == note_id)
    stage.person("dana").reply({"discussion_id": thread["id"]}, "B\n\nhitl continue")
    out, _ = waiting.communicate(timeout=30)
    assert out.strip() == "B SQLite · dana, Developer"
    assert waiting.returncode == 0


@pytest.mark.slow
def test_refusals_have_their_exit_code(stage: Stage) -> None:
    """3 refused, 4 nobody there; the reason is the server's."""
    assert hitl("ask", stage.item, "x", "--owner", "petra", environment=at(stage)).returncode == 3
    assert hitl("continue", "ffff", environment=at(stage)).returncode == 3
    assert hitl("questions", "acme/platform/api!12", environment=at(stage)).returncode == 3
    assert hitl("questions", stage.item, environment={"HITL_URL": "http://127.0.0.1:9", "HITL_KEY": "hitl_x"}).returncode == 4
    nothing = hitl("questions", stage.item, environment={"HITL_URL": stage.web.url})
    assert nothing.returncode == 3
    assert "no credential" in nothing.stderr


@pytest.mark.slow
def test_keys_create(stage: Stage) -> None:
    """`hitl keys create --json` gives id and key once; the key works."""
    config = stage.folder / "config.toml"
    (stage.folder / "token").write_text(stage.settings.projects[0].token.get_secret_value())
    project = '[[projects]]\npath = "acme/platform/api"\ntoken = { file = "token" }\nmode = "poll"\n'
    config.write_text(f'[gitlab]\nurl = "{stage.tracker.url}"\n{project}')
    made = hitl("keys", "create", "--project", "acme/platform/api", "--json", "-c", str(config))
    assert made.returncode == 0, made.stderr
    key = json.loads(made.stdout)
    assert set(key) == {"id", "key"}
    assert key["key"].startswith("hitl_")
    assert hitl("questions", stage.item, environment={"HITL_URL": stage.web.url, "HITL_KEY": key["key"]}).returncode == 0
    assert key["key"].encode() not in (stage.folder / "hitl.db").read_bytes()
    unknown = hitl("keys", "create", "--project", "acme/other", "-c", str(config))
    assert unknown.returncode == 3
    assert "not configured here" in unknown.stderr


def test_help_is_there() -> None:
    """`hitl --help` lists the commands and the exit codes."""
    result = hitl("--help")
    assert result.returncode == 0
    for command in ("demo", "sandbox", "serve", "ask", "continue", "questions", "explain", "recover", "keys", "db"):
        assert command in result.stdout
    assert "Exit codes" in result.stdout


def configured(stage: Stage) -> Path:
    """A configuration file for the bot of `stage`, which shares its database and key."""
    (stage.folder / "token").write_text(stage.settings.projects[0].token.get_secret_value())
    project = '[[projects]]\npath = "acme/platform/api"\ntoken = { file = "token" }\nmode = "poll"\n'
    config = stage.folder / "config.toml"
    config.write_text(f'[gitlab]\nurl = "{stage.tracker.url}"\n{project}')
    return config


@pytest.mark.slow
def test_explain(stage: Stage) -> None:
    """Every note of the thread by id, how it was read, and whether it counts or why not (G33); unknown: exit 3."""
    config = str(configured(stage))
    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    choice = {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"]}
    placed = stage.client.ask(run, [choice])[0]
    replies = [
        ("gil", "A", "selected A", False, "role_below_threshold", 10),
        ("dana", "A", "selected A", False, "replaced_by_later", 30),
        ("petra", "is the shop's server full?", "question_back", False, "question_back", 15),
        ("dana", "B", "selected B", True, None, 30),
    ]
    ids = [stage.person(who).reply(placed, text)["id"] for who, text, *_ in replies]
    stage.settle()
    result = hitl("explain", placed["id"], "--json", "-c", config)
    assert result.returncode == 0, result.stderr
    shown = json.loads(result.stdout)
    assert (shown["state"], shown["now"], shown["made_by"]) == ("answered", "answered", [ids[3]])
    assert (shown["answer"]["keys"], shown["answer"]["note_id"], shown["answer"]["by"]) == (["B"], ids[3], "dana")
    notes = {note["note_id"]: note for note in shown["notes"]}
    assert notes[placed["note_id"]]["why"] == "the_question"
    for note_id, (who, _, read_as, counted, why, role) in zip(ids, replies, strict=True):
        assert notes[note_id] == {
            "note_id": note_id, "author": who, "role": role, "read_as": read_as, "counted": counted, "why": why,
        }  # fmt: skip
    told = hitl("explain", placed["id"], "-c", config)
    assert f"made by: {ids[3]}" in told.stdout
    assert "not counted: role_below_threshold" in told.stdout
    unknown = hitl("explain", "nothing", "-c", config)
    assert unknown.returncode == 3
    assert "no question nothing" in unknown.stderr


@pytest.mark.slow
def test_explain_keeps_what_was_continued_with(stage: Stage) -> None:
    """After Continue the recorded answer stays; that the thread reads otherwise now is said beside it."""
    config = str(configured(stage))
    run = stage.client.start(stage.item, flow="plan", goal="Plan it.", owner="dana")["id"]
    placed = stage.client.ask(run, [{"text": "Which?", "question_type": "freeform"}])[0]
    stage.client.press_continue(run)
    stage.person("dana").reply(placed, "too late \x1b[31m")
    told = hitl("explain", placed["id"], "-c", config)
    assert told.stdout.splitlines()[0] == f"{placed['id']}  open (its thread reads answered now)  closed with its round"
    assert "\x1b" not in told.stdout


@pytest.mark.slow
def test_keys_and_resumes_are_operated_from_the_configuration(stage: Stage) -> None:
    """Listed keys show no secret, a revoked one gets 401; a resume can be looked at; driving a pulled one is refused."""
    config = stage.folder / "config.toml"
    (stage.folder / "token").write_text(stage.settings.projects[0].token.get_secret_value())
    project = '[[projects]]\npath = "acme/platform/api"\ntoken = { file = "token" }\nmode = "poll"\n'
    config.write_text(f'[gitlab]\nurl = "{stage.tracker.url}"\n{project}')
    run = stage.client.start(stage.item, flow="plan", goal="x", owner="dana")["id"]
    stage.client.ask(run, [{"text": "Anything?", "question_type": "freeform"}])
    resume = stage.client.press_continue(run)["resume"]
    shown = json.loads(hitl("resume", "show", resume, "--json", "-c", str(config)).stdout)
    assert (shown["run"], shown["state"], shown["delivered_at"]) == (run, "pull", None)
    assert shown["document"]["resume"] == resume
    assert hitl("resume", "redrive", resume, "-c", str(config)).returncode == 3
    assert hitl("resume", "show", "nope", "-c", str(config)).returncode == 3
    listed = hitl("keys", "list", "--json", "-c", str(config))
    key = json.loads(listed.stdout)[0]
    assert (key["id"], key["projects"], key["revoked_at"]) == (stage.key.id, ["acme/platform/api"], None)
    assert stage.key_secret not in listed.stdout
    assert hitl("keys", "revoke", key["id"], "-c", str(config)).returncode == 0
    assert hitl("questions", stage.item, environment=at(stage)).returncode == 3
    assert hitl("keys", "revoke", "nope", "-c", str(config)).returncode == 3
    assert "revoked" in hitl("keys", "list", "-c", str(config)).stdout
