"""Floor 4: the configuration, one frozen value from a TOML file and the environment. What is built from it: `bootstrap`.

Secrets are written `{ env = "NAME" }` or `{ file = "path" }` (relative to the file that says so), never inline.
For plain keys `HITL_SECTION__KEY` in the environment wins over the file. Unknown keys are errors.
"""

from bot.settings.loading import load
from bot.settings.model import Settings
from bot.settings.sections import ProjectSection

__all__ = ["ProjectSection", "Settings", "load"]
