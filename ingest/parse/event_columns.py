"""Build the SQL that parses events of any kind.

sql/derive/event_columns.sql reads the fields of an event, argument_columns.sql its arguments. A field that a
column cannot store exactly stays in `raw`, so that an export can write each event as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import cache

import duckdb

from tracewh.ingest.parse.argument_columns import is_number, typed_select
from tracewh.ingest.parse.event_layout import EventLayout, event_layout
from tracewh.sql_files import derive, query


@cache
def insert_sql(layout: EventLayout, kind: str, older_keys: bool) -> str:
    """Return SQL that appends the rows of one kind from `base` to its raw table.

    Args:
        layout: The layout of events.
        kind: The kind.
        older_keys: Whether arguments may have their older keys.
    """
    if layout.kinds[kind]:
        rows = typed_select(layout, kind, older_keys)
    else:
        fields = ", ".join(f"r.{name}" for name in layout.fields)
        rows = (
            f"SELECT {fields}, arguments_as_written(r.text, r.args), r.raw FROM base AS r"
            f" WHERE r.tbl = '{kind}'"
        )
    return f"INSERT INTO raw_{kind} {rows}"


def odd_values_sql(layout: EventLayout, kinds: Collection[str]) -> str:
    """Return SQL that counts the events of some kinds with values that were accepted although they are odd."""
    rows = " UNION ALL ".join(
        f"SELECT trace_of(r.event_id) AS trace, r.raw, r.ts_ns, r.dur_ns, {_number_as_text(layout, kind)} AS has_number,"
        " r.phase = 'X' AND (r.ts_ns IS NULL OR r.dur_ns IS NULL) AS lacks_time"
        f" FROM raw_{kind} AS r WHERE r.raw IS NOT NULL OR r.args IS NOT NULL OR lacks_time"
        for kind in kinds
    )
    return f"WITH odd_rows AS ({rows}) {query('odd_values')}"


def _number_as_text(layout: EventLayout, kind: str) -> str:
    """Return SQL that tests whether an argument for an integer column is written as text."""
    columns = [column for column in layout.kinds[kind] if is_number(column)]
    if not columns:
        return "false"
    said = " OR ".join(
        f"""(r.{c.name} IS NOT NULL AND json_type(r.args, '$."{key}"') = 'VARCHAR')"""
        for c in columns
        for key in c.keys
    )
    keys = "|".join(re.escape(key) for c in columns for key in c.keys)
    # The profiler of XPU writes every context as a text, such as "0x1000". That is no odd number.
    return f"""regexp_matches(r.args, '"({keys})":"([^0]|0[^x])') AND ({said})"""


def count_odd_values(
    con: duckdb.DuckDBPyConnection, kinds: Collection[str]
) -> dict[int, Counter[str]]:
    """Count the odd values in the raw tables, by trace and reason. Plain events have none.

    Args:
        con: Connection to the database with the raw tables.
        kinds: The kinds of the events that are not plain.
    """
    if not kinds:
        return {}
    rows = con.execute(odd_values_sql(event_layout(con), sorted(kinds)))
    _, *names = [column[0] for column in rows.description or ()]
    return {
        trace: +Counter(dict(zip(names, counts, strict=True))) for trace, *counts in rows.fetchall()
    }


def join_begins(con: duckdb.DuckDBPyConnection) -> None:
    """Make host events of rows that begin an event and rows that end it; see sql/derive/begins.sql.

    Args:
        con: Connection to the database with the raw tables.
    """
    begins = con.execute("SELECT 1 FROM raw_other AS o WHERE o.phase = 'B' LIMIT 1").fetchall()
    if begins:
        derive(con, "begins")


def end_lost_frames(con: duckdb.DuckDBPyConnection, unpadded: bool) -> Counter[int]:
    """End the Python frames that outlast their callers; see sql/derive/lost_ends.sql.

    Args:
        con: Connection to the database with the raw tables.
        unpadded: Whether the files write decimals of times without leading zeros.

    Returns:
        The number of such frames, by trace.
    """
    rows = con.execute(query("lost_ends"), {"unpadded": unpadded}).fetchall()
    return Counter(trace for (trace,) in rows)


def rename_copies(con: duckdb.DuckDBPyConnection) -> None:
    """Give copies that say in arguments what they copy the names of others; see sql/derive/copy_names.sql.

    Args:
        con: Connection to the database with the raw tables.
    """
    con.execute(query("copy_names"))
