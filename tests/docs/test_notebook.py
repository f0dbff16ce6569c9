"""The notebooks in samples/notebooks run as they are, and what their texts say is so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import tracewh

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "samples" / "notebooks"
COUNTERS = "a100_cupti_counters_2023"


@pytest.fixture(autouse=True, scope="module")
def quiet_jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No settings of the person who runs the tests, and no statistics sent.

    One home for all notebooks: in a new one matplotlib lists the fonts again, and tracewh creates its macros.
    """
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLOOMBER_STATS_ENABLED", "false")
        for variable in (
            "HOME",
            "IPYTHONDIR",
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_RUNTIME_DIR",
            "TMPDIR",
        ):
            folder = home / variable.lower()
            folder.mkdir()
            patch.setenv(variable, str(folder))
        yield


class Executed:
    """A notebook after all its cells ran in `folder`, and in a kernel that has forgotten the one before."""

    def __init__(self, kernel: Any, name: str, folder: Path = NOTEBOOKS, logs: object = "") -> None:
        # Slow to import, and every process of a test run collects this file.
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        begin = f"""
            import os
            os.chdir({str(folder)!r})
            os.environ["TRACEWH_LOGDIR"] = {str(logs)!r}
            %reset_selective -f .
            import sys
            sys.path.insert(0, {str(ROOT)!r})
            from tests.cli.report.parts import panels_only
            _parts = panels_only("steps")  # test_report.py looks at whole pages
            _parts.__enter__()
            """
        notebook.cells.insert(0, nbformat.v4.new_code_cell(dedent(begin)))
        client = NotebookClient(notebook, km=kernel, timeout=120)
        client.execute()
        assert client.kc is not None
        client.kc.stop_channels()
        self.code = [cell for cell in notebook.cells[1:] if cell.cell_type == "code"]

    def _outputs(self, part: str, kind: str) -> list[str]:
        (cell,) = (cell for cell in self.code if part in cell.source)
        datas = [output.get("data", {}) for output in cell.outputs]
        return [data[kind] for data in datas if kind in data]

    def shown(self, part: str) -> str:
        """What the one cell with this piece of source showed as text."""
        return "\n".join(self._outputs(part, "text/plain"))

    def rows(self, part: str) -> list[dict[str, Any]]:
        """The table that it showed."""
        lines = [
            [_value(value.strip()) for value in line.strip("| ").split(" | ")]
            for line in self.shown(part).splitlines()
            if line.startswith("|")
        ]
        return [dict(zip(map(str, lines[0]), line, strict=True)) for line in lines[1:]]

    def drawing(self, part: str) -> str:
        """The texts of the one chart that altair drew there."""
        (svg,) = self._outputs(part, "image/svg+xml")
        return "\n".join(re.findall(r"<text[^>]*>([^<]*)", svg))

    def said(self, part: str) -> str:
        """What it printed."""
        (cell,) = (cell for cell in self.code if part in cell.source)
        return "".join(output.get("text", "") for output in cell.outputs)

    def html(self, part: str) -> str:
        """What it showed as HTML: a table, or a page in a frame."""
        (html,) = self._outputs(part, "text/html")
        return html


def _value(text: str) -> Any:
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text) else text


@pytest.fixture(scope="module")
def kernel(quiet_jupyter: None) -> Iterator[Any]:
    """A kernel for all notebooks: it imports for three seconds."""
    from jupyter_client.manager import KernelManager

    kernel = KernelManager(kernel_name="python3")
    yield kernel
    kernel.shutdown_kernel(now=True)


each_notebook = pytest.mark.parametrize(
    "path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem
)


