"""Offset pages and their headers (contract section 4); no filtering and no permissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

DEFAULT_PER_PAGE = 20
MOST_PER_PAGE = 100
# Above this many rows the totals and `rel=last` are left out.
MOST_COUNTED = 10_000

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list, with the headers that describe it."""

    items: list[T]
    headers: dict[str, str]


def cut(rows: Sequence[T], page: int, per_page: int, url: str) -> Page[T]:
    """The page of the rows; `url` is the address asked for, from which links are made."""
    page = max(page, 1)
    per_page = min(per_page, MOST_PER_PAGE) if per_page > 0 else DEFAULT_PER_PAGE
    begin = (page - 1) * per_page
    last = max((len(rows) + per_page - 1) // per_page, 1)
    more = begin + per_page < len(rows)
    links = {"prev": page - 1 if page > 1 else None, "next": page + 1 if more else None, "first": 1}
    headers = {
        "X-Page": str(page),
        "X-Per-Page": str(per_page),
        "X-Prev-Page": str(links["prev"] or ""),
        "X-Next-Page": str(links["next"] or ""),
    }
    if len(rows) <= MOST_COUNTED:
        headers |= {"X-Total": str(len(rows)), "X-Total-Pages": str(last)}
        links["last"] = last
    headers["Link"] = ", ".join(
        f'<{_address(url, number, per_page)}>; rel="{rel}"' for rel, number in links.items() if number is not None
    )
    return Page(list(rows[begin : begin + per_page]), headers)


def _address(url: str, page: int, per_page: int) -> str:
    parts = urlsplit(url)
    kept = [(k, v) for k, v in parse_qsl(parts.query) if k not in ("page", "per_page")]
    query = urlencode([*kept, ("page", str(page)), ("per_page", str(per_page))])
    return parts._replace(query=query).geturl()
