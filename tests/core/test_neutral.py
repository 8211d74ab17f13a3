"""Text made inert: what a reader sees is the text, what GitLab acts on is nothing."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.core.neutral import JOINER, neutralise, one_line, restore

# What GitLab looks for in the text of a rendered note (contract section 7), written down from its own patterns.
REFERENCES = {
    "mention": re.compile(r"@[\w.]"),
    "issue": re.compile(r"#\d"),
    "merge request": re.compile(r"!\d"),
    "label": re.compile(r"~[\w\"]"),
    "milestone": re.compile(r"%[\w\"]"),
    "snippet": re.compile(r"\$\d"),
    "epic": re.compile(r"&\d"),
    "alert": re.compile(r"\^alert#\d"),
    "emoji": re.compile(r":[\w+-]+:"),
    "ticket": re.compile(r"(?<!\w)[A-Z][A-Z0-9_]{1,9}-\d"),
    "comment": re.compile(r"<!--"),
    "autolink": re.compile(r"(?:https?|ftp|mailto)://?\w|(?<!\w)www\.\w", re.IGNORECASE),
}
COMMIT = re.compile(r"(?<!\w)[0-9a-fA-F]{7,40}(?!\w)")
PIECES = [
    *"\\`*_[]<>|@#!~%$&^:/+-=.,;?()\"'{} \n\n",
    *["a", "Z", "é", "9", "12", "\t", "\u00a0", JOINER, "&#8288;", "&amp;", "&#64;", "\\@", "deadbeef", "abc", "ABC-123"],
    *["dana", "alert#1", "smile", "<!--", "-->", "hitl:1 ", "/close", "<b>", "</b>", "http://", "www.", "1.", "- ", "```"],
]
MARKUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200) | MARKUP


def rendered(markdown: str) -> str:
    return MarkdownIt("commonmark", {"html": True}).render(markdown)


def read_by_people(page: str) -> str:
    return html.unescape(re.sub(r"<(?:/?p|br ?/?)>", "", page))


def visible(text: str) -> str:
    """`text` with blanks and invisible signs told apart by nobody."""
    return " ".join(text.replace(JOINER, "").replace("\0", "\ufffd").split())


@pytest.mark.parametrize(
    "text",
    [
        *[
            "@dana",
            "cc @all - see #12 and !34",
            "(@x)",
            "a@example.com",
            "@dana/@gil",
            "@_x",
            "\\@dana",
            "&#64;dana",
            "&commat;x",
        ],
        *["group/project#12", "group/project!3", "#12", "!3", "~label", '~"two words"', "%m", '%"a b"', "$1", "&1", "group&3"],
        *["^alert#1", ":emoji:", ":+1:", "a:smile:b", "x@dana", "#deadbeef"],
        *[
            "ABC-123",
            "see AB_C1-9",
            "(ABC-1)",
            "/close",
            "text\n/close",
            "/assign @dana\n/label ~bug",
            "<!-- x -->",
            "a <!-- x",
        ],
        *["<!-- hitl:1 {} -->", "--!>", "A --> B", "http://example.com/x#12", "www.example.com", "mailto:a@example.com"],
        *["`@dana`", "``` @dana ```", "$`x`$", "$$x$$", "[vulnerability:1]", '*iteration:"x"', "[contact:a@b.c]"],
    ],
    ids=ascii,
)
def test_nothing_gitlab_would_act_on(text: str) -> None:
    """No mention, reference, emoji, commit, link, comment or quick action comes out of a text that holds one."""
    inert = neutralise(text)
    shown = read_by_people(rendered(inert))
    assert {name for name, pattern in REFERENCES.items() if pattern.search(shown)} == set()
    assert not re.search(r"^/", inert, re.MULTILINE)
    assert visible(shown) == visible(text)
    assert restore(inert) == text


@pytest.mark.parametrize(
    "text",
    [
        *[
            "*a*",
            "**a**",
            "_a_",
            "__init__",
            "snake_case_name",
            "`a`",
            "~~a~~",
            "[a](b)",
            "![a](b)",
            "[a]: b",
            "[a][b]",
            "[^1]",
        ],
        *[
            "# a",
            "###### a",
            "a\n===",
            "a\n---",
            "- a",
            "* a",
            "+ a",
            "1. a",
            "99) a",
            "- [ ] a",
            "> a",
            ">>>\na\n>>>",
            "---",
            "***",
        ],
        *["```\na\n```", "~~~\na\n~~~", "    a", "\ta", "  - a", "a|b\n-|-\n1|2", "a\n:-:", "<b>a</b>", "<p>", "</p>", "<br>"],
        *[
            "<a href=x>",
            "<?x?>",
            "<!DOCTYPE x>",
            "<![CDATA[x]]>",
            "&lt;b&gt;",
            "&#60;b&#62;",
            "&copy;",
            "a\\",
            "a\\\nb",
            "\\*a\\*",
        ],
        *["a & b < c > d", "AT&T", "100 %", "C:\\dir\\new", "x = y * 2 * z", 'Say "no" \\ and go on', "::include{file=x}"],
        *[
            "a b",
            "a\n\nb",
            "",
            " ",
            "\n",
            "\n\na",
            "\\",
            "<",
            "&",
            "@",
            "#",
            ":",
            "-",
            "=",
            "1.",
            JOINER,
            f"@{JOINER}dana",
            "&#8288;",
        ],
    ],
    ids=ascii,
)
def test_the_text_is_what_people_see(text: str) -> None:
    """Markdown and HTML signs show as themselves: no tag but paragraphs and line breaks comes out."""
    page = rendered(neutralise(text))
    assert set(re.findall(r"<[^>]*>", page)) <= {"<p>", "</p>", "<br>", "<br />"}
    assert visible(read_by_people(page)) == visible(text)
    assert restore(neutralise(text)) == text


@given(ANY_TEXT)
def test_restore_is_the_exact_inverse(text: str) -> None:
    """What was neutralised can be read back, byte for byte."""
    assert restore(neutralise(text)) == text


@given(ANY_TEXT)
def test_any_text_is_inert(text: str) -> None:
    """Whatever the text: no tag, nothing GitLab looks for, no quick action, no comment, no payload marker."""
    inert = neutralise(text.replace("\r", ""))
    page = rendered(inert)
    assert set(re.findall(r"<[^>]*>", page)) <= {"<p>", "</p>", "<br>", "<br />"}
    shown = read_by_people(page)
    assert {name for name, pattern in REFERENCES.items() if pattern.search(shown)} == set()
    assert not re.search(r"^/", inert, re.MULTILINE)
    assert "<!--" not in inert


@given(ANY_TEXT)
def test_the_text_stays_legible(text: str) -> None:
    """A reader sees every sign of the text, in order."""
    text = text.replace("\r", "")
    assert visible(read_by_people(rendered(neutralise(text)))) == visible(text)


@pytest.mark.parametrize(
    "text",
    ["\r/close", "a\n\r/close", "@\rdana", "#\r12", "!\r3", "dead\rbeef", ":\rsmile:"],
    ids=ascii,
)
def test_what_is_left_when_gitlab_drops_cr(text: str) -> None:
    """GitLab deletes every CR before it stores a note: what is left is inert too."""
    stored = neutralise(text).replace("\r", "")
    shown = read_by_people(rendered(stored))
    found = {name for name, pattern in {**REFERENCES, "commit": COMMIT}.items() if pattern.search(shown)}
    assert (found, re.search(r"^/", stored, re.MULTILINE)) == (set(), None)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        pytest.param("LONGPROJECTKEY-12", r"\b[A-Z][A-Z0-9_]+-\d", id="a long Jira key"),
        pytest.param("A-1", r"\b[A-Z][A-Z0-9_]*-\d", id="a tracker key of one letter"),
        pytest.param("abc-12", r"\b[A-Za-z][A-Za-z0-9_]*-\d", id="a YouTrack key in small letters"),
        pytest.param("{+ added +}", r"\{\+.*\+\}", id="an addition in braces"),
        pytest.param("{- gone -}", r"\{-.*-\}", id="a deletion in braces"),
        pytest.param("[+ added +]", r"\[\+.*\+\]", id="an addition in brackets"),
        pytest.param("[- gone -]", r"\[-.*-\]", id="a deletion in brackets"),
    ],
)
def test_gitlabs_rarer_patterns(text: str, pattern: str) -> None:
    """Patterns that GitLab applies to rendered text do not match either."""
    shown = read_by_people(rendered(neutralise(text)))
    assert not re.search(pattern, shown)
    assert visible(shown) == visible(text)


def test_no_description_list() -> None:
    """A line that opens with a colon and a blank does not become a definition."""
    assert not re.search(r"^: ", neutralise("Fruits\n: apple"), re.MULTILINE)


@given(ANY_TEXT)
def test_size_is_bounded(text: str) -> None:
    """The inert form is at most eight times as long as the text."""
    assert len(neutralise(text)) <= 8 * len(text)


@pytest.mark.parametrize(
    "piece", ["@", "a@", "deadbeef", "f", "A", "A_", "AB-", "1", "\\", " ", "\t", "\n", "`", "&#1;", "www.", JOINER]
)
@pytest.mark.timeout(10)
def test_time_is_linear(piece: str) -> None:
    """Fifty thousand hostile signs are made inert, and read back, at once."""
    text = piece * (50_000 // len(piece))
    assert restore(neutralise(text)) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb", "a b"), ("  a  \r\n\r\n  b ", "a b"), ("a\tb", "a b"), ("a", "a"), ("", ""), ("a\u00a0b\u2028c", "a b c")],
    ids=ascii,
)
def test_one_line(text: str, line: str) -> None:
    """For places where a line break would end a list item, all blanks become one space."""
    assert one_line(text) == line
