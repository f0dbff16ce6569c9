"""Read one process of an export into the raw tables. The SQL is in sql/derive/nsys_*.sql."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import duckdb

from tracewh.ingest.sources.nsys.exports import Export, SqliteExport
from tracewh.ingest.sources.nsys.schema import TABLES
from tracewh.ingest.sources.reader import Contents, Reading
from tracewh.ingest.sources.source import Source
from tracewh.quoting import quote_literal
from tracewh.sql_files import derive, query
from tracewh.storage.manifest import content_hash

#: The tables that are read in full before the events, because several statements use them.
_SMALL = ("StringIds", "PROCESSES", "ThreadNames", "TARGET_INFO_GPU", "ENUM_CUPTI_OVERHEAD_TYPE")
#: The column of text of those that give numbers to texts. A number that is there twice must not double an event.
_TEXTS = {"StringIds": "value", "ENUM_CUPTI_OVERHEAD_TYPE": "label"}
#: Bytes of memory per row: of the raw tables, and of the sorting.
_ROW_BYTES = 500
#: Columns that linking reads, also where an export has no values for them.
_LINKED = {
    "host": {"external_id", "correlation_id", "call_stack", "python_module_id", "args"},
    "device": {"external_id", "correlation_id", "device_id", "collective", "args"},
}
#: The tables whose rows get a category.
_TABLES_OF = {
    "kernel": "CUPTI_ACTIVITY_KIND_KERNEL",
    "gpu_memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "gpu_memset": "CUPTI_ACTIVITY_KIND_MEMSET",
    "cuda_sync": "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "cuda_graph": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "cuda_memory": "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "gpu_metrics": "GPU_METRICS",
    "cpu_samples": "COMPOSITE_EVENTS",
    "cpu_time": "SCHED_EVENTS",
}
#: The tables whose rows get a rank in nsys_host_rows.
_TABLES_OF_RANKS = (
    "NVTX_EVENTS",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "OSRT_API",
    "PROFILER_OVERHEAD",
)
#: The rows of a table that are read, if not all are, as in the SQL: with the column that tells.
_READ = {
    "NVTX_EVENTS": ("eventType", 't."eventType" IN (34, 59, 60, 70, 71)'),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("eventClass", 'coalesce(t."eventClass", 0) IN (0, 1)'),
    "OSRT_API": ("eventClass", 'coalesce(t."eventClass", 27) = 27'),
}
#: The tables with names of processes and threads, which hold no events.
_NAMES = ("PROCESSES", "ThreadNames")
#: About the number of rows that are sorted at a time.
_SLICE_ROWS = 1 << 19


def read_process(
    source: Source, export_of: Callable[[Source], Export], reading: Reading
) -> Contents:
    """Read one process.

    Args:
        source: The file; its part is the process: globalPid >> 24.
        export_of: Opens it.
        reading: What to read it with.

    Raises:
        RefusedError: The file is damaged.
        InterruptedError: The ingest was interrupted.
    """
    with ThreadPoolExecutor(1) as pool:
        digest = pool.submit(content_hash, source.path)
        process = _Process(source, export_of(source), reading)
        process.read()
        found = process.contents(digest.result())
    reading.on_bytes(max(0, source.path.stat().st_size - process.bytes_read))
    return found


class _Process:
    """The tables of one process, on their way into the raw tables."""

    def __init__(self, source: Source, export: Export, reading: Reading) -> None:
        self._con, self._reading = reading.con, reading
        self._source, self._export = source, export
        self._key = int(source.part)
        self._size = source.path.stat().st_size
        self._rows = max(1, sum(export.rows(table) for table in TABLES))
        self.bytes_read = 0
        self.events = 0
        self._damaged: Counter[str] = Counter()
        self._negative = 0
        if isinstance(export, SqliteExport):
            export.on_rows = self._count

    def _count(self, rows: int) -> None:
        """Report the share of the file that some rows are."""
        share = min(self._size * rows // self._rows, self._size - self.bytes_read)
        self.bytes_read += share
        self._reading.on_bytes(share)

    def read(self) -> None:
        """Fill the raw tables."""
        con = self._con
        for table in _SMALL:
            sql = f"FROM {self._relation(table)} AS s"
            if text := _TEXTS.get(table):
                sql = f"SELECT s.id, min(s.{text}) AS {text} {sql} GROUP BY s.id"
            self._run(f"CREATE TABLE nsys_{table} AS {sql}")
        derive(con, "nsys_macros")
        if self._source.step_range is not None:
            pattern = quote_literal(self._source.step_range)
            con.execute(
                f"CREATE OR REPLACE MACRO is_step(name) AS regexp_full_match(name, {pattern});"
                " CREATE OR REPLACE MACRO nsys_step_kind(name) AS ''"
            )
        numbers = self._of_process("TARGET_INFO_CUDA_DEVICE", "pid")
        self._run(f"CREATE TABLE nsys_numbers AS FROM {numbers}")
        derive(con, "nsys_gpus")
        contexts = query(
            "nsys_contexts",
            contexts=self._of_process("TARGET_INFO_CUDA_CONTEXT_INFO", "processId"),
            **{
                place: self._relation(table, only=("contextId", "deviceId"))
                for place, table in (
                    ("kernels", "CUPTI_ACTIVITY_KIND_KERNEL"),
                    ("copies", "CUPTI_ACTIVITY_KIND_MEMCPY"),
                    ("sets", "CUPTI_ACTIVITY_KIND_MEMSET"),
                )
            },
        )
        self._run(f"CREATE TABLE nsys_contexts AS {contexts}")
        known = self._export.columns("NVTX_EVENTS")
        special = [
            condition
            for column, condition in (
                ("eventType", 't."eventType" IN (34, 75)'),
                ("endGlobalTid", 't."endGlobalTid" <> t."globalTid"'),
            )
            if column in known
        ]
        marks = self._relation("NVTX_EVENTS", " OR ".join(special) or "1 = 0")
        self._run(f"CREATE TABLE nsys_special AS FROM {marks}")
        [(damaged,)] = con.execute(
            """DELETE FROM nsys_special AS n WHERE n."eventType" IN (34, 59, 60, 70, 71)
            AND nsys_start(n.start, CASE WHEN n."eventType" <> 34 THEN n."end" END) IS NULL"""
        ).fetchall()
        self._damaged["NVTX_EVENTS"] += damaged
        con.execute(f"CREATE TABLE nsys_domains AS {query('nsys_domains')}")
        con.execute(
            "CREATE TABLE nsys_texts AS SELECT s.id, s.value, nsys_call(s.value) AS call,"
            " nsys_operator(s.value) AS operator FROM nsys_stringids AS s"
        )
        self._insert_in_slices(
            "host",
            calls="CUPTI_ACTIVITY_KIND_RUNTIME",
            ranges="NVTX_EVENTS",
            system_calls="OSRT_API",
            overheads="PROFILER_OVERHEAD",
            cuda_overheads="CUPTI_ACTIVITY_KIND_OVERHEAD",
        )
        self._end_at_start("host")
        # An update reads the whole table into memory: it runs where there is something to update.
        if con.execute("FROM raw_host AS h SELECT 1 WHERE h.dur_ns IS NULL LIMIT 1").fetchall():
            con.execute(query("nsys_open_ranges"))
        derive(con, "nsys_steps")
        if con.execute("FROM nsys_steps LIMIT 1").fetchall():
            derive(con, "nsys_name_steps")
        self._insert(
            "device",
            kernels="CUPTI_ACTIVITY_KIND_KERNEL",
            copies="CUPTI_ACTIVITY_KIND_MEMCPY",
            sets="CUPTI_ACTIVITY_KIND_MEMSET",
            syncs="CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            graphs="CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        )
        self._end_at_start("device")
        self._insert("memory", records="CUDA_GPU_MEMORY_USAGE_EVENTS")
        self._insert("flow")
        self._insert(
            "counter",
            metrics="GPU_METRICS",
            metric_names="TARGET_INFO_GPU_METRICS",
            samples="COMPOSITE_EVENTS",
            switches="SCHED_EVENTS",
        )
        self._insert("other")
        self._end_at_start("other")
        self._count_lost()

    def _count_lost(self) -> None:
        """Count the rows that do not tell their process, which no process gets."""
        for table, spec in TABLES.items():
            known = self._export.columns(table)
            if table in _NAMES or spec.owner not in known:
                continue
            column, is_read = _READ.get(table, ("", ""))
            where = f't."{spec.owner}" IS NULL' + (f" AND {is_read}" if column in known else "")
            lost = self._export.relation(self._con, table, where, (spec.owner,))
            [(count,)] = self._run(f"SELECT count(*) FROM {lost}").fetchall()
            self._damaged[table] += count

    def _insert(self, kind: str, **tables: str) -> None:
        """Append the rows of one kind, numbered after those that are there."""
        sql = self._query(f"nsys_{kind}", **tables).replace("$first", str(self.events))
        self._narrow(kind, sql)
        with _build_from_right(self._con):
            [(count,)] = self._run(f"INSERT INTO raw_{kind} BY NAME {sql}").fetchall()
        if kind != "other":  # it has names, too, and no damaged rows
            count -= self._remove_damaged(kind)
        self.events += count
        self._reading.on_events(count)

    def _remove_damaged(self, kind: str) -> int:
        """Remove the rows that were inserted without a time, which are the last, and return their number."""
        found = self._con.execute(
            f"SELECT r.category, count(*) FROM raw_{kind} AS r WHERE r.ts_ns IS NULL GROUP BY r.category"
        ).fetchall()
        if found:
            self._con.execute(f"DELETE FROM raw_{kind} AS r WHERE r.ts_ns IS NULL")
        for category, count in found:
            self._damaged[_TABLES_OF[category]] += count
        return sum(count for _, count in found)

    def _end_at_start(self, kind: str) -> None:
        """Give the rows that end before they start a duration of 0, and count them."""
        [(count,)] = self._con.execute(
            f"SELECT count(*) FROM raw_{kind} AS r WHERE r.dur_ns < 0"
        ).fetchall()
        if count:
            self._con.execute(f"UPDATE raw_{kind} SET dur_ns = 0 WHERE dur_ns < 0")
            self._negative += count

    def _insert_in_slices(self, kind: str, **tables: str) -> None:
        """Append the rows of a kind of which there are many, in the order of time."""
        con = self._con
        with _build_from_right(con):
            self._run(
                f"CREATE TABLE nsys_{kind}_rows AS {self._query(f'nsys_{kind}_rows', **tables)}"
            )
            # One row in 64 is enough to find times between which there are about as many rows.
            bounds = con.execute(
                f"SELECT min(s.ts_ns) FROM (SELECT r.ts_ns, row_number() OVER (ORDER BY r.ts_ns) AS n"
                f" FROM nsys_{kind}_rows AS r WHERE r.rowid % 64 = 0 AND r.ts_ns IS NOT NULL) AS s"
                f" GROUP BY s.n // {_SLICE_ROWS // 64} ORDER BY 1"
            ).fetchall()
            self._narrow(kind, self._slice(kind, 0, 0))
            starts = [-(2**63), *sorted({ts for (ts,) in bounds[1:]}), 2**63]
            for first, last in pairwise(starts):
                sql = self._slice(kind, first, last)
                [(count,)] = self._run(f"INSERT INTO raw_{kind} BY NAME {sql}").fetchall()
                self.events += count
                self._reading.on_events(count)
            for rank, count in con.execute(
                f"SELECT r.rank, count(*) FROM nsys_{kind}_rows AS r WHERE r.ts_ns IS NULL GROUP BY r.rank"
            ).fetchall():
                self._damaged[_TABLES_OF_RANKS[rank]] += count
            con.execute(f"DROP TABLE nsys_{kind}_rows")

    def _slice(self, kind: str, first: int, last: int) -> str:
        """SQL for the rows of a kind that start in a time range."""
        sql = query(f"nsys_{kind}").replace("$first", str(self.events))
        return sql.replace("$since_ns", str(first)).replace("$until_ns", str(last - 1))

    def _narrow(self, kind: str, sql: str) -> None:
        """Drop the columns of a raw table that no row will have a value for.

        They would take half of the memory. The Parquet files have them all the same: `write_trace`.
        """
        if kind not in _LINKED:
            return
        con = self._con
        needed = {row[0] for row in self._run(f"DESCRIBE {sql}").fetchall()} | _LINKED[kind]
        for name, *_ in con.execute(f"DESCRIBE raw_{kind}").fetchall():
            if name not in needed:
                con.execute(f"ALTER TABLE raw_{kind} DROP COLUMN {name}")

    def _query(self, name: str, **tables: str) -> str:
        expected = sum(self._export.rows(table) for table in tables.values())
        self._reading.expect(expected * _ROW_BYTES)
        return query(name, **{place: self._relation(table) for place, table in tables.items()})

    def _relation(self, table: str, where: str = "", only: Collection[str] = ()) -> str:
        spec = TABLES[table]
        conditions = [f"({where})"] if where else []
        if spec.owner and spec.owner in self._export.columns(table):
            conditions.append(f't."{spec.owner}" >> 24 = {self._key}')
        return self._export.relation(self._con, table, " AND ".join(conditions), only)

    def _of_process(self, table: str, column: str) -> str:
        """SQL for the rows of this process in a table that has its number in a column."""
        is_known = column in self._export.columns(table)
        return self._relation(
            table, f't."{column}" = {self._key & 0xFFFFFF}' if is_known else "1 = 0"
        )

    def _run(self, sql: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._con.execute(sql)
        except duckdb.Error as error:
            self._export.check(error)
            raise

    def contents(self, digest: str) -> Contents:
        """What the file says besides its events."""
        con = self._con
        names = {"META_DATA_EXPORT", "EXPORT_META_DATA"}
        facts: dict[str, str | None] = {}
        for table in sorted(names):
            rows = self._run(
                f"SELECT m.name, m.value FROM {self._relation(table)} AS m WHERE m.name IN"
                " ('EXPORT_PRODUCT_VERSION', 'EXPORT_SCHEMA_VERSION')"
            )
            facts |= dict(rows.fetchall())
        start = self._run(
            "SELECT nsys_time(min(s.utcEpochNs))"
            f" FROM {self._relation('TARGET_INFO_SESSION_START_TIME')} AS s"
        ).fetchall()[0][0]
        metadata: dict[str, Any] = {
            "nsys": {name.removeprefix("EXPORT_").lower(): facts[name] for name in sorted(facts)}
        }
        reasons = {}
        if skipped := self._damaged.total():
            reasons["damaged_rows"] = skipped
            metadata["damagedRows"] = [
                f"{table}: {count:,} damaged row{'s' if count > 1 else ''}"
                for table in TABLES
                if (count := self._damaged[table])
            ]
        if self._negative:
            reasons["negative_durations"] = self._negative
        if start is None:
            reasons["no_epoch"] = 1
        else:
            metadata["baseTimeNanoseconds"] = start
        [(devices,)] = con.execute(query("nsys_devices")).fetchall()
        if devices:
            metadata["deviceProperties"] = json.loads(devices)
        version = ".".join((facts.get("EXPORT_SCHEMA_VERSION") or "").split(".")[:2])
        generation = f"nsys-{version}" if version else "nsys"
        return Contents(digest, self.events, generation, metadata, reasons, skipped)


@contextmanager
def _build_from_right(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let joins build their hash tables from the right side, as they are written.

    The optimizer does not know how many rows a stream has. It would build from the stream, and not from the
    small table beside it.
    """
    con.execute("SET disabled_optimizers = 'build_side_probe_side,join_order'")
    try:
        yield
    finally:
        con.execute("RESET disabled_optimizers")
