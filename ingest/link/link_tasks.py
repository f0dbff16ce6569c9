"""The tasks that link the rows of a trace: nesting, launches, costs, steps and flows."""

from __future__ import annotations

from functools import partial

import duckdb

from tracewh.ingest.link.nesting import nest
from tracewh.ingest.link.task_graph import Task
from tracewh.sql_files import derive


def link_costs(con: duckdb.DuckDBPyConnection) -> None:
    """Create `call_costs` and the macro `with_costs`: the cost of each operator call."""
    derive(con, "own_costs")
    while con.execute("FROM climbs LIMIT 1").fetchone():
        derive(con, "climb")
    derive(con, "call_costs")


def _nest(con: duckdb.DuckDBPyConnection) -> None:
    derive(con, "host")
    derive(con, "family")
    nest(con, "intervals")


#: The tasks by name. Each uses one core at most.
LINK_TASKS = {
    "nesting": Task(_nest),
    "stacks": Task(partial(derive, name="stacks"), ("nesting",)),
    # Drops the tables of the two tasks before it.
    "links_in_order": Task(partial(derive, name="links_in_order"), ("stacks",)),
    "launched": Task(partial(derive, name="launched")),
    "launches": Task(partial(derive, name="launches"), ("links_in_order", "launched")),
    "costs": Task(link_costs, ("launches",)),
    "steps": Task(partial(derive, name="steps"), ("launches",)),
    "flows": Task(partial(derive, name="flows")),
}
