"""Link the events of a trace (nesting, launches, steps, stacks), and write its Parquet files."""

from tracewh.ingest.link.file_tables import Writing, base_time_ns
from tracewh.ingest.link.write_tables import create_link_macros, folder_of, write_traces

__all__ = ["Writing", "base_time_ns", "create_link_macros", "folder_of", "write_traces"]
