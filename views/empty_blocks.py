"""Blocks that have no rows where no graph was launched, as macros without contents.

Planning what finds the captured graph of a launch takes longer than most queries, and needs more than Spark SQL
can do. So these macros stand in for the blocks where there is nothing to find.
"""

from __future__ import annotations

from tracewh.views.spec import Spec

#: Blocks and views that have rows only for traces that launch a graph.
OF_GRAPHS = (
    "graph_kernels_v1",
    "replay_matches",
    "replay_notes",
    "replayed_costs",
    "replayed_events",
    "replayed_modules",
    "replayed_stacks",
)


def empty_macro(spec: Spec) -> str:
    """Return SQL that creates a block or view without rows."""
    columns = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in spec.columns)
    return f"{spec.signature} SELECT {columns} WHERE FALSE"
