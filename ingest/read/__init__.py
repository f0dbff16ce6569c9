"""Read a trace file: decompress it, split it into blocks of events, and repair damaged events."""

from tracewh.ingest.read.chunks import Block, Cut, find_separators
from tracewh.ingest.read.json_repair import Scanner
from tracewh.ingest.read.reader import TraceReader
from tracewh.ingest.read.resync import EVENT_BYTES, Resync

__all__ = ["EVENT_BYTES", "Block", "Cut", "Resync", "Scanner", "TraceReader", "find_separators"]
