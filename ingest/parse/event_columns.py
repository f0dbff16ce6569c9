"""The SQL of the full parse: any event, whatever its fields and arguments hold.

The fields of an event are read here, its arguments by the SQL of `arguments`. A field that a column
cannot give back exactly stays in `raw`, so that `rebuild` can return every event as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import duckdb

from tracewh.ingest.parse.argument_columns import INTEGER, typed_select
from tracewh.schema import tables

#: Kinds of events whose arguments have columns, and their tables; the other kinds.
TYPED = {"host": "host_events", "device": "device_events", "memory": "memory_records"}
UNTYPED = ("counter", "flow", "other")
#: Fields of an event, besides the arguments.
FIELDS = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id")
#: Spellings of keys that are not today's.
OLDER_KEYS = sorted(
    {key for table in TYPED.values() for c in tables()[table].arguments for key in c.keys[1:]}
)
_COMMON = (
    "r.event_id, r.phase, r.category, r.raw_category, r.name, r.pid, r.tid, r.ts_ns, r.dur_ns,"
    " r.flow_id"
)


def raw_columns(table: str | None = None) -> str:
    """The columns of the raw table of a kind."""
    arguments = tables()[table].arguments if table else ()
    typed = "".join(f", {column.name} {column.type}" for column in arguments)
    return (
        "event_id BIGINT, phase VARCHAR, category VARCHAR, raw_category VARCHAR, name VARCHAR,"
        " pid VARCHAR, tid VARCHAR, ts_ns BIGINT, dur_ns BIGINT, flow_id BIGINT"
        f"{typed}, args JSON, raw JSON"
    )


@cache
def base_sql() -> str:
    """Read the fields of every event and say where it goes."""
    kind = {field: f"t.kinds[{position}]" for position, field in enumerate(FIELDS, start=1)}
    paths = ", ".join(f"'$.{field}'" for field in FIELDS)
    whole = {
        "ph": f"{kind['ph']} = 'VARCHAR' AND (t.tbl <> 'memory' OR t.f.ph = 'i')",
        "cat": f"{kind['cat']} = 'VARCHAR'",
        "name": f"{kind['name']} = 'VARCHAR'",
        "pid": _whole_place("pid", kind["pid"]),
        "tid": f"{_whole_place('tid', kind['tid'])} AND t.tbl <> 'counter'",
        "ts": "t.ts_exact",
        "dur": "t.dur_exact AND t.tbl IN ('host', 'device', 'other')",
        "args": f"{kind['args']} = 'OBJECT' AND t.tbl <> 'flow'",
        "id": f"{kind['id']} IN {INTEGER} AND t.f.id IS NOT NULL AND t.tbl = 'flow'",
    }
    drop = ", ".join(
        f"""CASE WHEN {flag} THEN '"{field}":null' END""" for field, flag in whole.items()
    )
    held = " + ".join(f"coalesce({flag}, false)::INTEGER" for flag in whole.values())
    # Nearly every event has one of these shapes; asking for them first saves the long way.
    usual = (
        f"{kind['ph']} = 'VARCHAR' AND {kind['cat']} = 'VARCHAR' AND {kind['name']} = 'VARCHAR'"
        f" AND {kind['pid']} IN {INTEGER} AND {kind['tid']} IN {INTEGER} AND t.ts_exact"
    )
    complete = (
        f"t.keys = 8 AND t.tbl IN ('host', 'device') AND {usual} AND t.dur_exact"
        f" AND {kind['args']} = 'OBJECT'"
    )
    flow = f"t.tbl = 'flow' AND {usual} AND {kind['id']} IN {INTEGER} AND t.f.id IS NOT NULL"
    memory = (
        f"t.keys = 7 + ({kind['cat']} IS NOT NULL)::INTEGER AND t.tbl = 'memory' AND t.f.ph = 'i' AND t.ts_exact"
        f" AND {kind['pid']} IN {INTEGER} AND {kind['tid']} IN {INTEGER}"
        f" AND coalesce({kind['cat']} = 'VARCHAR', true) AND {kind['args']} = 'OBJECT'"
    )
    # In 2021 every thread was written as text.
    thread = complete.replace(f"{kind['tid']} IN {INTEGER}", f"{kind['tid']} = 'VARCHAR'")
    return f"""
    WITH parsed AS (
        SELECT
            p.event_id,
            p.text,
            -- Where the field stands in nearly every file; exact_nanoseconds makes sure.
            ltrim(split_part(substr(p.text, instr(p.text, '"ts":') + 5, 40), ',', 1)) AS ts_text,
            from_json(p.text, '{{"ph":"VARCHAR","cat":"VARCHAR","name":"VARCHAR","pid":"VARCHAR",
                "tid":"VARCHAR","ts":"DOUBLE","dur":"DOUBLE","id":"BIGINT","args":"JSON",
                "bp":"JSON","s":"JSON"}}') AS f,
            json_type(p.text, [{paths}]) AS kinds,
            len(json_keys(p.text)) AS keys
        FROM others AS p
    ),
    timed AS (
        SELECT
            t.*,
            current_category(t.f.cat, t.f.name) AS category,
            CASE
                WHEN NOT is_time(t.f.ts) THEN NULL
                WHEN {kind["ts"]} IN {INTEGER} THEN t.f.ts::BIGINT * 1000
                WHEN {kind["ts"]} = 'DOUBLE' THEN exact_nanoseconds(t.text, t.ts_text, t.f.ts)
                WHEN {kind["ts"]} = 'VARCHAR'
                    THEN nanoseconds(trim(json_extract_string(t.text, '$.ts')))
            END AS ts_ns,
            -- A negative length is none; raw keeps it.
            greatest(CASE
                WHEN NOT is_duration(t.f.dur) THEN NULL
                WHEN {kind["dur"]} IN ('DOUBLE', 'UBIGINT', 'BIGINT')
                    THEN duration_nanoseconds(t.text, t.f.dur)
                WHEN {kind["dur"]} = 'VARCHAR'
                    THEN nanoseconds(trim(json_extract_string(t.text, '$.dur')))
            END, CASE WHEN t.f.dur < 0 THEN 0 END) AS dur_ns
        FROM parsed AS t
    ),
    placed AS (
        SELECT
            t.*,
            are_exact(t.ts_ns, t.f.ts) AND {kind["ts"]} <> 'VARCHAR' AS ts_exact,
            are_exact(t.dur_ns, t.f.dur) AND {kind["dur"]} <> 'VARCHAR' AND t.f.dur >= 0 AS dur_exact,
            event_table(
                t.f.ph, t.category, t.f.name, t.ts_ns IS NOT NULL AND t.dur_ns IS NOT NULL,
                json_exists(t.f.args, '$.stream')
            ) AS tbl
        FROM timed AS t
    )
    SELECT
        t.event_id,
        t.tbl,
        t.f.ph AS phase,
        t.category,
        t.f.cat AS raw_category,
        t.f.name AS name,
        t.f.pid AS pid,
        t.f.tid AS tid,
        t.ts_ns,
        t.dur_ns,
        t.f.id AS flow_id,
        CASE WHEN {kind["args"]} = 'OBJECT' THEN t.f.args END AS args,
        CASE
            WHEN {complete} THEN NULL
            WHEN t.keys = 7 AND {flow} THEN NULL
            WHEN t.keys = 8 AND {flow} AND t.f.bp = '"e"' THEN '{{"bp":"e"}}'
            WHEN {memory} AND t.f.s = '"t"' THEN '{{"s":"t"}}'
            WHEN {thread} AND is_whole_number(t.f.tid)
                THEN '{{"tid":' || to_json(t.f.tid)::VARCHAR || '}}'
            WHEN t.keys = {held} THEN NULL
            ELSE merged_as_written(t.text, '{{' || concat_ws(',', {drop}) || '}}')
        END AS raw,
        t.text
    FROM placed AS t
    """


def _whole_place(field: str, kind: str) -> str:
    """A process or thread as a number, or as a text that cannot be taken for one."""
    return f"({kind} IN {INTEGER} OR ({kind} = 'VARCHAR' AND NOT is_whole_number(t.f.{field})))"


@cache
def insert_sql(kind: str, older_keys: bool) -> str:
    """Append the rows of a kind, of those that `base_sql` gives as `base`, to its raw table."""
    if kind in TYPED:
        rows = typed_select(kind, _COMMON, tables()[TYPED[kind]].arguments, older_keys)
    else:
        rows = (
            f"SELECT {_COMMON}, arguments_as_written(r.text, r.args), r.raw FROM base AS r"
            f" WHERE r.tbl = '{kind}'"
        )
    return f"INSERT INTO raw_{kind} {rows}"


#: How many events have a key twice, of which the parse sees one. There are few lists of keys.
DUPLICATE_KEYS = """
    SELECT coalesce(sum(k.events), 0)::BIGINT
    FROM (
        SELECT o.fields, o.arguments, count(*) AS events
        FROM (
            SELECT json_keys(o.text) AS fields, json_keys(o.text, '$.args') AS arguments
            FROM others AS o
        ) AS o
        GROUP BY o.fields, o.arguments
    ) AS k
    WHERE
        len(k.fields) > len(list_distinct(k.fields))
        OR len(k.arguments) > len(list_distinct(k.arguments))
