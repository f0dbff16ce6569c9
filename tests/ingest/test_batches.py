"""Small traces are ingested together, and each comes out as if it were alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.ingest.conftest import rows
from tracewh.ingest import ingest_file, ingest_trace, plan
from tracewh.ingest.api import ingest
from tracewh.ingest.plan import Planned, make_batches, make_plan
from tracewh.ingest.sources.discover import discover
from tracewh.schema import tables
from tracewh.storage.local_store import LocalStore

BASE_NS = 1_700_000_000_000_000_000


def call(start: int, length: int, category: str, name: str, **arguments: Any) -> dict[str, Any]:
    """An event of thread 2 of process 1."""
    event = {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 2}
    return event | {"ts": start, "dur": length, "args": arguments}


def kernel(start: int, correlation: int, name: str = "gemm", **arguments: Any) -> dict[str, Any]:
    """A kernel of 10 us on stream 7."""
    found = call(start, 10, "kernel", name, correlation=correlation, stream=7, device=0)
    given = {key.replace("_", " "): value for key, value in arguments.items()}
    return found | {"pid": 0, "tid": 7, "args": found["args"] | given}


def flow(start: int, phase: str) -> dict[str, Any]:
    """An end of the arrow 1."""
    event = {"ph": phase, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 2, "ts": start, "id": 1}
    return event | ({"bp": "e"} if phase == "f" else {})


def memory(start: int) -> dict[str, Any]:
    """A record of memory."""
    arguments = {"Device Type": 1, "Device Id": 0, "Addr": 5, "Bytes": 64, "Total Allocated": 64}
    event = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t"}
    return event | {"pid": 1, "tid": 2, "ts": start, "args": arguments}


def named(what: str, name: str) -> dict[str, Any]:
    """The name of process 1 or of its thread 2."""
    return {"ph": "M", "name": what, "pid": 1, "tid": 2, "ts": 0, "args": {"name": name}}


#: An annotation that is a step where the profiler marked none.
SERVING = "execute_context_0(0)_generation_2(2)"
MATMUL = [
    call(100, 50, "cpu_op", "aten::linear"),
    call(110, 30, "cpu_op", "aten::mm", **{"External id": 3}),
    call(120, 5, "cuda_runtime", "cudaLaunchKernel", correlation=1),
]
#: Traces that share threads, correlations, names and times, and differ in what is found for a trace as a whole.
TRACES: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "steps": (
        [
            call(0, 90, "user_annotation", "ProfilerStep#1"),
            call(90, 90, "user_annotation", "ProfilerStep#2"),
            *MATMUL,
            kernel(260, 1),
            flow(121, "s"),
            flow(260, "f"),
            memory(115),
            named("process_name", "a"),
            named("thread_name", "main"),
        ],
        {"baseTimeNanoseconds": BASE_NS, "deviceProperties": [{"id": 0, "name": "A100"}]},
    ),
    "later": (
        [
            call(0, 90, "user_annotation", "ProfilerStep#7"),
            call(200, 100, "user_annotation", "ProfilerStep#8"),
            call(210, 50, "user_annotation", SERVING),
            *MATMUL,
            kernel(150, 1, "ncclKernel_AllReduce"),
            flow(121, "s"),
            named("process_name", "b"),
            named("thread_name", "backward"),
        ],
        {"baseTimeNanoseconds": BASE_NS + 1_000_000, "distributedInfo": {"rank": 3}},
    ),
    "no_steps": ([*MATMUL, call(200, 10, "python_function", "a.py(3): f")], {}),
    "annotations": (
        [call(0, 50, "user_annotation", "load"), kernel(10, 9, "copy", External_id=3)],
        {},
    ),
    # Its counters say that its gemm uses tensor cores; the gemm of other traces need not.
    "counters": (
        [
            *MATMUL,
            kernel(160, 1),
            kernel(160, 1)
            | {
                "cat": "cuda_profiler_range",
                "args": {"smsp__inst_executed_pipe_tensor_op_hmma.sum": 8},
            },
        ],
        {},
    ),
    "serving": ([call(0, 500, "user_annotation", SERVING), *MATMUL], {}),
    "graph": (
        [
            call(100, 50, "cpu_op", "replay"),
            call(110, 30, "cuda_runtime", "cudaGraphLaunch", correlation=1),
            kernel(160, 1, graph_id=5, graph_node_id=1),
            kernel(180, 1, graph_id=5, graph_node_id=2),
        ],
        {},
    ),
    "odd": (
        [
            call(1, 2, "cpu_op", "odd", **{"External id": "7", "x": [1]}),
            {"ph": "C", "name": "power", "pid": 1, "ts": 5, "args": {"watts": 3}},
            named("process_name", "c"),
            call(5, 2, "cpu_op", "late") | {"ts": "12", "dur": -3},
        ],
        {},
    ),
    "void": ([], {}),
    "unpadded": ([call(1_700_000_000_000_000 + at, 1, "cpu_op", "a") for at in (1, 2)], {}),
}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    """The files of `TRACES`, two of them with what json does not write."""
    texts = {
        name: json.dumps({**metadata, "traceEvents": events})
        for name, (events, metadata) in TRACES.items()
    }
    for number, decimals in ("001", "5"), ("002", "250"):
        texts["unpadded"] = texts["unpadded"].replace(f"{number},", f"{number}.{decimals},")
    texts["odd"] = texts["odd"].replace('"x": [1]', '"x": NaN, "x": 1')
    return [write(tmp_path / "run", name, text) for name, text in sorted(texts.items())]


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of the files that were ingested together, call by call, as it goes."""
    real, found = ingest_trace.ingest_traces, list[list[str]]()

    def seen(databases: Any, sources: Sequence[Any], *rest: Any) -> None:
        found.append([Path(str(source.path)).stem for source in sources])
        real(databases, sources, *rest)

    monkeypatch.setattr(ingest_file, "ingest_traces", seen)
    return found


