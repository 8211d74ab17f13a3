"""A bot that asks people on GitLab issues and resumes flows with their answers."""

__version__ = "0.1.0.dev0"
