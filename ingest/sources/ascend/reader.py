"""The reader of Ascend traces: the folder ASCEND_PROFILER_OUTPUT of torch_npu and MindSpore 2.3 or later.

trace_view.json is read as a Kineto trace is; sql/derive/ascend_*.sql writes its events in the words of Kineto and
adds what the CSV files say. Of all other files only the rank is read: some hold environments and paths.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from tracewh.errors import RefusedError
from tracewh.files import File
from tracewh.ingest.parse import parse_events
from tracewh.ingest.read import TraceReader
from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.reader import Claim, Contents, Reading
from tracewh.ingest.sources.source import Source
from tracewh.ingest.sources.text_tables import Damage, local_copy, read_rows
from tracewh.sql_files import create_block, derive
from tracewh.storage.manifest import content_hash

TRACE_VIEW = "trace_view.json"
#: The CSV files, and the tables that their rows are read into.
TABLES = {
    "kernel_details.csv": "kernel_details",
    "operator_memory.csv": "operator_memory",
    "memory_record.csv": "memory_record",
}
COMMUNICATION = "communication.json"
#: Either of them is a trace.
_EVENTS = (TRACE_VIEW, "kernel_details.csv")
#: `<host>_<pid>_<stamp>_ascend_pt`, the folder of a recording.
_RECORDING = re.compile(r"(?P<worker>.+)_(?P<stamp>\d{8,})_ascend_(?:pt|ms)")
_PROFILER_INFO = re.compile(r"profiler_info(?:_(?P<rank>\d+))?\.json")
#: The start of a list of events whose times are texts.
_TEXT_TIMES = re.compile(rb'"ts"\s*:\s*"\d{10,}\.\d+"')


class AscendReader:
    """Knows the text files of the Ascend profiler; see `Reader`."""

    name = "ascend"

    def wants(self, name: str) -> bool:
        """See `Reader.wants`."""
        return name == TRACE_VIEW or bool(re.fullmatch(r"kernel_details\w*\.csv(\.gz|\.zst)?", name))

    def claim(self, names: Sequence[str]) -> Claim | None:
        """ASCEND_PROFILER_OUTPUT: the files of one rank. Its sums are not read."""
        members = [name for name in names if name in (TRACE_VIEW, *TABLES, COMMUNICATION)]
        if len(members) < 2 or not any(name in names for name in _EVENTS):
            return None
        return Claim(tuple(members))

    def recognise(self, file: File, start: bytes) -> bool:
        """A list of events with times in texts, or the header of kernel_details.csv."""
        text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text[:1] == b"[":
            return bool(_TEXT_TIMES.search(text))
        header = text.split(b"\n", 1)[0]
        return all(
            word in header for word in (b"Accelerator Core", b"Start Time(us)", b"Duration(us)")
        )

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """One trace, named after the folder of its recording: host and process."""
        folders = _folders(source)
        for path in folders:
            if named := _RECORDING.fullmatch(path.name):
                run = source.run
                if run.rpartition("/")[2] in {each.name for each in folders}:
                    run = run.rpartition("/")[0] or path.parent.name or run
                return [replace(source, run=run, worker=named["worker"], trace_name=path.name)]
        return [source]

    def read(self, source: Source, reading: Reading) -> Contents:
        """See `Reader.read`."""
        con, damage = reading.con, Damage()
        files = _files(source, reading.folder)
        for macro in ("ascend_names",):
            derive(con, macro)
        reasons: Counter[str] = Counter()
        skipped = 0
        if view := files.get(TRACE_VIEW):
            reader = TraceReader(view)
            parse_events(con, reader, None, reading.on_events, reading.expect)
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
        return Contents(
            content_hash(source.path),
            events,
            _generation(con, files),
            _metadata(source, damage),
            reasons,
            skipped + damage.rows,
        )

    def unfinished(self, source: Source) -> str:
        """'': the files appear when they are complete."""
        return ""


def _folders(source: Source) -> list[Path]:
    """The folder of the files, and the folder of the recording above it."""
    at = Path(str(source.path))
    folder = at if isinstance(source.path, TraceFolder) else at.parent
    return [folder, folder.parent]


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


def _metadata(source: Source, damage: Damage) -> dict[str, object]:
    """The rank, and the damaged rows. Nothing else is read from the files beside the trace."""
    found: dict[str, object] = {}
    rank = None
    for folder in _folders(source):
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
