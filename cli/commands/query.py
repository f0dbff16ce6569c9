"""`tracewh query`: run one SQL statement that can read the warehouse and nothing else."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from pathlib import Path

from tracewh.cli import diagnostics
from tracewh.cli.output import Output
from tracewh.views.sql_mistakes import own_lines


def run_query(sql: str, warehouse: str, output: Output, memory_mb: int | None = None) -> None:
    """Run one statement and write its result.

    Args:
        memory_mb: Memory limit; None for DuckDB's own.
    """
    sql = _from_stdin() if sql == "-" else sql
    with suppress(OSError, ValueError):  # no name of a file
        if Path(sql).is_file():
            diagnostics.usage_error(
                f"{sql} is a file; run the SQL in it with `tracewh query - < {shlex.quote(sql)}`"
            )
    output.check()

    with output.open_warehouse(warehouse) as opened, own_lines(sql):
        is_explain = opened.check_reads_only(sql)
        if memory_mb is not None:
            opened.limit_memory(memory_mb)
        opened.confine(query=sql)
        if is_explain:
            output.write_text(f"{opened.sql(sql).fetchall()[-1][-1]}\n", "a plan")
        elif not output.write_with_retry(lambda: opened.sql(sql)):
            diagnostics.note("no rows")


def _from_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode() if sys.stdin else ""
    except UnicodeDecodeError as error:
        diagnostics.usage_error(
            f"the SQL on standard input is not UTF-8 at byte {error.start}; convert it to UTF-8"
        )
