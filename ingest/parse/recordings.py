"""Read the recordings beside a trace into the raw tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from tracewh.arrow_columns import joined
from tracewh.files import File
from tracewh.sql_files import derive

#: Lines per statement.
_AT_ONCE = 50_000


def read_recordings(
    con: duckdb.DuckDBPyConnection, files: Sequence[File], base_ns: int
) -> dict[str, int]:
    """Read recordings into the raw tables of sql/derive/pipeline_layout.sql.

    Args:
        con: Connection to a database with the events of the trace in the raw tables.
        files: The recordings.
        base_ns: The base time of the trace.

    Returns:
        Counts of what was damaged or not used, by the causes of docs/repairs.md.

    Raises:
        OSError: A file cannot be read.
    """
    con.execute("CREATE TABLE recorded_lines (file INTEGER, number BIGINT, line VARCHAR)")
    for number, file in enumerate(files):
        for first, lines in _lines(file):
            part = pa.table({"line": joined(lines)})
            con.execute(
                "INSERT INTO recorded_lines SELECT ?, ? + row_number() OVER () - 1, p.line"
                " FROM part AS p",
                [number, first],
            )
            del part
    con.execute(f"CREATE OR REPLACE MACRO base_ns(trace) AS {base_ns}::BIGINT")
    derive(con, "recordings")
    counts = con.execute("""
        SELECT
            count(*) FILTER (WHERE r.line IS NULL),
            count(DISTINCT r.file)
            - count(DISTINCT CASE WHEN r.is_inside THEN r.file END)
        FROM recorded AS r
    """).fetchall()[0]
    con.execute("DROP TABLE recorded_lines; DROP TABLE recorded; DROP TABLE recorded_pipelines")
    reasons = zip(("damaged_recording_lines", "recordings_of_other_times"), counts, strict=True)
    return {reason: count for reason, count in reasons if count}


def _lines(file: File) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of a file in parts, each with the number of its first line."""
    number, part = 0, list[bytes]()
    with file.open("rb") as opened:
        for line in opened:
            part.append(line.decode("utf-8", "replace").encode())
            if len(part) == _AT_ONCE:
                yield number, part
                number, part = number + len(part), []
    if part:
        yield number, part
