"""`python -m bot` is `hitl`."""

from bot.cli import main

main()
