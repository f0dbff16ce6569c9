"""The tables whose rows come from the top-level keys of a trace file: traces and devices."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from tracewh.schema import tables
from tracewh.storage.layout import LAYOUT_VERSION

#: The largest base time, in the year 2096: sums with the largest times and durations stay within 64 bits.
MOST_BASE_NS = 4 * 10**18


@dataclass(frozen=True, slots=True)
class Writing:
    """What to write for one trace besides the rows of the database.

    Attributes:
        number: The number of the trace; see `trace_of` in sql/derive/event_kinds.sql.
        folder: An existing, empty folder for its files.
        metadata: The file's top-level keys besides traceEvents.
        source: Values for the columns of `traces` that do not come from events.
        reasons: Counts of what was odd, repaired or skipped, by reason.
    """

    number: int
    folder: Path
    metadata: Mapping[str, Any]
    source: Mapping[str, Any]
    reasons: Mapping[str, int]


def base_time_ns(metadata: Mapping[str, Any]) -> int:
    """The base time to add to each time of the file; 0 if its times are absolute."""
    return _integer(metadata.get("baseTimeNanoseconds"), MOST_BASE_NS) or 0


def distributed(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The `distributedInfo` of a file; empty if it is missing or not an object."""
    found = metadata.get("distributedInfo")
    return found if isinstance(found, dict) else {}


def create_traces(con: duckdb.DuckDBPyConnection, traces: Sequence[Writing]) -> str:
    """Create the rows of the table `traces`, and return their relation."""
    rows = [_given(trace) for trace in traces]
    types = {column.name: column.type for column in tables()["traces"].columns}
    types |= {"trace": "BIGINT", "worker": "VARCHAR", "unpadded": "BOOLEAN"}
    columns = ", ".join(f"unnest(${name}::{types[name]}[]) AS {name}" for name in rows[0])
    con.execute(
        f"CREATE TABLE given AS SELECT {columns}",
        {name: [row[name] for row in rows] for name in rows[0]},
    )
    con.execute(
        "CREATE TABLE out_traces AS SELECT g.* EXCLUDE (hostname, generation, unpadded),"
        " f.* EXCLUDE (trace, generation, worker_hostname),"
        " coalesce(g.generation, f.generation) AS generation,"
        " coalesce(g.hostname, f.worker_hostname) AS hostname"
        " FROM given AS g INNER JOIN trace_facts('given') AS f ON g.trace = f.trace"
    )
    return "out_traces"


def _given(trace: Writing) -> dict[str, Any]:
    """The columns of `traces` that do not come from events, and what their computation needs."""
    metadata = trace.metadata
    job = distributed(metadata)
    rank = _integer(job.get("rank"))
    if rank is None:
        rank = _integer(trace.source["rank"])
    return {
        **trace.source,
        "trace": trace.number,
        "schema_version": _integer(metadata.get("schemaVersion")),
        "base_time_ns": _integer(metadata.get("baseTimeNanoseconds"), MOST_BASE_NS),
        "framework": text(metadata.get("Framework")),
        "hostname": text(metadata.get("host_name") or metadata.get("hostname")),
        "rank": rank,
        "world_size": _integer(job.get("world_size")),
        "backend": text(job.get("backend")),
        "skipped_reasons": json.dumps(trace.reasons, sort_keys=True),
        "metadata": json.dumps({k: v for k, v in metadata.items() if not _has_column(k, v)}),
        "layout_version": LAYOUT_VERSION,
        "ingested_at": datetime.now(UTC),
    }


def _has_column(key: str, value: Any) -> bool:
    """Whether a column of `traces` or `devices` stores the value of a top-level key exactly."""
    if key in ("schemaVersion", "baseTimeNanoseconds"):
        most = MOST_BASE_NS if key == "baseTimeNanoseconds" else 2**31 - 1
        return type(value) is int and abs(value) <= most
    if key == "Framework":
        return text(value) is not None
    if key == "deviceProperties":
        return isinstance(value, list) and value == device_properties({key: value})
    return False


def create_devices(con: duckdb.DuckDBPyConnection, traces: Sequence[Writing]) -> str:
    """Create the rows of the table `devices`, and return their relation.

    torch/profiler/_chrome_trace_export.py gives the number of multiprocessors as that of the threads on one. Every
    GPU has more of these than it has multiprocessors: 1,024 or more.
    """
    columns = tables()["devices"].columns
    read = ", ".join(
        f"""try_cast(nullif(json_extract_string(e.entry, '$."{column.keys[0]}"'), '') AS {column.type})"""
        f" AS {column.name}"
        for column in columns
        if column.keys
    )
    found = [
        (trace.number, json.dumps(entry))
        for trace in traces
        for entry in device_properties(trace.metadata)
    ]
    con.execute(
        "CREATE TABLE out_devices AS SELECT d.* EXCLUDE (is_mistaken) REPLACE ("
        " CASE WHEN d.is_mistaken THEN d.max_threads_per_sm ELSE d.num_sms END AS num_sms,"
        " CASE WHEN NOT d.is_mistaken THEN d.max_threads_per_sm END AS max_threads_per_sm"
        f") FROM (SELECT e.trace, {read}, e.entry::JSON AS properties,"
        " num_sms IS NULL AND coalesce(max_threads_per_sm < 1024, false) AS is_mistaken"
        " FROM (SELECT unnest(?::BIGINT[]) AS trace, unnest(?::VARCHAR[]) AS entry) AS e) AS d",
        [[number for number, _ in found], [entry for _, entry in found]],
    )
    return "out_devices"


def device_properties(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects in the `deviceProperties` of a file; if several have the same number, the first of them.

    A file that somebody merged from those of several processes lists a device for each of them.
    """
    found = metadata.get("deviceProperties")
    entries = (
        [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    )
    numbers = [str(entry["id"]) if "id" in entry else None for entry in entries]
    return [
        entry
        for n, entry in enumerate(entries)
        if numbers[n] is None or numbers[n] not in numbers[:n]
    ]


def _integer(value: Any, most: int = 2**31 - 1) -> int | None:
    """An integer, or the integer in a text; None for any other value or a larger number."""
    if isinstance(value, bool):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) <= most else None


def text(value: Any) -> str | None:
    """A text that is not empty; None for any other value."""
    return value if isinstance(value, str) and value else None
