"""`python -m tests.write_schemas`: writes the published JSON Schemas and the lifecycle drawing from the code."""

import json
import re
from pathlib import Path

from bot.core.goal import ResumeDocument
from bot.core.lifecycle import drawing
from bot.core.payload import Payload

DOCS = Path(__file__).resolve().parent.parent / "docs"

if __name__ == "__main__":
    for name, model in (("resume-document", ResumeDocument), ("payload", Payload)):
        (DOCS / f"{name}.schema.json").write_text(json.dumps(model.model_json_schema(mode="serialization"), indent=2) + "\n")
    page = DOCS / "lifecycle.md"
    page.write_text(re.sub(r"```mermaid\n.*?\n```", f"```mermaid\n{drawing()}\n```", page.read_text(), flags=re.DOTALL))
