"""Facts that no single event holds: what encloses, launched and follows what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import duckdb

from tracewh.ingest.nesting import nest
from tracewh.ingest.tables import derive

#: With Python frames recorded, a profiler step begins inside the frame that starts it and goes on
#: after that one has returned.
_STEPS = """
    SELECT h.row_id FROM host AS h
    WHERE h.kind = 'step' AND EXISTS (FROM host AS f WHERE f.kind = 'frame')
"""


def link(con: duckdb.DuckDBPyConnection, at_once: int | None = None) -> None:
    """Add the tables host_links, memory_links, device_links, linked_steps and linked_flows.

    Args:
        con: Connection that holds the raw tables.
        at_once: How many statements may share the memory; as many as there are when None.
    """
    derive(con, "host")
    # Each of these keeps one core busy at best.
    with ThreadPoolExecutor(at_once) as pool:
        tasks = [
            pool.submit(nest, con.cursor(), "all_rows", "enclosed", _STEPS),
            pool.submit(nest, con.cursor(), "op_rows", "op_enclosed"),
            pool.submit(derive, con.cursor(), "flows"),
        ]
        for task in tasks:
            task.result()
    for name in ("operators", "launches", "steps"):
        derive(con, name)
