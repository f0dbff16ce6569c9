"""Words that stand for something: names of kernels and operators, and numbers of device types."""

from __future__ import annotations

from typing import NamedTuple

import duckdb
import pytest

from tests.ingest.conftest import IngestEvents, device, memory
from tracewh.sql_files import create_block

# The list of the TensorBoard plugin: what it takes is taken here too, but for FP32.
MARKS_OF_THE_PLUGIN = [
    "h884", "s884", "h1688", "s1688", "hmma", "i8816", "s16816", "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group",
    "sm80_xmma_implicit_gemm_f16f16", "sm80_xmma_sparse_conv",
    "sm90_xmma_warp_specialized_implicit_gemm_bf16bf16", "sm90_xmma_gemm_bf16bf16",
    "sm80_xmma_sparse_gemm_i8i8", "c1688",
]  # fmt: skip

PATTERNS = """
    SELECT p.says, p.library, p.pattern, p.seen_on, p.seen_in, p.must_not_match
    FROM kernel_patterns() AS p
"""

#: What the rows say of a name, those that say more first.
VERDICTS = {"exempt": False, "tensor_cores": True, "unclear": None, "plain": False, None: None}


class Row(NamedTuple):
    """A row of kernel_patterns."""

    says: str
    library: str
    pattern: str
    seen_on: str
    seen_in: str
    must_not_match: str

    @property
    def means(self) -> bool | str | None:
        """What its name is when it counts."""
        return VERDICTS.get(self.says, self.says)


def _read() -> tuple[list[Row], dict[str, set[str]]]:
    """The rows, and the patterns that match each name in them."""
    with duckdb.connect() as con:
        create_block(con, "kernel_patterns")
        rows = [Row(*row) for row in con.execute(PATTERNS).fetchall()]
        matches = con.execute(f"""
            WITH p AS ({PATTERNS})
            SELECT n.name, list(p.pattern) FILTER (regexp_matches(n.name, p.pattern))
            FROM (SELECT unnest([p.seen_on, p.must_not_match]) AS name FROM p) AS n, p
            GROUP BY n.name
        """).fetchall()
    return rows, {name: set(patterns or ()) for name, patterns in matches}


ROWS, MATCHES = _read()
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.says} {row.pattern}")


def verdict(name: str, rows: list[Row], like: Row) -> bool | str | None:
    """What rows say of the name of a kernel or of an operator, where the row `like` is of one."""
    said = {row.says for row in rows if row.pattern in MATCHES[name]}
    if like.says == "communication_operator":
        return like.says if like.says in said else None
    if "communication" in said:
        return "communication"
    return VERDICTS[next((says for says in VERDICTS if says in said), None)]


@each_row
def test_each_row_is_told_by_the_name_it_was_seen_on(row: Row) -> None:
    assert row.pattern in MATCHES[row.seen_on]
    assert verdict(row.seen_on, ROWS, row) == row.means


@each_row
def test_each_row_leaves_a_name_alone(row: Row) -> None:
    assert row.pattern not in MATCHES[row.must_not_match]
    if row.says != "plain":
        assert verdict(row.must_not_match, ROWS, row) != row.means or row.says == "exempt"


@each_row
def test_each_row_is_needed(row: Row) -> None:
    others = [other for other in ROWS if other is not row]
    assert verdict(row.seen_on, others, row) != row.means


def test_rows_are_complete_and_no_pattern_stands_twice() -> None:
    assert all(field for row in ROWS for field in row)
    assert len({row.pattern for row in ROWS}) == len(ROWS)


# c10::DeviceType, from 0.
DEVICE_TYPES = [
    "cpu",
    "cuda",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "fpga",
    "maia",
    "xla",
    "vulkan",
    "metal",
    "xpu",
    "mps",
    "meta",
    "hpu",
    "ve",
    "lazy",
    "ipu",
    "mtia",
    "privateuseone",
]


