"""The published description of GitLab's API as schemas that can be checked against: what is in it, and where it is amended.

Three amendments, each for a reason README.md gives: `x-known-gaps` are closed, null is allowed in every answer, and answers
have the required fields of `REQUIRED`, because the document has none. Not here: calls, or what is expected of them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml
from jsonschema import Draft202012Validator, FormatChecker

HERE = Path(__file__).resolve().parent
FILES = ("subset.yaml", "users.schema.yaml")
Schema = dict[str, Any]

# The fields an answer must have; `?` behind a name: may be null.
REQUIRED = {
    "APIEntitiesUserBasic": "id username name state locked avatar_url? web_url",
    "APIEntitiesUserPublic": "id username name state locked avatar_url? web_url created_at bot email",
    "ListedAccount": "id username name state locked avatar_url? web_url",
    "Account": "id username name state locked avatar_url? web_url created_at bot",
    "APIEntitiesMetadata": "version revision enterprise",
    "APIEntitiesPersonalAccessToken": "id name revoked created_at scopes user_id last_used_at? active expires_at?",
    "APIEntitiesPersonalAccessTokenWithToken": "id name revoked created_at scopes user_id active expires_at token",
    "APIEntitiesResourceAccessTokenWithToken": (
        "id name revoked created_at scopes user_id active expires_at token access_level resource_type resource_id"
    ),
    "APIEntitiesProjectsWithAccessAndCatalogSetting": (
        "id name name_with_namespace path path_with_namespace created_at default_branch web_url visibility namespace"
        " archived permissions"
    ),
    "APIEntitiesNamespaceBasic": "id name path kind full_path parent_id? avatar_url? web_url",
    "APIEntitiesMember": "id username name state access_level created_at expires_at? web_url",
    "APIEntitiesIssue": (
        "id iid project_id title description? state created_at updated_at closed_at? closed_by? labels assignees author"
        " type issue_type user_notes_count confidential discussion_locked? moved_to_id? web_url references"
    ),
    "APIEntitiesNote": (
        "id type? body author created_at updated_at system noteable_id noteable_type project_id resolvable confidential"
        " internal imported imported_from noteable_iid commands_changes"
    ),
    "APIEntitiesDiscussion": "id individual_note notes",
    "APIEntitiesAwardEmoji": "id name user created_at updated_at awardable_id awardable_type",
    "APIEntitiesProjectHook": (
        "id url created_at project_id note_events confidential_note_events issues_events confidential_issues_events"
        " emoji_events push_events merge_requests_events tag_push_events enable_ssl_verification alert_status"
        " disabled_until? token_present signing_token_present"
    ),
    "APIEntitiesProjectLabel": "id name color text_color description? is_project_label",
    "APIEntitiesCiPipeline": "id iid project_id sha ref status source created_at updated_at web_url user",
}

# Fields of real answers that the document leaves out: the first by the facts collected on GitLab, `is_admin` by its older
# reference pages. Anything else that an answer has and the document does not is an invention.
BEYOND = {"APIEntitiesNote": ("attachment",), "APIEntitiesUserPublic": ("is_admin",)}

ONLY_COMMANDS = {
    "type": "object",
    "properties": {"commands_changes": {"type": "object"}, "summary": {"type": "array", "items": {"type": "string"}}},
    "required": ["commands_changes", "summary"],
}

FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
def _moment(value: object) -> bool:
    # The time of day and its zone have to be there: without them a date would do.
    return not isinstance(value, str) or ("T" in value and datetime.fromisoformat(value).tzinfo is not None)


@FORMATS.checks("date", raises=ValueError)
def _day(value: object) -> bool:
    return not isinstance(value, str) or bool(date.fromisoformat(value))


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    method: str
    path: str
    parameters: tuple[Schema, ...]
    body: Schema | None
    answers: dict[int, Schema | None]

    def __str__(self) -> str:
        return f"{self.method} {self.path.removeprefix('/api/v4')}"

    def path_values(self, path: str) -> dict[str, str] | None:
        """The values of the path's parameters, None when it is another path."""
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(self.path))
        match = re.fullmatch(pattern, path)
        return None if match is None else {name: unquote(value) for name, value in match.groupdict().items()}

    @property
    def success(self) -> int:
        """The status of the ordinary success."""
        return min(status for status in self.answers if status < 300)


