"""What ingest settles, filled in where a test writes the tables itself."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import duckdb

from tracewh.ingest.link.link_tasks import link_costs
from tracewh.ingest.link.nesting import nest
from tracewh.sql_files import create_block, derive

#: The tables that ingest derives from others, in whole or in some columns, and the block that reads such columns.
DERIVED = frozenset({"graphs", "host_events", "operator_costs", "stacks", "step_activity"})
#: What graphs and graph_nodes hold, asked of the events.
NODES = "FROM captured_nodes()"
GRAPHS = "FROM recorded_graphs('graph_nodes')"
#: What step_activity holds, asked of the events.
STEP_ROLES = "WITH i AS (FROM step_intervals()) SELECT * FROM step_roles('i')"
SAME_TRACE = "h.run = o.run AND h.worker = o.worker AND h.span = o.span"
#: The traces with host events, and what is added to their event_ids where all are settled together: ingest, too, links
#: small traces together, with the number of a trace in the upper bits.
NUMBERED = """(
    SELECT t.*, (row_number() OVER (ORDER BY t.run, t.worker, t.span) - 1) << 40 AS base
    FROM (SELECT DISTINCT h.run, h.worker, h.span FROM host_events AS h) AS t
)"""
#: Host events in which another one begins that lasts longer, and when the first such one does.
OVERLAPS = f"""
    SELECT h.run, h.worker, h.span, h.event_id, min(o.start_ns) AS start_ns
    FROM host_events AS h
    INNER JOIN host_events AS o
        ON {SAME_TRACE} AND h.pid IS NOT DISTINCT FROM o.pid AND h.tid IS NOT DISTINCT FROM o.tid
        AND h.start_ns < o.start_ns
        AND h.start_ns + h.duration_ns > o.start_ns
        AND h.start_ns + h.duration_ns < o.start_ns + o.duration_ns
    GROUP BY ALL
"""


def fill_derived_tables(con: duckdb.DuckDBPyConnection, needed: Iterable[str]) -> None:
    """Fill in what the tables and blocks that are needed read, from the rows that are given."""
    needed = set(needed)
    if "step_activity" in needed:
        con.execute(f"INSERT INTO step_activity BY NAME {STEP_ROLES}")
    if "host_events" in needed:
        con.execute(f"""
            UPDATE host_events AS h SET overlap_start_ns = o.start_ns
            FROM ({OVERLAPS}) AS o WHERE {SAME_TRACE} AND h.event_id = o.event_id
        """)
    if "operator_costs" in needed:
        _settle_costs(con)
    if "stacks" in needed:
        con.execute("DELETE FROM stacks")
        _settle_stacks(con)
    if "graphs" in needed and _has_graphs(con):
        con.execute(f"INSERT INTO graph_nodes BY NAME {NODES}")
        con.execute(f"INSERT INTO graphs BY NAME {GRAPHS}")


def _has_graphs(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether an event launches or captures a graph, as ingest asks before it looks for them."""
    names = "name LIKE '%GraphLaunch%' OR name LIKE '%StreamBeginCapture%'"
    return con.execute(f"FROM host_events WHERE {names} LIMIT 1").fetchone() is not None


def _settle_costs(con: duckdb.DuckDBPyConnection) -> None:
    """With the statements of ingest, on the tables that they read."""
    _create_macros(con)
    con.execute("CREATE SCHEMA settling; SET search_path = 'settling,macros,main'")
    con.execute(f"CREATE TABLE numbered AS FROM {NUMBERED}")
    con.execute(
        """
        CREATE TABLE host_links AS
        SELECT h.* REPLACE (h.event_id + n.base AS event_id, h.parent_op_id + n.base AS parent_op_id)
        FROM host_events AS h
        INNER JOIN numbered AS n USING (run, worker, span);
        CREATE TABLE raw_host AS SELECT event_id, category, name FROM host_links;
        CREATE TABLE device_links AS
        SELECT d.* REPLACE (d.op_id + n.base AS op_id)
        FROM device_events AS d
        INNER JOIN numbered AS n USING (run, worker, span);
        CREATE TABLE raw_device AS SELECT category, duration_ns AS dur_ns FROM device_links
        """
    )
    link_costs(con)
    con.execute(
        """
        UPDATE main.host_events AS h
        SET
            inner_self_ns = c.inner_self_ns,
            plain_self_ns = c.plain_self_ns,
            plain_below_ns = c.plain_below_ns,
            tensor_core_self_ns = c.tensor_core_self_ns,
            tensor_core_below_ns = c.tensor_core_below_ns,
            unknown_self_ns = c.unknown_self_ns,
            unknown_below_ns = c.unknown_below_ns,
            tensor_core_eligible = c.tensor_core_eligible
        FROM with_costs('raw_host') AS c, numbered AS n
        WHERE
            (h.run, h.worker, h.span) = (n.run, n.worker, n.span)
            AND h.event_id + n.base = c.event_id
        """
    )
    con.execute("SET search_path = 'main'; DROP SCHEMA settling CASCADE")


def _create_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Create the macros that the statements of ingest call, once in a connection."""
    if con.execute("FROM duckdb_schemas() AS s WHERE s.schema_name = 'macros'").fetchone():
        return
    con.execute("CREATE SCHEMA macros; SET search_path = 'macros,main'")
    derive(con, "event_kinds")
    create_block(con, "tensor_core_operators")


@cache
def _own_database() -> duckdb.DuckDBPyConnection:
    """A database for what ingest calls, with the macros of ingest and no tables."""
    own = duckdb.connect(config={"threads": 1})
    derive(own, "event_kinds")
    return own


def _settle_stacks(con: duckdb.DuckDBPyConnection) -> None:
    """With what ingest calls, on the tables that it reads, in a database of its own."""
    given = con.sql(
        f"""
        SELECT
            h.event_id + n.base AS event_id, h.category, h.name, h.call_stack, h.pid, h.tid,
            h.start_ns AS ts_ns, coalesce(h.duration_ns, 0) AS dur_ns
        FROM host_events AS h
        INNER JOIN {NUMBERED} AS n USING (run, worker, span)
        WHERE h.start_ns IS NOT NULL
        """
    ).to_arrow_table()
    if not given.num_rows:
        return
    own = _own_database()
    try:
        own.register("given", given)
        own.execute("CREATE TABLE raw_host AS FROM given")
        own.execute(
            "CREATE TABLE raw_memory AS SELECT event_id, pid, tid, ts_ns FROM given LIMIT 0"
        )
        for name in ("host", "family"):
            derive(own, name)
        nest(own, "intervals")
        for name in ("stacks", "links_in_order"):
            derive(own, name)
        con.register("found", own.table("out_stacks").to_arrow_table())
        con.register("links", own.table("host_links").to_arrow_table())
    finally:
        own.execute("DROP VIEW IF EXISTS intervals")
        for (table,) in own.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            own.execute(f"DROP TABLE {table}")
    con.execute(
        f"""
        INSERT INTO stacks BY NAME
        SELECT n.run, n.worker, n.span, s.* EXCLUDE (trace)
        FROM found AS s
        INNER JOIN {NUMBERED} AS n ON s.trace << 40 = n.base
        """
    )
    con.execute(
        f"""
        UPDATE host_events AS h SET stack_id = l.stack_id
        FROM links AS l, {NUMBERED} AS n
        WHERE
            (h.run, h.worker, h.span) = (n.run, n.worker, n.span)
            AND h.event_id + n.base = l.event_id
        """
    )
    con.unregister("found")
    con.unregister("links")
