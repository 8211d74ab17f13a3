"""Commands are whole lines of a person's own words, and nothing else."""

import pytest

from bot.core.commands import Command, commands
from bot.core.models import AnswerKind, Question
from bot.core.replies import Unread, read

NAMES = ("hitl", "@project_77_bot_0a1b")
DATABASE = Question.model_validate(
    {"text": "Which?", "question_type": "multiple_choice", "options": ["PostgreSQL", "SQLite"], "allow_freeform": True}
)
FREE = Question.model_validate({"text": "What?", "question_type": "freeform"})


@pytest.mark.parametrize("name", ["hitl", "HITL", "@project_77_bot_0a1b", "@Project_77_Bot_0A1B"])
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("continue", Command("continue")),
        ("Continue", Command("continue")),
        ("  continue", Command("continue")),
        ("continue 7f3c", Command("continue", "7f3c")),
        ("continue 7F3C", Command("continue", "7f3c")),
        ("continue anyway", Command("continue anyway")),
        ("continue  anyway  7f3c", Command("continue anyway", "7f3c")),
        ("close all", Command("close all")),
        ("take over", Command("take over")),
        ("take over 7f3c", Command("take over", "7f3c")),
        ("help", Command("help")),
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "  {}  ", "Thanks all.\n\n{}", "{}\n\nThanks all.", "> no\n\n{}", "{}\r\n", "{} <!-- x -->"], ids=ascii
)
def test_commands(name: str, words: str, command: Command, around: str) -> None:
    """A command is a whole line, opened by `hitl` or the bot's name, with a run's short id where it takes one."""
    body = around.format(f"{name} {words}")
    assert commands(body, names=NAMES) == (command,)
    assert read(DATABASE, body, names=NAMES).commands == (command,)


@pytest.mark.parametrize(
    "body",
    [
        *("> hitl continue", "> > hitl continue", "> hello\nhitl continue", "- > hitl continue", ">hitl continue"),
        *("```\nhitl continue\n```", "~~~\nhitl continue\n~~~", "```\nhitl continue", "    hitl continue", "\thitl continue"),
        *(
            "`hitl continue`",
            "``hitl continue``",
            "<!-- hitl continue -->",
            "<!--\nhitl continue\n-->",
            "x\n\n<!-- hitl continue",
        ),
        *("<details>\nhitl continue\n</details>", "<details>\n\nhitl continue\n\n</details>", "<pre>\nhitl continue\n</pre>"),
        *("please hitl continue", "hitl continue.", "hitl continue a b", "hitl continued", "hitl  ", "hitl", "hitl: continue"),
        *(
            "hitl\ncontinue",
            "continue",
            "hitlcontinue",
            "/hitl continue",
            "@hitl continue",
            "@dana continue",
            "hitl foo",
            "hitl close",
        ),
        *(
            "I would hitl continue",
            "ok\n-- \nhitl continue",
            "**hitl continue**",
            "- hitl continue",
            "# hitl continue",
            "hitl help me",
        ),
        *("@project_77_bot continue", "@project_77_bot_0a1b2 continue", "project_77_bot_0a1b continue"),
    ],
    ids=ascii,
)
def test_not_a_command(body: str) -> None:
    """Quoted, coded, hidden or surrounded words are no command, and nobody else's name opens one."""
    assert commands(body, names=NAMES) == ()
    assert read(DATABASE, body, names=NAMES).commands == ()


def test_a_command_in_a_comment_that_spans_lines() -> None:
    """What the page hides is no command, wherever the comment begins."""
    assert commands("thanks <!--\nhitl continue\n-->", names=NAMES) == ()


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("adopt", Command("adopt")),
        ("Adopt", Command("adopt")),
        ("adopt gil", Command("adopt", "gil")),
        ("adopt @gil", Command("adopt", "gil")),
        ("enough", Command("enough")),
        ("accept", Command("accept")),
        ("> B\n\nadopt", Command("adopt")),
    ],
)
def test_words_that_are_commands_in_a_thread_only(body: str, command: Command) -> None:
    """`adopt`, `enough` and `accept` stand alone in a question's thread and mean nothing elsewhere."""
    assert read(DATABASE, body).commands == (command,)
    assert read(DATABASE, body).unread is Unread.COMMAND
    assert commands(body) == ()


@pytest.mark.parametrize(
    "body", ["adopt it all", "accepted", "enough!", "`adopt`", "> adopt", "I accept", "accept A", "I adopt"]
)
def test_not_a_thread_command(body: str) -> None:
    """A sentence with such a word in it is no command."""
    assert read(DATABASE, body).commands == ()


@pytest.mark.parametrize(
    ("body", "keys", "names"),
    [
        ("A\nhitl continue", ("A",), ["continue"]),
        ("hitl continue\n\nA", ("A",), ["continue"]),
        ("B\n\nhitl continue\nhitl help", ("B",), ["continue", "help"]),
        ("A\r\n\r\nhitl continue\r\n", ("A",), ["continue"]),
        ("> A\n\nB\n\nhitl continue 7f3c", ("B",), ["continue"]),
    ],
    ids=ascii,
)
def test_an_answer_and_a_command_in_one_reply(body: str, keys: tuple[str, ...], names: list[str]) -> None:
    """Both are read, and the command is no part of the answer's words."""
    reading = read(DATABASE, body)
    assert reading.answer is not None
    assert (reading.answer.keys, reading.answer.text) == (keys, None)
    assert [command.name for command in reading.commands] == names


@pytest.mark.parametrize("question", [DATABASE, FREE], ids=["choice", "freeform"])
@pytest.mark.parametrize("body", ["hitl continue", "hitl help\nhitl continue", "> A\n\nhitl continue", "hitl take over"])
def test_a_command_alone_is_no_answer(question: Question, body: str) -> None:
    """A command says nothing about the question, also where free text would."""
    reading = read(question, body)
    assert (reading.answer, reading.unread, reading.unread.asks_again) == (None, Unread.COMMAND, False)


def test_free_text_beside_a_command() -> None:
    """The words around a command are the answer to a freeform question, without the command."""
    answer = read(FREE, "Use replicas.\n\n* two\n\nhitl continue").answer
    assert answer is not None
    assert (answer.kind, answer.text) == (AnswerKind.TEXT, "Use replicas.\n\n* two")
