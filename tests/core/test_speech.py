"""Which lines of a note are a person's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.speech import MAX_PARSED, speech

WROTE = frozenset({"wrote", "writes"})


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        pytest.param("one\n\n  two  \n", ("one", "two"), id="plain"),
        pytest.param("one\r\ntwo\rthree\n", ("one", "two", "three"), id="all line ends"),
        pytest.param("> A\n> B\n\nC", ("C",), id="quote"),
        pytest.param("> I would take\nA\n\nC", ("C",), id="lazy continuation"),
        pytest.param(">> A\n> B\n\nC\n\n> D\n\nE", ("C", "E"), id="several quotes"),
        pytest.param("   > A\n\nB", ("B",), id="indented quote"),
        pytest.param("- > A\n\nB", ("B",), id="quote in a list"),
        pytest.param("> ```\n> A\n\nB", ("B",), id="code in a quote"),
        pytest.param("```\nA\n```\nB", ("B",), id="fence"),
        pytest.param("~~~sh\nA\n~~~\nB", ("B",), id="tilde fence"),
        pytest.param("B\n````\nA\n```\nA\n````", ("B",), id="fence in a longer fence"),
        pytest.param("B\n\n```\nA", ("B",), id="unclosed fence"),
        pytest.param("    A\n\nB", ("B",), id="indented"),
        pytest.param("B\n\n\tA", ("B",), id="indented by a tab"),
        pytest.param("B\n    A", ("B", "A"), id="indented, still the paragraph"),
        pytest.param("<!-- A -->\nB", ("B",), id="comment"),
        pytest.param("<!-- A\n\nA -->\n\nB", ("B",), id="comment over lines"),
        pytest.param("B <!-- A -->!<!-- A -->", ("B !",), id="comments in a line"),
        pytest.param("B <!-- A", ("B",), id="unclosed comment in a line"),
        pytest.param("B\n\n<!-- A\nA", ("B",), id="unclosed comment"),
        pytest.param("<div>\nA\n</div>\n\nB", ("B",), id="HTML block"),
        pytest.param(
            "B\n\n<details><summary>...</summary>\n\n> A\n\nA\n\n</details>\n\nC", ("B", "C"), id="collapsed original"
        ),
        pytest.param("B\n\n<DETAILS>\n\nA\n\n</DETAILS>", ("B",), id="in capitals"),
        pytest.param("B\n\n<details>\n\nA", ("B",), id="never closed"),
        pytest.param("B\n\nOn Monday, Dana wrote:\n> A", ("B",), id="mail quote"),
        pytest.param("B\n\nOn Monday, Dana wrote:\n\n\n> A", ("B",), id="mail quote, further down"),
        pytest.param("Dana <d@example.com> writes:\n\n> A\n\nB", ("B",), id="answer below a mail quote"),
        pytest.param("B\n\nOn Monday, Dana wrote:\n\n<details>\n\nA\n\n</details>", ("B",), id="attribution above details"),
        pytest.param("As Dana wrote:\n\nA", ("As Dana wrote:", "A"), id="attribution of nothing"),
        pytest.param("Dana said:\n\n> A\n\nB", ("Dana said:", "B"), id="a person's own lead-in"),
        pytest.param("B\n-- \nDana\nA", ("B",), id="signature"),
        pytest.param("B\n\n--\nDana", ("B",), id="signature without its blank"),
        pytest.param("B\n\n---\nA", ("B", "---", "A"), id="a rule is no signature"),
        pytest.param("```\n-- \n```\nB", ("B",), id="the mark in code"),
        pytest.param("-- \nA", ("--", "A"), id="the mark with nothing above"),
    ],
)
def test_own_lines(body: str, lines: tuple[str, ...]) -> None:
    """Quotes, code, HTML, comments, mail originals, attributions and signatures are not the person's words."""
    assert speech(body, WROTE).lines == lines


@pytest.mark.parametrize("body", ["B <!-- A\nA -->", "B <!--\nA\n--> C"], ids=ascii)
def test_a_comment_that_begins_within_a_line(body: str) -> None:
    """What the page hides is not said, wherever the comment begins."""
    assert "A" not in " ".join(speech(body, WROTE).lines)


@pytest.mark.parametrize(
    ("body", "verbatim"),
    [
        pytest.param("  one\n\n\n* two\n  * three  \n\n", "  one\n\n\n* two\n  * three", id="layout"),
        pytest.param("one\r\n\r\ntwo\r\n", "one\n\ntwo", id="line ends"),
        pytest.param("see\n```\ncode\n```\nand\n\n    more", "see\n```\ncode\n```\nand\n\n    more", id="code"),
        pytest.param("> quote\n\nown", "own", id="without the quote"),
        pytest.param("own <!-- x -->", "own", id="without comments"),
        pytest.param("`a` **b** [c](d) &amp;", "`a` **b** [c](d) &amp;", id="inline Markdown as typed"),
        pytest.param("> quote", "", id="only a quote"),
        pytest.param("", "", id="nothing"),
        pytest.param(" \r\n\t", "", id="blanks"),
    ],
)
def test_verbatim(body: str, verbatim: str) -> None:
    """What was said is kept as typed: line breaks, lists, code and inline signs, with LF only."""
    said = speech(body, WROTE)
    assert (said.verbatim, said.empty) == (verbatim, not verbatim)


def test_too_large_to_parse() -> None:
    """A larger body than is parsed has no lines to match and is kept whole."""
    body = "> A\n" + "B\r\n" * MAX_PARSED
    said = speech(body, WROTE)
    assert (said.lines, said.verbatim) == ((), body.replace("\r", "").strip())


@given(st.text(alphabet=st.sampled_from("ab>`~<!->/details \n\t*#1.[]:"), max_size=200))
def test_lines_come_from_the_body(body: str) -> None:
    """Nothing is said that was not written, and every line for matching is in the words kept."""
    said = speech(body, WROTE)
    assert all(line in said.verbatim for line in said.lines)
    assert all(any(line.strip() in written for written in body.split("\n")) or "<!--" in body for line in said.lines)
