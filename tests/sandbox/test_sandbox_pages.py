"""The pages as a browser without scripts uses them: forms, redirects, safety, the chooser."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
import requests

from bot import markup
from bot.sandbox.seed import BOT

ISSUE = "/acme/platform/api/-/issues/12"


class Browser:
    """A session that is one person and follows redirects like a browser."""

    def __init__(self, server, username):
        self.server = server
        self.session = requests.Session()
        self.session.cookies.set("sandbox_user", username)

    def get(self, path=ISSUE, **kwargs):
        return self.session.get(self.server.url + path, timeout=5, **kwargs)

    def post(self, path, **fields):
        url = f"{self.server.url}{ISSUE}/-/{path}"
        return self.session.post(url, data=fields, timeout=5, allow_redirects=False)


@pytest.fixture
def browse(server):
    opened = []

    def as_(username):
        opened.append(Browser(server, username))
        return opened[-1]

    yield as_
    for browser in opened:
        browser.session.close()


def test_comments_threads_and_replies(browse, issue):
    """Each form does its thing as the chosen person and leads back to the new note."""
    dana = browse("dana")
    answer = dana.post("comment", body="one\r\ntwo")
    note = issue.notes[0]
    assert (answer.status_code, answer.headers["location"]) == (303, f"{ISSUE}#note_{note.id}")
    assert (note.body, note.author_id, note.type) == ("one\ntwo", 201, None)
    dana.post("comment", body="a thread", how="thread")
    thread = issue.notes[1]
    assert thread.type == "DiscussionNote"
    browse("gil").post(f"discussions/{thread.discussion_id}/reply", body="B")
    assert (issue.notes[2].author_id, issue.notes[2].discussion_id) == (202, thread.discussion_id)
    page = dana.get().text
    assert all(f'id="note_{n.id}"' in page for n in issue.notes)


def test_edit_delete_react_and_resolve(browse, server, issue, person):
    """Notes are edited, reacted to and deleted, threads resolved and taken up again."""
    dana = browse("dana")
    note = server.discussions.open_thread(issue, person("dana"), "text")
    dana.post(f"notes/{note.id}/edit", body="changed")
    assert note.body == "changed"
    for expected in (["arrow_forward"], []):
        dana.post(f"notes/{note.id}/react", emoji="arrow_forward")
        assert [a.name for a in note.awards] == expected
    dana.post(f"discussions/{note.discussion_id}/resolve", resolved="true")
    assert note.resolved_by_id == 201
    assert '<details class="card thread resolved"' in dana.get().text
    dana.post(f"discussions/{note.discussion_id}/resolve", resolved="false")
    assert note.resolved is False
    dana.post(f"notes/{note.id}/delete")
    assert issue.notes == []


def test_state_and_description(browse, issue):
    """The issue is closed, reopened and described anew."""
    petra = browse("petra")
    petra.post("state", event="close")
    assert issue.state == "closed"
    petra.post("state", event="reopen")
    assert issue.state == "opened"
    petra.post("description", body="**New**")
    assert "<strong>New</strong>" in petra.get().text


def test_what_a_person_may_not_do_is_not_offered_and_refused(browse, server, issue, person):
    """A stranger gets no edit form for another's note, and the form's address answers 403."""
    note = server.discussions.open_thread(issue, person(BOT), "Which?")
    stranger = browse("stranger")
    page = stranger.get().text
    assert f"notes/{note.id}/edit" not in page
    assert "Resolve thread" not in page
    assert f"discussions/{note.discussion_id}/reply" in page
    answer = stranger.post(f"notes/{note.id}/edit", body="mine now")
    assert (answer.status_code, note.body) == (403, "Which?")
    assert "403 Forbidden" in answer.text


def test_forms_from_other_pages_are_refused(browse, server, issue):
    """Without a login the origin is all there is: a foreign one is 403, none is a plain client."""
    url = f"{server.url}{ISSUE}/-/comment"
    for headers, status in (
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Referer": "https://evil.example/page"}, 403),
        ({"Origin": server.url}, 303),
        ({}, 303),
    ):
        answer = requests.post(url, data={"body": "x"}, headers=headers, timeout=5, allow_redirects=False)
        assert answer.status_code == status
    assert len(issue.notes) == 2


def test_the_chooser_switches_and_stays_here(browse, server):
    """Choosing a person sets the cookie and leads back to a page of this server only."""
    url = f"{server.url}/-/sandbox/act-as"
    for back, location in (
        (ISSUE, ISSUE),
        ("//evil.example/x", "/x"),
        ("https://evil.example", "/"),
    ):
        answer = requests.post(url, data={"user": "gil", "back": back}, timeout=5, allow_redirects=False)
        assert answer.headers["location"] == location
        assert "sandbox_user=gil" in answer.headers["set-cookie"]
    page = browse("gil").get().text
    assert "Comment as" in page
    assert "Gil N</strong>" in page
    assert requests.get(f"{server.url}{ISSUE}?as=petra", timeout=5).cookies["sandbox_user"] == "petra"


def test_pages_say_what_they_are_and_show_roles(browse, server, issue, person):
    """The page says it is a sandbox without login; names carry roles; bots are marked."""
    server.discussions.comment(issue, person(BOT), "one")
    server.discussions.comment(issue, person("stranger"), "two")
    page = browse("dana").get().text
    assert "not GitLab" in page
    assert "no login" in page
    for badge in (">Developer<", ">Planner<", ">no role<", ">bot<"):
        assert badge in page
    assert "http-equiv" not in page


def test_confidential_issues_are_not_found_by_others(browse, issue):
    """A person who may not see the issue gets the 404 GitLab gives."""
    issue.confidential, issue.assignee_ids = True, []
    answer = browse("gil").get()
    assert (answer.status_code, "Importer" in answer.text) == (404, False)
    assert "Importer" not in browse("gil").get("/acme/platform/api/-/issues").text
    assert browse("petra").get().status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/acme/platform/api", "/acme/platform/api/-/issues", ISSUE,
             "/acme/platform/api/-/work_items/12", "/-/sandbox/style.css", "/-/sandbox/live.js"],
)  # fmt: skip
def test_every_page_is_there(browse, path):
    """Lists, the issue at both of GitLab's addresses, and what they load."""
    assert browse("dana").get(path).status_code == 200


