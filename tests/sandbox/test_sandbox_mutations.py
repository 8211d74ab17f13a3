"""Does anybody notice when the sandbox loses a behaviour? Each mutation takes one away, in a copy, and named tests must fail.

The row of docs/gitlab.md that is lost is named with it. Not here: mutations of the bot.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("bot", "templates", "tests")


@dataclass(frozen=True)
class Mutation:
    """One change of one file, and who has to notice."""

    row: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.row} {self.file}"


HOOKS = "test_sandbox_hooks.py::"
HOOK_FACTS = "test_sandbox_hook_facts.py::"
REST = "test_sandbox_rest_facts.py::"
NOTES = "test_sandbox_notes.py::"
ISSUES = "test_sandbox_issues.py::"
PEOPLE = "test_sandbox_people.py::"

MUTATIONS = (
    Mutation(
        "T2",
        "hooks.py",
        "            idempotency_key=delivery.idempotency_key,",
        "            idempotency_key=str(uuid.uuid4()),",
        (HOOKS + "test_a_resend_keeps_the_idempotency_key",),
    ),
    Mutation(
        "T4",
        "world.py",
        'return int(self.version.partition(".")[0]) >= 19',
        "return True",
        (HOOK_FACTS + "test_below_19_the_idempotency_key_is_all_there_is",),
    ),
    Mutation(
        "T7",
        "hooks.py",
        "FAILURES_BEFORE_PAUSE = 4",
        "FAILURES_BEFORE_PAUSE = 5",
        (HOOKS + "test_failures_are_not_retried_and_pause_the_hook", HOOK_FACTS + "test_pauses_double_up_to_a_day"),
    ),
    Mutation(
        "T9",
        "hooks.py",
        "self._count(hook, delivery.succeeded)",
        "self._count(hook, delivery.status is not None and delivery.status < 500)",
        (HOOK_FACTS + "test_4xx_counts_like_5xx",),
    ),
    Mutation(
        "T18",
        "events.py",
        '"user": _user(world, world.users[note.author_id]),',
        '"user": _user(world, world.users[note.updated_by_id or note.author_id]),',
        (HOOKS + "test_a_note_hook_has_the_author_even_when_a_maintainer_edits",),
    ),
    Mutation(
        "T19",
        "discussions.py",
        "        note.resolved_by_id = actor.id if resolved else None\n",
        "        note.resolved_by_id = actor.id if resolved else None\n"
        '        self._hooks.fire(events.note_event(self._world, note, "update"))\n',
        (HOOKS + "test_what_sends_no_hook", HOOK_FACTS + "test_resolving_leaves_no_trace"),
    ),
    Mutation(
        "T20",
        "events.py",
        "    return Event(name, trigger, issue.project_id, body)\n\n\ndef emoji_event",
        "    if world.users[note.author_id].bot:\n"
        '        trigger = "none"\n'
        "    return Event(name, trigger, issue.project_id, body)\n\n\ndef emoji_event",
        (HOOKS + "test_the_bots_own_notes_fire",),
    ),
    Mutation(
        "T21",
        "events.py",
        'name, trigger = "Confidential Note Hook", "confidential_note_events"',
        'name, trigger = "Note Hook", "note_events"',
        (HOOKS + "test_confidential_notes_need_their_own_trigger",),
    ),
    Mutation(
        "T30",
        "paging.py",
        "MOST_PER_PAGE = 100",
        "MOST_PER_PAGE = 1000",
        (REST + "test_threads_are_paged_oldest_first_100_at_most",),
    ),
    Mutation(
        "T34",
        "discussions.py",
        '            first.type = "DiscussionNote"\n',
        "",
        (NOTES + "test_the_first_reply_turns_a_plain_note_into_a_thread",),
    ),
    Mutation(
        "T35",
        "discussions.py",
        "                is_resolved(thread),\n",
        "                False,\n",
        (NOTES + "test_a_reply_to_a_resolved_thread_is_born_resolved",),
    ),
    Mutation(
        "T37",
        "discussions.py",
        "                if note.resolvable and note.resolved != resolved:\n",
        "                issue.updated_at = self._world.now()\n"
        "                if note.resolvable and note.resolved != resolved:\n",
        (NOTES + "test_what_moves_an_issues_updated_at", ISSUES + "test_issues_are_filtered_by_update"),
    ),
    Mutation(
        "T39",
        "discussions.py",
        'body, "DiscussionNote", discussion_id, first.internal, created_at,',
        'body, "DiscussionNote", discussion_id, False, created_at,',
        (REST + "test_threads_are_never_opened_internal_and_replies_inherit",),
    ),
    Mutation(
        "T50",
        "rules.py",
        "not (direct_only and member.inherited)",
        "not member.inherited",
        (PEOPLE + "test_members_direct_and_inherited",),
    ),
    Mutation(
        "T57",
        "rules.py",
        "    if has_role(project, user, DEVELOPER):\n        return True\n",
        "    if has_role(project, user, PLANNER):\n        return True\n",
        (NOTES + "test_who_resolves_the_bots_thread",),
    ),
    Mutation(
        "T61",
        "moving.py",
        "                discussion_id=discussion_id,\n",
        "                discussion_id=note.discussion_id,\n",
        (ISSUES + "test_a_move_gives_everything_new_ids",),
    ),
    Mutation(
        "T63",
        "call.py",
        'if token.rotated and request.url.path.endswith("/self/rotate"):',
        'if token.rotated and request.url.path.endswith("/never"):',
        (PEOPLE + "test_rotating_with_a_rotated_token_revokes_the_whole_family",),
    ),
    Mutation(
        "T64",
        "quick_actions.py",
        'text.replace("\\r", "").rstrip()',
        "text.rstrip()",
        (NOTES + "test_the_stored_body_loses_cr_and_trailing_space",),
    ),
    Mutation(
        "T65",
        "quick_actions.py",
        "            dropped.add(number)\n",
        "",
        (ISSUES + "test_commands_are_taken_out_and_run", ISSUES + "test_commands_without_the_right_vanish_and_do_nothing"),
    ),
)


class Copy:
    """The repository's code and tests in another place, where they can be changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in COPIED:
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", root)
        self.python("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "bot")

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the copy. What is compiled in it is used only while it fits its source, so it does not outlive a mutation."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            # No plugin but the one that the configuration needs: starting them takes longer than the tests.
            env={
                **os.environ,
                "PYTHONPATH": str(self.root),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def test(self, *tests: str) -> subprocess.CompletedProcess[str]:
        """Run tests, in this process alone."""
        named = [f"tests/sandbox/{test}" for test in dict.fromkeys(tests)]
        # The conftest above starts the whole product, which tests of the sandbox do not use.
        lean = ("-p", "pytest_timeout", "-p", "no:cacheprovider", "--confcutdir", "tests/sandbox")
        return self.python("-m", "pytest", "-rfE", "--tb=line", *lean, *named)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    made = Copy(tmp_path_factory.mktemp("mutated"))
    asked = "import bot, bot.sandbox.hooks as one; print(bot.__file__, one.__file__)"
    for place in made.python("-c", asked).stdout.split():
        assert Path(place).is_relative_to(made.root), f"{place} is not the copy: mutations of it would change nothing"
    yield made
    shutil.rmtree(made.root)


def test_unmutated_they_pass(copy: Copy) -> None:
    """In the copy as it is, all the tests that have to notice something pass."""
    run = copy.test(*(test for mutation in MUTATIONS for test in mutation.tests))
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_lost_behaviour_is_noticed(copy: Copy, mutation: Mutation) -> None:
    """With the behaviour of the row taken away, each of the tests named fails, and by failing, not by an error on the way."""
    file = copy.root / "bot" / "sandbox" / mutation.file
    whole = file.read_text()
    times = whole.count(mutation.old)
    assert times == 1, (
        f"{mutation}: the text to be changed occurs {times} times in {mutation.file}; the code has moved on, so say anew "
        f"what takes the behaviour away:\n{mutation.old}"
    )
    file.write_text(whole.replace(mutation.old, mutation.new))
    try:
        run = copy.test(*mutation.tests)
    finally:
        file.write_text(whole)
    assert run.returncode == 1, f"nobody noticed, or nothing ran:\n{run.stdout}\n{run.stderr}"
    assert not re.search(r"^ERROR ", run.stdout, re.MULTILINE), run.stdout
    failed = set(re.findall(r"^FAILED tests/sandbox/([\w.]+::\w+)", run.stdout, re.MULTILINE))
    assert failed == set(mutation.tests), run.stdout


def test_mutations_name_rows_of_the_table() -> None:
    """Every mutation names a row that is there, and only tests that this row names too."""
    rows = dict(re.findall(r"^\| (T\d+) \|(.*)$", (ROOT / "docs" / "gitlab.md").read_text(), re.MULTILINE))
    assert len(MUTATIONS) >= 10
    for mutation in MUTATIONS:
        for test in mutation.tests:
            assert f"`tests/sandbox/{test}`" in rows[mutation.row], f"{mutation}: {test}"
