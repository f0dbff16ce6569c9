"""The samples of a GPU: what is in them, what must not be, and that the views have the figures of torch."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import tracewh
from tests.live.compare_recordings import CHECKS, Answers, Recording, compare
from tracewh.cli.report.report_trace import first_trace

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "samples"
#: Runs, and how many steps are on record.
STEPS = {
    "gpt_eager": 6,
    "gpt_compiled": 6,
    "gpt_cuda_graphs": 6,
    "gpt_inference": 10,
    "gpt_counters": 1,
    "gpt_memory": 2,
    "resnet_gpu_workers_0": 10,
    "resnet_gpu_workers_2": 10,
    "ddp_gpu_gloo": 3,
}
FILES = sorted(path for run in STEPS for path in (SAMPLES / run).rglob("*") if path.is_file())


def test_they_are_small() -> None:
    sizes = [path.stat().st_size for path in FILES]
    assert len(sizes) == 15
    assert max(sizes) < 600_000 and sum(sizes) < 4_000_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_tells_nothing_about_the_machine(path: Path) -> None:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "ignore")
    assert "site-packages" not in text
    assert re.findall(r'"(?:/|[A-Z]:\\)[^"]*', text) == []
    assert re.findall(r"/(?:opt|root|home|tmp|usr)/\S*", text) == []
    assert set(re.findall(r'"host_name": ?"([^"]*)"', text)) <= {"localhost"}


def test_all_steps_and_kernels_are_there(all_samples: tracewh.Warehouse) -> None:
    rows = all_samples.sql(
        "SELECT run, count(DISTINCT step), bool_and(kernel_us > 0) FROM step_breakdown()"
        f" WHERE run IN {tuple(STEPS)} GROUP BY run"
    ).fetchall()
    assert {run: steps for run, steps, _ in rows} == STEPS
    assert all(busy for *_, busy in rows)


def test_views_have_the_figures_of_torch(all_samples: tracewh.Warehouse) -> None:
    """said/ is what torch said of the same recordings, and how long its own events took between steps."""
    assert [str(each) for each in compare(HERE, all_samples)] == []


def test_something_was_compared(all_samples: tracewh.Warehouse) -> None:
    answers = Answers(all_samples)
    recording = Recording(answers, HERE / "said" / "gpt_eager.worker0.1.json.gz")
    for check in CHECKS:
        assert any(recording.ours(check).values()), check
    assert recording.displaced == []
    # Only gloo's threads call CUDA while the thread that profiles runs operators.
    pair = Recording(answers, HERE / "said" / "ddp_gpu_gloo.rank0.1.json.gz")
    assert 0 < len(pair.displaced) < len(pair.said["categories"]["cpu_op"]) / 10
    assert len([*(HERE / "said").iterdir()]) == 12


def test_cuda_graphs_make_a_step_shorter_beyond_noise(all_samples: tracewh.Warehouse) -> None:
    pair = {"baseline": "gpt_eager", "experiment": "gpt_cuda_graphs"}
    [(change, p_value, significant)] = (
        all_samples.diff_overview(**pair)
        .project("delta_step_us_pct, step_p_value, step_significant")
        .fetchall()
    )
    assert change < -30 and p_value < 0.01 and significant


def test_each_step_replays_a_graph_for_forward_and_one_for_backward(
    all_samples: tracewh.Warehouse,
) -> None:
    rows = all_samples.sql(
        "SELECT events, count(*) FROM graph_replays(run := 'gpt_cuda_graphs') GROUP BY events"
    ).fetchall()
    assert len(rows) == 2 and {launches for _, launches in rows} == {STEPS["gpt_cuda_graphs"]}
    # Inference captured one graph, and replays it in each step.
    rows = all_samples.sql(
        "SELECT events, count(*) FROM graph_replays(run := 'gpt_inference') GROUP BY events"
    ).fetchall()
    assert len(rows) == 1 and rows[0][1] == STEPS["gpt_inference"]


@pytest.mark.parametrize("run", ["gpt_cuda_graphs", "gpt_inference"])
def test_a_replayed_kernel_has_its_operator_or_a_reason(
    all_samples: tracewh.Warehouse, run: str
) -> None:
    """None has an operator here: what was captured has no names of kernels, or was not recorded."""
    kernels, known, said, launched = all_samples.sql(
        f"""
        SELECT count(*), count(operator), count(reason), (
            SELECT sum(r.events)::BIGINT FROM graph_replays(run := '{run}') AS r
        )
        FROM graph_kernels(run := '{run}')
        """
    ).fetchall()[0]
    assert (known, said) == (0, kernels)
    assert kernels == launched > 0


def test_counters_are_those_of_the_kernels_of_the_step(all_samples: tracewh.Warehouse) -> None:
    """In the same order, with the same grids: Nsight Compute ran the same step in another process."""
    [(kernels, counted, same)] = all_samples.sql(
        """
        WITH kernel AS (
            SELECT row_number() OVER (ORDER BY start_ns) AS place, grid, block
            FROM kernels WHERE run = 'gpt_counters' AND category = 'kernel'
        ),
        launch AS (
            SELECT row_number() OVER (ORDER BY event_id) AS place, grid, block
            FROM device_events WHERE run = 'gpt_counters' AND raw_category = 'ncu'
        )
        SELECT count(k.place), count(l.place), count(*) FILTER (k.grid = l.grid AND k.block = l.block)
        FROM kernel AS k FULL JOIN launch AS l USING (place)
        """
    ).fetchall()
    assert kernels == counted == same > 100


def test_tensor_cores_did_the_operations_that_the_shapes_of_the_products_have(
    all_samples: tracewh.Warehouse,
) -> None:
    """2 * M * N * K each. operator_flops also has the additions of the bias, which CUDA cores do."""
    rows = all_samples.sql(
        """
        WITH kernel AS (
            SELECT row_number() OVER (ORDER BY start_ns) AS place, op_id
            FROM kernels WHERE run = 'gpt_counters'
        ),
        counted AS (
            SELECT row_number() OVER (ORDER BY event_id) AS place, tensor_flops
            FROM profiled_kernels(run := 'gpt_counters')
        )
        SELECT
            f.name,
            f.flops - if(f.name = 'aten::addmm', (f.input_dims ->> '$[1][0]')::BIGINT
            * (f.input_dims ->> '$[2][1]')::BIGINT, 0),
            sum(c.tensor_flops)
        FROM operator_flops(run := 'gpt_counters') AS f
        JOIN kernel AS k ON f.event_id = k.op_id
        JOIN counted AS c USING (place)
        WHERE f.kind = 'gemm'
        GROUP BY f.event_id, f.name, f.flops, f.input_dims
        """
    ).fetchall()
    assert [counted for *_, counted in rows] == [work for _, work, _ in rows]
    # Forward has four per block and the head; backward has two for each of them.
    names = [name for name, *_ in rows]
    assert (names.count("aten::addmm"), names.count("aten::mm")) == (2 * 4, 1 + 2 * 9)


def test_products_are_bound_by_compute_and_updates_by_memory(
    all_samples: tracewh.Warehouse,
) -> None:
    rows = all_samples.sql(
        "SELECT name, bound, achieved_pct FROM roofline(run := 'gpt_counters') WHERE duration_us > 100"
    ).fetchall()
    assert len(rows) == 14
    for name, bound, achieved_pct in rows:
        assert bound == ("compute" if name.startswith("nvjet") else "memory")
        assert 20 < achieved_pct < 100


def test_a_run_is_summed_up_by_its_trace_and_not_by_its_counters(
    all_samples: tracewh.Warehouse,
) -> None:
    """The worker of the table comes first in the alphabet."""
    trace = first_trace(all_samples, "gpt_counters", None, None)
    assert trace is not None and (trace.worker, trace.others) == ("worker0", 1)
    compared = first_trace(all_samples, "ddp_gpu_gloo", "rank0", None, baseline="gpt_counters")
    assert compared is not None and compared.baseline_worker == "worker0"
