"""How people name an item: `group/project#12`, or its pasted URL. Only project issues and tasks can be asked on."""

import re
from urllib.parse import unquote, urlsplit

from bot.core.errors import Invalid
from bot.core.models import Frozen

_SHORT = re.compile(r"^/?(?P<path>[^#!&\s/]+(?:/[^#!&\s/]+)*)(?P<sign>[#!&])(?P<number>[1-9]\d{0,8})$")
_URL_PATH = re.compile(
    r"^/(?P<path>[^/]+(?:/[^/]+)+?)/(?:-/)?(?P<noun>issues|work_items|merge_requests|epics)/(?P<number>[1-9]\d{0,8})/?$"
)


class ItemName(Frozen):
    """A project path and the item's number in it."""

    project: str
    iid: int


def parse_item(text: str, *, instance: str = "") -> ItemName:
    """`text` as an item. `instance` is the GitLab's URL; a path in it is taken off pasted URLs.

    Raises `Invalid` (field `item`) for anything else, epics and merge requests with the reason.
    """
    name = text.strip()
    if name.casefold().startswith(("http://", "https://")):
        return _from_url(name, instance)
    match = _SHORT.match(name)
    if match is None:
        raise Invalid(
            f"{name!r} is not an item: write group/project#12 or paste the issue's URL", field="item", code="not_an_item"
        )
    if match["sign"] != "#":
        raise _wrong_kind("merge request" if match["sign"] == "!" else "epic")
    if "/" not in match["path"]:
        raise Invalid(f"{name!r} lacks the group: write group/project#12", field="item", code="not_an_item")
    return ItemName(project=match["path"], iid=int(match["number"]))


def _from_url(url: str, instance: str) -> ItemName:
    try:
        parts, base = urlsplit(url), urlsplit(instance)
    except ValueError as error:
        raise _not_an_item(url) from error
    prefix = base.path.rstrip("/")
    path = unquote(parts.path)
    if instance and (parts.netloc.casefold() != base.netloc.casefold() or not f"{path}/".startswith(f"{prefix}/")):
        raise Invalid(f"{url} is not on {instance}", field="item", code="other_instance")
    match = _URL_PATH.match(path.removeprefix(prefix))
    if match is None:
        raise _not_an_item(url)
    if match["noun"] == "merge_requests":
        raise _wrong_kind("merge request")
    if match["path"].endswith("/-"):
        raise _not_an_item(url)
    if match["noun"] == "epics" or match["path"].startswith("groups/"):
        raise _wrong_kind("epic")
    return ItemName(project=match["path"], iid=int(match["number"]))


def _not_an_item(url: str) -> Invalid:
    return Invalid(f"{url} is not the URL of an issue or work item", field="item", code="not_an_item")


def _wrong_kind(kind: str) -> Invalid:
    return Invalid(
        f"questions are asked on project issues and tasks only: this names {'an' if kind == 'epic' else 'a'} {kind}",
        field="item",
        code="item_kind",
    )
