"""The command target with real programs: what they are given, when it counts as handed over, and that none is left behind."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.adapters.targets.command import CommandTarget
from bot.core.errors import ConfigError, Invalid, Refused, Unavailable
from bot.core.models import CommandTarget as CommandSpec
from bot.ports import ResumeTarget

DOCUMENT = '{"format":1,"goal":"Größe"}'.encode()
RESUME = "5f0c"


def _run(name: str = "agent") -> Any:
    return SimpleNamespace(id="r1", target=CommandSpec(name=name))


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def _start(folder: Path, *arguments: str, timeout: float = 10.0, document: bytes = DOCUMENT) -> None:
    target: ResumeTarget = CommandTarget({"agent": arguments}, folder=folder, timeout_seconds=timeout)
    target.hand_over(_run(), RESUME, document)


def _soon(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def _children() -> list[str]:
    """Processes whose parent is this one, zombies included."""
    mine = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == os.getpid():
            mine.append(stat.parent.name)
    return mine


def test_it_gets_the_document_where_it_belongs(tmp_path: Path) -> None:
    """All bytes on standard input, in its folder, as the leader of its own session."""
    code = """
import json, os, sys
document = sys.stdin.buffer.read()
with open("part", "w") as file:
    json.dump({"document": document.decode(), "args": sys.argv[1:], "leader": os.getsid(0) == os.getpid()}, file)
os.rename("part", "got")
"""
    _start(tmp_path, *_python(code), "$HOME; *", document=DOCUMENT)
    _soon((tmp_path / "got").exists)
    got = json.loads((tmp_path / "got").read_text())
    assert got == {"document": DOCUMENT.decode(), "args": ["$HOME; *"], "leader": True}


def test_a_document_larger_than_a_pipe(tmp_path: Path) -> None:
    document = b"x" * 3_000_000
    code = "import os, sys; open('part', 'wb').write(sys.stdin.buffer.read()); os.rename('part', 'got')"
    _start(tmp_path, *_python(code), document=document)
    _soon((tmp_path / "got").exists)
    assert (tmp_path / "got").read_bytes() == document


def test_its_environment_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the bot knows does not reach it, only the names that programs need, and the two ids."""
    monkeypatch.setenv("HITL_PROJECT_TOKEN", "glpat-do-not-tell-anybody")
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.delenv("LANG", raising=False)
    (tmp_path / "agent").write_text("#!/bin/sh\ncat >/dev/null\nenv >part\nmv part got\n")
    (tmp_path / "agent").chmod(0o755)
    _start(tmp_path, "./agent")
    _soon((tmp_path / "got").exists)
    got = dict(line.split("=", 1) for line in (tmp_path / "got").read_text().splitlines())
    of_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert set(got) - of_the_shell <= {"PATH", "HOME", "LC_ALL", "TZ", "HITL_RESUME_ID", "HITL_RUN_ID"}
    assert (got["HITL_RESUME_ID"], got["HITL_RUN_ID"], got["TZ"]) == (RESUME, "r1", "Europe/Berlin")
    assert got["PATH"] == os.environ["PATH"]


def test_standard_output_is_thrown_away_and_errors_are_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _start(tmp_path, "sh", "-c", "echo for nobody; echo for the log >&2")
    assert capfd.readouterr() == ("", "for the log\n")


def test_its_end_is_not_waited_for(tmp_path: Path) -> None:
    """Handed over when the document has been read."""
    began = time.monotonic()
    _start(tmp_path, *_python("import sys, time; sys.stdin.read(); time.sleep(3)"))
    assert time.monotonic() - began < 2.5


def test_a_slow_starter_keeps_its_document(tmp_path: Path) -> None:
    """Still running after the timeout counts as started, and what it reads later is all there."""
    code = "import os, sys, time; time.sleep(0.6); open('part', 'wb').write(sys.stdin.buffer.read()); os.rename('part', 'got')"
    _start(tmp_path, *_python(code), timeout=0.1)
    assert not (tmp_path / "got").exists()
    _soon((tmp_path / "got").exists)
    assert (tmp_path / "got").read_bytes() == DOCUMENT


def test_success_without_reading_is_success(tmp_path: Path) -> None:
    _start(tmp_path, "true")


@pytest.mark.parametrize(
    ("code", "said", "doubtful"),
    [
        ("raise SystemExit(3)", "exit code 3", False),
        ("import os; os.kill(os.getpid(), 9)", "signal 9", False),
        ("import os; os.read(0, 5); os._exit(4)", "exit code 4", True),
    ],
)
def test_an_early_end_is_tried_again(tmp_path: Path, code: str, said: str, doubtful: bool) -> None:
    """In doubt only when it has read a part."""
    with pytest.raises(Unavailable, match=f"command agent: .*{said}") as caught:
        _start(tmp_path, *_python(code))
    assert caught.value.doubtful is doubtful
    assert caught.value.code == "command_unavailable"


def test_failing_after_reading_is_the_flows_affair(tmp_path: Path) -> None:
    _start(tmp_path, *_python("import sys; sys.stdin.read(); sys.exit(1)"))


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"no-such-program cannot be started .*installed") as caught:
        _start(tmp_path, "no-such-program")
    assert not caught.value.doubtful


def test_a_program_that_is_not_executable_is_named(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("#!/bin/sh\n")
    with pytest.raises(Unavailable, match=r"\./agent cannot be started .*executable"):
        _start(tmp_path, "./agent")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="folder"):
        _start(tmp_path / "none", "true")


def test_unknown_names(tmp_path: Path) -> None:
    """`check` names the field; a run from before the configuration changed is refused for good."""
    target = CommandTarget({"agent": ("true",)}, folder=tmp_path)
    target.check(CommandSpec(name="agent"))
    with pytest.raises(Invalid) as caught:
        target.check(CommandSpec(name="sh"))
    assert (caught.value.field, caught.value.code) == ("resume.name", "command_unknown")
    with pytest.raises(Refused, match="nothing was started"):
        target.hand_over(_run("sh"), RESUME, DOCUMENT)


@pytest.mark.parametrize("arguments", [(), ("",), ("agent", "a\0b")])
def test_an_unusable_list_is_a_configuration_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="command agent"):
        CommandTarget({"agent": arguments}, folder=tmp_path)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_no_zombies_stay(tmp_path: Path) -> None:
    """Neither of those that end at once nor of those that end later."""
    before = set(_children())
    for code in ("import sys; sys.stdin.read()", "import sys, time; sys.stdin.read(); time.sleep(0.3)"):
        _start(tmp_path, *_python(code))
    with pytest.raises(Unavailable):
        _start(tmp_path, "false")
    _soon(lambda: set(_children()) <= before)
