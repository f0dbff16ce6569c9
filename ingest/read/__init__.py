"""Read a trace file: decompress it, split it into blocks of events, and repair damaged events."""