"""


def odd_values_sql() -> str:
    """How many events of the raw tables have values that were taken although they are odd."""
    rows = " UNION ALL ".join(
        f"SELECT r.raw, r.ts_ns, r.dur_ns, {_number_as_text(kind)} AS has_number"
        f" FROM raw_{kind} AS r WHERE r.raw IS NOT NULL OR r.args IS NOT NULL"
        for kind in (*TYPED, *UNTYPED)
    )
    return f"""
    SELECT
        count(*) FILTER (WHERE r.ts_ns IS NOT NULL AND json_type(r.raw, '$.ts') = 'VARCHAR')
            AS text_timestamps,
        count(*) FILTER (WHERE r.dur_ns IS NOT NULL AND json_type(r.raw, '$.dur') = 'VARCHAR')
            AS text_durations,
        count(*) FILTER (
            WHERE r.dur_ns = 0 AND try_cast(json_extract_string(r.raw, '$.dur') AS DOUBLE) < 0
        ) AS negative_durations,
        count(*) FILTER (WHERE r.has_number) AS text_numbers
    FROM ({rows}) AS r
    WHERE r.has_number OR contains(r.raw, '"ts"') OR contains(r.raw, '"dur"')
    """


def _number_as_text(kind: str) -> str:
    """Whether an argument that fills a column of numbers is written as text."""
    if kind not in TYPED:
        return "false"
    columns = [c for c in tables()[TYPED[kind]].arguments if c.type in ("BIGINT", "INTEGER")]
    said = " OR ".join(
        f"""(r.{c.name} IS NOT NULL AND json_type(r.args, '$."{key}"') = 'VARCHAR')"""
        for c in columns
        for key in c.keys
    )
    keys = "|".join(re.escape(key) for c in columns for key in c.keys)
    return f"""regexp_matches(r.args, '"({keys})":"') AND ({said})"""


def odd_values(con: duckdb.DuckDBPyConnection) -> Counter[str]:
    """Count the odd values of the raw tables by their reasons. Plain events have none."""
    rows = con.execute(odd_values_sql())
    names = [column[0] for column in rows.description or ()]
    return +Counter(dict(zip(names, rows.fetchall()[0], strict=True)))
