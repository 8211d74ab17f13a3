"""Markdown to safe HTML: what people and models wrote, ready to stand in a page.

HTML is allowed in and sanitised on the way out, so hidden comments vanish and `<details>` works.
It knows nothing of mentions, references or shortcodes, and it never raises.
"""

from __future__ import annotations

import nh3
from markdown_it import MarkdownIt

_TAGS = (
    "a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd"
    " li mark ol p pre q s samp small span strong sub summary sup table tbody td th thead tr u"
    " ul var"
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "details": {"open"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}
_SCHEMES = {"http", "https", "mailto"}
# Their text is no text for a reader, so it goes with the tag.
_DROPPED_WITH_TEXT = {"script", "style", "iframe", "noscript", "template", "textarea", "title"}


def render(markdown: str) -> str:
    """The sanitised HTML of a Markdown text (CommonMark with tables and strikethrough)."""
    # Lone surrogates cannot be encoded for the sanitiser; they become question marks.
    text = markdown.encode("utf-8", "replace").decode("utf-8")
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return nh3.clean(
        parser.render(text),
        tags=set(_TAGS.split()),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        clean_content_tags=set(_DROPPED_WITH_TEXT),
        url_schemes=set(_SCHEMES),
        strip_comments=True,
        link_rel="noopener noreferrer nofollow",
    )
