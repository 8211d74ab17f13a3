"""Floor 3: HTTP. Statuses, headers and bodies; every rule is a call into `bot.flows`.

Routes are `def`. Only what waits (raw hook bodies, long polls) is `async def` and holds neither a thread nor a session.
"""
