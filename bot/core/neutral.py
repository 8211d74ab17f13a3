"""Text that people or models wrote, made inert before the bot repeats it, and read back.

`neutralise` turns any text into Markdown that shows just that text: no quick action, mention, reference, emphasis,
HTML or payload can come out of it (contract section 7). Two means: a backslash before Markdown's own signs, and an
invisible word joiner behind the signs GitLab gives a meaning, because older GitLab parsers find references even
behind a backslash. `restore` is the exact inverse, so texts can be read back from a card.
"""

import re

JOINER = "\u2060"  # WORD JOINER: no width, no line break, and no part of any GitLab name

_BY_NUMBER = frozenset({JOINER, "\r"})  # GitLab deletes every CR, which would join what it kept apart
_SIGILS = frozenset("@#!~%$&^:")
_ALWAYS = frozenset("\\`*[]<|")
_LINE_START = re.compile(r"^([/>#=+:\-]|~~~)|^(\d{1,9})(?=[.)])")
_HEX_RUN = re.compile(r"[0-9a-fA-F]{7,}")  # a commit id has at least seven digits
_HEX_PIECE = 6
_TICKET = re.compile(r"([0-9A-Za-z_]-)(?=\d)")  # ABC-12, of trackers that are connected to GitLab
_DIFF = re.compile(r"([\[{])(?=[+-])")  # {+ added +} and [- removed -]
_WWW = re.compile(r"(?i)(?<![0-9A-Za-z])(www)(?=\.)")
_TOKEN = re.compile(rf"{JOINER}|&#(\d{{1,4}});|\\(.)", re.DOTALL)


def neutralise(text: str) -> str:
    """`text` as inert Markdown; line breaks (LF) stay. Linear in the length of the text."""
    return "\n".join(_line(line) for line in text.split("\n"))


def restore(markdown: str) -> str:
    """What `neutralise` was given. Other Markdown comes back as itself, less escapes and word joiners."""
    return _TOKEN.sub(_unescape, markdown)


def one_line(text: str) -> str:
    """`text` on one line, for places where a line break would end a list item or a heading."""
    return " ".join(text.split())


def _line(line: str) -> str:
    indent = len(line) - len(line.lstrip(" \t"))
    lead = "".join(f"&#{ord(char)};" for char in line[:indent])
    rest = line[indent:]
    marks = _joined(rest)
    out = [lead]
    for index, char in enumerate(rest):
        out.append(_sign(rest, index, char))
        if index + 1 in marks:
            out.append(JOINER)
    shown = "".join(out)
    if indent:
        return shown
    return _LINE_START.sub(lambda match: f"{match[2]}\\" if match[2] else f"\\{match[1]}", shown, count=1)


def _sign(line: str, index: int, char: str) -> str:
    if char in _BY_NUMBER:
        return f"&#{ord(char)};"
    if char in _ALWAYS:
        return f"\\{char}"
    if char == "_":
        inside = 0 < index < len(line) - 1 and line[index - 1].isalnum() and line[index + 1].isalnum()
        return char if inside else "\\_"
    return char


def _joined(line: str) -> set[int]:
    """Positions in `line` where a word joiner goes."""
    after_sigils = {
        index + 1
        for index, char in enumerate(line)
        if char in _SIGILS and (char == "&" or (index + 1 < len(line) and not line[index + 1].isspace()))
    }
    inside_words = {match.end(1) for rule in (_TICKET, _DIFF, _WWW) for match in rule.finditer(line)}
    inside_ids = {at for match in _HEX_RUN.finditer(line) for at in range(match.start() + _HEX_PIECE, match.end(), _HEX_PIECE)}
    return after_sigils | inside_words | inside_ids


def _unescape(match: re.Match[str]) -> str:
    if match[1] is not None:
        return chr(int(match[1]))
    return match[2] or ""
