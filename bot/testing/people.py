"""People with a script: they use the tracker over HTTP with their own tokens, like anybody."""

from collections.abc import Mapping
from typing import Any

import requests

TIMEOUT = 10.0


class ScriptedPerson:
    """One account of the tracker on one item. Every method raises `requests.HTTPError` when GitLab refuses."""

    def __init__(self, url: str, token: str, project_id: int, item_iid: int) -> None:
        self._item = f"{url}/api/v4/projects/{project_id}/issues/{item_iid}"
        self._session = requests.Session()
        self._session.headers["PRIVATE-TOKEN"] = token

    def reply(self, question: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Answer below a question, as placed by `Client.ask`."""
        return self._send("POST", f"/discussions/{question['discussion_id']}/notes", body=text)

    def comment(self, text: str) -> dict[str, Any]:
        """A comment of its own on the item."""
        return self._send("POST", "/notes", body=text)

    def edit(self, note_id: int, text: str) -> dict[str, Any]:
        return self._send("PUT", f"/notes/{note_id}", body=text)

    def delete(self, note_id: int) -> None:
        self._send("DELETE", f"/notes/{note_id}")

    def resolve(self, question: Mapping[str, Any], resolved: bool = True) -> dict[str, Any]:
        return self._send("PUT", f"/discussions/{question['discussion_id']}", resolved=resolved)

    def describe(self, text: str) -> dict[str, Any]:
        """Edit the item's description."""
        return self._send("PUT", "", description=text)

    def notes(self) -> list[dict[str, Any]]:
        """All notes of the item, oldest first."""
        answer = self._session.get(f"{self._item}/notes?sort=asc&per_page=100", timeout=TIMEOUT)
        answer.raise_for_status()
        notes: list[dict[str, Any]] = answer.json()
        return notes

    def threads(self) -> list[dict[str, Any]]:
        """All discussions of the item, oldest first."""
        answer = self._session.get(f"{self._item}/discussions?per_page=100", timeout=TIMEOUT)
        answer.raise_for_status()
        threads: list[dict[str, Any]] = answer.json()
        return threads

    def reactions(self, note_id: int) -> list[str]:
        answer = self._session.get(f"{self._item}/notes/{note_id}/award_emoji", timeout=TIMEOUT)
        answer.raise_for_status()
        return [award["name"] for award in answer.json()]

    def _send(self, method: str, path: str, **body: object) -> dict[str, Any]:
        answer = self._session.request(method, self._item + path, json=body or None, timeout=TIMEOUT)
        answer.raise_for_status()
        result: dict[str, Any] = answer.json() if answer.content else {}
        return result
