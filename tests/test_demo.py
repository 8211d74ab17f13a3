"""`hitl demo --auto` tells what really happened: the story comes from the API, so broken rules change it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.demo_auto import play
from bot.sandbox.seed import demo_world
from bot.testing import Stage


def test_the_story_and_the_resume(tmp_path: Path) -> None:
    """One JSON object at the end: who said what, what counted and why not, and the resume document."""
    result = subprocess.run(
        [sys.executable, "-m", "bot", "demo", "--auto", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    said = {(line["who"], line["question"]): line for line in told["story"] if line["what"] == "said"}
    by_who = {who: line for (who, _), line in said.items()}
    assert by_who["gil"]["counted"] is False
    assert by_who["gil"]["why"] == "role_below_threshold"
    assert by_who["stranger"]["why"] == "not_a_member"
    assert by_who["dana"]["counted"] is True
    answers = [question["answer"] for question in told["resume"]["questions"]]
    assert [answer["kind"] for answer in answers] == ["selected", "multi_selected", "text"]
    assert told["resume"]["continued_by"]["username"] == "petra"
    assert told["story"][-1]["status"] == "finished"


@pytest.mark.parametrize(
    ("policy", "promoted", "counted"),
    [({}, None, {"dana", "petra", "omar"}), ({"answer": 40}, None, {"omar"}), ({}, "gil", {"dana", "petra", "omar"})],
    ids=["as it is", "only Maintainers count", "the Guest is made Developer"],
)
def test_the_story_follows_the_rules_not_the_script(
    tmp_path: Path, policy: dict[str, int], promoted: str | None, counted: set[str]
) -> None:
    """With other rules or roles the same people are told about differently: the story is read, not recited."""
    world = demo_world()
    if promoted is not None:
        user = next(user for user in world.users.values() if user.username == promoted)
        world.set_role(next(iter(world.projects.values())), user, 30)
    with Stage(tmp_path, world=world, working=True, policy=policy) as stage:
        told = play(stage)
    assert {line["who"] for line in told["story"] if line["what"] == "said" and line["counted"]} == counted
    guest = next(line for line in told["story"] if line.get("who") == "gil")
    assert guest["why"] == ("owner_decided" if promoted else "role_below_threshold")