def test_the_version_moves_with_every_change(browse, server, issue, person):
    """The number the script polls grows with notes, reactions, resolving and edits."""
    dana = browse("dana")
    seen = [dana.get(ISSUE + "/-/changes").json()["version"]]

    def moved():
        seen.append(dana.get(ISSUE + "/-/changes").json()["version"])
        return seen[-1] > seen[-2]

    note = server.discussions.open_thread(issue, person("dana"), "text")
    assert moved()
    server.discussions.react(note.id, person("gil"), "thumbsup")
    assert moved()
    server.discussions.resolve(note.discussion_id, person("dana"))
    assert moved()
    server.issues.edit_description(issue, person("dana"), "new")
    assert moved()
    assert not moved()


def test_hidden_comments_are_only_in_the_source_view(browse, server, issue, person):
    """A hidden payload is not rendered, and is there to read in the note's source."""
    server.discussions.comment(issue, person(BOT), "Text\n\n<!-- hitl:1 {} -->")
    page = browse("dana").get().text
    assert "<!-- hitl:1" not in page
    assert page.count("&lt;!-- hitl:1 {} --&gt;") == 1


class Tags(HTMLParser):
    """What a browser would find: tags and attributes."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "<a href='jAvascript:alert(1)'>x</a>",
        "<svg onload=alert(1)></svg>",
        "<style>body{display:none}</style>",
        "<p style='position:fixed'>x</p>",
        "<iframe src='https://evil.example'></iframe>",
        "<form action='https://evil.example'><input name=a></form>",
        "<details ontoggle=alert(1) open>x</details>",
        "<a href='data:text/html,x'>x</a>",
        "<base href='https://evil.example'>",
        "<!-- <script> --><script>alert(1)</script>",
    ],
)
def test_markup_lets_nothing_act(hostile):
    """No script, style, form, frame, handler or acting address survives rendering."""
    found = Tags(markup.render("before\n\n" + hostile + "\n\nafter"))
    assert not {"script", "style", "iframe", "form", "input", "svg", "base"} & set(found.tags)
    for name, value in found.attributes:
        assert not name.startswith("on")
        assert name not in ("style", "id", "class")
        assert not (value or "").lower().startswith(("javascript:", "data:"))


def test_markup_keeps_what_people_write():
    """Tables, details, code, strike-through and links come out as HTML; comments vanish."""
    html = markup.render(
        "| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n<details><summary>More</summary>\n\n**in**\n\n"
        "</details>\n\n`code` [link](https://example.com)\n\n<!-- gone -->"
    )
    kept = ["<table>", "<s>2</s>", "<details>", "<summary>More</summary>", "<strong>in</strong>"]
    for part in [*kept, "<code>code</code>", 'href="https://example.com"']:
        assert part in html
    assert "gone" not in html


@pytest.mark.parametrize(
    "odd",
    ["", "\x00", "\ud800", "<", "<!--", "[" * 5000, "> " * 3000, "<div>" * 3000, "`" * 999, "\r"],
)
def test_markup_never_raises(odd):
    """Odd, broken and deeply nested text renders to something."""
    assert isinstance(markup.render(odd), str)
