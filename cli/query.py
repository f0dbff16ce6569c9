"""`tracewh query`: one statement of the caller's own, which can read the warehouse and nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.cli import diagnostics
from tracewh.cli.output import Output

if TYPE_CHECKING:
    import duckdb

#: DESCRIBE, SHOW, SUMMARIZE, VALUES and FROM are SELECT to DuckDB.
READS = ("SELECT", "EXPLAIN")
EXPLAIN = re.compile(r"^\s*EXPLAIN\s+(ANALYZE\s+)?(\([^)]*\)\s*)?", re.IGNORECASE)


def ask(sql: str, warehouse: str, output: Output) -> None:
    """Run one statement and write its answer."""
    import tracewh

    sql = sys.stdin.read() if sql == "-" else sql
    explained = check(sql)
    output.check()
    with tracewh.open(warehouse) as opened:
        con = opened.connection
        confine(con, opened.path)
        if explained:
            print(con.execute(sql).fetchall()[-1][-1])
        elif not output.write(opened.sql(sql)):
            diagnostics.note("no rows")


def check(sql: str) -> bool:
    """Refuse what does not read, and say whether it is an EXPLAIN.

    DuckDB's own parser says what a statement is; a list of words would be fooled by a CTE.
    """
    import duckdb

    statements = duckdb.extract_statements(sql)
    if not statements:
        diagnostics.refuse("there is no statement to run")
    if len(statements) > 1:
        diagnostics.refuse(f"{len(statements)} statements; query takes one at a time")
    kind = statements[0].type.name
    if kind == "MULTI":
        diagnostics.refuse(
            "a PIVOT takes its values from a second query; list them: PIVOT t ON x IN (...)"
        )
    if kind not in READS:
        diagnostics.refuse(
            f"{kind} is refused: query only reads. It takes SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE, "
            "VALUES and EXPLAIN; `tracewh shell` opens a session with all of SQL"
        )
    if kind == "EXPLAIN":
        check(EXPLAIN.sub("", sql))
    return kind == "EXPLAIN"


def confine(con: duckdb.DuckDBPyConnection, warehouse: Path | str) -> None:
    """Let a connection see the files of the warehouse and nothing else, for good.

    Python's variables are out of sight too: `FROM sql` must not find ours.
    """
    if isinstance(warehouse, Path):  # the files of one in a store are Arrow's to read
        data = str(warehouse / "data").replace("'", "''")
        con.execute(f"SET allowed_directories = ['{data}']")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
