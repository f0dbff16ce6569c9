"""comm_overlap against HolisticTraceAnalysis (whole traces) and the TensorBoard plugin (steps)."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

Figures = tuple[float, float, float]

# Kinds of difference, all of them the peers'.
HOST = "HTA looks at devices only; the collectives of this trace are rows of the host"
LABELS = (
    "the plugin takes the kernels of collectives for compute, and what it knows as communication "
    "are rows of the host and GPU annotations"
)
HOST_ROWS = "the plugin counts the host rows of collectives beside a device; ours only wait there"
OTHER_COLLECTIVES = "the plugin knows five collectives; nccl:all_to_all is not among them"
FLOATS = f"{HOST_ROWS}; its floats hold 0.25 us, and hundreds of roundings add up"

NCCL = "a100_nccl_2024/nccl_data"
RANK_0 = "two_ranks_nccl_2023/sampled_rank-0"
RANK_1 = "two_ranks_nccl_2023/sampled_rank-1"
CPU = "cpu_only_2022/rank_not_found"
GLOO = "cpu_only_2024/rank-34.Jul_15_10_52_41.1074.pt.trace"
SMALL = "diff_small_2022/base/base"
ABSOLUTE = "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace"

#: Whole traces, overlap in percent: trace -> (ours, HTA's, why).
WHOLE: dict[str, tuple[float | None, float | None, str]] = {
    # six nccl:all_to_all of 566 us in all, each within an operator
    CPU: (100.0, None, HOST),
    # ten gloo:all_reduce of 1102980.645 us, and no operator beside them
    GLOO: (0.0, None, HOST),
}

#: Steps, computation, overlap and communication in us: (trace, step) -> (ours, the plugin's, why).
#: Computation and communication contain the overlap here, as they do for the plugin.
STEPS: dict[tuple[str, int], tuple[Figures, Figures, str]] = {
    (NCCL, 4): ((38506.406, 1825.259, 11989.021), (48670.157, 12084.893, 12440.937), LABELS),
    (NCCL, 5): ((38429.422, 1760.42, 12300.029), (48969.035, 12385.275, 12696.959), LABELS),
    (NCCL, 6): ((38720.019, 3731.346, 22587.443), (57576.116, 22682.934, 23055.737), LABELS),
    (RANK_0, 551): ((106252.0, 23068.0, 195327.0), (278511.0, 0.0, 218.0), LABELS),
    (RANK_0, 552): ((104068.0, 36148.0, 200872.0), (268792.0, 91.0, 167.0), LABELS),
    (RANK_1, 551): ((135548.0, 33691.0, 168027.0), (269884.0, 94.0, 206.0), LABELS),
    (RANK_1, 552): ((136425.0, 41839.0, 211026.0), (305612.0, 153.0, 166.0), LABELS),
    (CPU, 1009): ((74526.0, 566.0, 566.0), (74526.0, 0.0, 0.0), OTHER_COLLECTIVES),
    (SMALL, 1010): ((211.0, 0.0, 0.0), (211.0, 0.0, 67.0), HOST_ROWS),
    (ABSOLUTE, 101): ((93696.68, 0.0, 0.0), (93700.25, 222.25, 276.25), FLOATS),
    (ABSOLUTE, 102): ((93734.47, 0.0, 0.0), (93740.5, 190.25, 190.25), FLOATS),
    (ABSOLUTE, 103): ((93601.607, 0.0, 0.0), (93607.0, 128.25, 128.25), FLOATS),
    (ABSOLUTE, 104): ((93705.249, 0.0, 0.0), (93708.75, 132.75, 133.75), FLOATS),
    (ABSOLUTE, 105): ((93415.596, 0.0, 0.0), (93416.75, 18.5, 18.5), FLOATS),
}

#: Compared in full: nothing differs but what is listed above. The peers' figures for
#: diff_small_2022/test are those of another file.
TRACES = [
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143566756.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623213129365.pt.trace",
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace",
    "a100_cupti_counters_2023/benchmark_result_924719_1679055439_trace",
    "a100_event_sync_2024/event_sync_trace",
    "a100_triton_2024/triton_example",
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001",
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002",
    "mi210_gpu_only_2025/gpu_only_trace",
    "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto",
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
    "mi300x_triton_2026/trace",
    "mtia_inference_2026/mtia_inference_rank_0",
    *dict.fromkeys([*WHOLE, *(trace for trace, _ in STEPS)]),
]


@pytest.mark.parametrize("trace", TRACES)
def test_of_a_whole_trace_hta_says_the_same(
    trace: str, shared: Path, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said = json.loads((shared / "expected" / f"{trace}.hta.json").read_text("utf-8"))
    [row] = said["data"]["comm_comp_overlap"]["data"]
    theirs = row["comp_comm_overlap_pctg"]  # to 2 decimals; null without communication
    [ours] = [
        row[-1] for row in corpus.comm_overlap(**plugin(trace)[1]).fetchall() if row[3] is None
    ]
    ours = None if ours is None else round(ours, 2)
    if ours == theirs:
        assert trace not in WHOLE
    else:
        assert (ours, theirs) == WHOLE[trace][:2]


@pytest.mark.parametrize("trace", TRACES)
def test_of_steps_nothing_but_the_listed_figures_differs(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    theirs = {row["step"]: row for row in said["communication"]["overlap_by_step"]}
    found = {}
    for _, _, _, step, alone, overlap, exposed, other, _ in corpus.comm_overlap(**keys).fetchall():
        if str(step) not in theirs:  # the whole trace, or a tail step
            continue
        peer = theirs[str(step)]
        mine = (alone + overlap, overlap, exposed + overlap)
        yours = (peer["computation"], peer["overlap"], peer["communication"])
        differences = [abs(a - b) for a, b in zip(mine, yours, strict=True)]
        if max(differences) > 1:
            found[trace, step] = tuple(pytest.approx(row, abs=0.001) for row in (mine, yours))
        else:
            assert other == pytest.approx(peer["other"], abs=1)
    assert {key: row[:2] for key, row in STEPS.items() if key[0] == trace} == found


def test_every_nanosecond_is_that_of_the_raw_file(corpus: tracewh.Warehouse) -> None:
    rows = corpus.sql(
        """
        SELECT t.source_path, o.computation_us, o.overlap_us, o.communication_us, o.other_us
        FROM comm_overlap() AS o
        INNER JOIN traces AS t ON o.run = t.run AND o.worker = t.worker AND o.span = t.span
        WHERE o.step IS NULL
        """
    ).fetchall()
    assert len(rows) > 20
    for path, *figures in rows:
        if not path.endswith(".gz"):
            continue  # another tool's list of events
        with gzip.open(path) as file:
            events = json.load(file, parse_float=Decimal, parse_int=Decimal)["traceEvents"]
        assert (path, [round(figure * 1000) for figure in figures]) == (path, _figures(events))


def _figures(events: list[dict[str, Any]]) -> list[int]:
    """Computation alone, both, communication alone and neither, in ns, independent of SQL."""
    timed = [event for event in events if event.get("ph") == "X" and event["cat"] != "Trace"]
    device = [event for event in timed if _is_kernel(event["cat"].lower(), event["name"])]
    work = device or [
        event
        for event in timed
        if event["cat"] in ("cpu_op", "user_annotation")
        and not event["name"].startswith(("ProfilerStep#", "enumerate(Data"))
    ]
    changes = []
    for event in work:
        start = int(event["ts"] * 1000)
        communicates = "nccl" in event["name"] or event["name"].startswith(("gloo:", "c10d::"))
        changes += [(start, communicates, 1), (start + int(event["dur"] * 1000), communicates, -1)]
    changes.sort()
    running, sums = [0, 0], {(True, False): 0, (True, True): 0, (False, True): 0}
    for (time, communicates, change), (then, *_) in pairwise(changes):
        running[communicates] += change
        if max(running) > 0:
            sums[running[0] > 0, running[1] > 0] += then - time
    starts = [int(event["ts"] * 1000) for event in timed]
    ends = [int(event["ts"] * 1000) + int(event["dur"] * 1000) for event in timed]
    return [*sums.values(), max(ends) - min(starts) - sum(sums.values())]


def _is_kernel(category: str, name: str) -> bool:
    if category == "mtia_ccp_events":
        return not name.startswith(("dma", "event_"))
    return category == "kernel" and not name.startswith("__amd_rocclr_copyBuffer")
