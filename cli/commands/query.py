"""`tracewh query`: run one SQL statement that can read the warehouse and nothing else."""

from __future__ import annotations

import sys

from tracewh.cli import diagnostics
from tracewh.cli.output import Output


def run_query(sql: str, warehouse: str, output: Output, memory_mb: int | None = None) -> None:
    """Run one statement and write its result.

    Args:
        memory_mb: Memory limit; None for DuckDB's own.
    """
    from tracewh.views.read_only import check_reads_only  # loads DuckDB

    sql = sys.stdin.read() if sql == "-" else sql
    is_explain = check_reads_only(sql)
    output.check()

    with output.open_warehouse(warehouse) as opened:
        if memory_mb is not None:
            opened.limit_memory(memory_mb)
        opened.confine(query=sql)
        if is_explain:
            print(opened.sql(sql).fetchall()[-1][-1])
        elif not output.write_with_retry(lambda: opened.sql(sql)):
            diagnostics.note("no rows")
