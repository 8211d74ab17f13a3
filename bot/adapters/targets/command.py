"""Resumes a flow by starting a program that finds the document on its standard input.

The program gets a small environment of its own, because the bot's holds secrets. It is started again after an unclear
failure: `HITL_RESUME_ID` tells it. Not here: what the program does, or waiting for its end.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

from bot.core.errors import ConfigError, Invalid, Refused, Unavailable
from bot.core.models import CommandTarget as CommandSpec
from bot.core.models import Run, TargetSpec

FIELD = "resume.name"
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")
_LOOK_EVERY = 0.02  # seconds


class CommandTarget:
    """Starts the configured argument list named `run.target.name`, without a shell. May be shared between threads.

    Standard output is thrown away, because the bot's own may be read by a program; standard error is the bot's.
    """

    def __init__(self, commands: Mapping[str, tuple[str, ...]], *, folder: Path, timeout_seconds: float = 10.0) -> None:
        """`folder` is where programs run; `timeout_seconds` how long one is watched until it has read the document."""
        for name, arguments in commands.items():
            if not arguments or not arguments[0] or any("\0" in argument for argument in arguments):
                raise ConfigError(f"command {name}: give a list of arguments, the program first")
        self._commands = dict(commands)
        self._folder = folder
        self._timeout = timeout_seconds

    def check(self, spec: TargetSpec) -> None:
        """Raises `Invalid` for a name that is not configured."""
        if _name(spec) not in self._commands:
            raise Invalid(
                f"{FIELD}: no such command is configured: use one of the configured names, or have it added",
                field=FIELD,
                code="command_unknown",
            )

    def hand_over(self, run: Run, resume_id: str, document: bytes) -> None:
        """Returns once the program has read the document, has ended well, or is still running after the timeout."""
        name = _name(run.target)
        try:
            self.check(run.target)
        except Invalid as error:
            raise Refused(f"{error.message}; nothing was started for run {run.id}", code="command_refused") from error
        # A file instead of a pipe: it is all there at once, whatever its size, and stays there if the bot ends.
        with ExitStack() as kept:
            try:
                stdin = kept.enter_context(tempfile.TemporaryFile())  # without a name, readable by this user only
                stdin.write(document)
                stdin.flush()
                os.lseek(stdin.fileno(), 0, os.SEEK_SET)
            except OSError as error:
                hint = f"the document cannot be put on its standard input ({error.strerror}): check the disk, and TMPDIR"
                raise _unavailable(name, hint) from error
            process = self._started(name, run.id, resume_id, stdin.fileno())
            try:
                self._watch(name, process, stdin.fileno(), len(document))
            finally:
                if process.returncode is None:
                    # Somebody has to ask for its end, or it stays in the process table for as long as the bot runs.
                    Thread(target=process.wait, name=f"command-{process.pid}", daemon=True).start()

    def _started(self, name: str, run_id: str, resume_id: str, stdin: int) -> subprocess.Popen[bytes]:
        arguments = self._commands[name]
        environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        environment |= {"HITL_RESUME_ID": resume_id, "HITL_RUN_ID": run_id}
        if not self._folder.is_dir():
            raise _unavailable(name, f"its folder {self._folder} is not there: make it")
        try:
            return subprocess.Popen(  # noqa: S603 - the list comes from the configuration, and no shell reads it
                arguments,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                cwd=self._folder,
                env=environment,
                start_new_session=True,  # a signal meant for the bot must not end what it started
            )
        except OSError as error:
            hint = f"{arguments[0]} cannot be started ({error.strerror}): check that it is installed, on PATH and executable"
            raise _unavailable(name, hint) from error

    def _watch(self, name: str, process: subprocess.Popen[bytes], stdin: int, size: int) -> None:
        end = time.monotonic() + self._timeout
        while True:
            try:
                code: int | None = process.wait(_LOOK_EVERY)
            except subprocess.TimeoutExpired:
                code = None
            # The program's standard input and ours are one open file, so they have one position.
            read = os.lseek(stdin, 0, os.SEEK_CUR)
            if read >= size or code == 0:
                return
            if code is not None:
                ended = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
                hint = f"it {ended} before it had read the document: see its messages in the bot's log"
                raise _unavailable(name, hint, doubtful=read > 0)
            if time.monotonic() >= end:
                return


def _name(spec: TargetSpec) -> str:
    return spec.name if isinstance(spec, CommandSpec) else ""


def _unavailable(name: str, hint: str, *, doubtful: bool = False) -> Unavailable:
    error = Unavailable(f"command {name}: {hint}", doubtful=doubtful)
    error.code = "command_unavailable"
    return error
