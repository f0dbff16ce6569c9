"""Read a recording of the Ascend profiler into the raw tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import duckdb

from tracewh.errors import RefusedError
from tracewh.ingest.parse import parse_events
from tracewh.ingest.read import TraceReader
from tracewh.ingest.sources.ascend.names import COMMUNICATION, TABLES, TRACE_VIEW, folders_of
from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.reader import Contents, Reading
from tracewh.ingest.sources.source import Source
from tracewh.ingest.sources.text_tables import Damage, local_copy, read_rows
from tracewh.sql_files import derive
from tracewh.storage.manifest import content_hash

_PROFILER_INFO = re.compile(r"profiler_info(?:_(?P<rank>\d+))?\.json")


def read_recording(source: Source, reading: Reading) -> Contents:
    """Read it; see `TableReader.read`."""
    con, damage = reading.con, Damage()
    files = _files(source, reading.folder)
    derive(con, "ascend_names")
    reasons: Counter[str] = Counter()
    skipped = 0
    if view := files.get(TRACE_VIEW):
        reader = TraceReader(view)
        [(threads,)] = con.execute("SELECT current_setting('threads')").fetchall()
        parse_events(con, [reader], int(threads), reading.on_events, reading.expect)
        derive(con, "ascend_trace_view")
        reasons.update(reader.reasons)
        skipped = reader.skipped_events
    else:
        con.execute("CREATE TABLE ascend_host AS SELECT NULL::VARCHAR AS pid")
    for name, table in TABLES.items():
        if path := files.get(name):
            read_rows(con, path, table, damage)
        else:
            con.execute(f"CREATE TABLE {table} (place BIGINT, fields JSON)")
    _add_rows(con, "ascend_kernel_details")
    _add_rows(con, "ascend_memory")
    if path := files.get(COMMUNICATION):
        _add_communication(con, path, damage)
    events = _count(con)
    if not events:
        why = damage.named[0] if damage.named else "it has no events"
        raise RefusedError(f"{why}; analyse the recording again with torch_npu.profiler.analyse()")
    if damage.rows:
        reasons["damaged_rows"] += damage.rows
    reading.on_bytes(source.path.stat().st_size)
    generation = _generation(con, files)
    return Contents(
        content_hash(source.path),
        events,
        generation,
        _metadata(source, damage, generation),
        reasons,
        skipped + damage.rows,
    )


def _files(source: Source, folder: Path) -> dict[str, Path]:
    if isinstance(source.path, TraceFolder):
        return {name: Path(source.path.path, name) for name in source.path.members}
    with source.path.open("rb") as file:
        is_list = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    copy = local_copy(source.path, folder)
    if not is_list:
        with copy.open("rb") as file:
            is_list = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    return {TRACE_VIEW if is_list else "kernel_details.csv": copy}


def _add_rows(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Run a file of sql/derive that appends events, with numbers behind those that exist."""
    [(first,)] = con.execute(
        "SELECT 1 + coalesce(max(e.event_id), -1) FROM ("
        + " UNION ALL ".join(
            f"SELECT max(r.event_id) AS event_id FROM raw_{kind} AS r"
            for kind in ("host", "device", "memory", "counter", "flow", "other")
        )
        + ") AS e"
    ).fetchall()
    con.execute(f"CREATE OR REPLACE MACRO first_free_id() AS {first}::BIGINT")
    derive(con, name)


def _add_communication(con: duckdb.DuckDBPyConnection, path: Path, damage: Damage) -> None:
    """Add the sizes and waiting times of communication.json to the collectives."""
    try:
        parts = json.loads(path.read_bytes())
        rows = [
            (name.partition("@")[0], name.partition("@")[2], json.dumps(facts))
            for kinds in parts.values()
            for operations in kinds.values()
            for name, facts in operations.items()
            if "Communication Time Info" in facts
        ]
    except (ValueError, AttributeError, TypeError) as error:
        damage.add(f"{path.name}: {error}")
        return
    con.execute("CREATE TABLE communication (name VARCHAR, group_name VARCHAR, facts JSON)")
    if rows:
        con.executemany("INSERT INTO communication VALUES (?, ?, ?)", rows)
    derive(con, "ascend_communication")


def _count(con: duckdb.DuckDBPyConnection) -> int:
    [(events,)] = con.execute(
        "SELECT (SELECT count(*) FROM raw_host) + (SELECT count(*) FROM raw_device)"
        " + (SELECT count(*) FROM raw_memory) + (SELECT count(*) FROM raw_flow)"
        " + (SELECT count(*) FROM raw_counter) + (SELECT count(*) FROM raw_other)"
    ).fetchall()
    return int(events)


def _generation(con: duckdb.DuckDBPyConnection, files: dict[str, Path]) -> str:
    if TRACE_VIEW not in files:
        return "ascend-csv"
    [(is_mindspore,)] = con.execute(
        "SELECT count(*) > 0 FROM ascend_processes AS p WHERE p.name = 'MindSpore'"
    ).fetchall()
    return "ascend-mindspore" if is_mindspore else "ascend-torch"


def _metadata(source: Source, damage: Damage, generation: str) -> dict[str, object]:
    """The framework, the rank and the damaged rows. Nothing else is read from the files beside the trace."""
    found: dict[str, object] = {}
    if generation == "ascend-mindspore":
        found["Framework"] = "mindspore"
    rank = None
    for folder in folders_of(source):
        try:
            names = [each.name for each in folder.iterdir()]
        except OSError:
            continue
        for name in sorted(names):
            if (info := _PROFILER_INFO.fullmatch(name)) and rank is None:
                rank = int(info["rank"]) if info["rank"] else None
    if rank is not None:
        found["distributedInfo"] = {"rank": rank, "backend": "hccl"}
    if damage.named:
        found["damagedRows"] = damage.named
    return found