class Document:
    """All operations of the published subset and of the file beside it."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        for file in FILES:
            source = yaml.safe_load((HERE / file).read_text())
            _close_gaps(source)
            self.operations += _operations(source)

    def named(self, name: str) -> Operation:
        """By method and path, such as `GET /user`."""
        return next(each for each in self.operations if str(each) == name)

    def of_request(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The operation of a request and its path parameters; the fewest parameters win, as in a router."""
        found = [(each, each.path_values(path)) for each in self.operations if each.method == method]
        matched = [(each, values) for each, values in found if values is not None]
        return min(matched, key=lambda pair: len(pair[1]), default=None)


def problems(schema: Schema, value: object) -> list[str]:
    """What is wrong with a value, in words; empty: nothing."""
    found = Draft202012Validator(schema, format_checker=FORMATS).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in found]


def _operations(source: Schema) -> Iterator[Operation]:
    for path, methods in source["paths"].items():
        for method, spec in methods.items():
            sent = spec.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            answers = {int(status): _content(answer) for status, answer in spec["responses"].items()}
            yield Operation(
                method.upper(),
                path,
                tuple(
                    {**each, "schema": _asked(_inlined(source, each["schema"]), optional=True)}
                    for each in spec.get("parameters", ())
                ),
                None if sent is None else _asked(_inlined(source, sent)),
                {status: None if schema is None else _answered(source, schema, top=True) for status, schema in answers.items()},
            )


def _content(answer: Schema) -> Schema | None:
    found: Schema | None = answer.get("content", {}).get("application/json", {}).get("schema")
    return found


def _inlined(source: Schema, schema: Schema) -> Schema:
    """The schema with its references put in."""
    if "$ref" in schema:
        return _inlined(source, source["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return {
        key: {name: _inlined(source, each) for name, each in value.items()}
        if key == "properties"
        else [_inlined(source, each) for each in value]
        if key == "oneOf"
        else _inlined(source, value)
        if key == "items"
        else value
        for key, value in schema.items()
    }


def _asked(schema: Schema, optional: bool = False) -> Schema:
    """The schema of something sent: no unknown fields, null only where it is allowed and the field may be left out."""
    made = {key: value for key, value in schema.items() if key not in ("nullable", "default")}
    if "properties" in schema:
        required = schema.get("required", ())
        made["properties"] = {name: _asked(each, name not in required) for name, each in schema["properties"].items()}
        made["additionalProperties"] = False
    if "items" in schema:
        made["items"] = _asked(schema["items"])
    if "oneOf" in schema:
        made["oneOf"] = [_asked(each) for each in schema["oneOf"]]
    return {"anyOf": [made, {"type": "null"}]} if optional and schema.get("nullable") else made


def _answered(source: Schema, schema: Schema, top: bool = False) -> Schema:
    """The schema of something answered: null everywhere below the top, own required fields, no invented ones."""
    name = schema.get("$ref", "").rpartition("/")[2]
    made = dict(source["components"]["schemas"][name]) if name else dict(schema)
    if "properties" in made:
        wanted = REQUIRED.get(name, "").split()
        made["properties"] = {key: _answered(source, each) for key, each in made["properties"].items()}
        made["properties"] |= {key: {} for key in BEYOND.get(name, ())}
        for key in wanted:
            if not key.endswith("?"):
                made["properties"][key] = {"allOf": [made["properties"][key], {"not": {"type": "null"}}]}
        made["required"] = [*made.get("required", []), *(key.rstrip("?") for key in wanted)]
        made["additionalProperties"] = False
    if "items" in made:
        made["items"] = _answered(source, made["items"], top)
    return made if top or not made else {"anyOf": [made, {"type": "null"}]}


def _close_gaps(source: Schema) -> None:
    """Amend the document where it is known to be wrong; a gap of a new kind has to be understood first."""
    for gap in source.get("x-known-gaps", ()):
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in gap["pointer"].removeprefix("#/").split("/")]
        holder = source
        for part in way:
            holder = holder[part]
        actual = gap["actual"]
        if actual == "array of the referenced schema":
            holder[last] = {"type": "array", "items": holder[last]}
        elif actual == "integer":
            holder[last] = {"type": "integer"}
        elif actual.startswith("date (YYYY-MM-DD)"):
            holder[last] = {"type": "string", "format": "date"}
        elif "also takes ref (string, required)" in actual:
            holder[last]["ref"] = {"type": "string"}
            holder["required"].append("ref")
        elif actual.startswith("also 202"):
            holder[last]["202"] = {"content": {"application/json": {"schema": copy.deepcopy(ONLY_COMMANDS)}}}
        elif actual.startswith("204 without body"):
            del holder[last]["200"]
            holder[last]["204"] = {}
        else:
            raise AssertionError(f"x-known-gaps has an entry nobody has understood yet: {gap}")
