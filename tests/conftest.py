"""Fixtures of the public test kit, for all tests."""

pytest_plugins = ["bot.testing.plugin"]
