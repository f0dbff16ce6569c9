"""Blocks of event texts in, typed rows out.

The fields of an event are read here, its arguments by the SQL of `arguments`. A field that a column
cannot give back exactly stays in `raw`, so that `rebuild` can return every event as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracewh.ingest.arguments import INTEGER, typed_select
from tracewh.ingest.mend import Mender
from tracewh.ingest.plain import KINDS, insert_sql, odd_pattern
from tracewh.ingest.reader import Block
from tracewh.ingest.scan import HINTS, scan
from tracewh.ingest.split import from_numpy, numbered
from tracewh.ingest.tables import derive, tables

#: Events that are not plain wait until there are so many bytes of them: there may be few.
HELD_BYTES = 4 << 20
#: Fields of an event, besides the arguments.
FIELDS = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id")

_OTHERS = pa.schema([("event_id", pa.int64()), ("text", pa.string())])
_PIECES = pa.schema([
    ("event_id", pa.int64()),
    ("text", pa.string()),
    ("hint", pa.int8()),
    ("keys", pa.int32()),
    ("is_odd", pa.bool_()),
    ("ts_ns", pa.int64()),
])  # fmt: skip


def prepare(con: duckdb.DuckDBPyConnection, unpadded: bool = False) -> None:
    """Create the tables that are filled, named raw_<what>, with times as the file has them.

    Args:
        con: Connection to an empty database.
        unpadded: Read decimals as sql/derive/unpadded.sql says.
    """
    derive(con, "event_kinds")
    if unpadded:
        derive(con, "unpadded")
    for name, table in _TYPED.items():
        con.execute(f"CREATE TABLE raw_{name} ({_shape(table)})")
    for name in _UNTYPED:
        con.execute(f"CREATE TABLE raw_{name} ({_shape()})")


def is_unpadded(block: Block) -> bool:
    """Whether the times of a block have decimals that count nanoseconds, and are absolute."""
    pieces = pa.table({"text": block.texts})
    with duckdb.connect() as con:
        derive(con, "event_kinds")
        derive(con, "unpadded")
        row = con.execute(
            "SELECT are_unpadded(p.decimals) FROM ("
            r" SELECT regexp_extract(t.text, '\"ts\"\s*:\s*\d{15,}\.(\d+)', 1) AS decimals"
            " FROM pieces AS t) AS p WHERE p.decimals <> ''"
        ).fetchone()
    assert row is not None and len(pieces)
    return bool(row[0])


class Flattener:
    """Appends blocks to the raw tables. Several, each on a cursor of one database, may run at once.

    Plain events are read by the one parse of `plain`, the others by the full parse here. Statements
    are prepared where they can be: planning them for every block would cost as much as running them.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, unpadded: bool = False) -> None:
        self._con = con
        self._unpadded = unpadded
        self._prepared: set[str] = set()
        self._pieces, self._others = _Pieces(_PIECES), _Pieces(_OTHERS)
        self._held: list[pa.RecordBatch] = []
        self.mender = Mender()
        con.register("pieces", self._pieces)
        con.register("others", self._others)
        con.execute(f"CREATE TEMP TABLE base ({_BASE_COLUMNS})")

    def flatten(self, block: Block) -> None:
        """Append the rows of a block, but for a few that wait for `finish`."""
        texts = block.texts
        ids = numbered(block.first_event_id, len(texts))
        if not self._unpadded:
            plain = self._flatten_plain(block.first_event_id, ids, texts)
            positions = from_numpy(np.flatnonzero(~plain))
            ids, texts = ids.take(positions), texts.take(positions)
        self._held.append(pa.record_batch([ids, texts], _OTHERS))
        if sum(batch.nbytes for batch in self._held) > HELD_BYTES:
            self.finish()

    def finish(self) -> None:
        """Append the rows that wait."""
        held = pa.Table.from_batches(self._held, _OTHERS).combine_chunks().to_batches()
        self._held = []
        if held:
            self._flatten_others(held[0])

    def _flatten_plain(
        self, first: int, ids: pa.Int64Array, texts: pa.StringArray
    ) -> npt.NDArray[np.bool_]:
        """Append the plain events, and say which they were."""
        scanned = scan(texts)
        is_odd = pc.match_substring_regex(texts, odd_pattern())
        hints, keys = from_numpy(scanned.hints), from_numpy(scanned.keys)
        times = from_numpy(scanned.times)
        self._pieces.batch = pa.record_batch([ids, texts, hints, keys, is_odd, times], _PIECES)
        plain = np.zeros(len(texts), np.bool_)
        for kind in KINDS:
            if not (scanned.hints == HINTS[kind]).any():
                continue
            self._run(f"plain_{kind}", partial(insert_sql, kind))
            taken = self._con.execute(
                f"SELECT r.event_id FROM raw_{kind} AS r WHERE r.event_id BETWEEN ? AND ?",
                [first, first + len(texts) - 1],
            ).fetchnumpy()["event_id"]
            plain[taken - first] = True
        return plain

    def _flatten_others(self, batch: pa.RecordBatch) -> None:
        """Append events of any kind."""
        texts = self._without_odd_numbers(batch.column("text"))
        self._others.batch = pa.record_batch([batch.column("event_id"), texts], _OTHERS)
        older_keys = _has_older_keys(texts)
        self._run("base", _base_sql)
        # Planning a statement takes longer than running it.
        found = self._con.execute("SELECT DISTINCT b.tbl FROM temp.base AS b").fetchall()
        for (kind,) in found:
            self._run(f"{kind}_{older_keys}", partial(_insert_sql, kind, older_keys))
        self._con.execute("TRUNCATE temp.base")

    def _without_odd_numbers(self, texts: pa.StringArray) -> pa.StringArray:
        """NaN and Infinity, which DuckDB takes for numbers, as the strings they should have been."""
        found = pc.match_substring_regex(texts, r"[:,\[]\s*-?(?:nan|inf)", ignore_case=True)
        if not pc.any(found).as_py():
            return texts
        mended = texts.to_pylist()
        for position in pc.indices_nonzero(found).to_pylist():
            walk = self.mender.walk(mended[position].encode(), 0, np.empty(0, np.int64), True)
            (event,) = walk.events
            mended[position] = event.decode()
        return pa.array(mended, pa.string())

    def _run(self, name: str, statement: Callable[[], str]) -> None:
        if name not in self._prepared:
            self._con.execute(f"PREPARE {name} AS {statement()}")
            self._prepared.add(name)
        self._con.execute(f"EXECUTE {name}")


