"""The samples of a CPU: what is in them, what must not be, and that record.py still makes them."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tracewh
from tests.torch_forks import run_with_torch

SAMPLES = Path(__file__).parents[2] / "samples"
#: What record.py records.
RUNS = ("resnet_workers_0", "resnet_workers_2", "ddp_gloo")
TRACES = sorted(path for run in RUNS for path in (SAMPLES / run).glob("*.pt.trace.json.gz"))
# What one training step must do, counted in record.py's SmallResNet: a stem, two blocks of two
# convolutions, one of them with a third in its short cut; a batch norm behind each convolution of
# a block; a relu in the stem and two in each block; one linear layer.
PER_STEP = {
    "aten::convolution": 1 + 2 + 3,
    "aten::convolution_backward": 1 + 2 + 3,
    "aten::batch_norm": 2 + 2,
    "aten::relu": 1 + 2 + 2,
    "aten::addmm": 1,
}
# Shrinking a picture enters this operator twice, one call directly inside the other: an only child
# of the same name, which counts as one call. A batch has four pictures.
SHRINK = "aten::_upsample_bilinear2d_aa"


@pytest.fixture(scope="module")
def record() -> ModuleType:
    """samples/record.py, imported."""
    spec = importlib.util.spec_from_file_location("record", SAMPLES / "record.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded_steps(record: ModuleType, cycles: int, active: int) -> dict[str, list[int]]:
    """The steps on record in each span, by the rules of torch.profiler.schedule."""
    skipped = record.WAIT + record.WARMUP
    length = skipped + active
    return {
        str(cycle + 1): [cycle * length + skipped + step for step in range(active)]
        for cycle in range(cycles)
    }


def test_there_are_six_and_they_are_small() -> None:
    assert Counter(trace.parent.name for trace in TRACES) == {
        "resnet_workers_0": 2,
        "resnet_workers_2": 2,
        "ddp_gloo": 2,
    }
    assert sum(trace.stat().st_size for trace in TRACES) < 2_000_000


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: f"{trace.parent.name}/{trace.name}")
def test_a_sample_tells_nothing_about_the_machine(trace: Path) -> None:
    text = gzip.decompress(trace.read_bytes()).decode()
    assert json.loads(text)["host_name"] == "localhost"
    assert re.findall(r'"/[^"]*|[^"]*site-packages[^"]*|"[A-Z]:\\[^"]*', text) == []


def test_workers_spans_and_steps_follow_from_the_schedule(
    samples: tracewh.Warehouse, record: ModuleType
) -> None:
    two_cycles = recorded_steps(record, record.CYCLES, record.ACTIVE)
    one_cycle = recorded_steps(record, 1, record.RANK_ACTIVE)
    expected = {
        ("resnet_workers_0", "worker0"): two_cycles,
        ("resnet_workers_2", "worker0"): two_cycles,
        ("ddp_gloo", "rank0"): one_cycle,
        ("ddp_gloo", "rank1"): one_cycle,
    }
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    for run, worker, span, step in samples.sql(
        f"SELECT run, worker, span, step FROM step_breakdown() WHERE run IN {RUNS} ORDER BY step"
    ).fetchall():
        found.setdefault((run, worker), {}).setdefault(span, []).append(step)
    assert found == expected


def test_the_whole_file_is_in(samples: tracewh.Warehouse) -> None:
    in_files = Counter[str]()
    for trace in TRACES:
        text = gzip.decompress(trace.read_bytes())
        in_files[trace.parent.name] += len(json.loads(text)["traceEvents"])
    rows = samples.sql(
        f"SELECT run, CAST(sum(events) AS BIGINT) FROM traces WHERE run IN {RUNS} GROUP BY run"
    ).fetchall()
    assert dict(rows) == in_files


def test_operators_are_called_as_often_as_the_model_says(
    samples: tracewh.Warehouse, record: ModuleType
) -> None:
    rows = samples.sql(
        "SELECT run, worker, span, name, calls FROM operator_stats(per_span := TRUE)"
        f" WHERE run IN {RUNS}"
    ).fetchall()
    calls = {(run, worker, span, name): number for run, worker, span, name, number in rows}
    places = {key[:3] for key in calls}
    assert len(places) == len(TRACES)
    for place in places:
        steps = record.RANK_ACTIVE if place[0] == "ddp_gloo" else record.ACTIVE
        for name, times in PER_STEP.items():
            assert calls[*place, name] == times * steps, (place, name)
        loads_itself = place[0] != "resnet_workers_2"
        shrunk = record.BATCH * steps if loads_itself else None
        assert calls.get((*place, SHRINK)) == shrunk, place


def test_only_the_gloo_pair_communicates(samples: tracewh.Warehouse) -> None:
    rows = samples.sql(
        "SELECT run, bool_or(communication_us > 0) FROM step_breakdown()"
        f" WHERE run IN {RUNS} GROUP BY run"
    ).fetchall()
    assert dict(rows) == {"resnet_workers_0": False, "resnet_workers_2": False, "ddp_gloo": True}


def test_loading_ahead_makes_a_step_shorter_beyond_noise(samples: tracewh.Warehouse) -> None:
    pair = {"baseline": "resnet_workers_0", "experiment": "resnet_workers_2"}
    [(change, p_value, significant)] = (
        samples.diff_overview(**pair)
        .project("delta_step_us_pct, step_p_value, step_significant")
        .fetchall()
    )
    assert change < -30 and p_value < 0.001 and significant
    parts = {row[0]: row for row in samples.diff_steps(**pair).fetchall()}
    # What changed is the wait for data: the rest of the step is as it was.
    assert parts["dataloader"][3] < 0.95 * parts["total"][3] < 0
    assert parts["cpu_exec"][-1] is False


def test_the_loader_waits_where_record_py_says(
    samples: tracewh.Warehouse, record: ModuleType
) -> None:
    [(line, function, calls, mean_us)] = samples.sql(
        """
        SELECT source_line, source_function, sum(calls), sum(host_self_us) / sum(calls)
        FROM source_lines(run := 'resnet_workers_0') GROUP BY ALL ORDER BY sum(host_self_us) DESC LIMIT 1
        """
    ).fetchall()
    assert function == record.read_from_storage.__name__
    assert line == record.read_from_storage.__code__.co_firstlineno
    assert calls == record.BATCH * record.ACTIVE * record.CYCLES
    assert record.STORAGE_SECONDS * 1e6 <= mean_us < 1.2 * record.STORAGE_SECONDS * 1e6


def test_nothing_that_can_be_recorded_on_a_cpu_is_missing(samples: tracewh.Warehouse) -> None:
    rows = samples.sql(
        f'SELECT DISTINCT "check" FROM trace_quality() WHERE run IN {RUNS}'
    ).fetchall()
    missing = {check for (check,) in rows if check.startswith("no_")}
    assert missing == {"no_device_events"}


def test_recording_anew_gives_the_same_calls(tmp_path: Path, samples: tracewh.Warehouse) -> None:
    words = ("--only", "resnet_workers_0", "--output", tmp_path)
    run_with_torch(SAMPLES / "record.py", *words, cwd=SAMPLES)
    tracewh.ingest([tmp_path], tmp_path / "warehouse")
    question = """
        SELECT span, name, calls FROM operator_stats(run := 'resnet_workers_0', per_span := TRUE) ORDER BY ALL
    """

    def answer(warehouse: tracewh.Warehouse) -> list[tuple[Any, ...]]:
        return warehouse.sql(question).fetchall()

    with tracewh.open(tmp_path / "warehouse") as fresh:
        assert answer(fresh) == answer(samples) != []
