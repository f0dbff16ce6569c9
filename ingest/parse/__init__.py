"""Parse events into typed rows: a compiled parser for plain events, and one in SQL for all others."""

from tracewh.ingest.parse.event_columns import (
    count_odd_values,
    end_lost_frames,
    join_begins,
    rename_copies,
)
from tracewh.ingest.parse.fast_parser import FastParser, is_available
from tracewh.ingest.parse.recordings import read_recordings
from tracewh.ingest.parse.sql_parser import (
    SqlParser,
    create_raw_tables,
    is_unpadded,
    parse_events,
    read_unpadded,
)

__all__ = [
    "FastParser",
    "SqlParser",
    "count_odd_values",
    "create_raw_tables",
    "end_lost_frames",
    "is_available",
    "is_unpadded",
    "join_begins",
    "parse_events",
    "read_recordings",
    "read_unpadded",
    "rename_copies",
]