def test_ingest_goes_by_the_rows(ingest_events: IngestEvents) -> None:
    kernels = [row for row in ROWS if row.says != "communication_operator"]
    names = sorted({name for row in kernels for name in (row.seen_on, row.must_not_match)})
    found = ingest_events([device(at, at + 1, name=name) for at, name in enumerate(names)]).rows(
        "SELECT t.name, t.kind, t.uses_tensor_cores FROM device_events AS t ORDER BY t.event_id"
    )
    said = [(name, verdict(name, ROWS, kernels[0])) for name in names]
    assert found == [
        ("__amd_rocclr_copyBuffer", "memcpy", False)
        if name == "__amd_rocclr_copyBuffer"
        else (name, "communication", False)
        if means == "communication"
        else (name, "compute", means)
        for name, means in said
    ]


def test_kernels_that_use_tensor_cores_to_the_plugin(ingest_events: IngestEvents) -> None:
    rows = ingest_events(
        [device(at, at + 1, name=n) for at, n in enumerate(MARKS_OF_THE_PLUGIN)]
    ).rows("SELECT t.name, t.uses_tensor_cores FROM device_events AS t ORDER BY t.event_id")
    assert rows == [(name, True) for name in MARKS_OF_THE_PLUGIN]


def test_a_name_that_cannot_tell(ingest_events: IngestEvents) -> None:
    names = ["triton_red_fused_mm", "triton_", "fused_moe_kernel", "gemm", "my_kernel.kd"]
    rows = ingest_events([device(at, at + 1, name=name) for at, name in enumerate(names)]).rows(
        "SELECT t.name, t.uses_tensor_cores FROM device_events AS t ORDER BY t.event_id"
    )
    assert rows == [(name, None) for name in names]


PIPE = "sm__inst_executed_pipe_tensor.sum"
HMMA = "sm__inst_executed_pipe_tensor_op_hmma.sum"
GMMA = "sm__inst_executed_pipe_tensor_op_gmma.sum"
BF16 = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"


@pytest.mark.parametrize(
    ("name", "counters", "said"),
    [
        ("my_kernel", {}, None),
        ("my_kernel", {PIPE: 5}, True),
        ("my_kernel", {PIPE: 0}, False),
        ("my_kernel", {HMMA: 7.5}, True),
        # Products of integers are other instructions.
        ("my_kernel", {HMMA: 0}, None),
        ("my_kernel", {HMMA: 0, PIPE: 0}, False),
        ("my_kernel", {GMMA: 0}, None),
        ("my_kernel", {BF16: 8}, True),
        ("my_kernel", {BF16: 0}, None),
        ("ampere_bf16_s16816gemm", {"sm__ops_path_tensor_src_fp64.sum": 0}, True),
        # The most that the device can do is above 0 for each kernel.
        ("my_kernel", {f"{PIPE}.peak_sustained": 4}, None),
        ("my_kernel", {f"{PIPE}.peak_sustained": 4, PIPE: 0}, False),
        ("my_kernel", {"dram__bytes.sum": 9}, None),
        ("ampere_bf16_s16816gemm", {PIPE: 0}, False),
        ("volta_sgemm_128x64_nn", {PIPE: 1}, True),
        ("ncclDevKernel_Generic", {PIPE: 0}, False),
    ],
)
def test_counters_of_tensor_cores_count_before_names(
    ingest_events: IngestEvents, name: str, counters: dict[str, float], said: bool | None
) -> None:
    events = [device(0, 1, name=name), device(2, 3, name="other")]
    if counters:
        events.append(device(0, 1, "cuda_profiler_range", name, **counters))
    rows = ingest_events(events).rows(
        "SELECT t.category, t.uses_tensor_cores FROM device_events AS t"
        " WHERE t.name <> 'other' ORDER BY t.event_id"
    )
    assert rows[0] == ("kernel", said)
    assert [category for category, of in rows[1:] if of is not None] == []


def test_device_types(ingest_events: IngestEvents) -> None:
    events = []
    numbers = [*range(len(DEVICE_TYPES)), -2, -1, len(DEVICE_TYPES), 2**31 - 1, 2**31]
    for number in numbers:
        event = memory(5)
        event["args"] = {**event["args"], "Device Type": number}
        events.append(event)
    rows = ingest_events(events).rows(
        "SELECT t.device_type FROM memory_records AS t ORDER BY t.event_id"
    )
    assert [name for (name,) in rows] == [*DEVICE_TYPES, *(5 * [None])]