def test_traces_are_as_if_each_were_alone(
    tmp_path: Path, logs: list[Path], together: list[list[str]]
) -> None:
    alone, batch = tmp_path / "alone", tmp_path / "batch"
    expected = [ingest([path], alone, run="run")[0] for path in logs]
    del together[:]
    found = ingest(logs, batch, run="run", jobs=1)
    # The decimals of one trace need another parser, so it is ingested again.
    assert together == [[path.stem for path in logs], ["unpadded"]]
    assert [replace(each, seconds=0, stored_bytes=0) for each in found] == [
        replace(each, seconds=0, stored_bytes=0) for each in expected
    ]
    assert all(each.status == "ingested" for each in found)
    for name, table in tables().items():
        assert rows(batch, name) == rows(alone, name), name
        for path in LocalStore(batch).data.glob(f"*/*/*/{name}.parquet"):
            described = f"DESCRIBE FROM read_parquet('{path}', hive_partitioning = false)"
            assert [row[:2] for row in duckdb.execute(described).fetchall()] == [
                (column.name, column.type) for column in table.columns
            ]
    for name in ("graphs", "devices", "flows", "memory_records", "counter_samples", "processes"):
        assert rows(batch, name), f"no row of {name}, so nothing is compared"
    assert list((batch / ".staging").iterdir()) == []


def test_a_bad_trace_harms_no_other(tmp_path: Path, together: list[list[str]]) -> None:
    good = json.dumps({"traceEvents": MATMUL})
    merged = json.dumps({"traceEvents": [*MATMUL, MATMUL[0] | {"pid": 2}]})
    texts = {"a": good, "bad": '{"nodes": []}', "cut": '{"traceEvents": [{"ph"'}
    texts |= {"merged": merged, "z": good}
    logs = [write(tmp_path / "run", name, text) for name, text in texts.items()]
    alone = [ingest([path], tmp_path / "alone", run="run")[0] for path in logs]
    del together[:]
    found = ingest(logs, tmp_path / "batch", run="run", jobs=1)
    assert together[0] == ["a", "bad", "cut", "merged", "z"]
    assert ["bad"] in together and ["merged"] in together
    assert ["a"] not in together and ["z"] not in together
    assert [(each.status, each.reason) for each in found] == [
        (each.status, each.reason) for each in alone
    ]
    statuses = [each.status for each in found]
    assert (statuses[0], statuses[1], *statuses[3:]) == (
        "ingested",
        "refused",
        "refused",
        "ingested",
    )
    for name in tables():
        assert rows(tmp_path / "batch", name) == rows(tmp_path / "alone", name)


