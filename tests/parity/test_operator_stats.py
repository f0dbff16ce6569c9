"""operator_stats against the TensorBoard plugin, against the raw file, and against torch itself."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

# Kinds of difference, all of them the plugin's.
DRIVER = "it does not know cuda_driver rows: cuLaunchKernel launches nothing and takes no time"
FIRST_CALL = "it takes the first call's word; in a later call a kernel did use tensor cores"
UNKNOWN_ANNOTATION = "it does not know the annotation inside, so its time is the operator's own"
ANNOTATION_TWICE = "it takes away the nccl annotation inside, and the runtime calls in that again"
FALSE_LINK = "the call's External id is its own correlation, so that it belongs to no operator"
NEWER = "its lists of names are of 2021, and miss newer operators and kernels with tensor cores"
DROPPED = "floats hold 0.25 us there: a child that seems to end after its parent is dropped"

NCCL = "a100_nccl_2024/nccl_data"
ABSOLUTE = "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace"
BERT = "h100_bert_2025/gaunernst_bert-small-uncased__1016001"
QWEN = "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
VIT = "h100_vit_2025/Falconsai_nsfw_image_detection__1016002"
TRITON = "a100_triton_2024/triton_example"
MI300X_TRITON = "mi300x_triton_2026/trace"
CPU = "cpu_only_2022/rank_not_found"
MI250 = "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto"
MI300X = "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
ENGINE = "autograd::engine::evaluate_function: "

#: Grouped by name: (trace, operator, figure) -> (ours, the plugin's, why).
DIFFERENCES: dict[tuple[str, str, str], tuple[float, float, str]] = {
    (NCCL, "ConvolutionBackward0", "tensor_core_eligible"): (True, False, FIRST_CALL),
    (NCCL, "aten::convolution_backward", "tensor_core_eligible"): (True, False, FIRST_CALL),
    (NCCL, f"{ENGINE}ConvolutionBackward0", "tensor_core_eligible"): (True, False, FIRST_CALL),
    # 2393.577 us in one cudaStreamGetPriority with the External id 57532, its own correlation
    (NCCL, "aten::cudnn_batch_norm_backward", "host_self_us"): (22710.614, 25104.182, FALSE_LINK),
    # 21 annotations hold calls of 44.368 + 279.301 + 21.358 + 74.393 = 419.420 us
    (NCCL, "record_param_comms", "host_self_us"): (2215.162, 1795.742, ANNOTATION_TWICE),
    # 35 annotations hold calls of 59.428 us; the rest of the difference is the floats'
    (ABSOLUTE, "record_param_comms", "host_self_us"): (313.501, 252.0, ANNOTATION_TWICE),
    (ABSOLUTE, "aten::_foreach_add_", "host_self_us"): (843.088, 897.75, DROPPED),
    (ABSOLUTE, "aten::_foreach_mul_", "host_self_us"): (424.933, 458.5, DROPPED),
    (ABSOLUTE, "aten::unflatten_dense_tensors", "host_self_us"): (494.539, 502.25, DROPPED),
    (ABSOLUTE, "aten::detach", "calls"): (805, 796, DROPPED),
    (ABSOLUTE, "aten::mul", "calls"): (815, 814, DROPPED),
    (ABSOLUTE, "aten::result_type", "calls"): (2415, 2414, DROPPED),
    (ABSOLUTE, "aten::slice", "calls"): (795, 767, DROPPED),
    (ABSOLUTE, "detach", "calls"): (805, 780, DROPPED),
    # 22 cuLaunchKernel of 136.221 us, whose kernels take 164.509 us
    (BERT, "aten::addmm", "host_self_us"): (562.599, 698.821, DRIVER),
    (BERT, "aten::addmm", "device_self_us"): (197.598, 33.089, DRIVER),
    (BERT, "aten::addmm", "device_total_us"): (197.598, 33.089, DRIVER),
    (BERT, "aten::linear", "device_total_us"): (197.598, 33.089, DRIVER),
    (QWEN, "aten::bmm", "host_self_us"): (40.221, 47.201, DRIVER),
    (QWEN, "aten::bmm", "device_self_us"): (3.52, 0.0, DRIVER),
    (QWEN, "aten::bmm", "device_total_us"): (3.52, 0.0, DRIVER),
    (QWEN, "aten::matmul", "device_total_us"): (6672.199, 6668.682, DRIVER),
    (QWEN, "aten::matmul", "tensor_core_total_pct"): (98.744, 98.796, DRIVER),
    (VIT, "aten::addmm", "host_self_us"): (1429.819, 1651.565, DRIVER),
    (VIT, "aten::addmm", "device_self_us"): (735.037, 329.021, DRIVER),
    (VIT, "aten::addmm", "device_total_us"): (735.037, 329.021, DRIVER),
    (VIT, "aten::linear", "device_total_us"): (735.037, 329.021, DRIVER),
    (TRITON, "triton_poi_fused_add_cos_sin_0", "host_self_us"): (48.044, 95.812, DRIVER),
    (TRITON, "triton_poi_fused_add_cos_sin_0", "device_self_us"): (1.76, 0.0, DRIVER),
    (TRITON, "triton_poi_fused_add_cos_sin_0", "device_total_us"): (1.76, 0.0, DRIVER),
    (TRITON, "Torch-Compiled Region: 0/0", "device_total_us"): (1.76, 0.0, DRIVER),
    # '## Call CompiledFxGraph ... ##', 790.794 us of which its own operators take 512.971
    (MI300X_TRITON, "Torch-Compiled Region: 0/0", "host_self_us"): (
        50.585,
        328.409,
        UNKNOWN_ANNOTATION,
    ),
    (CPU, "All2All_Pooled_Req", "host_self_us"): (86.0, 135.0, UNKNOWN_ANNOTATION),
    (CPU, "record_param_comms", "host_self_us"): (1308.0, 1874.0, UNKNOWN_ANNOTATION),
    # Their share of tensor cores, or of AMD's matrix cores: of the operator itself, and in all.
    (MI250, "aten::addmm", "tensor_core_self_pct"): (71.895, 0.0, NEWER),
    (MI250, "aten::addmm", "tensor_core_total_pct"): (71.895, 0.0, NEWER),
    (MI250, "aten::mm", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (MI250, "aten::mm", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI250, f"{ENGINE}AddmmBackward0", "tensor_core_total_pct"): (48.171, 0.0, NEWER),
    (MI250, "aten::linear", "tensor_core_total_pct"): (71.895, 0.0, NEWER),
    (MI250, "AddmmBackward0", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::mm", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::mm", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::_flash_attention_forward", "tensor_core_eligible"): (True, False, NEWER),
    (MI300X, "aten::_flash_attention_forward", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::_flash_attention_forward", "tensor_core_total_pct"): (97.322, 0.0, NEWER),
    (MI300X, "aten::addmm", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::addmm", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::bmm", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::bmm", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::linear", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::matmul", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X, "aten::scaled_dot_product_attention", "tensor_core_eligible"): (True, False, NEWER),
    (MI300X, "aten::scaled_dot_product_attention", "tensor_core_total_pct"): (97.322, 0.0, NEWER),
    (MI300X, "aten::_scaled_dot_product_flash_attention", "tensor_core_eligible"): (
        True,
        False,
        NEWER,
    ),
    (MI300X, "aten::_scaled_dot_product_flash_attention", "tensor_core_total_pct"): (
        97.322,
        0.0,
        NEWER,
    ),
    (NCCL, "aten::convolution_backward", "tensor_core_self_pct"): (60.031, 47.008, NEWER),
    (NCCL, "aten::convolution_backward", "tensor_core_total_pct"): (60.031, 47.008, NEWER),
    (NCCL, "aten::cudnn_convolution", "tensor_core_self_pct"): (68.11, 47.238, NEWER),
    (NCCL, "aten::cudnn_convolution", "tensor_core_total_pct"): (68.11, 47.238, NEWER),
    (NCCL, "aten::convolution", "tensor_core_total_pct"): (68.11, 47.238, NEWER),
    (NCCL, "aten::_convolution", "tensor_core_total_pct"): (68.11, 47.238, NEWER),
    (NCCL, "aten::conv2d", "tensor_core_total_pct"): (68.11, 47.238, NEWER),
    (NCCL, "ConvolutionBackward0", "tensor_core_total_pct"): (60.031, 47.008, NEWER),
    (NCCL, f"{ENGINE}ConvolutionBackward0", "tensor_core_total_pct"): (54.015, 42.297, NEWER),
    (BERT, "aten::_flash_attention_forward", "tensor_core_eligible"): (True, False, NEWER),
    (BERT, "aten::_flash_attention_forward", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (BERT, "aten::_flash_attention_forward", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (BERT, "aten::scaled_dot_product_attention", "tensor_core_eligible"): (True, False, NEWER),
    (BERT, "aten::scaled_dot_product_attention", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (BERT, "aten::_scaled_dot_product_flash_attention", "tensor_core_eligible"): (
        True,
        False,
        NEWER,
    ),
    (BERT, "aten::_scaled_dot_product_flash_attention", "tensor_core_total_pct"): (
        100.0,
        0.0,
        NEWER,
    ),
    (QWEN, "aten::_flash_attention_forward", "tensor_core_eligible"): (True, False, NEWER),
    (QWEN, "aten::_flash_attention_forward", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (QWEN, "aten::_flash_attention_forward", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (QWEN, "aten::_scaled_dot_product_flash_attention", "tensor_core_eligible"): (
        True,
        False,
        NEWER,
    ),
    (QWEN, "aten::_scaled_dot_product_flash_attention", "tensor_core_total_pct"): (
        100.0,
        0.0,
        NEWER,
    ),
    (QWEN, "aten::scaled_dot_product_attention", "tensor_core_eligible"): (True, False, NEWER),
    (QWEN, "aten::scaled_dot_product_attention", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (VIT, "aten::_flash_attention_forward", "tensor_core_eligible"): (True, False, NEWER),
    (VIT, "aten::_flash_attention_forward", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (VIT, "aten::_flash_attention_forward", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (VIT, "aten::scaled_dot_product_attention", "tensor_core_eligible"): (True, False, NEWER),
    (VIT, "aten::scaled_dot_product_attention", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (VIT, "aten::_scaled_dot_product_flash_attention", "tensor_core_eligible"): (
        True,
        False,
        NEWER,
    ),
    (VIT, "aten::_scaled_dot_product_flash_attention", "tensor_core_total_pct"): (
        100.0,
        0.0,
        NEWER,
    ),
    (MI300X_TRITON, "aten::mm", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (MI300X_TRITON, "aten::mm", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X_TRITON, "aten::_flash_attention_forward", "tensor_core_eligible"): (True, False, NEWER),
    (MI300X_TRITON, "aten::_flash_attention_forward", "tensor_core_self_pct"): (100.0, 0.0, NEWER),
    (MI300X_TRITON, "aten::_flash_attention_forward", "tensor_core_total_pct"): (100.0, 0.0, NEWER),
    (MI300X_TRITON, "Torch-Compiled Region: 0/0", "tensor_core_total_pct"): (93.338, 0.0, NEWER),
    (MI300X_TRITON, "aten::_scaled_dot_product_flash_attention", "tensor_core_eligible"): (
        True,
        False,
        NEWER,
    ),
    (MI300X_TRITON, "aten::_scaled_dot_product_flash_attention", "tensor_core_total_pct"): (
        100.0,
        0.0,
        NEWER,
    ),
    (ABSOLUTE, "ConvolutionBackward0", "tensor_core_eligible"): (True, False, NEWER),
    (ABSOLUTE, "aten::convolution_backward", "tensor_core_eligible"): (True, False, NEWER),
    (ABSOLUTE, f"{ENGINE}ConvolutionBackward0", "tensor_core_eligible"): (True, False, NEWER),
}

#: Compared in full: nothing differs but what is listed above.
TRACES = [
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143566756.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623213129365.pt.trace",
    "a100_event_sync_2024/event_sync_trace",
    "cpu_only_2024/rank-34.Jul_15_10_52_41.1074.pt.trace",
    "diff_small_2022/base/base",
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
    "mtia_inference_2026/mtia_inference_rank_0",
    *dict.fromkeys(trace for trace, _, _ in DIFFERENCES),
]

#: The plugin's tables are of no use: most calls of these traces carry their own correlation as
#: External id. Ours are compared with the raw file.
FALSE_LINKS = [
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace",
    "a100_cupti_counters_2023/benchmark_result_924719_1679055439_trace",
    "two_ranks_nccl_2023/sampled_rank-0",
    "two_ranks_nccl_2023/sampled_rank-1",
]

#: The plugin's word for each of our figures, and how far they may be apart.
FIGURES = {
    "calls": ("calls", 0.0),
    "host_self_us": ("host_self", 1.0),
    "host_total_us": ("host_total", 1.0),
    "device_self_us": ("device_self", 1.0),
    "device_total_us": ("device_total", 1.0),
    "tensor_core_eligible": ("tc_eligible", 0.0),
    "tensor_core_self_pct": ("tc_self_ratio", 0.001),
    "tensor_core_total_pct": ("tc_total_ratio", 0.001),
}


@pytest.mark.parametrize("trace", TRACES)
def test_by_name_nothing_but_the_listed_figures_differs(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    ours = _rows(corpus, keys, "name")
    theirs = {(row["name"],): row for row in said["ops_by_name"]}
    assert ours.keys() == theirs.keys()
    found = {
        (trace, name, figure): pytest.approx((mine, other), abs=0.001)
        for (name,) in ours
        for figure, mine, other in _differences(trace, ours[(name,)], theirs[(name,)])
    }
    listed = {key: (a, b) for key, (a, b, _) in DIFFERENCES.items() if key[0] == trace}
    assert listed == found


@pytest.mark.parametrize("trace", TRACES)
def test_by_shape_nothing_differs_in_operators_that_do_not_by_name(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    listed = {
        operator
        for (where, operator, _), (_, _, why) in DIFFERENCES.items()
        if where == trace and why != NEWER
    }
    newer = {operator for where, operator, _ in DIFFERENCES if where == trace} - listed
    ours = _rows(corpus, keys, "input_shape")
    theirs = {(row["name"], _shape(row["input_shape"])): row for row in said["ops_by_name_input"]}
    assert ours.keys() == theirs.keys()
    assert {
        key: differences
        for key in ours
        if key[0] not in listed
        and (
            differences := [
                difference
                for difference in _differences(trace, ours[key], theirs[key])
                if not (key[0] in newer and difference[0].startswith("tensor_core"))
            ]
        )
    } == {}


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("group_by", ["call_stack", "input_shape_call_stack"])
def test_by_stack_the_plugin_has_as_many_rows(
    trace: str, group_by: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    rows = corpus.operator_stats(group_by=group_by, **keys).fetchall()
    ours = Counter((row[3], _shape(row[4])) for row in rows)
    theirs = said["op_call_stacks"]["by_name" if group_by == "call_stack" else "by_name_input"]
    split = ((*key.partition("###")[::2], count) for key, count in theirs.items())
    assert ours == {(name, _shape(shape)): count for name, shape, count in split}


@pytest.mark.parametrize("trace", [*FALSE_LINKS, NCCL, ABSOLUTE, VIT])
def test_times_are_those_of_the_raw_file(
    trace: str, shared: Path, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    _, keys = plugin(trace)
    rows = corpus.operator_stats(**keys).fetchall()
    [path] = (shared / "traces").glob(f"{trace}.json*")
    with gzip.open(path) as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    assert {row[3]: [row[6], *map(_ns, row[7:11])] for row in rows} == _figures(events)


@pytest.mark.filterwarnings("ignore")
def test_a_live_profile_has_the_figures_of_key_averages(tmp_path: Path) -> None:
    """The same profile twice: as torch sums it up, and as tracewh does from its file."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    with torch.profiler.profile(record_shapes=True) as profile:
        for _ in range(3):
            with torch.profiler.record_function("forward"):
                loss = model(torch.rand(16, 64)).softmax(1).to(torch.float64).sum()
            loss.backward()
    profile.export_chrome_trace(str(tmp_path / "live.json"))

    import tracewh

    tracewh.ingest([tmp_path / "live.json"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        by_name = {row[3]: row[6:9] for row in warehouse.operator_stats().fetchall()}
        by_shape = {
            (row[3], _shape(row[4])): row[6]
            for row in warehouse.operator_stats(group_by="input_shape").fetchall()
        }
    said = {
        row.key: (row.count, row.self_cpu_time_total, row.cpu_time_total)
        for row in profile.key_averages()
        if not row.is_user_annotation
    }
    assert by_name == {key: pytest.approx(row, abs=0.01) for key, row in said.items()}
    shapes = profile.key_averages(group_by_input_shape=True)
    assert by_shape == {
        (row.key, _shape(json.dumps(row.input_shapes))): row.count
        for row in shapes
        if not row.is_user_annotation
    }


def _rows(
    corpus: tracewh.Warehouse, keys: dict[str, str], group_by: str
) -> dict[tuple[str, ...], dict[str, Any]]:
    """Our figures by name, or by name and shape; NULL as the 0 that the plugin writes."""
    relation = corpus.operator_stats(group_by=group_by, **keys)
    rows = (dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall())
    return {
        (row["name"],) if group_by == "name" else (row["name"], _shape(row["input_dims"])): {
            figure: row[figure] or 0 for figure in FIGURES
        }
        for row in rows
    }


def _differences(
    trace: str, ours: dict[str, Any], theirs: dict[str, Any]
) -> list[tuple[str, float, float]]:
    """(figure, ours, the plugin's) where the two are too far apart."""
    found = []
    for figure, (word, tolerance) in FIGURES.items():
        mine, other = ours[figure], theirs[word]
        if figure.endswith("_pct"):
            other *= 100
        if trace == ABSOLUTE and figure.endswith("_us"):
            tolerance = max(tolerance, 0.25 * theirs["calls"])  # a float's step in 2024
        if abs(mine - other) > tolerance:
            found.append((figure, mine, other))
    return found


def _shape(text: str | None) -> str:
    """The text of a shape without the ways in which peers write the same one."""
    return (text or "[]").replace(" ", "") or "[]"


def _ns(microseconds: float | Decimal | None) -> int:
    return round((microseconds or 0) * 1000)


def _figures(events: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Calls, host self, host total, device self, device total in ns by operator: a plain walk.

    Independent of ingest and of SQL: one stack per thread, and what was launched by correlation.
    """
    device: dict[int, int] = defaultdict(int)
    threads: dict[tuple[Any, Any], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        category = event.get("cat")
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            device[event["args"]["correlation"]] += _ns(event["dur"])
        elif category in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"):
            threads[event["pid"], event["tid"]].append(event)
    figures: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for rows in threads.values():
        rows.sort(key=lambda row: (row["ts"], -row["dur"]))
        for node in _tree(rows, device):
            _add(node, figures)
    return dict(figures)


def _tree(rows: list[dict[str, Any]], device: dict[int, int]) -> list[dict[str, Any]]:
    roots: list[dict[str, Any]] = []
    stack: list[dict[str, Any]] = []
    for row in rows:
        start, end = _ns(row["ts"]), _ns(row["ts"] + row["dur"])
        while stack and stack[-1]["end"] <= start:
            stack.pop()
        if stack:
            stack[-1]["self"] -= min(end, stack[-1]["end"]) - start
        if row["cat"] in ("cpu_op", "user_annotation"):
            node = {"name": row["name"], "end": end, "total": end - start, "self": end - start}
            node |= {"operator": row["cat"] == "cpu_op", "device": 0, "children": []}
            (stack[-1]["children"] if stack else roots).append(node)
            stack.append(node)
        elif owner := next((node for node in reversed(stack) if node["operator"]), None):
            owner["device"] += device.get(row["args"].get("correlation"), 0)
    return roots


def _add(node: dict[str, Any], figures: dict[str, list[int]]) -> int:
    """Count a node and those below it; returns the device time of them all."""
    while len(node["children"]) == 1 and node["children"][0]["name"] == node["name"]:
        if not (node["operator"] and node["children"][0]["operator"]):
            break
        [only] = node["children"]
        merged = {figure: node[figure] + only[figure] for figure in ("self", "device")}
        node = {**node, **merged, "children": only["children"]}
    below = sum(_add(child, figures) for child in node["children"])
    if node["operator"]:
        own = (1, node["self"], node["total"], node["device"], node["device"] + below)
        figures[node["name"]] = [a + b for a, b in zip(figures[node["name"]], own, strict=True)]
    return int(node["device"] + below)
