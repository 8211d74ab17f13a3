"""Floor 6: a public test kit. A whole bot against the sandbox tracker in one `with`, people with scripts, a clock that moves.

    with Stage(folder) as stage:
        run = stage.client.start(stage.item, flow="plan", goal="…", owner="dana")
        ...
        stage.person("dana").reply(question, "B")

`bot.testing.plugin` offers it as pytest fixtures (`stage`, `clock`); this package itself needs no pytest.
"""

from bot.testing.clock import MovableClock
from bot.testing.people import ScriptedPerson
from bot.testing.stage import Stage

__all__ = ["MovableClock", "ScriptedPerson", "Stage"]