class _Pieces:
    """What prepared statements read: the batch that is set when they run."""

    def __init__(self, schema: pa.Schema) -> None:
        self.batch = pa.record_batch([pa.nulls(0, field.type) for field in schema], schema)

    def __arrow_c_schema__(self) -> object:
        return self.batch.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.batch.schema, [self.batch])
        return reader.__arrow_c_stream__(requested_schema)


def _has_older_keys(texts: pa.StringArray) -> bool:
    data = memoryview(texts.buffers()[2])
    return any(re.search(f'"{key}"'.encode(), data) for key in _OLDER_KEYS)


@cache
def _base_sql() -> str:
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
    INSERT INTO temp.base
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
            END AS ts_ns,
            CASE
                WHEN {kind["dur"]} IN ('DOUBLE', 'UBIGINT', 'BIGINT') AND is_duration(t.f.dur)
                    THEN duration_nanoseconds(t.text, t.f.dur)
            END AS dur_ns
        FROM parsed AS t
    ),
    placed AS (
        SELECT
            t.*,
            are_exact(t.ts_ns, t.f.ts) AS ts_exact,
            are_exact(t.dur_ns, t.f.dur) AS dur_exact,
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
            ELSE json_merge_patch(t.text, '{{' || concat_ws(',', {drop}) || '}}')
        END AS raw
    FROM placed AS t
    """


def _whole_place(field: str, kind: str) -> str:
    """A process or thread as a number, or as a text that cannot be taken for one."""
    return f"({kind} IN {INTEGER} OR ({kind} = 'VARCHAR' AND NOT is_whole_number(t.f.{field})))"


_BASE_COLUMNS = (
    "event_id BIGINT, tbl VARCHAR, phase VARCHAR, category VARCHAR, raw_category VARCHAR,"
    " name VARCHAR, pid VARCHAR, tid VARCHAR, ts_ns BIGINT, dur_ns BIGINT, flow_id BIGINT,"
    " args JSON, raw JSON"
)


def _shape(table: str | None = None) -> str:
    arguments = tables()[table].arguments if table else ()
    typed = "".join(f", {column.name} {column.type}" for column in arguments)
    return (
        "event_id BIGINT, phase VARCHAR, category VARCHAR, raw_category VARCHAR, name VARCHAR,"
        " pid VARCHAR, tid VARCHAR, ts_ns BIGINT, dur_ns BIGINT, flow_id BIGINT"
        f"{typed}, args JSON, raw JSON"
    )


_TYPED = {"host": "host_events", "device": "device_events", "memory": "memory_records"}
_UNTYPED = ("counter", "flow", "other")
_COMMON = (
    "r.event_id, r.phase, r.category, r.raw_category, r.name, r.pid, r.tid, r.ts_ns, r.dur_ns,"
    " r.flow_id"
)
_OLDER_KEYS = sorted(
    {key for table in _TYPED.values() for c in tables()[table].arguments for key in c.keys[1:]}
)


@cache
def _insert_sql(kind: str, older_keys: bool) -> str:
    if kind in _TYPED:
        rows = typed_select(kind, _COMMON, tables()[_TYPED[kind]].arguments, older_keys)
    else:
        rows = f"SELECT {_COMMON}, r.args, r.raw FROM base AS r WHERE r.tbl = '{kind}'"
    return f"INSERT INTO raw_{kind} {rows}"
