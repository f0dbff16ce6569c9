"""Link the events of a trace (nesting, launches, steps, stacks), and write its Parquet files."""

from tracewh.ingest.link.write_tables import base_time_ns, create_link_macros, write_trace

__all__ = ["base_time_ns", "create_link_macros", "write_trace"]
