"""Names of items that are almost right, or made to be slow."""

import time

import pytest

from bot.core.errors import Invalid
from bot.core.items import ItemName, parse_item

INSTANCE = "https://gitlab.example.com"


@pytest.mark.parametrize("text", ["a/" * 19 + "a", "a/" * 19 + "a#", "a/" * 19 + "a#12x"], ids=lambda text: ascii(text)[-8:])
def test_long_paths_are_refused_at_once(text: str) -> None:
    """A path of many parts that names nothing is refused as fast as a short one."""
    began = time.perf_counter()
    with pytest.raises(Invalid):
        parse_item(text)
    assert time.perf_counter() - began < 0.02


@pytest.mark.parametrize(("text", "kind"), [("acme&5", "an epic"), ("my-group&12", "an epic")])
def test_epics_of_a_top_level_group(text: str, kind: str) -> None:
    """An epic is refused as an epic, also right below a top-level group."""
    with pytest.raises(Invalid) as refusal:
        parse_item(text)
    assert (refusal.value.code, kind in refusal.value.message) == ("item_kind", True)


@pytest.mark.parametrize("url", ["HTTPS://gitlab.example.com/g/p/-/issues/12", "Https://GITLAB.example.com/g/p/-/issues/12"])
def test_a_scheme_in_capitals(url: str) -> None:
    """The scheme of an address may be written in capitals, as phones do."""
    assert parse_item(url, instance=INSTANCE) == ItemName(project="g/p", iid=12)


@pytest.mark.parametrize(
    "text", ["g/p#0", f"{INSTANCE}/g/p/-/issues/0", f"{INSTANCE}/-/issues/12", f"{INSTANCE}/g/-/issues/12"]
)
def test_no_such_item_can_be(text: str) -> None:
    """Items are numbered from 1 and stand in a project, which stands in a group."""
    with pytest.raises(Invalid):
        parse_item(text, instance=INSTANCE)
