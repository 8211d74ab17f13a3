"""Floor 7: the `hitl` command. Prints, asks the flows or the bot's API, sets the exit code.

Exit codes: 0 done · 1 a fault of ours · 2 usage or configuration · 3 refused (not allowed, not found, wrong state)
· 4 nobody there (the bot or GitLab cannot be reached) · 5 no answer within the time given.
"""

import sys


def main() -> None:
    """Entry point: errors become one line on standard error and an exit code."""
    from bot.cli.commands import app
    from bot.cli.failing import code_of
    from bot.core.errors import HitlError

    try:
        app()
    except HitlError as error:
        print(f"hitl: {error.message}", file=sys.stderr)
        raise SystemExit(code_of(error)) from None
