"""Facts that no single event holds: what encloses, launched and follows what."""

from __future__ import annotations

from functools import partial

import duckdb

from tracewh.ingest.nesting import nest
from tracewh.ingest.tables import create_block, derive
from tracewh.ingest.together import Running, together


def link(con: duckdb.DuckDBPyConnection, running: Running, at_once: int | None) -> None:
    """Add the tables out_stacks, host_links, memory_links, linked_flows and launched.

    Args:
        con: Connection that holds the raw tables.
        running: See `together`.
        at_once: How many statements may share the memory; as many as there are when None.
    """
    derive(con, "host")
    derive(con, "family")
    # Each of these keeps one core busy at best.
    tasks = [
        partial(nest, rows="intervals"),
        partial(derive, name="flows"),
        partial(derive, name="launched"),
    ]
    together(con, tasks, running, at_once)
    derive(con, "stacks")
    derive(con, "links_in_order")


def link_launches(con: duckdb.DuckDBPyConnection) -> None:
    """Add the tables device_links, linked_steps and call_costs, after `link`."""
    derive(con, "launches")
    derive(con, "steps")
    settle_costs(con)


def settle_costs(con: duckdb.DuckDBPyConnection) -> None:
    """Add call_costs and the macro with_costs: what each call of an operator cost."""
    create_block(con, "tensor_core_operators")
    derive(con, "own_costs")
    while con.execute("FROM climbs LIMIT 1").fetchone():
        derive(con, "climb")
    derive(con, "call_costs")
