"""What no single event says: parents, operators, launches, flows and kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.ingest.conftest import Ingested, IngestEvents, call, device, flow, host, memory
from tracewh.ingest.link import create_link_macros
from tracewh.ingest.parse import create_raw_tables
from tracewh.schema import SQL

# Thread 1, in microseconds. F is a Python frame, the rest as named; event numbers in front.
#
#      0    5   10   15   20   25   30   35   40   45   50   55   60   65 ..  100
#  0   ProfilerStep#3 --------------------------------------------------------|
#  1     F main.py(3): train -----------------------------------|
#  2             aten::linear --------------------------|
#  3               F nn.py(9): forward ---------------|
#  4                  aten::addmm --|
#  5                     launch|                                              cudaLaunchKernel
#  6                      drv|                                                cuLaunchKernel
#  7                                  copy|                                   cudaMemcpyAsync
#  8                                            note|                         annotation
#  9                                                              launch|
# 10   after the step, 110 to 112: a launch that nothing encloses
# 11   thread 2, 15 to 30: aten::mul
# 12   200 to 210: aten::cat, and
# 13   206 to 214: aten::copy_, which starts in it and ends after it
# 14   220 to 221 and
# 15   230 to 231: two launches of one correlation
HOST = [
    host("user_annotation", "ProfilerStep#3", 0, 100),
    host("python_function", "main.py(3): train", 2, 60),
    host("cpu_op", "aten::linear", 10, 50, **{"External id": 1}),
    host("python_function", "nn.py(9): forward", 12, 48),
    host("cpu_op", "aten::addmm", 15, 30, **{"External id": 2}),
    call(18, 24, 7),
    host("cuda_driver", "cuLaunchKernel", 19, 22, correlation=7),
    call(32, 36, 8, "cudaMemcpyAsync"),
    host("user_annotation", "note", 40, 46),
    call(62, 64, 9),
    call(110, 112, 10),
    host("cpu_op", "aten::mul", 15, 30, tid=2),
    host("cpu_op", "aten::cat", 200, 210),
    host("cpu_op", "aten::copy_", 206, 214),
    call(220, 221, 12),
    call(230, 231, 12),
]


@pytest.fixture(scope="module", params=["as drawn", "backwards"])
def drawn(request: pytest.FixtureRequest, ingest_events: IngestEvents) -> Ingested:
    """The rows in the order of the drawing, and the last first."""
    if request.param == "as drawn":
        return ingest_events(HOST + DEVICE + MEMORY)
    return ingest_events([*reversed(MEMORY), *reversed(DEVICE), *reversed(HOST)])


def drawn_rows(drawn: Ingested, columns: str, table: str) -> list[tuple[Any, ...]]:
    """Rows in the order of the drawing; event ids are its numbers."""
    total = len(HOST) + len(DEVICE) + len(MEMORY)
    [(backwards,)] = drawn.rows("SELECT count(*) FROM host_events AS t WHERE t.event_id = 0")
    number = f"({total - 1} - t.%s)" if not backwards else "t.%s"
    shown = ", ".join(
        number % name if name.endswith(("parent_id", "op_id", "launch_id")) else f"t.{name}"
        for name in columns.split(", ")
    )
    return drawn.rows(f"SELECT {shown} FROM {table} AS t ORDER BY {number % 'event_id'}")


def test_parents_and_operators(drawn: Ingested) -> None:
    columns = "parent_id, op_id, parent_op_id, depth"
    assert drawn_rows(drawn, columns, "host_events") == [
        (None, 0, None, 0),
        (0, 0, 0, 1),
        (1, 2, 0, 2),
        (2, 2, 2, 3),
        (3, 4, 2, 4),
        (4, 4, 4, 5),
        (5, 4, 4, 6),
        (3, 2, 2, 4),
        (3, 8, 2, 4),
        (0, 0, 0, 1),
        (None, None, None, 0),
        (None, 11, None, 0),
        (None, 12, None, 0),
        (None, 13, None, 0),  # beside the one that it starts in and outlives
        (None, None, None, 0),
        (None, None, None, 0),
    ]


def test_self_time(drawn: Ingested) -> None:
    """Of an operator less the operators, annotations and outermost calls in it, frames or not."""
    microseconds = [
        100 - 40 - 2,  # linear, and the launch at 62
        58 - 40,  # a frame: what lies directly in it
        40 - 15 - 4 - 6,  # addmm, the copy and the annotation, all through the frame
        36 - 15 - 4 - 6,
        15 - 6,  # the launch; the driver call is inside that
        6 - 3,
        3,
        4,
        6,
        2,
        2,
        15,
        10 - 4,  # the part of the next that lies in it
        8,
        1,
        1,
    ]
    assert drawn_rows(drawn, "self_duration_ns", "host_events") == [
        (self_time * 1000,) for self_time in microseconds
    ]


def test_where_an_event_begins_that_lasts_longer(ingest_events: IngestEvents) -> None:
    """In nanoseconds since the epoch, as all times."""
    base = 1_775_078_550_000_000_000
    rows = [host("cpu_op", "a", 0, 10), host("cpu_op", "b", 1, 9), host("cpu_op", "c", 6, 14)]
    trace = ingest_events([*rows, host("cpu_op", "d", 14, 15)], {"baseTimeNanoseconds": base})
    assert trace.rows(
        "SELECT t.name, t.overlap_start_ns FROM host_events AS t ORDER BY t.event_id"
    ) == [("a", base + 6000), ("b", base + 6000), ("c", None), ("d", None)]


def test_python_frames_are_split(drawn: Ingested) -> None:
    assert drawn.rows(
        "SELECT t.source_file, t.source_line, t.source_function FROM host_events AS t"
        " WHERE t.source_file IS NOT NULL ORDER BY t.start_ns"
    ) == [("main.py", 3, "train"), ("nn.py", 9, "forward")]


DEVICE = [
    device(40, 50, correlation=7),  # the driver call starts later than the runtime call around it
    device(52, 55, correlation=7),  # a second row of the same launch, as graphs have
    device(30, 38, "gpu_memcpy", "Memcpy HtoD", correlation=8),  # starts before its launch
    device(70, 71) | {"args": {"correlation": 11, "External id": 2}},  # its launch is not there
    device(72, 73) | {"args": {"External id": 99}},  # neither is its operator
    device(115, 116) | {"args": {"correlation": 10, "External id": 2}},  # launched in no operator
    device(215, 216, correlation=12),  # before both of its launches: the first
    device(225, 226, correlation=12),  # between them
    device(240, 241, correlation=12),  # after them: the last
    device(80, 81),
]


def test_launches(drawn: Ingested) -> None:
    assert drawn_rows(drawn, "launch_id, op_id", "device_events") == [
        (6, 4),
        (6, 4),
        (7, 2),
        (None, 4),
        (None, None),
        (10, None),
        (14, None),
        (14, None),
        (15, None),
        (None, None),
    ]


MEMORY = [
    memory(20),  # in the driver call in the launch in addmm
    memory(15),  # where addmm starts
    memory(30),  # where addmm ends: in linear
    memory(42),  # in the annotation
    memory(60),  # where the outer frame ends: in the step
    memory(105),
    memory(20, tid=2),
    memory(20, tid=3),  # a thread without operators
]


def test_operators_of_memory_records(drawn: Ingested) -> None:
    operators = [4, 4, 2, 8, 0, None, 11, None]
    assert drawn_rows(drawn, "op_id", "memory_records") == [(op,) for op in operators]


def test_a_memory_record_without_a_time_has_no_operator(ingest_events: IngestEvents) -> None:
    """Nor does it change what is around others of its thread. It may be first, last, or one of many."""
    untimed = {key: value for key, value in memory(0).items() if key != "ts"}
    given = [untimed, host("cpu_op", "a", 0, 10), untimed, memory(5), host("cpu_op", "b", 20, 30)]
    trace = ingest_events([*given, untimed, untimed | {"ts": "NaN"}, untimed | {"ts": 1e30}])
    assert trace.rows(
        "SELECT t.event_id, t.time_ns, t.op_id FROM memory_records AS t ORDER BY t.event_id"
    ) == [(n, 5000 if n == 3 else None, 1 if n == 3 else None) for n in (0, 2, 3, 5, 6, 7)]


def test_operators_of_memory_records_where_nothing_but_operators_encloses(
    ingest_events: IngestEvents,
) -> None:
    """Another way through the nesting: the parents are then the operators."""
    given = [
        host("cpu_op", "a", 0, 10),
        host("cpu_op", "b", 2, 8),
        call(3, 4, 1),
        memory(5),
        memory(8),
        memory(10),
    ]
    trace = ingest_events(given)
    assert trace.rows("SELECT t.op_id FROM memory_records AS t ORDER BY t.event_id") == [
        (1,),
        (0,),
        (None,),
    ]
    assert trace.rows(
        "SELECT t.op_id, t.parent_op_id FROM host_events AS t ORDER BY t.event_id"
    ) == [
        (0, None),
        (1, 0),
        (1, 1),
    ]


def test_threads_of_different_processes_do_not_mix(ingest_events: IngestEvents) -> None:
    b = host("user_annotation", "b", 2, 8) | {"pid": 11}
    trace = ingest_events([host("cpu_op", "a", 0, 10), b])
    assert trace.rows("SELECT t.parent_id FROM host_events AS t") == [(None,), (None,)]


def test_flows(ingest_events: IngestEvents) -> None:
    """Rows join by category and id; an end takes the latest start before it."""
    trace = ingest_events(
        [
            flow("s", "ac2g", 7, 18),
            flow("f", "ac2g", 7, 40, tid=7),
            flow("f", "ac2g", 7, 52, tid=7),  # a second end of the same start
            flow("f", "ac2g", 8, 60, tid=7),  # no start
            flow("s", "ac2g", 9, 62),  # no end
            flow("s", "fwdbwd", 7, 10),  # another category
            flow("f", "fwdbwd", 7, 20, tid=2),
            flow("s", "async_gpu", 5, 1),  # two starts of one id
            flow("s", "async_gpu", 5, 11),
            flow("f", "async_gpu", 5, 6, tid=7),
            flow("f", "async_gpu", 5, 16, tid=7),
            flow("f", "mine", 1, 3, tid=7),  # an end before its start
            flow("s", "mine", 1, 4),
        ]
    )
    assert trace.rows(
        "SELECT t.kind, t.category, t.flow_id, t.source_event_id, t.target_event_id,"
        " t.source_ns, t.target_ns, t.source_tid, t.target_tid"
        " FROM flows AS t ORDER BY t.category, t.flow_id, t.target_event_id"
    ) == [
        ("launch", "ac2g", 7, 0, 1, 18000, 40000, "1", "7"),
        ("launch", "ac2g", 7, 0, 2, 18000, 52000, "1", "7"),
        ("launch", "ac2g", 8, None, 3, None, 60000, None, "7"),
        ("launch", "ac2g", 9, 4, None, 62000, None, "1", None),
        ("launch", "async_gpu", 5, 7, 9, 1000, 6000, "1", "7"),
        ("launch", "async_gpu", 5, 8, 10, 11000, 16000, "1", "7"),
        ("forward_backward", "fwdbwd", 7, 5, 6, 10000, 20000, "1", "2"),
        ("mine", "mine", 1, 12, 11, 4000, 3000, "1", "7"),
    ]


KINDS: list[tuple[str, str, dict[str, Any], str, str, bool | None]] = [
    ("kernel", "volta_sgemm_128x64_nn", {}, "kernel", "compute", False),
    ("kernel", "ampere_fp16_s1688gemm_fp16_128x128_nn", {}, "kernel", "compute", True),
    ("Kernel", "volta_fp16_h884gemm_64x64", {}, "kernel", "compute", True),
    ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", {}, "kernel", "communication", False),
    ("kernel", "gemm", {"Collective name": "allreduce"}, "kernel", "communication", False),
    (
        "kernel",
        "void vllm::cross_device_reduce_1stage<float, 2>",
        {},
        "kernel",
        "communication",
        False,
    ),
    ("kernel", "__amd_rocclr_copyBuffer.kd", {}, "kernel", "memcpy", False),
    ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", {}, "gpu_memcpy", "memcpy", None),
    ("Memcpy", "Memcpy DtoH", {}, "gpu_memcpy", "memcpy", None),
    ("gpu_memset", "Memset (Device)", {}, "gpu_memset", "memset", None),
    ("Memset", "Memset (Device)", {}, "gpu_memset", "memset", None),
    ("cuda_sync", "Stream Sync", {}, "cuda_sync", "sync", None),
    ("cuda_event", "Event Record", {}, "cuda_event", "sync", None),
    ("gpu_user_annotation", "nccl:all_reduce", {}, "gpu_user_annotation", "annotation", None),
    ("cuda_profiler_range", "gemm", {}, "cuda_profiler_range", "annotation", None),
    ("mtia_ccp_events", "dma_in", {}, "mtia_ccp_events", "memcpy", None),
    ("mtia_ccp_events", "fc", {}, "mtia_ccp_events", "compute", None),
    ("collective_comm", "hcom_allReduce", {"stream": 3}, "collective_comm", "communication", None),
]


def test_device_kinds(ingest_events: IngestEvents) -> None:
    given = [device(n, n + 1, cat, name, **args) for n, (cat, name, args, *_) in enumerate(KINDS)]
    rows = ingest_events(given).rows(
        "SELECT t.raw_category, t.name, t.category, t.kind, t.uses_tensor_cores"
        " FROM device_events AS t ORDER BY t.event_id"
    )
    assert rows == [(cat, name, *said) for cat, name, _, *said in KINDS]


def test_calls_of_oneccl_are_no_work_of_the_gpu(ingest_events: IngestEvents) -> None:
    # As the plugin of Kineto for XPU writes them: its kernels have a queue of SYCL, and its calls are on a thread.
    trace = ingest_events(
        [
            call(1, 2, 5),
            device(4, 9) | {"args": {"correlation": 5, "device": 0, "sycl queue": 3}},
            device(5, 8, "collective_comm", "xccl::allreduce", Communicator_id=7) | {"pid": 10},
        ]
    )
    assert trace.rows("SELECT t.name, t.device_id, t.stream_id FROM device_events AS t") == [
        ("gemm", 0, 3)
    ]
    assert trace.rows(
        "SELECT t.name, t.pid, t.args::VARCHAR FROM host_events AS t WHERE t.category = 'collective_comm'"
    ) == [("xccl::allreduce", "10", '{"Communicator_id":7}')]


def test_the_device_of_annotations_and_counters_is_their_process(
    ingest_events: IngestEvents,
) -> None:
    trace = ingest_events(
        [
            device(0, 1, "gpu_user_annotation", "step") | {"pid": 3},
            device(1, 2, "cuda_profiler_range", "gemm", **{"sm__cycles.sum": 7, "ratio": 0.5})
            | {"pid": 2},
            device(2, 3, "kernel", "gemm", device=1) | {"pid": 4},
            device(3, 4, "kernel", "gemm") | {"pid": 5},
        ]
    )
    assert trace.rows("SELECT t.device_id FROM device_events AS t ORDER BY t.event_id") == [
        (3,),
        (2,),
        (1,),
        (None,),
    ]
    assert trace.rows(
        "SELECT t.event_id, t.counter, t.value FROM counters AS t ORDER BY t.counter"
    ) == [
        (1, "ratio", 0.5),
        (1, "sm__cycles.sum", 7.0),
    ]


def test_who_launched_a_kernel_that_says_nothing(ingest_events: IngestEvents) -> None:
    """It communicates where the nearest operator is one of a collective, unless its name is known."""
    kernels = {
        "symm_mem::multimem_all_reduce_": "reduce_scatter_v7",
        "_c10d_functional::all_reduce": "secret_kernel.kd",
        "c10d::allreduce_": "void at::native::vectorized_elementwise_kernel<4>",
        "c10d::_allgather_base_": "nvjet_tst_192x192_64x4",
        "vllm::all_reduce": "oddly_named",
        "nccl:all_reduce": "oddly_named",
        "symm_mem::fused_all_gather_matmul": "oddly_named",
        "aten::mm": "oddly_named",
    }
    events = []
    for at, (operator, name) in enumerate(kernels.items()):
        events += [
            host("user_annotation" if operator.startswith("nccl:") else "cpu_op", operator,
                 10 * at, 10 * at + 9),
            call(10 * at + 1, 10 * at + 2, at + 1),
            device(1000 + at, 1001 + at, name=name, correlation=at + 1),
        ]  # fmt: skip
    # An operator inside the collective, a copy that the collective makes, and no operator at all.
    events += [
        host("cpu_op", "c10d::alltoall_", 100, 130),
        host("cpu_op", "aten::index", 101, 110),
        call(102, 103, 21),
        call(115, 116, 22),
        device(2000, 2001, name="oddly_named", correlation=21),
        device(2001, 2002, "gpu_memcpy", "Memcpy DtoD", correlation=22),
        device(2002, 2003, name="oddly_named", correlation=23),
    ]
    rows = ingest_events(events).rows(
        "SELECT h.name, t.kind, t.uses_tensor_cores FROM device_events AS t"
        " LEFT JOIN host_events AS h ON t.op_id = h.event_id ORDER BY t.event_id"
    )
    assert rows == [
        ("symm_mem::multimem_all_reduce_", "communication", False),
        ("_c10d_functional::all_reduce", "communication", False),
        ("c10d::allreduce_", "compute", False),
        ("c10d::_allgather_base_", "compute", True),
        ("vllm::all_reduce", "communication", False),
        ("nccl:all_reduce", "communication", False),
        ("symm_mem::fused_all_gather_matmul", "compute", None),
        ("aten::mm", "compute", None),
        ("aten::index", "compute", None),
        ("c10d::alltoall_", "memcpy", None),
        (None, "compute", None),
    ]


def test_a_kernel_that_starts_with_its_call_is_of_that_call(ingest_events: IngestEvents) -> None:
    """An earlier call has the same number, and the call itself comes later in the file."""
    trace = ingest_events([call(0, 2, 5), device(10, 20, correlation=5), call(10, 12, 5)])
    assert trace.rows("SELECT d.launch_id FROM device_events AS d") == [(2,)]


def most_rows(operators: list[dict[str, Any]]) -> int:
    """The most rows that an operator of a plan gave, from DuckDB's profile of it."""
    return max(
        (max(o["intermediate_rows"], most_rows(o.get("children", []))) for o in operators),
        default=0,
    )


