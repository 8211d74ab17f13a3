"""How people name an item: written short, or pasted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import Invalid
from bot.core.items import ItemName, parse_item

INSTANCE = "https://gitlab.example.com"
BELOW = "https://example.com/gitlab"
API = "acme/platform/api"


@pytest.mark.parametrize(
    ("text", "project", "iid"),
    [
        pytest.param("acme/platform/api#12", API, 12, id="group, subgroup, project"),
        pytest.param("group/project#1", "group/project", 1, id="group and project"),
        pytest.param("  acme/platform/api#12 \n", API, 12, id="blanks around"),
        pytest.param("/acme/platform/api#12", API, 12, id="a leading slash"),
        pytest.param("a.b/c-d_e/f.g#999999999", "a.b/c-d_e/f.g", 999_999_999, id="signs a path may have"),
        pytest.param("größe/straße#3", "größe/straße", 3, id="letters of any language"),
    ],
)
def test_the_short_name(text: str, project: str, iid: int) -> None:
    """`group/project#12` names an item."""
    assert parse_item(text) == ItemName(project=project, iid=iid)
    assert parse_item(text, instance=INSTANCE) == ItemName(project=project, iid=iid)


@pytest.mark.parametrize(
    ("url", "instance"),
    [
        pytest.param(f"{INSTANCE}/{API}/-/issues/12", INSTANCE, id="issue"),
        pytest.param(f"{INSTANCE}/{API}/-/work_items/12", INSTANCE, id="work item"),
        pytest.param(f"{INSTANCE}/{API}/issues/12", INSTANCE, id="as written before 12.0"),
        pytest.param(f"{INSTANCE}/{API}/-/issues/12/", INSTANCE, id="a slash behind"),
        pytest.param(f"{INSTANCE}/{API}/-/issues/12#note_640101", INSTANCE, id="a comment's address"),
        pytest.param(f"{INSTANCE}/{API}/-/issues/12?sort=asc&page=2#x", INSTANCE, id="a query"),
        pytest.param(f"  {INSTANCE}/{API}/-/issues/12\n", INSTANCE, id="blanks around"),
        pytest.param(f"https://GitLab.Example.com/{API}/-/issues/12", INSTANCE, id="host in capitals"),
        pytest.param(f"http://localhost:8929/{API}/-/issues/12", "http://localhost:8929", id="with a port"),
        pytest.param(f"{INSTANCE}/acme%2Fplatform/api/-/issues/12", INSTANCE, id="percent signs"),
        pytest.param(f"{BELOW}/{API}/-/issues/12", BELOW, id="below a path"),
        pytest.param(f"{BELOW}/{API}/-/issues/12", f"{BELOW}/", id="below a path with a slash"),
        pytest.param(f"{INSTANCE}/{API}/-/issues/12", "", id="no instance to compare with"),
    ],
)
def test_the_pasted_url(url: str, instance: str) -> None:
    """The address of an issue or task, as browsers and mails have it, names the item."""
    assert parse_item(url, instance=instance) == ItemName(project=API, iid=12)


def test_a_group_may_be_called_like_a_part_of_the_address() -> None:
    """Words that GitLab's own addresses use are found at the end, not in a group's name."""
    named = parse_item(f"{INSTANCE}/issues/work_items/-/issues/7", instance=INSTANCE)
    assert named == ItemName(project="issues/work_items", iid=7)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        pytest.param("", "not_an_item", "group/project#12", id="nothing"),
        pytest.param("12", "not_an_item", "group/project#12", id="a number"),
        pytest.param("#12", "not_an_item", "group/project#12", id="a number with a sign"),
        pytest.param("project#12", "not_an_item", "group/project#12", id="a project without its group"),
        pytest.param("acme/platform/api", "not_an_item", "group/project#12", id="no number"),
        pytest.param("acme/platform/api#", "not_an_item", "group/project#12", id="a sign without a number"),
        pytest.param("acme/platform/api#-1", "not_an_item", "group/project#12", id="a negative number"),
        pytest.param("acme/platform/api#1.5", "not_an_item", "group/project#12", id="a fraction"),
        pytest.param("acme/platform/api#1234567890", "not_an_item", "group/project#12", id="ten digits"),
        pytest.param("acme/plat form/api#12", "not_an_item", "group/project#12", id="a blank inside"),
        pytest.param("acme/platform/api#12 please", "not_an_item", "group/project#12", id="words behind"),
        pytest.param("acme/platform/api!5", "item_kind", "a merge request", id="a merge request"),
        pytest.param("acme/platform&5", "item_kind", "an epic", id="an epic"),
        pytest.param(f"{INSTANCE}/{API}/-/merge_requests/5", "item_kind", "a merge request", id="a merge request's URL"),
        pytest.param(f"{INSTANCE}/groups/acme/-/epics/5", "item_kind", "an epic", id="an epic's URL"),
        pytest.param(f"{INSTANCE}/groups/acme/-/work_items/5", "item_kind", "an epic", id="an epic's new URL"),
        pytest.param(f"{INSTANCE}/{API}", "not_an_item", "not the URL of an issue", id="a project's URL"),
        pytest.param(f"{INSTANCE}/{API}/-/issues", "not_an_item", "not the URL of an issue", id="the list's URL"),
        pytest.param(f"{INSTANCE}/{API}/-/issues/new", "not_an_item", "not the URL of an issue", id="the form's URL"),
        pytest.param(f"{INSTANCE}/{API}/-/pipelines/12", "not_an_item", "not the URL of an issue", id="a pipeline's URL"),
        pytest.param(INSTANCE, "not_an_item", "not the URL of an issue", id="the instance's URL"),
        pytest.param(f"https://gitlab.com/{API}/-/issues/12", "other_instance", "not on https://gitlab.ex", id="elsewhere"),
        pytest.param(f"ftp://gitlab.example.com/{API}/-/issues/12", "not_an_item", "group/project#12", id="another scheme"),
    ],
)
def test_what_names_no_item(text: str, code: str, words: str) -> None:
    """Everything else is refused with the field, a code and words that help; epics and merge requests with the reason."""
    with pytest.raises(Invalid) as refusal:
        parse_item(text, instance=INSTANCE)
    assert (refusal.value.field, refusal.value.code) == ("item", code)
    assert words in refusal.value.message


@pytest.mark.parametrize("url", [f"https://example.com/{API}/-/issues/12", f"https://example.com/gitlab2/{API}/-/issues/12"])
def test_another_service_on_the_same_host(url: str) -> None:
    """Where the instance has a path, a URL outside of it is not on the instance."""
    with pytest.raises(Invalid) as refusal:
        parse_item(url, instance=BELOW)
    assert refusal.value.code == "other_instance"


@pytest.mark.parametrize("url", ["https://[", "https://[gitlab]/a/b/-/issues/1", "https://a]b/c/d/-/issues/1"])
def test_an_address_that_is_none(url: str) -> None:
    """A broken URL is refused like any other text."""
    with pytest.raises(Invalid):
        parse_item(url)


PIECES = st.sampled_from(
    ["https://", "gitlab.example.com", "/", "acme", "api", "-", "issues", "#", "!", "&", "12", " ", "%2F", "?"]
)


@given(
    st.text(max_size=60).filter(lambda text: "[" not in text and "]" not in text) | st.lists(PIECES, max_size=14).map("".join)
)
def test_any_text_is_an_item_or_refused(text: str) -> None:
    """No text raises anything but `Invalid`, and what is taken has a path and a number."""
    try:
        item = parse_item(text, instance=INSTANCE)
    except Invalid:
        return
    assert item.project
    assert item.iid >= 0


@given(
    st.lists(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.]{0,8}", fullmatch=True), min_size=2, max_size=4).map("/".join),
    st.integers(1, 999_999_999),
)
def test_both_names_of_an_item_agree(project: str, iid: int) -> None:
    """The short name and the address of an item name the same item."""
    named = ItemName(project=project, iid=iid)
    assert parse_item(f"{project}#{iid}") == named
    if not project.startswith("groups/"):
        assert parse_item(f"{INSTANCE}/{project}/-/work_items/{iid}", instance=INSTANCE) == named
