"""Floor 2: the use cases, each a verb. Gather, decide, commit, act; no transaction is open while the network is.

Never here: which library does it (adapters), how it is called from outside (web, cli), or a rule about people (core).
"""
