"""The notebooks in samples/notebooks run as they are, and what their texts say is so."""

from __future__ import annotations

import json
import re
import tomllib
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
    """A notebook after all its cells ran in `folder`, and in a kernel that has forgotten the one before.

    If it ingests all samples, it may get a copy of the warehouse that has them: that takes six seconds less.
    """

    def __init__(
        self,
        kernel: Any,
        name: str,
        folder: Path = NOTEBOOKS,
        logs: object = "",
        all_samples: str | None = None,
    ) -> None:
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
        copy = f"""
            import tracewh as _tracewh

            def _copy(given, warehouse, ingest=_tracewh.ingest):
                import pathlib, shutil

                _tracewh.ingest = ingest  # for the next notebook
                assert [path.resolve() for path in given] == [pathlib.Path({str(ROOT)!r}, "samples")]
                shutil.copytree({all_samples!r}, warehouse)

            _tracewh.ingest = _copy
            """
        if all_samples is not None:
            begin += copy
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
        cell for cell in notebook.cells[1:] if cell.get("outputs") or cell.get("execution_count")
    ] == []


def test_the_extra_has_what_the_notebooks_use() -> None:
    """All extras are installed where the tests run, and `spark` brings pandas, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    used = "".join(path.read_text("utf-8") for path in NOTEBOOKS.glob("*.ipynb"))
    assert ".df()" in used and ".DataFrame()" in used
    extra = project["optional-dependencies"]["notebook"]
    assert [name for name in extra if re.match(r"pandas\b", name)]


# %load_ext sql says nothing when the name `sql` leads to our folder of that name instead.
def test_first_look(kernel: Any, samples: tracewh.Warehouse) -> None:
    done = Executed(kernel, "first_look", all_samples=str(samples.path))
    listed = re.findall(r">((?:ddp|gpt|resnet)_[\w/]+)<", done.html("w.runs()"))
    newest_first = samples.sql("SELECT run FROM runs() ORDER BY first_ns DESC").fetchall()
    assert listed == [run for (run,) in newest_first]
    assert {"gpt_eager", "gpt_compiled", "gpt_cuda_graphs", "ddp_gpu_gloo"} < set(listed)
    report = done.html("w.report(")
    assert "12.0 ms per step, GPU 29 % busy" in report
    assert "The GPU waits for the host for up to 8.1 ms of every step (68 %)" in report
    drawn = set(done.drawing("w.chart(").splitlines())
    assert {"Time per step", "kernel", "runtime", "cpu exec", "14 ms"} <= drawn
    operators = done.rows("FROM operator_stats(")
    assert len(operators) == 8 and operators[0]["name"] == "aten::copy_"
    assert min(row["device_self_us"] for row in operators) > 0
    functions = done.rows("FROM python_functions")
    assert (functions[0]["source_file"], functions[0]["source_function"]) == ("gpt.py", "step")
    assert "rank1" in done.shown("w.step_breakdown(")
    assert "step_breakdown" in done.shown("FROM views()")


def test_the_gpu_works_for_less_than_half_of_each_step(samples: tracewh.Warehouse) -> None:
    """The other figures of first_look."""
    steps = samples.sql(
        "SELECT kernel_us / total_us, (runtime_us + cpu_exec_us) / total_us"
        " FROM step_breakdown(run := 'gpt_eager')"
    ).fetchall()
    assert len(steps) == 6 and max(kernels for kernels, _ in steps) < 0.5
    assert sum(host for _, host in steps) / len(steps) == pytest.approx(2 / 3, abs=0.02)
    (faster,) = samples.sql(
        "SELECT experiment_step_us / 1000, step_significant"
        " FROM diff_overview(baseline := 'gpt_eager', experiment := 'gpt_cuda_graphs')"
    ).fetchall()
    assert faster == (pytest.approx(7.6, abs=0.05), True)


def test_what_if(kernel: Any) -> None:
    done = Executed(kernel, "what_if")
    best = done.rows("FROM what_if_best(")
    assert len(best) == 10 and best[0]["changed"] == "line gpt.py:103 free"
    assert best[0]["gain_pct"] > 40 and {row["limited_by"] for row in best} == {"host"}
    assert not [row for row in best if row["changed"].startswith("kernels")]
    together, *alone = done.rows("FROM what_if(")
    assert [row["number"] for row in alone] == [1, 2, 3]
    gains = [row["step_ms"] - row["new_step_ms"] for row in alone]
    assert max(gains) < together["step_ms"] - together["new_step_ms"] < sum(gains)
    assert gains[2] == 0  # of the kernels
    assert {row["unexplained_ms"] for row in alone} == {0}
    assert "2 predicted, loader free" in done.drawing("mark_tick")


def test_what_the_loader_is_said_to_gain(samples: tracewh.Warehouse) -> None:
    predicted = samples.what_if(run="resnet_gpu_workers_0", change="loader").filter("NOT is_mean")
    measured = samples.what_if(run="resnet_gpu_workers_2", change="loader", factor=1)
    (before, after) = predicted.aggregate("avg(drained_us), avg(new_drained_us)").fetchall()[0]
    (really,) = measured.filter("NOT is_mean").aggregate("avg(drained_us)").fetchall()[0]
    assert before > 19_000
    assert (round(after / 1000, 1), round(really / 1000, 1)) == (7.7, 7.6)


def test_bottleneck(kernel: Any) -> None:
    done = Executed(
        kernel, "bottleneck", folder=ROOT
    )  # every notebook finds the samples from there, too
    steps = done.rows("AS host_alone_pct")
    assert len(steps) == 6
    for step in steps:
        parts = step["gpu_ms"] + step["runtime_ms"] + step["cpu_exec_ms"] + step["other_ms"]
        assert parts == pytest.approx(step["total_ms"], abs=0.03)
        assert step["gpu_ms"] == pytest.approx(steps[0]["gpu_ms"], abs=0.02)  # the same work
        assert 50 < step["host_alone_pct"] < 75  # more than half
    assert "cpu exec" in done.drawing('w.chart("step_breakdown"').splitlines()
    assert ">launch_bound<" in done.html("w.recommendations(")
    gaps = {row["idle_for"]: row for row in done.rows("FROM gpu_gaps(")}
    assert list(gaps) == ["less than 10 us", "10 to 100 us", "100 us or more"]
    short = [gaps["less than 10 us"], gaps["10 to 100 us"]]
    assert sum(row["total_ms"] for row in short) > gaps["100 us or more"]["total_ms"]
    assert min(row["gaps"] for row in short) > 200
    drawn = re.findall("^aten::.*", done.drawing('w.chart("operator_stats"'), re.MULTILINE)
    assert drawn[:2] == ["aten::copy_", "aten::mm"]
    operators = done.rows("ORDER BY host_self_us DESC")
    assert len(operators) == 6 and operators[0]["host_share_pct"] < 10
    (each,) = done.rows("AS gpu_us_per_launch")
    assert (each["operators"], each["casts"], each["launches"]) == (1005, 50, 195)
    assert each["us_per_launch"] > 3 * each["gpu_us_per_launch"]
    timeline = done.html("w.timeline(")
    assert "run_backward" in timeline and "aten::_to_copy" in timeline
    lines = done.rows("FROM source_lines(")
    assert [(line["source_file"], line["source_function"]) for line in lines] == [
        ("gpt.py", "step"), ("gpt.py", "forward"), ("gpt.py", "forward"), ("gpt.py", "forward"),
    ]  # fmt: skip
    assert re.fullmatch(r"torch/_tensor\.py\(\d+\): backward", lines[0]["callee"])
    assert {line["callee"].partition(": ")[2] for line in lines[1:]} == {"_call_impl"}
    source = (ROOT / "samples" / "gpt.py").read_text("utf-8").splitlines()
    assert [_class_around(source, int(line["source_line"])) for line in lines[1:]] == [
        "Attention", "Block", "SmallGPT",
    ]  # fmt: skip
    stacks = re.findall("<td[^>]*>([^<]*→[^<]*)", done.html("FROM flamegraph("))
    assert len(stacks) == 4
    assert re.search(r"backward → .*_engine_run_backward → .*run_backward", stacks[0])
    assert [stack.partition(" → ")[2] for stack in stacks[1:]] == [
        "AddmmBackward0 → aten::mm",
        "aten::copy_ → cudaLaunchKernel",
        "aten::linear → aten::addmm",
    ]
    assert stacks[2].startswith("aten::_to_copy")
    device, host, launches, casts = done.rows("FROM what_if(")
    assert device["new_step_ms"] == device["step_ms"] and device["limited_by"] == "host"
    assert host["new_step_ms"] == pytest.approx(host["step_ms"] / 3, rel=0.05)
    assert host["limited_by"] == "device"
    host_gain, *gains = (row["step_ms"] - row["new_step_ms"] for row in (host, launches, casts))
    assert min(gains) > 0 and max(gains) < host_gain / 4


def _class_around(source: list[str], line: int) -> str:
    """The name of the class in which a line, counted from 1, stands."""
    return [text for text in source[:line] if text.startswith("class ")][-1][6:].partition("(")[0]


def test_each_cast_launches_a_kernel(samples: tracewh.Warehouse) -> None:
    casts = samples.sql(
        "SELECT calls, device_total_us FROM operator_stats(run := 'gpt_eager')"
        " WHERE name = 'aten::_to_copy'"
    ).fetchall()
    kernels = samples.sql(
        "SELECT count(*), sum(k.duration_ns) / 1000 FROM kernels AS k"
        " JOIN host_events AS inner_copy ON inner_copy.run = k.run AND inner_copy.event_id = k.op_id"
        " JOIN host_events AS outer_copy"
        " ON outer_copy.run = k.run AND outer_copy.event_id = inner_copy.parent_op_id"
        " WHERE k.run = 'gpt_eager' AND outer_copy.name = 'aten::_to_copy'"
    ).fetchall()
    assert casts == kernels


def test_comparing_runs(kernel: Any) -> None:
    done = Executed(kernel, "comparing_runs")
    compiled, graphs = done.rows("FROM diff_overview(")
    assert (compiled["experiment"], graphs["experiment"]) == ("gpt_compiled", "gpt_cuda_graphs")
    for overview in (compiled, graphs):
        assert overview["baseline_steps"] == overview["experiment_steps"] == 6
        assert overview["significant"] is True
        assert overview["p_value"] == pytest.approx(0.004, abs=0.0005)
    assert compiled["delta_pct"] > 25 and graphs["delta_pct"] < -35
    vary = graphs["baseline_iqr_ms"] + graphs["experiment_iqr_ms"]
    assert graphs["baseline_ms"] - graphs["experiment_ms"] > 2 * vary
    assert graphs["baseline_ms"] == pytest.approx(12, abs=0.05)
    assert graphs["experiment_ms"] == pytest.approx(7.6, abs=0.05)
    assert "compared with <b>gpt_eager</b>" in unescape(done.html("w.report("))
    assert {"step, ms", "gpt_eager", "gpt_compiled", "gpt_cuda_graphs"} <= set(
        done.drawing("alt.Chart(lengths").splitlines()
    )
    assert {"cpu_exec", "runtime"} <= set(done.drawing("w.chart(").splitlines())
    parts = {row["category"]: row for row in done.rows("FROM diff_steps(")}
    for run in ("compiled", "graphs"):  # with both, the kernels take less
        assert parts["kernel"][f"{run}_ms"] < 0.85 * parts["kernel"]["eager_ms"]
        assert parts["kernel"][f"{run}_significant"] and parts["cpu_exec"][f"{run}_significant"]
    lost = parts["cpu_exec"]["compiled_ms"] - parts["cpu_exec"]["eager_ms"]
    assert lost > 2 * (parts["kernel"]["eager_ms"] - parts["kernel"]["compiled_ms"])
    assert parts["cpu_exec"]["eager_ms"] - parts["cpu_exec"]["graphs_ms"] > 2
    assert parts["runtime"]["eager_ms"] > 3 * parts["runtime"]["graphs_ms"]
    assert parts["runtime"]["graphs_significant"] and not parts["runtime"]["compiled_significant"]
    waits = parts["cpu_exec"]["graphs_ms"] + parts["runtime"]["graphs_ms"]
    assert waits > parts["total"]["graphs_ms"] / 2  # still
    calls = {row["run"]: row for row in done.rows("AS per_step")}
    eager, compiled, graphs = (calls[f"gpt_{run}"] for run in ("eager", "compiled", "cuda_graphs"))
    assert compiled["operators"] == pytest.approx(eager["operators"] / 3, rel=0.1)
    assert compiled["kernels"] < 0.8 * eager["kernels"]
    assert compiled["launches"] > compiled["kernels"]  # memsets, too
    assert compiled["python_functions"] > 3 * eager["python_functions"]
    assert graphs["launches"] < graphs["kernels"] / 6
    along = set(done.drawing("along.mark_bar(").splitlines())
    assert {"experiment - baseline, ms", "forward", "backward", "Optimizer.step"} <= along
    operators = {row["name"]: row for row in done.rows("FROM diff_operators(")}
    gone = [name for name, row in operators.items() if not row["experiment_calls"]]
    assert gone == ["aten::mm", "aten::native_layer_norm_backward", "aten::addmm"]
    for name in ("CompiledFunction", "CompiledFunctionBackward"):
        assert operators[name]["delta_device_ms"] > 3
    (replays,) = done.rows("FROM graph_replays(")
    assert replays["replays"] == 12 and replays["gpu_events"] > 700
    assert replays["device_ms"] > 10 and replays["attributed_ms"] == 0
    assert replays["reason"] == "No capture of a graph belongs to this run."
    memory = {row["run"]: row for row in done.rows("FROM memory_curve(")}
    eager, graphs = memory["gpt_eager"], memory["gpt_cuda_graphs"]
    assert graphs["allocated_mb"] < 0.7 * eager["allocated_mb"]
    assert graphs["reserved_mb"] == pytest.approx(eager["reserved_mb"], rel=0.05)
    trend = done.rows("FROM trend(")
    assert [row["run"] for row in trend] == ["gpt_eager", "gpt_compiled", "gpt_cuda_graphs"]
    assert [row["is_change_point"] for row in trend] == [False, False, False]


def test_along_the_timeline_the_backward_pass_gains_most(samples: tracewh.Warehouse) -> None:
    rows = samples.sql(
        "SELECT path[:len('/ProfilerStep[2]')] AS step, name, delta_us FROM diff_modules("
        "baseline := 'gpt_eager', experiment := 'gpt_cuda_graphs', depth := 2)"
        " WHERE name IN ('forward', 'backward', 'Optimizer.step') ORDER BY position"
    ).fetchall()
    assert [name for _, name, _ in rows] == ["forward", "backward", "Optimizer.step"] * 6
    for step in range(6):
        forward, backward, optimizer = (delta for *_, delta in rows[3 * step : 3 * step + 3])
        assert backward < forward < -500 and optimizer > -50


def test_how_the_runs_of_the_gpt_launch_kernels(samples: tracewh.Warehouse) -> None:
    """torch.compile mostly from Python, CUDA graphs all of the model but nothing of the optimizer."""
    (from_python, launches) = samples.sql(
        "SELECT (SELECT count(*) FROM python_functions WHERE run = 'gpt_compiled'"
        " AND source_file LIKE '%static_triton_launcher.py'),"
        " (SELECT sum(calls) FROM launch_stats(run := 'gpt_compiled'))"
    ).fetchall()[0]
    assert launches / 2 < from_python < launches
    by_graphs = samples.sql(
        "SELECT operator, launch_call = 'cudaGraphLaunch' FROM launch_stats(run := 'gpt_cuda_graphs')"
        " WHERE launch_call = 'cudaGraphLaunch' OR operator LIKE '%adam%' ORDER BY ALL"
    ).fetchall()
    assert by_graphs == [
        ("CompiledFunction", True), ("CompiledFunctionBackward", True), ("aten::_fused_adamw_", False),
    ]  # fmt: skip


def test_many_ranks(kernel: Any) -> None:
    done = Executed(kernel, "many_ranks")
    assert [(row["rank"], row["world_size"]) for row in done.rows("FROM topology(")] == [
        (0, 2), (1, 2),
    ]  # fmt: skip
    assert {"step, ms", "rank0", "communication"} <= set(
        done.drawing("alt.Chart(steps").splitlines()
    )
    overlap = {
        run: [row for row in done.rows("FROM comm_overlap(") if row["run"] == run]
        for run in ("ddp_gloo", "ddp_gpu_gloo")
    }
    assert [len(rows) for rows in overlap.values()] == [8, 8]
    assert min(row["overlap_pct"] for row in overlap["ddp_gloo"]) >= 98
    assert max(row["overlap_pct"] for row in overlap["ddp_gpu_gloo"]) < 2
    kernels = [row["computation_ms"] for row in overlap["ddp_gpu_gloo"] if row["step"] is not None]
    assert max(kernels) < 0.3
    collectives = done.rows("FROM collectives(")
    assert len(collectives) == 18
    for rank0, rank1 in zip(collectives[::2], collectives[1::2], strict=True):
        assert (rank0["worker"], rank1["worker"]) == ("rank0", "rank1")
        assert rank0["transfer_ms"] == rank1["transfer_ms"]
        assert min(rank0["wait_ms"], rank1["wait_ms"]) == 0
        assert rank0["name"] == "all_reduce" or rank1["wait_ms"] > 7
    assert {"synchronizing", "transfer"} <= set(done.drawing("w.chart(").splitlines())
    assert re.findall(r">(rank[01])<", done.html("w.workers(")).count("rank1") > 0
    timeline = done.html("w.timeline(")
    assert "gloo:" in timeline and "&lt;select data-screen" not in timeline
    assert "&quot;step&quot;:{&quot;step&quot;:3" in timeline  # it is open
    assert done.rows("FROM stragglers(")[0]["worker"] == "rank0"
    third = done.rows("AS rank0_loads_longer_ms")[1]
    assert third["step"] == 3
    assert third["rank0_loads_longer_ms"] == pytest.approx(
        third["rank1_communicates_longer_ms"], rel=0.05
    )


def test_what_the_ranks_are_said_to_do(samples: tracewh.Warehouse) -> None:
    steps = samples.sql(
        "SELECT max(total_us) / min(total_us), sum(dataloader_us) FILTER (worker = 'rank0')"
        " / sum(dataloader_us) FILTER (worker = 'rank1'), sum(kernel_us) / sum(total_us)"
        " FROM step_breakdown(run := 'ddp_gpu_gloo') GROUP BY step ORDER BY step"
    ).fetchall()
    assert max(length for length, *_ in steps) < 1.1  # about as long on both ranks
    assert min(loading for _, loading, _ in steps) > 1.5
    assert [round(100 * kernels) for *_, kernels in steps] == [1, 1, 1]
    waits = samples.sql(
        "SELECT worker, step, synchronizing_us / (synchronizing_us + transfer_us)"
        " FROM comm_wait(run := 'ddp_gpu_gloo') WHERE step IS NOT NULL ORDER BY worker, step"
    ).fetchall()
    assert min(share for worker, _, share in waits if worker == "rank1") > 0.9
    assert [step for worker, step, share in waits if worker == "rank0" and share < 0.5] == [2, 4]


def test_counters_of_a_real_trace(shared: Path, kernel: Any) -> None:
    done = Executed(kernel, "counters_and_roofline", logs=shared / "traces" / COUNTERS)
    counters = {row["counter"]: row for row in done.rows("FROM cupti_counters(")}
    assert len(counters) == 9 and {row["kernels"] for row in counters.values()} == {77}
    assert {row["matched_by"] for row in done.rows("matched_by\nFROM")} == {"order"}
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


def test_counters_of_the_sample(kernel: Any) -> None:
    done = Executed(kernel, "counters_and_roofline")
    counters = {row["counter"]: row for row in done.rows("FROM cupti_counters(")}
    assert counters["sm__ops_path_tensor_src_bf16_dst_fp32.sum"]["above_zero"] == 31
    assert {row["matched_by"] for row in done.rows("matched_by\nFROM")} == {None}
    operators = [row["operator_in_trace"] for row in done.rows("AS operator_in_trace")]
    assert operators[:3] == ["aten::mm", "aten::addmm", "aten::_cudnn_attention_backward"]
    longest = done.rows("AS achieved_pct\nFROM")
    assert len(longest) == 12
    for row in longest:
        assert row["bound"] == ("compute" if row["kernel"].startswith("nvjet") else "memory")
    roofs = "989.4 TFLOP/s, bfloat16 on tensor cores"
    texts = done.drawing('w.chart("roofline"').splitlines()
    assert {roofs, "66.9 TFLOP/s, float32", "memory, 3,352 GB/s"} <= set(texts)
    assert roofs in done.drawing('w.chart("operator_flops_summary"').splitlines()
    gains = done.rows("AS could_save_us")
    assert {row["tensor_gflop"] for row in gains} == {0} and gains[0]["could_save_us"] > 200


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