@each_notebook
def test_each_sets_up_what_it_uses(path: Path) -> None:
    """What the one before it set up in the kernel is still there."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    setup, *others = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert 'alt.renderers.enable("svg")' in setup
    of_sql = [code for code in others if "%sql" in code or "SqlMagic" in code]
    assert of_sql[0].startswith("%load_ext sql\n") and "%sql connection" in of_sql[0]


@each_notebook
def test_outputs_are_not_committed(path: Path) -> None:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert [
        cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")
    ] == []


# %load_ext sql says nothing when the name `sql` leads to our folder of that name instead.
def test_first_look(kernel: Any) -> None:
    done = Executed(kernel, "first_look")
    listed = re.findall(r">(ddp_gloo|resnet_workers_[02])<", done.html("w.runs()"))
    assert listed == ["resnet_workers_2", "resnet_workers_0", "ddp_gloo"]
    assert "The data loader costs 9.9 ms of every step" in done.html("w.report(")
    assert {"Time per step", "dataloader", "20 ms"} <= set(done.drawing("w.chart(").splitlines())
    assert "aten::" in done.shown("FROM operator_stats(")
    assert "main" in done.shown("FROM python_functions")
    assert "rank1" in done.shown("w.step_breakdown(")
    assert "step_breakdown" in done.shown("FROM views()")


def test_what_if(kernel: Any) -> None:
    done = Executed(kernel, "what_if")
    best = done.rows("FROM what_if_best(")
    assert len(best) == 10 and best[0]["changed"] == "loader free"
    assert best[0]["gain_pct"] > 50 and best[0]["limited_by"] == "host"
    together, *alone = done.rows("FROM what_if(")
    assert [row["number"] for row in alone] == [1, 2, 3]
    gains = [row["step_ms"] - row["new_step_ms"] for row in alone]
    assert max(gains) < together["step_ms"] - together["new_step_ms"] < sum(gains)
    assert {row["unexplained_ms"] for row in alone} == {0}
    assert "2 predicted, loader free" in done.drawing("mark_tick")


def test_bottleneck(kernel: Any) -> None:
    done = Executed(
        kernel, "bottleneck", folder=ROOT
    )  # every notebook finds the samples from there, too
    steps = done.rows("AS dataloader_pct")
    assert len(steps) == 10
    for step in steps:
        parts = step["dataloader_ms"] + step["cpu_exec_ms"] + step["other_ms"]
        assert parts == pytest.approx(step["total_ms"], abs=0.02)
        assert 50 < step["dataloader_pct"] < 60  # more than half
    assert "dataloader" in done.drawing('w.chart("step_breakdown"').splitlines()
    assert ">data_loading<" in done.html("w.recommendations(")
    operators = re.findall("^aten::.*", done.drawing('w.chart("operator_stats"'), re.MULTILINE)
    assert operators[:2] == ["aten::convolution_backward", "aten::mkldnn_convolution"]
    assert "read_from_storage" in done.html("w.timeline(")
    line = done.rows("FROM source_lines(")[0]
    assert (line["source_file"], line["source_function"]) == ("record.py", "read_from_storage")
    assert line["calls"] == 40  # ten steps of four samples
    stacks = re.findall("<td[^>]*>([^<]*→[^<]*)", done.html("FROM flamegraph("))
    assert len(stacks) == 3
    assert re.search(
        r"record\.py\(\d+\): read_from_storage → &lt;built-in function sleep&gt;$", stacks[0]
    )
    (worth,) = done.rows("AS without_waiting_ms")
    assert 0 < worth["without_waiting_ms"] < worth["now_ms"]


def test_comparing_runs(kernel: Any) -> None:
    done = Executed(kernel, "comparing_runs")
    (overview,) = done.rows("FROM diff_overview(")
    assert overview["baseline_steps"] == overview["experiment_steps"] == 10
    assert overview["delta_pct"] < -45 and overview["significant"] is True
    vary = overview["baseline_iqr_ms"] + overview["experiment_iqr_ms"]
    assert overview["baseline_ms"] - overview["experiment_ms"] > 2 * vary
    assert "compared with <b>resnet_workers_0</b>" in unescape(done.html("w.report("))
    assert "step, ms" in done.drawing("alt.Chart(lengths")
    assert "dataloader" in done.drawing("w.chart(").splitlines()
    parts = {row["category"]: row for row in done.rows("FROM diff_steps(")}
    assert parts["dataloader"]["delta_ms"] < -8 and parts["dataloader"]["significant"]
    assert abs(parts["cpu_exec"]["delta_ms"]) < 0.1 and not parts["cpu_exec"]["significant"]
    assert "experiment - baseline, ms" in done.drawing("alt.Chart(blocks")
    gone = [row["name"] for row in done.rows("FROM diff_operators(") if not row["experiment_calls"]]
    assert gone[:2] == ["aten::uniform_", "aten::_upsample_bilinear2d_aa"]
    trend = done.rows("FROM trend(")
    assert [row["run"] for row in trend] == ["resnet_workers_0", "resnet_workers_2"]
    assert [row["is_change_point"] for row in trend] == [False, False]


def test_along_the_timeline_only_loading_gains(samples: tracewh.Warehouse) -> None:
    rows = samples.sql(
        "SELECT path[:len('/ProfilerStep[2]')] AS step, name, delta_us FROM diff_modules("
        "baseline := 'resnet_workers_0', experiment := 'resnet_workers_2', depth := 2)"
        " WHERE name IN ('DataLoader', 'forward', 'backward') ORDER BY position"
    ).fetchall()
    assert [name for _, name, _ in rows] == ["DataLoader", "forward", "backward"] * 5
    for step in range(5):
        loading, forward, backward = (delta for *_, delta in rows[3 * step : 3 * step + 3])
        assert loading < -8000 and max(abs(forward), abs(backward)) < 2000


def test_many_ranks(kernel: Any) -> None:
    done = Executed(kernel, "many_ranks")
    assert [(row["rank"], row["world_size"]) for row in done.rows("FROM topology(")] == [
        (0, 2), (1, 2),
    ]  # fmt: skip
    assert {"step, ms", "rank0", "communication"} <= set(
        done.drawing("alt.Chart(steps").splitlines()
    )
    overlap = done.rows("FROM comm_overlap(")
    assert len(overlap) == 8 and min(row["overlap_pct"] for row in overlap) >= 98
    collectives = done.rows("FROM collectives(")
    assert len(collectives) == 18
    for rank0, rank1 in zip(collectives[::2], collectives[1::2], strict=True):
        assert (rank0["worker"], rank1["worker"]) == ("rank0", "rank1")
        assert rank0["transfer_ms"] == rank1["transfer_ms"]
        assert min(rank0["wait_ms"], rank1["wait_ms"]) == 0
    assert {"synchronizing", "transfer"} <= set(done.drawing("w.chart(").splitlines())
    assert re.findall(r">(rank[01])<", done.html("w.workers(")).count("rank1") > 0
    timeline = done.html("w.timeline(")
    assert "gloo:" in timeline and "&lt;select data-screen" not in timeline
    assert done.rows("FROM stragglers(")[0]["worker"] == "rank0"
    third = done.rows("AS rank1_loads_longer_ms")[1]
    assert third["step"] == 3
    assert third["rank1_loads_longer_ms"] == pytest.approx(
        third["rank0_communicates_longer_ms"], rel=0.05
    )


def test_what_the_ranks_are_said_to_do(samples: tracewh.Warehouse) -> None:
    steps = samples.sql(
        "SELECT max(total_us) / min(total_us), max(dataloader_us) / min(dataloader_us)"
        " FROM step_breakdown(run := 'ddp_gloo') GROUP BY step ORDER BY step"
    ).fetchall()
    assert max(length for length, _ in steps) < 1.1  # about as long on both ranks
    assert steps[1][1] == max(loading for _, loading in steps)
    assert steps[1][1] == pytest.approx(4, abs=0.5)
    waits = samples.sql(
        "SELECT sum(synchronizing_us) > sum(transfer_us) FROM comm_wait(run := 'ddp_gloo')"
        " WHERE step IS NOT NULL GROUP BY step ORDER BY step"
    ).fetchall()
    assert waits == [(True,), (True,), (False,)]


def test_counters_of_a_real_trace(shared: Path, kernel: Any) -> None:
    done = Executed(kernel, "counters_and_roofline", logs=shared / "traces" / COUNTERS)
    counters = {row["counter"]: row for row in done.rows("FROM cupti_counters(")}
    assert len(counters) == 9 and {row["kernels"] for row in counters.values()} == {77}
    assert {row["matched_by"] for row in done.rows("FROM kernel_counters(")} == {"order"}
    assert done.rows("group_by := 'operator'")[0]["operator"] == "aten::cudnn_convolution"
    assert done.rows("group_by := 'kernel'")[0]["kernel"] == "ampere_sgemm_32x32_sliced1x4_tn"
    assert {row["bound"] for row in done.rows("AS achieved_pct\nFROM")} == {
        None
    }  # no bytes, no times
    assert done.said('w.chart("roofline"').startswith(
        "No kernel has all counters that a roofline needs"
    )
    assert "without input shapes" in done.said('w.chart("operator_flops_summary"')
    assert {row["could_save_us"] for row in done.rows("AS could_save_us")} == {None}


def test_the_roofline_has_a_dot_per_kernel_with_all_counters(tmp_path: Path, kernel: Any) -> None:
    """As tests/views/roofline_v1.test draws it: gemm does 19.1 operations per byte, relu none."""
    kernels = {
        "gemm<float>": ("aten::mm", 39_000_000, 2_039_000),
        "relu": ("aten::relu", 0, 4_078_000),
    }
    events: list[dict[str, Any]] = []
    for at, (name, (operator, operations, size)) in enumerate(kernels.items()):
        host = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            {**host, "cat": "cpu_op", "name": operator, "ts": 10 * at, "dur": 9,
             "args": {"External id": at + 1}},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 10 * at + 1, "dur": 2,
             "args": {"External id": at + 1, "correlation": at + 1}},
            {"ph": "X", "cat": "cuda_profiler_range", "name": name, "pid": 0, "tid": 0,
             "ts": 100 + 10 * at, "dur": 10,
             "args": {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": operations,
                      "dram__bytes_read.sum": size, "dram__bytes_write.sum": 0,
                      "gpu__time_duration.sum": 4000}},
        ]  # fmt: skip
    device = {"id": 0, "name": "NVIDIA A100-SXM4-80GB"}
    trace = {"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}
    folder = tmp_path / "logdir" / "counters"
    folder.mkdir(parents=True)
    (folder / "worker0.pt.trace.json").write_text(json.dumps(trace), "utf-8")
    done = Executed(kernel, "counters_and_roofline", logs=folder)
    found = {row["kernel"]: row for row in done.rows("AS achieved_pct\nFROM")}
    assert [found[name]["bound"] for name in ("gemm", "relu")] == ["compute", "memory"]
    assert found["gemm"]["achieved_pct"] == found["relu"]["achieved_pct"] == 50
    assert found["gemm"]["flop_per_byte"] == 19.127
    assert [row["could_save_us"] for row in done.rows("AS could_save_us")] == [2, 2]  # 4 - 2 us
    texts = done.drawing('w.chart("roofline"').splitlines()
    assert {"Roofline by CUPTI counters", "gemm&lt;float&gt;", "19.5 TFLOP/s, float32"} <= set(
        texts
    )
    assert "memory, 2,039 GB/s" in texts and "relu" not in texts
