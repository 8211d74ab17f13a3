"""The two GraphQL queries the bot asks, answered by a small reader of the query language.

`currentUser` and `workItem.userPermissions` are known; everything else is answered with
`errors`, never guessed. Fragments, mutations and directives are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from bot.sandbox import rules
from bot.sandbox.call import AskUnscoped, Call
from bot.sandbox.records import Issue, Project, User
from bot.sandbox.world import World

routes = APIRouter()

LONGEST_QUERY = 10_000
DEEPEST = 15

_TOKEN = re.compile(r'\s*(?:,\s*)*(?:(?P<word>\w+)|(?P<text>"[^"\\\n]*")|(?P<sign>[{}()!:$=\[\]]))')


class QueryError(Exception):
    """The query is not one the sandbox answers."""


@dataclass(frozen=True)
class Field:
    """A field of a selection, with its arguments and what is selected below it."""

    name: str
    alias: str
    arguments: Mapping[str, object]
    below: tuple[Field, ...]


@routes.post("/api/graphql")
def graphql(call: AskUnscoped) -> Response:
    """Answer a query; failures are `errors` with status 200 (section 5)."""
    variables = call.params.raw("variables") or {}
    try:
        if not {"api", "read_api"} & set(call.token.scopes):
            raise QueryError("The token has insufficient scope")
        if not isinstance(variables, dict):
            raise QueryError("variables must be an object")
        fields = parse(call.params.text("query") or "", variables)
        with call.world.lock:
            data = {field.alias: _root(call, field) for field in fields}
    except QueryError as error:
        return JSONResponse({"errors": [{"message": str(error)}]})
    return JSONResponse({"data": data})


def _root(call: Call, field: Field) -> object:
    world = call.world
    if field.name == "currentUser":
        return _select(field, _user(call.user))
    if field.name not in ("namespace", "project", "workspace"):
        raise QueryError(f"Field '{field.name}' doesn't exist on type 'Query'")
    project = world.project_at(str(field.arguments.get("fullPath", "")))
    if project is None or not rules.can_read_project(project, call.user):
        return None
    known: dict[str, object] = {
        "id": f"gid://gitlab/Namespaces::ProjectNamespace/{project.id}",
        "fullPath": project.path,
    }
    for below in field.below:
        if below.name == "workItem":
            known["workItem"] = _work_item(world, project, call.user, below)
    return _select(field, known)


def _user(user: User) -> dict[str, object]:
    return {
        "id": f"gid://gitlab/User/{user.id}",
        "username": user.username,
        "name": user.name,
        "bot": user.bot,
    }


def _work_item(world: World, project: Project, user: User, field: Field) -> object:
    iid = str(field.arguments.get("iid", ""))
    issue = world.issue_at(project.id, int(iid)) if iid.isdecimal() and len(iid) < 18 else None
    if issue is None or not rules.can_read_issue(project, issue, user):
        return None
    known: dict[str, object] = {
        "id": f"gid://gitlab/WorkItem/{issue.id}",
        "iid": str(issue.iid),
        "title": issue.title,
        "state": "OPEN" if issue.state == "opened" else "CLOSED",
        "confidential": issue.confidential,
        "userPermissions": _permissions(project, issue, user),
    }
    return _select(field, known)


def _permissions(project: Project, issue: Issue, user: User) -> dict[str, object]:
    """The rights of the token's user, never of a commenter (section 5)."""
    may: dict[str, Callable[[Project, Issue, User], bool]] = {
        "readWorkItem": rules.can_read_issue,
        "updateWorkItem": rules.can_update_issue,
        "deleteWorkItem": rules.can_delete_issue,
        "adminWorkItem": rules.can_admin_issue,
        "adminParentLink": rules.can_admin_issue,
        "setWorkItemMetadata": rules.can_admin_issue,
        "createNote": rules.can_comment,
        "adminWorkItemLink": rules.can_admin_issue,
        "markNoteAsInternal": lambda p, _, u: rules.can_set_internal(p, u),
        "reportSpam": lambda *_: False,
        "moveWorkItem": rules.can_admin_issue,
        "cloneWorkItem": rules.can_admin_issue,
        "summarizeComments": lambda *_: False,
    }
    return {name: allowed(project, issue, user) for name, allowed in may.items()}


def _select(field: Field, known: object) -> object:
    """The selected part of what is known; asking for anything else is an error."""
    if not isinstance(known, dict):
        if field.below and known is not None:
            raise QueryError(f"Field '{field.name}' has no fields")
        return known
    if not field.below:
        raise QueryError(f"Field '{field.name}' must have selections")
    chosen: dict[str, object] = {}
    for below in field.below:
        if below.name not in known:
            raise QueryError(f"Field '{below.name}' doesn't exist on '{field.name}'")
        value = known[below.name]
        # A work item was selected from where its arguments were known.
        chosen[below.alias] = value if below.name == "workItem" else _select(below, value)
    return chosen


def parse(query: str, variables: Mapping[str, object]) -> tuple[Field, ...]:
    """The selection of a query, with variables put in."""
    if len(query) > LONGEST_QUERY:
        raise QueryError("Query too large")
    reader = _Reader(_tokens(query), variables)
    if reader.peek() == "query":
        reader.skip_header()
    fields = reader.selection(0)
    if reader.peek():
        raise QueryError(f"Parse error on {reader.peek()!r}")
    return fields


def _tokens(query: str) -> list[str]:
    text = re.sub(r"#[^\n]*", "", query)
    tokens, at = [], 0
    while text[at:].strip(" \t\r\n,"):
        match = _TOKEN.match(text, at)
        if match is None:
            raise QueryError(f"Parse error at {text[at : at + 20]!r}")
        tokens.append(match.group(match.lastgroup or 0))
        at = match.end()
    return tokens


class _Reader:
    def __init__(self, tokens: list[str], variables: Mapping[str, object]) -> None:
        self._tokens = tokens
        self._variables = variables
        self._at = 0

    def peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def take(self, wanted: str = "") -> str:
        sign = self.peek()
        if not sign or (wanted and sign != wanted):
            raise QueryError(f"Parse error on {sign!r}, expected {wanted or 'more'}")
        self._at += 1
        return sign

    def skip_header(self) -> None:
        while self.peek() != "{":
            self.take()

    def selection(self, depth: int) -> tuple[Field, ...]:
        if depth > DEEPEST:
            raise QueryError("Query is too deep")
        self.take("{")
        fields: list[Field] = []
        while self.peek() != "}":
            fields.append(self._field(depth))
        self.take("}")
        return tuple(fields)

    def _field(self, depth: int) -> Field:
        alias = name = self._word()
        if self.peek() == ":":
            self.take()
            name = self._word()
        arguments: dict[str, object] = {}
        if self.peek() == "(":
            self.take()
            while self.peek() != ")":
                key = self._word()
                self.take(":")
                arguments[key] = self._value()
            self.take(")")
        below = self.selection(depth + 1) if self.peek() == "{" else ()
        return Field(name, alias, arguments, below)

    def _word(self) -> str:
        sign = self.take()
        if not sign.isidentifier():
            raise QueryError(f"Parse error on {sign!r}")
        return sign

    def _value(self) -> object:
        sign = self.take()
        if sign == "$":
            name = self._word()
            if name not in self._variables:
                raise QueryError(f"Variable ${name} was not provided")
            return self._variables[name]
        return sign[1:-1] if sign.startswith('"') else sign
