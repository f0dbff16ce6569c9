"""Nothing of a real trace is lost: its events and its metadata come back from the warehouse."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from tracewh.ingest.api import ingest
from tracewh.ingest.reconstruct import events
from tracewh.storage.local_store import LocalStore

if TYPE_CHECKING:
    import tracewh

Key = tuple[str, str, str]

#: Where the rows of each phase and category are. A start with several ends stands in several rows
#: of flows, and a counter event in one row per series. No shared trace has 't' rows.
COUNTS = """
    SELECT e.phase, e.category, count(DISTINCT e.event_id)
    FROM (
        SELECT t.run, t.worker, t.span, t.event_id, 'X' AS phase, t.raw_category AS category
        FROM host_events AS t
        UNION ALL SELECT t.run, t.worker, t.span, t.event_id, 'X', t.raw_category FROM device_events AS t
        UNION ALL SELECT t.run, t.worker, t.span, t.event_id, 'i', t.raw_category FROM memory_records AS t
        UNION ALL SELECT t.run, t.worker, t.span, t.event_id, 'C', t.category FROM counter_samples AS t
        UNION ALL SELECT t.run, t.worker, t.span, t.event_id, t.phase, t.category FROM other_events AS t
        UNION ALL SELECT t.run, t.worker, t.span, t.source_event_id, 's', t.category FROM flows AS t
        UNION ALL SELECT t.run, t.worker, t.span, t.target_event_id, 'f', t.category FROM flows AS t
    ) AS e
    WHERE e.event_id IS NOT NULL AND (e.run, e.worker, e.span) = (?, ?, ?)
    GROUP BY ALL
"""


def traces(corpus: tracewh.Warehouse) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Every trace of the corpus: its key, and its file with decimals kept as they are written."""
    found = corpus.sql(
        "SELECT t.run, t.worker, t.span, t.source_path FROM traces AS t ORDER BY ALL"
    )
    for *key, path in found.fetchall():
        stored = Path(path).read_bytes()
        content = gzip.decompress(stored) if path.endswith(".gz") else stored
        file = json.loads(content, parse_float=Decimal)
        yield (key[0], key[1], key[2]), {"traceEvents": file} if isinstance(file, list) else file


def number(value: Any) -> Any:
    """A value with its decimals as JSON numbers, which are doubles, and with true apart from 1."""
    if isinstance(value, dict):
        return {key: number(each) for key, each in value.items()}
    if isinstance(value, list):
        return [number(each) for each in value]
    if isinstance(value, Decimal):
        return float(value)
    return f"a boolean: {value}" if isinstance(value, bool) else value


def exact(event: dict[str, Any]) -> dict[str, Any]:
    """An event with its times as they are written and its arguments as JSON numbers."""
    return {**event, "args": number(event["args"])} if "args" in event else event


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two events are the same; where they are, their texts mostly say it, and much faster."""
    if one == other and text(one) == text(other):  # true and 1 are equal, and their texts are not
        return True
    return exact(one) == exact(other)


def text(event: dict[str, Any]) -> bytes:
    """An event with its keys in order, and its decimals as doubles."""
    return orjson.dumps(event, default=float, option=orjson.OPT_SORT_KEYS)


def test_every_trace_is_in(corpus: tracewh.Warehouse, shared: Path) -> None:
    """Or the other tests of this file would pass on an empty warehouse."""
    files = {
        path for path in (shared / "traces").rglob("*.json.gz") if path.parent.name != "not_a_trace"
    }
    inside = {
        Path(path) for (path,) in corpus.sql("SELECT t.source_path FROM traces AS t").fetchall()
    }
    assert inside == files
    assert files


@pytest.fixture(scope="module")
def different(corpus: tracewh.Warehouse) -> dict[str, dict[Key, Any]]:
    """What differs by kind and trace; each file is read once for all."""
    found: dict[str, dict[Key, Any]] = {}
    for key, file in traces(corpus):
        for compare in (rows_per_phase_and_category, events_in_order, metadata):
            if differs := compare(corpus, key, file):
                found.setdefault(compare.__name__, {})[key] = differs
    return found


def test_rows_per_phase_and_category(different: dict[str, dict[Key, Any]]) -> None:
    assert different.get(rows_per_phase_and_category.__name__) is None


def rows_per_phase_and_category(
    corpus: tracewh.Warehouse, key: Key, file: dict[str, Any]
) -> dict[str, Any] | None:
    want = Counter((event.get("ph"), event.get("cat")) for event in file["traceEvents"])
    rows = corpus.sql(COUNTS, list(key)).fetchall()
    got = Counter({(phase, category): count for phase, category, count in rows})
    return {"missing": want - got, "too many": got - want} if got != want else None


def test_events(different: dict[str, dict[Key, Any]]) -> None:
    """Event by event, which is more than an equal multiset: the order of the file is kept too."""
    assert different.get(events_in_order.__name__) is None


def events_in_order(
    corpus: tracewh.Warehouse, key: Key, file: dict[str, Any]
) -> dict[str, Any] | None:
    rebuilt = events(LocalStore(Path(corpus.path)).folder(*key))
    read = json.JSONDecoder(parse_float=Decimal).decode
    for position, (want, line) in enumerate(zip_longest(file["traceEvents"], rebuilt)):
        got = read(line) if line else None
        if want is None or got is None or not alike(got, want):
            return {"position": position, "want": want, "got": got}
    return None


def test_metadata(different: dict[str, dict[Key, Any]]) -> None:
    """Together the columns of traces, its metadata and the devices are the file's other keys."""
    assert different.get(metadata.__name__) is None


def metadata(corpus: tracewh.Warehouse, key: Key, file: dict[str, Any]) -> dict[str, Any] | None:
    want = {name: number(value) for name, value in file.items() if name != "traceEvents"}
    [(schema_version, base_time, framework, rest)] = corpus.sql(
        "SELECT t.schema_version, t.base_time_ns, t.framework, t.metadata"
        " FROM traces AS t WHERE (t.run, t.worker, t.span) = (?, ?, ?)",
        list(key),
    ).fetchall()
    devices = corpus.sql(
        "SELECT t.properties FROM devices AS t WHERE (t.run, t.worker, t.span) = (?, ?, ?)"
        " ORDER BY t.device_id",
        list(key),
    ).fetchall()
    columns = {
        "schemaVersion": schema_version,
        "baseTimeNanoseconds": base_time,
        "Framework": framework,
        # No device is no row, whether the file says so or not.
        "deviceProperties": [number(json.loads(each)) for (each,) in devices] or None,
    }
    got = {name: value for name, value in columns.items() if value is not None}
    got |= number(json.loads(rest))
    if want.get("deviceProperties") == []:
        del want["deviceProperties"]
    return {"want": want, "got": got} if got != want else None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "benchmark_simple_add_et.json.gz",
            "not a Kineto trace: a PyTorch execution trace (it has nodes, not traceEvents)",
        ),
        (
            "memory_timeline.raw.gz",
            "not a Kineto trace: a PyTorch memory timeline (a list of lists)",
        ),
    ],
)
def test_refused(shared: Path, tmp_path: Path, name: str, reason: str) -> None:
    [outcome] = ingest([shared / "traces" / "not_a_trace" / name], tmp_path / "warehouse")
    assert (outcome.status, outcome.reason) == ("refused", reason)
