"""Documents that are made from code, or name things in it, are in step with it."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bot.core.goal import ResumeDocument
from bot.core.payload import Payload
from bot.testing import Stage

ROOT = Path(__file__).resolve().parent.parent
DOCS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples" / "README.md"]


def test_published_schemas_are_those_of_the_models() -> None:
    """docs/*.schema.json are what the models say; `python -m tests.write_schemas` rewrites them."""
    for name, model in (("resume-document", ResumeDocument), ("payload", Payload)):
        published = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text())
        assert published == model.model_json_schema(mode="serialization"), name


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of the documentation names a file that is there."""
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_behaviour_rows_name_tests_that_exist() -> None:
    """Each row of docs/behaviour.md names at least one test, and every named test is there."""
    rows = [line for line in (ROOT / "docs" / "behaviour.md").read_text().splitlines() if re.match(r"\| [GWFC]\d+ \|", line)]
    assert len(rows) >= 20
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row)
        assert named, row
        for file, test in named:
            text = (ROOT / file).read_text()
            assert not test or f"def {test}(" in text, f"{row[:8]}: {file} has no {test}"


def test_the_readme_is_one_screen_of_commands() -> None:
    """From nothing to an answered question takes at most four commands; the two of the demo are make targets."""
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make ([\w-]+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for command in re.findall(r"hitl (\w+)", readme):
        if command not in ("continue", "answer"):
            assert (
                f'"{command}"' in (ROOT / "bot/cli/commands.py").read_text()
                or f"def {command}(" in (ROOT / "bot/cli/commands.py").read_text()
            ), command


@pytest.mark.parametrize("example", ["plan.py", "cleanup.py"])
def test_examples_run(stage: Stage, example: str) -> None:
    """Two flows that share nothing but the client: asked, answered, resumed (G9)."""
    stage.bot.start()
    dana = stage.person("dana")
    asks = 2 if example == "plan.py" else 1
    with subprocess.Popen(
        [sys.executable, str(ROOT / "examples" / example), stage.item, "dana"],
        env={"HITL_URL": stage.web.url, "HITL_KEY": stage.key_secret, "PATH": ""},
        stdout=subprocess.PIPE,
        text=True,
    ) as flow:
        threads: list[dict[str, Any]] = []
        until = time.monotonic() + 20
        while len(threads) < asks and flow.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
            threads = [thread for thread in dana.threads() if "cannot decide this alone" in thread["notes"][0]["body"]]
        assert len(threads) == asks
        words = "A" if example == "plan.py" else "yes"
        dana.reply({"discussion_id": threads[0]["id"]}, f"{words}\n\nhitl continue")
        out, _ = flow.communicate(timeout=30)
    assert flow.returncode == 0
    assert out.strip().splitlines() == (
        ["Which database should the importer use? -> PostgreSQL", "What must it not break? -> my best assumption"]
        if example == "plan.py"
        else ["removing them"]
    )
