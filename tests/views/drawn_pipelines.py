"""Turn drawn tables of pipeline-parallel jobs into the traces that the ranks of such a job record on GPUs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from typing import Any, NamedTuple

from tests.views.drawn_jobs import BACKWARD, FORWARD, Drawing, draw
from tests.views.pipeline_reference import PEERS, Operation

Row = dict[str, Any]
#: Operations that no annotation names.
UNNAMED = {
    "gc",
    "layernorm-grads-all-reduce",
    "embedding-grads-all-reduce",
    "optimizer-clip-main-grad",
}
KERNELS = {
    "params-all-gather": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "grads-reduce-scatter": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgs)",
    "separate-grads-all-reduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)",
    **dict.fromkeys(PEERS, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
}
CODES = {
    "forward-compute": "F",
    "backward-compute": "B",
    "forward-send": "SEND_F",
    "forward-recv": "RECV_F",
    "backward-send": "SEND_B",
    "backward-recv": "RECV_B",
    "params-all-gather": "UNSHARD",
    "grads-reduce-scatter": "REDUCE_GRAD",
    "separate-grads-all-reduce": "REDUCE_GRAD",
}
MAIN, AUTOGRAD = 100, 101


class Named(NamedTuple):
    """An operation with the chunk and the microbatch that its annotation names, and its times in ns."""

    operation: Operation
    gmc: int
    mb_id: int
    start_ns: int
    end_ns: int
    is_annotated: bool


def name_operations(drawing: Drawing) -> list[Named]:
    """The operations of a drawn job, without those that no annotation names.

    Where the first or last chunk has no peer, a job of several chunks has an operation of no duration.
    """
    of_rank: dict[tuple[int, int], list[Operation]] = defaultdict(list)
    for row in draw(drawing):
        if row.optype not in UNNAMED:
            of_rank[row.step, row.rank].append(row)
    return [named for rows in of_rank.values() for named in _name(drawing, rows)]


def _name(drawing: Drawing, rows: list[Operation]) -> Iterable[Named]:
    model = drawing.stages * drawing.chunks
    batches: dict[tuple[str, int], int] = defaultdict(int)
    named: list[Named] = []
    for at, row in enumerate(rows):
        start, end = round(row.start_ts * 1e9), round((row.start_ts + row.duration) * 1e9)
        direction, _, kind = row.optype.partition("-")
        gmc, mb_id, has_peer = max(row.mc, 0) * drawing.stages + row.stage, -1, True
        if direction in (FORWARD, BACKWARD):
            # A receive stands before its computation, and a send behind it.
            places = range(at, len(rows)) if kind == "recv" else range(at, -1, -1)
            compute = next(
                rows[place] for place in places if rows[place].optype == f"{direction}-compute"
            )
            gmc = compute.gmc
            mb_id = batches[direction, gmc] - (kind == "send")
            batches[direction, gmc] += kind == "compute"
            if kind != "compute":
                has_peer = 0 <= gmc + PEERS[row.optype][1] < model
                if not has_peer and kind == "recv":
                    start = end = round(compute.start_ts * 1e9)
                elif not has_peer:
                    start = end = round((compute.start_ts + compute.duration) * 1e9)
        named.append(Named(row, gmc, mb_id, start, end, has_peer))
    return [
        each._replace(start_ns=_in_order(named, each), end_ns=_in_order(named, each))
        if not each.is_annotated
        else each
        for each in named
    ]


def _in_order(named: list[Named], idle: Named) -> int:
    """When an operation without a peer is, so that operations of its type keep their order."""
    alike = [each for each in named if each.operation.optype == idle.operation.optype]
    at = alike.index(idle)
    if idle.operation.optype.endswith("recv"):
        later = [each.start_ns for each in alike[at:] if each.is_annotated]
        return min([idle.start_ns, *later])
    return max([idle.start_ns, *(each.start_ns for each in alike[:at] if each.is_annotated)])


def expected_table(drawing: Drawing, named: list[Named]) -> list[tuple[Any, ...]]:
    """The rows of the table, with its times from the start of each step."""
    first: dict[int, int] = {}
    for each in named:
        step = each.operation.step
        first[step] = min(first.get(step, each.start_ns), each.start_ns)
    rows = []
    for operation, gmc, mb_id, start, end, _ in named:
        is_computation = operation.optype.endswith("compute")
        is_collective = operation.optype not in PEERS and operation.optype != "optimizer"
        rows.append(
            (
                operation.dp_rank,
                operation.stage,
                operation.rank,
                operation.step,
                operation.optype,
                (start - first[operation.step]) / 1e9,
                (end - start) / 1e9,
                operation.seq_id,
                gmc // drawing.stages if is_collective else -1,
                mb_id if is_computation else -1,
                gmc if is_computation else -1,
            )
        )
    return rows


def traces_of(drawing: Drawing, named: list[Named]) -> dict[int, Row]:
    """The trace of each rank: what the host does is far ahead of the device."""
    ranks = drawing.stages * drawing.dp_ranks
    return {
        rank: {
            "schemaVersion": 1,
            "baseTimeNanoseconds": 1_700_000_000_000_000_000,
            "host_name": "node",
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
            "traceEvents": list(_events([each for each in named if each.operation.rank == rank])),
        }
        for rank in range(ranks)
    }


def _event(cat: str, name: str, pid: int, tid: int, start: int, end: int, **args: Any) -> Row:
    place = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid}
    return {**place, "ts": start / 1000, "dur": (end - start) / 1000, "args": args}


def _events(named: list[Named]) -> Iterable[Row]:
    correlation = count(1)
    for number, step in enumerate(sorted({each.operation.step for each in named})):
        here = [each for each in named if each.operation.step == step and each.is_annotated]
        begin = number * 60_000_000_000
        device = begin + 20_000_000
        yield _event(
            "user_annotation", f"ProfilerStep#{step}", 1, MAIN, begin, begin + 10_000 * len(here)
        )
        for place, each in enumerate(here):
            at = begin + 10_000 * place
            optype = each.operation.optype
            name = "Optimizer.step#AdamW.step"
            if optype in CODES:
                batch = each.mb_id if each.mb_id >= 0 else ""
                name = f"PP:{each.gmc}{CODES[optype]}{batch}"
            yield _event("user_annotation", name, 1, MAIN, at, at + 9_000)
            half = (each.start_ns + each.end_ns) // 2
            pieces = [(each.start_ns, each.end_ns)]
            if optype not in KERNELS:
                pieces = [(each.start_ns, half), (half, each.end_ns)]
            thread = AUTOGRAD if optype == "backward-compute" else MAIN
            for piece, (start, end) in enumerate(pieces):
                number_of_call = next(correlation)
                call = at + 1_000 + 3_000 * piece
                yield _event(
                    "cuda_runtime", "cudaLaunchKernel", 1, thread, call, call + 1_000,
                    correlation=number_of_call,
                )  # fmt: skip
                stream = 20 if optype in KERNELS else 7
                yield _event(
                    "kernel", KERNELS.get(optype, "gemm"), 0, stream, device + start, device + end,
                    device=0, stream=stream, correlation=number_of_call,
                )  # fmt: skip
