"""A GitLab-compatible issue tracker for trying out and testing; in memory, and no GitLab.

Lives here: the far side of the product, spoken to over real HTTP. It imports nothing of the
product but `bot.markup` and follows the project's GitLab contract even where that is
inconvenient. Floor 3; never used to decide anything.
"""
