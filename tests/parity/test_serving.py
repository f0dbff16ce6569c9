"""Serving steps and attention against the figures of the folder shared/data/inference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.parity.test_graphs import each_pair, inference, said

if TYPE_CHECKING:
    import tracewh

__all__ = ["inference", "said"]

#: What the figures call what the columns of serving_steps hold.
NAMES = {
    "phase": "phase",
    "host_us": "host_us",
    "device_events": "device_events",
    "device_window_us": "device_window_us",
    "busy_us": "busy_us",
    "gap_us": "gap_us",
    "gap_queued_us": "queued_us",
    "launch_calls": "launch_calls",
    "launch_call_us": "launch_us",
    "blocking_calls": "blocking_calls",
    "blocking_call_us": "blocking_us",
    "graph_launches": "graph_launches",
    "device_sum_us": "device_us",
    "graph_share_pct": "graph_pct",
    "attention_kernel_us": "attention_us",
    "attention_share_pct": "attention_pct",
    "tokens": "tokens",
    "tokens_per_busy_s": "tokens_per_second",
    "context_requests": "prefill_requests",
    "c_sq": "prefill_tokens",
    "c_sk": "prefill_context",
    "generation_requests": "decode_requests",
    "g_sq": "decode_tokens",
    "g_sk": "decode_context",
}

#: Part of gap_starved_us that lies before a wait for work that is not in the trace, which is no part of the step here.
STARVED_BEFORE_US = {"sglang_decode": 38.309}

#: Operators that have device time here, and none in TraceLens.
ONLY_HERE = {
    "sglang_decode": ["aten::arange", "aten::cumsum"],
    "vllm_prefilldecode_piecewise": ["aten::index", "aten::sub"],
}


def one_step(warehouse: tracewh.Warehouse, run: str) -> dict[str, Any]:
    relation = warehouse.serving_steps(run=run)
    [row] = relation.fetchall()
    return dict(zip(relation.columns, row, strict=True))


@each_pair
def test_a_step_has_the_figures_of_its_outermost_annotation(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    step = one_step(inference, pair)
    wanted = said["steps"][0]
    ours = {name: step[column] for name, column in NAMES.items()}
    assert ours == {
        name: pytest.approx(wanted[name], rel=2e-4 if name.endswith("_pct") else 5e-5, abs=1e-6)
        if isinstance(wanted[name], float)
        else wanted[name]
        for name in NAMES
    }
    starved_us = wanted["gap_starved_us"] - STARVED_BEFORE_US.get(pair, 0)
    assert step["starved_us"] == pytest.approx(starved_us, rel=5e-5, abs=1e-6)
    assert step["name"] == wanted["annotation"]
    assert step["compiled_graph_calls"] == said["compiled_graph_calls"]


@each_pair
def test_the_timeline_is_that_of_tracelens(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    step = one_step(inference, pair)
    timeline = said["tracelens"]["gpu_timeline_ms"]
    for name, column in (
        ("busy_time", "busy_us"),
        ("idle_time", "gap_us"),
        ("total_time", "device_window_us"),
        ("exposed_comm_time", "exposed_communication_us"),
    ):
        assert step[column] == pytest.approx(1000 * timeline[name], rel=1e-4), name


@each_pair
def test_every_replayed_piece_of_a_step_has_its_operator(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    step = one_step(inference, pair)
    assert step["graph_coverage_pct"] == said["graph"]["attributed_pct"]
    attention = {
        "sglang_decode": "sglang_profiler::attention_paged_attention_ragged_100",
        "vllm_prefilldecode_piecewise": "vllm::unified_attention_with_output",
    }[pair]
    [(operator,)] = inference.sql(
        "SELECT DISTINCT operator FROM attention_roofline(run := $run)", {"run": pair}
    ).fetchall()
    assert operator == attention


@each_pair
def test_attention_has_the_operations_and_bytes_of_the_model(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    [row] = inference.attention_roofline(run=pair).fetchall()
    ours = dict(zip(inference.attention_roofline(run=pair).columns, row, strict=True))
    model = said["attention_model"]
    assert ours["query_heads"] == model["query_heads"]
    assert ours["kv_heads"] == model["kv_heads"]
    assert ours["key_dim"] == model["head_dim"]
    assert ours["prefill_pairs"] + ours["decode_pairs"] == model["query_key_pairs"]
    assert ours["flops"] == model["flops_per_call"]
    assert ours["bytes"] == model["bytes_per_call"]
    theirs = said["tracelens"]["attention"][0]
    assert ours["calls"] == theirs["calls"]
    assert ours["total_us"] == pytest.approx(theirs["us"], rel=1e-4)
    # TraceLens takes another causal mask for prefill: see model["tracelens_flops"].
    ratio = model["flops_per_call"] / model["tracelens_flops"]
    assert ours["flops"] / 1e9 == pytest.approx(theirs["gflops"] * ratio, rel=1e-4)


def test_layers_with_a_window_stay_under_the_peak_and_are_seen_by_call(
    inference: tracewh.Warehouse,
) -> None:
    """Layers of two kinds alternate under one kernel name: only their times tell."""
    rows = inference.sql(
        """
        SELECT call % 2, round(avg(call_us)), round(avg(achieved_tflops))
        FROM attention_roofline(run := 'vllm_prefilldecode_piecewise', group_by := 'call')
        GROUP BY ALL ORDER BY avg(call_us)
        """
    ).fetchall()
    assert [row[1:] for row in rows] == [(132.0, 493.0), (297.0, 219.0)]


def test_a_device_that_works_on_something_else_is_not_called_idle(
    inference: tracewh.Warehouse,
) -> None:
    rules = inference.sql(
        "SELECT rule FROM recommendations(run := 'sglang_decode', every_rule := TRUE)"
    ).fetchall()
    assert sorted(rule for (rule,) in rules) == ["blocking_call", "unrecorded_work"]
    causes = dict(
        inference.sql(
            "SELECT idle_category, sum(idle_us) FROM idle_time(run := 'sglang_decode') GROUP BY ALL"
        ).fetchall()
    )
    assert causes["unrecorded_work"] == pytest.approx(463251.758)
    assert causes["host_wait"] < 3000
    said = inference.sql(
        "SELECT part, name, text, detail FROM verdict(run := 'sglang_decode')"
    ).fetchall()
    [headline] = [text for part, _, text, _ in said if part == "headline"]
    assert headline == (
        "10.5 ms per decode step at batch 32: the GPU limits it, 93 % busy. After a call that blocks, "
        "the GPU waits for launches for up to 338 us of the step (3.2 %)."
    )
    cards = {name: detail for part, name, _, detail in said if part == "card"}
    assert cards["step_time"] == "one step, 3,274 tokens per second"
    assert (
        cards["gpu_busy"]
        == "of the step, without 463 ms of waits for work that is not in the trace"
    )


@each_pair
def test_other_views_know_serving_steps(inference: tracewh.Warehouse, pair: str) -> None:
    [(step, is_tail, kernel_us)] = inference.sql(
        "SELECT step, is_tail, kernel_us FROM step_breakdown(run := $run)", {"run": pair}
    ).fetchall()
    assert (step, is_tail) == (1, False)
    [(in_step, of_all)] = inference.sql(
        """
        SELECT
            (SELECT sum(total_us) FROM kernel_stats(run := $run, step := 1)),
            (SELECT sum(total_us) FROM kernel_stats(run := $run))
        """,
        {"run": pair},
    ).fetchall()
    assert in_step == pytest.approx(of_all)
    assert 0 < kernel_us <= in_step


@each_pair
def test_time_by_operator_is_that_of_tracelens(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    """TraceLens lists some device time by the call that launched it (hip*); those rows are left out."""
    theirs = {
        name: ms * 1000
        for name, (_, ms) in said["tracelens"]["operator"].items()
        if not name.startswith("hip")
    }
    totals = inference.operator_stats(run=pair).aggregate("name, sum(device_self_us)").fetchall()
    ours = {name: us for name, us in totals if us > 0}
    # TraceLens rounds to 1/1024 us per event.
    assert {name: ours[name] for name in theirs} == {
        name: pytest.approx(us, rel=1e-4, abs=0.002) for name, us in theirs.items()
    }
    assert sorted(ours.keys() - theirs.keys()) == ONLY_HERE[pair]


@each_pair
def test_time_by_category_is_that_of_tracelens(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    """The other categories of TraceLens have no counterpart."""
    step = one_step(inference, pair)
    for category, column in (("GEMM", "gemm_pct"), ("RMSNorm", "norm_pct")):
        ms = said["tracelens"]["category"][category][1]
        assert step[column] * step["device_us"] / 1e5 == pytest.approx(ms, rel=1e-4)
