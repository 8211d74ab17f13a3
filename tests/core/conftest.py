"""How many examples the property tests try: `HITL_EXAMPLES=quick` (the default), `long` or `soak`.

The quick ones are the same in every run; the others look somewhere new each time.
"""

import os

from hypothesis import settings

settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=500, deadline=None)
settings.register_profile("soak", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("HITL_EXAMPLES", "quick"))