def test_one_id_for_all_calls_and_kernels_makes_no_row_for_each_pair(tmp_path: Path) -> None:
    calls = 300
    with duckdb.connect() as con:
        create_raw_tables(con)
        create_link_macros(con)
        # Of the kernels half have the correlation of the calls, and half the id of the operators alone.
        con.execute(
            "INSERT INTO raw_host BY NAME SELECT r.i AS event_id, 1 AS correlation_id, 1 AS external_id,"
            " 10 * r.i AS ts_ns, ['cuda_runtime', 'cpu_op'][r.i // $n + 1] AS category"
            " FROM range(2 * $n) AS r(i)",
            {"n": calls},
        )
        con.execute(
            "INSERT INTO raw_device BY NAME SELECT 2 * $n + r.i AS event_id, 10 * r.i + 5 AS ts_ns,"
            " r.i % 2 AS correlation_id, 1 AS external_id, 'kernel' AS category FROM range($n) AS r(i)",
            {"n": calls},
        )
        con.execute("CREATE TABLE host_links AS SELECT h.event_id, 7 AS op_id FROM raw_host AS h")
        profile = tmp_path / "profile.json"
        con.execute(f"PRAGMA enable_profiling = 'json'; SET profiling_output = '{profile}'")
        most = []
        for name in ("launched", "launches"):
            for statement in con.extract_statements(
                (SQL / f"derive/{name}.sql").read_text("utf-8")
            ):
                con.execute(statement)
                most.append(most_rows(json.loads(profile.read_text("utf-8"))["operator"]))
        con.execute("PRAGMA disable_profiling")
        assert calls < max(most) < 10 * calls
        assert con.execute(
            "SELECT l.event_id % 2, min(l.event_id - l.launch_id), max(l.event_id - l.launch_id),"
            " min(l.op_id), max(l.op_id) FROM device_links AS l GROUP BY 1 ORDER BY 1"
        ).fetchall() == [(0, None, None, calls, calls), (1, 2 * calls, 2 * calls, 7, 7)]
