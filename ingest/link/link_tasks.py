"""The tasks that link the rows of a trace: nesting, launches, costs, steps, flows and graphs."""

from __future__ import annotations

from functools import partial

import duckdb

from tracewh.ingest.link.nesting import nest
from tracewh.ingest.link.task_graph import Task
from tracewh.schema import tables
from tracewh.sql_files import create_block, create_function, derive


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


def _steps(con: duckdb.DuckDBPyConnection) -> None:
    derive(con, "step_marks")
    # Most traces have steps of the profiler or none; the parsing of other names is left out for them.
    if con.execute(
        "FROM raw_host AS h WHERE h.category = 'user_annotation'"
        " AND trace_of(h.event_id) NOT IN (SELECT trace_of(m.event_id) FROM step_marks AS m)"
        " AND regexp_matches(h.name, 'execute_|step\\[|prefill\\[|decode\\[') LIMIT 1"
    ).fetchone():
        create_block(con, "serving_patterns")
        create_block(con, "serving_marks")
        derive(con, "serving_step_marks")
    derive(con, "steps")


def _graphs(con: duckdb.DuckDBPyConnection) -> None:
    """Create `out_graphs` and `out_graph_nodes`, which are empty for a trace without graphs."""
    has_graphs = con.execute(
        "FROM out_stacks WHERE contains(name, 'GraphLaunch') OR contains(name, 'StreamBeginCapture')"
        " LIMIT 1"
    ).fetchone()
    if not has_graphs:
        for name in ("graphs", "graph_nodes"):
            columns = ", ".join(f"{column.name} {column.type}" for column in tables()[name].columns)
            con.execute(f"CREATE TABLE out_{name} ({columns})")
        return
    # In a schema of its own: the views have the names of tables, as those that other tasks create.
    con.execute("CREATE SCHEMA graph_input; SET search_path = 'graph_input,main'")
    derive(con, "out_graphs")
    create_function(con, "is_wanted")
    for block in ("captured_nodes", "recorded_graphs"):
        create_block(con, block)
    con.execute("CREATE TABLE main.out_graph_nodes AS FROM captured_nodes()")
    con.execute("CREATE TABLE main.out_graphs AS FROM recorded_graphs('main.out_graph_nodes')")


#: The tasks by name. Each uses one core at most.
LINK_TASKS = {
    "nesting": Task(_nest),
    "stacks": Task(partial(derive, name="stacks"), ("nesting",)),
    # Drops the tables of the two tasks before it.
    "links_in_order": Task(partial(derive, name="links_in_order"), ("stacks",)),
    "launched": Task(partial(derive, name="launched")),
    "launches": Task(partial(derive, name="launches"), ("links_in_order", "launched")),
    "costs": Task(link_costs, ("launches",)),
    "steps": Task(_steps, ("launches",)),
    "flows": Task(partial(derive, name="flows")),
    "graphs": Task(_graphs, ("launches",)),
}
