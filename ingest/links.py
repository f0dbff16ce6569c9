"""Facts that no single event holds: what encloses, launched and follows what."""

from __future__ import annotations

import duckdb

from tracewh.ingest.nesting import nest
from tracewh.ingest.tables import derive


def link(con: duckdb.DuckDBPyConnection) -> None:
    """Add the tables host_links, op_enclosed, device_links, linked_steps and linked_flows."""
    derive(con, "host")
    nest(con, "all_rows", "enclosed")
    if _operators_enclose_all(con):
        # Then the parents are the operators, and only memory records are still to be placed.
        con.execute("CREATE TEMP VIEW ops AS FROM op_rows AS r WHERE r.is_candidate")
        con.execute("CREATE TEMP VIEW placed AS FROM ops UNION ALL FROM memory_rows")
        nest(con, "placed", "op_enclosed")
        con.execute("""
            DELETE FROM op_enclosed AS e WHERE e.opens IS NULL OR e.row_id IN (SELECT row_id FROM host);
            INSERT INTO op_enclosed FROM enclosed;
        """)
    else:
        nest(con, "op_rows", "op_enclosed")
    derive(con, "operators")
    derive(con, "launches")
    derive(con, "steps")
    derive(con, "flows")


def _operators_enclose_all(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether every host event that encloses another is an operator or annotation."""
    row = con.execute("""
        SELECT count(*)
        FROM enclosed AS e INNER JOIN host AS p ON e.parent_row_id = p.row_id
        WHERE NOT p.is_op
    """).fetchone()
    assert row is not None
    return not row[0]
