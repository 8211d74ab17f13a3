"""Floor 1: bytes in, values out, for each outside source. No sockets, no decisions."""
