"""What the tests of ingest share: events in, the tables and the rebuilt events of one trace out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from _pytest.mark import ParameterSet

from tracewh.ingest.api import ingest
from tracewh.ingest.reconstruct import events
from tracewh.storage.local_store import LocalStore


def rows(warehouse: Path, table: str) -> list[tuple[Any, ...]]:
    """All rows of a table of a warehouse, in one order; not when they were ingested."""
    left_out = "EXCLUDE (ingested_at)" if table == "traces" else ""
    files = f"{warehouse}/data/*/*/*/{table}.parquet"
    sql = f"SELECT * {left_out} FROM read_parquet('{files}') ORDER BY ALL"
    return duckdb.execute(sql).fetchall()


def written(event: Mapping[str, Any]) -> str:
    """An event as JSON text; a Decimal is written digit by digit."""
    members = (
        f"{json.dumps(key)}: {value if isinstance(value, Decimal) else json.dumps(value)}"
        for key, value in event.items()
    )
    return "{" + ", ".join(members) + "}"


def canonical(text: str) -> str:
    """A JSON text by its values: keys sorted, 1.0 as 1, every digit of a decimal, true apart from 1."""
    return json.dumps(json.loads(text, parse_float=Decimal), sort_keys=True, default=_number)


def _number(value: Decimal) -> int | dict[str, str]:
    whole = value == value.to_integral_value()
    return int(value) if whole else {"decimal": str(value.normalize())}


@dataclass(frozen=True, slots=True)
class Ingested:
    """One trace in a warehouse of its own."""

    folder: Path
    con: duckdb.DuckDBPyConnection

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a query on its tables returns."""
        return self.con.execute(sql, values).fetchall()

    def rebuilt(self) -> list[str]:
        """Its events, each as canonical text."""
        return [canonical(text) for text in events(self.folder)]


Row = dict[str, Any]

#: Events, the file's other keys, and the file's name; the folder is the run.
IngestEvents = Callable[..., Ingested]


@pytest.fixture(scope="session")
def ingest_events(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IngestEvents]:
    """Ingests events as a trace file."""
    with duckdb.connect() as con:

        def ingest_events(
            given: Sequence[Mapping[str, Any]],
            metadata: Mapping[str, Any] | None = None,
            name: str = "w.pt.trace.json",
        ) -> Ingested:
            path = tmp_path_factory.mktemp("trace") / "run" / name
            path.parent.mkdir(parents=True)
            others = "".join(
                f"{json.dumps(key)}: {json.dumps(value)}, "
                for key, value in (metadata or {}).items()
            )
            path.write_text(
                f'{{{others}"traceEvents": [{", ".join(map(written, given))}]}}', "utf-8"
            )
            warehouse = path.parents[1] / "warehouse"
            [outcome] = ingest([path], warehouse)
            assert (outcome.status, outcome.reason) == ("ingested", "")
            assert outcome.run and outcome.worker and outcome.span
            folder = LocalStore(warehouse).folder(outcome.run, outcome.worker, outcome.span)
            cursor = con.cursor()
            for file in folder.glob("*.parquet"):
                cursor.execute(
                    f"CREATE OR REPLACE TEMP VIEW {file.stem} AS FROM read_parquet('{file}')"
                )
            return Ingested(folder, cursor)

        yield ingest_events


#: Added to every time of the odd events.
BASE_NS = 1_719_792_000_000_000_000

#: A row of a 2021 file: where there is one, arguments are read by other statements.
OLDER = {"ph": "X", "cat": "Runtime", "name": "cudaFree", "pid": 1, "tid": "2", "ts": 5, "dur": 1}


@dataclass(frozen=True, slots=True)
class Case:
    """An odd event, the table it belongs to, and what the columns of its rows there must say."""

    id: str
    event: Row
    table: str
    rows: tuple[Row, ...]


def case(id_: str, event: Row, table: str, *rows: Row) -> Case:
    """The name of a case, its event, its table, and its rows there."""
    return Case(id_, event, table, rows)


def cases(**groups: Sequence[Case]) -> list[ParameterSet]:
    """Parameters of a test: the position and the case of each event of a module."""
    named = [(f"{group}: {each.id}", each) for group, all_ in groups.items() for each in all_]
    return [pytest.param(number, each, id=id_) for number, (id_, each) in enumerate(named)]


@dataclass(frozen=True, slots=True)
class Odd:
    """One trace of all odd events of a module, one after the other, and those events rebuilt."""

    trace: Ingested
    rebuilt: list[str]

    def columns(self, number: int, each: Case) -> list[Row]:
        """What the columns that a case names say on the rows of event `number`."""
        key = "t.event_id"
        if each.table == "flows":
            key = "coalesce(t.source_event_id, t.target_event_id)"
        names = list(each.rows[0])
        columns = ", ".join(f"t.{name}" for name in names)
        found = self.trace.rows(
            f"SELECT {columns} FROM {each.table} AS t WHERE {key} = ? ORDER BY ALL", [number]
        )
        return [dict(zip(names, row, strict=True)) for row in found]


@pytest.fixture(scope="module", params=["today's keys", "older keys"])
def odd(request: pytest.FixtureRequest, ingest_events: IngestEvents) -> Odd:
    """The odd events of the module's CASES, in a file of today's keys alone and in an older one."""
    given = [each.values[1].event for each in request.module.CASES]
    if request.param == "older keys":
        given.append(OLDER | {"args": {"external id": 5, "external ts": 6}})
    trace = ingest_events(given, {"baseTimeNanoseconds": BASE_NS})
    return Odd(trace, trace.rebuilt())


def op(**fields: Any) -> Row:
    """A complete event as the profiler writes it, with other fields in place of its own."""
    usual = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 5, "dur": 1}
    return usual | fields


def without(event: Row, *keys: str) -> Row:
    """An event less some of its fields."""
    return {key: value for key, value in event.items() if key not in keys}


def host(cat: str, name: str, start: int, end: int, tid: int = 1, **args: Any) -> Row:
    """A complete event on a thread of process 10, from one microsecond to another."""
    event = {"ph": "X", "cat": cat, "name": name, "pid": 10, "tid": tid, "ts": start}
    return event | {"dur": end - start, "args": args}


def call(
    start: int, end: int, correlation: int, name: str = "cudaLaunchKernel", **args: Any
) -> Row:
    """A runtime call."""
    return host("cuda_runtime", name, start, end, correlation=correlation, **args)


def device(start: int, end: int, cat: str = "kernel", name: str = "gemm", **args: Any) -> Row:
    """A complete event on stream 7."""
    event = {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": start}
    return event | {"dur": end - start, "args": args}


def memory(at: int, tid: int = 1) -> Row:
    """An allocation."""
    event = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 10, "tid": tid}
    return event | {"ts": at, "s": "t", "args": {"Bytes": 64, "Device Type": 0}}


def flow(phase: str, cat: str, id_: int, ts: int, tid: int = 1) -> Row:
    """A row of an arrow."""
    return {"ph": phase, "cat": cat, "name": cat, "id": id_, "pid": 10, "tid": tid, "ts": ts}
