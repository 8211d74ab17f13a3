"""Where a flow is resumed besides fetching its document itself: a URL that is called back, or a program that is started.

Each module implements `bot.ports.ResumeTarget` for one kind of target. Never here: when to hand over, how often to try
again, or who may resume (flows and core). Floor 3.
"""