@pytest.mark.parametrize("first", ["good", "sound"])
@pytest.mark.parametrize("other", ["bad", "merged", "unpadded"])
def test_the_only_trace_that_is_left_of_a_batch(tmp_path: Path, other: str, first: str) -> None:
    """It has its own events alone, numbered from 0, wherever it stands among the files."""
    times = [call(1_700_000_000_000_000 + at, 1, "cpu_op", "a") for at in (1, 2)]
    texts = {
        "bad": '{"nodes": []}',
        "merged": json.dumps({"traceEvents": [*MATMUL, MATMUL[0] | {"pid": 2}]}),
        "unpadded": json.dumps({"traceEvents": times})
        .replace("001,", "001.5,")
        .replace("002,", "002.250,"),
    }
    good = write(tmp_path / "run", first, json.dumps({"traceEvents": MATMUL}))
    bad = write(tmp_path / "run", "other", texts[other])
    [alone] = ingest([good], tmp_path / "alone")
    found = {each.source: each for each in ingest([good, bad], tmp_path / "batch", jobs=1)}
    assert (found[good].status, found[good].events) == ("ingested", alone.events)
    for name in tables():
        of_good = [row for row in rows(tmp_path / "batch", name) if first in row]
        assert of_good == rows(tmp_path / "alone", name), name


def test_an_error_of_a_batch_is_not_one_of_its_traces(
    tmp_path: Path, logs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be ingested together, here for a lack of memory, is ingested one by one."""
    real = ingest_trace.ingest_traces

    def fail(databases: Any, sources: Sequence[Any], *rest: Any) -> None:
        if len(sources) > 1:
            raise duckdb.OutOfMemoryException("too much")
        real(databases, sources, *rest)

    monkeypatch.setattr(ingest_file, "ingest_traces", fail)
    bytes_done = []
    found = ingest(
        logs,
        tmp_path / "warehouse",
        jobs=1,
        on_progress=lambda now: bytes_done.append((now.bytes_done, now.files_done)),
    )
    assert {each.status for each in found} == {"ingested"}
    assert bytes_done[-1][1] == len(logs)


def test_each_trace_is_committed_when_it_is_whole(
    tmp_path: Path, logs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt between two traces of a batch keeps those before it, and nothing of those after it."""
    monkeypatch.setattr(ingest_trace, "COMMITS_AT_ONCE", 1)
    seen = []

    def interrupt(result: object) -> None:
        seen.append(result)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(logs, tmp_path / "warehouse", jobs=1, on_result=interrupt)
    store = LocalStore(tmp_path / "warehouse")
    assert 3 <= len(store.names()) < len(logs)
    for folder in store.data.glob("*/*/*"):
        assert {path.name for path in folder.glob("*.parquet")} == {
            f"{name}.parquet" for name in tables()
        }
    assert list((store.path / ".staging").iterdir()) == []


def planned(tmp_path: Path, sizes: Sequence[int]) -> list[Planned]:
    """A plan of Kineto traces of these sizes, in bytes."""
    for number, size in enumerate(sizes):
        write(tmp_path / "run", f"w{number:02}", '{"traceEvents": []}'.ljust(size))
    return make_plan(LocalStore(tmp_path / "wh"), discover([tmp_path / "run"]), force=False)


def test_batches_are_of_small_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SMALL_BYTES", 100)
    monkeypatch.setattr(plan, "BATCH_BYTES", 250)
    monkeypatch.setattr(plan, "BATCH_TRACES", 4)
    made = planned(tmp_path, [20, 20, 20, 20, 20, 101, 100, 100, 100])

    def sizes(at_once: int, plan: list[Planned]) -> list[list[int]]:
        return [
            [each.source.path.stat().st_size for each in b] for b in make_batches(plan, at_once)
        ]

    assert sizes(1, made) == [[20, 20, 20, 20], [20], [101], [100, 100], [100]]
    assert sizes(4, made) == [[20, 20], [20, 20], [20], [101], [100, 100], [100]]
    assert sizes(64, made) == [[20]] * 5 + [[101]] + [[100]] * 3
    assert make_batches([], 2) == []


def test_what_is_unlike_others_is_a_batch_of_its_own(tmp_path: Path) -> None:
    made = planned(tmp_path, [20, 20, 20, 20])
    made[1] = replace(made[1], source=replace(made[1].source, problem="two files of one name"))
    made[2] = replace(made[2], source=replace(made[2].source, reader="nsys"))
    assert make_batches(made, 1) == [[each] for each in made]
    assert make_batches([made[0], made[3], made[1]], 1) == [[made[0], made[3]], [made[1]]]
