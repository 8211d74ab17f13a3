"""Commands in notes: whole lines, outside quotes and code, opened by `hitl` or a mention of the bot (DESIGN section 6).

Not here: who may give one, or what it does (`flows.command`).
"""

from dataclasses import dataclass

from bot.core.speech import speech
from bot.core.words import COMMANDS, THREAD_COMMANDS

WITH_ARGUMENT = ("continue", "continue anyway", "adopt", "take over")


@dataclass(frozen=True)
class Command:
    """`hitl continue 7f3c` → name `continue`, argument `7f3c`."""

    name: str
    argument: str | None = None


def commands(body: str, *, names: tuple[str, ...] = ("hitl",)) -> tuple[Command, ...]:
    """The commands in a note, wherever it stands. `names` are what may open one: `hitl`, and `@` the bot's username."""
    found = [command_in(line, names, in_thread=False) for line in speech(body).lines]
    return tuple(command for command in found if command is not None)


def command_in(line: str, names: tuple[str, ...], *, in_thread: bool) -> Command | None:
    """The command that is this whole line; below a question also those that need no opening."""
    folded = " ".join(line.split()).casefold()
    for name in names:
        prefix = f"{name.casefold()} "
        if folded.startswith(prefix):
            return _order(folded[len(prefix) :], COMMANDS)
    return _order(folded, THREAD_COMMANDS) if in_thread else None


def _order(text: str, known: tuple[str, ...]) -> Command | None:
    for name in known:
        if text == name:
            return Command(name)
        argument = text.removeprefix(f"{name} ")
        if argument != text and " " not in argument and name in WITH_ARGUMENT:
            return Command(name, argument.removeprefix("@"))
    return None
