"""Floor 0: the rules, as arithmetic.

Lives here: values, the state table, the payload codec, the reader of human text, eligibility, classification, decisions,
and what a resumed flow is given. Everything takes `now`, ids and secrets as arguments.
Never here: a clock, randomness, a logger, files, the network, or any library besides the standard one, pydantic and
markdown-it-py's block parser.
"""
