"""GitLab over its REST API: the only package that imports python-gitlab.

`connection` sends, `failures` names what went wrong, `parse` turns JSON into values, `project` and `people` fill in the
ports. Never here: what an answer means, who may do what, or when something is tried again later.
"""
