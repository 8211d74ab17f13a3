"""What a person themselves said in a note: the lines that are not quotes, code, HTML, payloads or mail furniture.

Block structure is markdown-it-py's, so that a quote or a code block is what GitLab shows as one. Not here: what the
words mean (`core.replies`).
"""

import unicodedata
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_PARSED = 64 * 1024
_CODE = ("fence", "code_block")


@dataclass(frozen=True)
class Speech:
    """`lines` are for matching: no code. `verbatim` keeps code blocks: it is what a free-text answer says."""

    lines: tuple[str, ...]
    verbatim: str

    @property
    def empty(self) -> bool:
        return all(char.isspace() or unicodedata.category(char) == "Cf" for char in self.verbatim)


def speech(body: str, wrote: frozenset[str] = frozenset()) -> Speech:
    """The person's own words in `body`. `wrote` ends a mail's line of attribution ("... wrote:"). Never raises.

    Above 64 kB nothing is parsed and there are no lines to match: the whole text is taken as it is.
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_PARSED:
        return Speech((), text.strip())
    raw = text.split("\n")
    hidden, code = _left_out(_blocks(text), len(raw))
    _hide_quoted_blocks(raw, hidden, code)
    _drop_attributions(raw, hidden, wrote)
    _drop_signature(raw, hidden, code)
    kept = _without_comments([(line, number in code) for number, line in enumerate(raw) if number not in hidden])
    own = [line for line, is_code in kept if not is_code]
    return Speech(
        lines=tuple(line.strip() for line in own if line.strip()),
        verbatim="\n".join(line for line, _ in kept).strip("\n").rstrip(),
    )


def _blocks(text: str) -> list[Token]:
    # Built anew for each note: a parser is cheap and not documented as safe to share between threads.
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.parse(text)


def _left_out(tokens: list[Token], total: int) -> tuple[set[int], set[int]]:
    """Line numbers that are not the person's words, and those that are code."""
    hidden: set[int] = set()
    code: set[int] = set()
    details_from: int | None = None
    depth = 0
    for token in tokens:
        if token.map is None:
            continue
        span = range(token.map[0], token.map[1])
        if token.type == "blockquote_open":
            hidden.update(span)
        elif token.type in _CODE:
            code.update(span)
        elif token.type == "html_block":
            hidden.update(span)
            if token.level > 0:
                continue  # inside a quote or list, and over where that is over
            folded = token.content.casefold()
            depth = max(0, depth + folded.count("<details") - folded.count("</details"))
            if depth and details_from is None:
                details_from = token.map[0]
            if not depth and details_from is not None:
                hidden.update(range(details_from, token.map[1]))
                details_from = None
    if details_from is not None:
        hidden.update(range(details_from, total))
    return hidden, code


def _hide_quoted_blocks(raw: list[str], hidden: set[int], code: set[int]) -> None:
    """GitLab draws everything between two lines of `>>>` as a quote."""
    marks = [number for number, line in enumerate(raw) if line.rstrip() == ">>>" and number not in code]
    for first, last in zip(marks[::2], marks[1::2], strict=False):
        hidden.update(range(first, last + 1))


def _drop_attributions(raw: list[str], hidden: set[int], wrote: frozenset[str]) -> None:
    """The "On Monday, X wrote:" above a quote is the mail program speaking."""
    above: int | None = None  # the last line with words on it
    for number, line in enumerate(raw):
        if number in hidden and above is not None and above not in hidden:
            said = raw[above].strip().casefold()
            if said.endswith(":") and any(word in said for word in wrote):
                hidden.add(above)
        if line.strip():
            above = number


def _drop_signature(raw: list[str], hidden: set[int], code: set[int]) -> None:
    """Everything below a mail's signature mark, `-- ` on a line of its own after some text."""
    for number, line in enumerate(raw):
        if line.rstrip(" ") == "--" and number not in code and any(earlier.strip() for earlier in raw[:number]):
            hidden.update(range(number, len(raw)))
            return


def _without_comments(lines: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The lines less their HTML comments, also those over several lines; an unclosed one hides the rest, as on the page."""
    kept: list[tuple[str, bool]] = []
    inside = False
    for line, is_code in lines:
        if is_code and not inside:
            kept.append((line, True))
            continue
        shown, inside = _outside(line, inside=inside)
        if shown or not line:
            kept.append((shown, is_code))
    return kept


def _outside(line: str, *, inside: bool) -> tuple[str, bool]:
    """What of `line` stands outside comments, and whether one is still open at its end."""
    shown: list[str] = []
    at = 0
    while True:
        mark = "-->" if inside else "<!--"
        found = line.find(mark, at)
        if not inside:
            shown.append(line[at:] if found < 0 else line[at:found])
        if found < 0:
            return "".join(shown), inside
        at = found + len(mark)
        inside = not inside
