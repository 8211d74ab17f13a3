"""The words people use, per language, in one place. Whole words and phrases only; all lower case, as `casefold` gives.

Not here: how a reply is taken apart (`core.replies`).
"""

from dataclasses import dataclass

COMMANDS = ("continue anyway", "continue", "close all", "take over", "help")
THREAD_COMMANDS = ("adopt", "enough", "accept")


@dataclass(frozen=True)
class Words:
    """One language. `because` are the words that may stand between "none of these" and its reason."""

    yes: frozenset[str]
    no: frozenset[str]
    none: frozenset[str]
    every: frozenset[str]
    answer: frozenset[str]
    because: frozenset[str]
    negation: frozenset[str]
    hedges: frozenset[str]
    polite: frozenset[str]
    joining: frozenset[str]
    option: frozenset[str]
    wrote: frozenset[str]


ENGLISH = Words(
    yes=frozenset({"y", "yes", "approve", "approved", "ok", "okay", "lgtm", "+1", "👍", "thumbsup", "thumbs_up"}),
    no=frozenset({"n", "no", "reject", "rejected", "-1", "👎", "thumbsdown", "thumbs_down"}),
    none=frozenset({
        "none", "none of these", "none of them", "none of those", "none of the above", "none of the options",
        "neither", "neither of these", "reject", "rejected", "reject all", "i reject", "i reject all",
    }),
    every=frozenset({"all", "all of them", "all of these", "all of the above"}),
    answer=frozenset({"answer", "other"}),
    because=frozenset({"because", "since", "as"}),
    negation=frozenset({"no", "not", "never", "nope", "don't", "dont", "wrong", "isn't", "won't", "can't", "cannot", "unless"}),
    hedges=frozenset({"but", "if", "only", "except", "however", "though", "although"}),
    polite=frozenset({"please", "pls", "thanks", "thank you", "thx"}),
    joining=frozenset({"and", "&", "+", "plus", "und", "et"}),
    option=frozenset({"option", "answer", "choice", "number"}),
    wrote=frozenset({"wrote", "writes"}),
)  # fmt: skip
