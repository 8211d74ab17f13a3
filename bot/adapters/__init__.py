"""Floor 3: ports filled in with real things (GitLab, the database, templates, the clock).

Never here: a rule about people or questions. Each library is imported by one of these modules only.
"""
