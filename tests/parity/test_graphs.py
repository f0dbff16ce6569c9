"""Replays of graphs against the figures of the folder shared/data/inference, worked out in Python from the files."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from docs.examples import in_terminal
from tests.conftest import made_once
from tests.copied import CopiedWarehouse
from tracewh.cli.app import main

PAIRS = ("sglang_decode", "vllm_prefilldecode_piecewise")
each_pair = pytest.mark.parametrize("pair", PAIRS)


@pytest.fixture(scope="module")
def inference(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tracewh.Warehouse]:
    folders = [shared / "data" / "inference" / pair for pair in PAIRS]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip(f"no folder {folders[0].parent}")

    def fill(folder: Path) -> None:
        tracewh.ingest(folders, folder / "warehouse")

    path = made_once(tmp_path_factory, "inference", fill) / "warehouse"
    with CopiedWarehouse(path) as warehouse:
        yield warehouse


@pytest.fixture
def said(shared: Path, pair: str) -> dict[str, Any]:
    path = shared / "data" / "inference" / "expected" / f"{pair}.json"
    return json.loads(path.read_text("utf-8"))  # type: ignore[no-any-return]


@each_pair
def test_every_event_has_the_node_that_was_captured_for_it(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    rows = inference.sql(
        """
        SELECT
            dense_rank() OVER (ORDER BY l.start_ns) - 1, k.position, g.number, k.node, k.operator,
            k.input_dims, k.module
        FROM graph_kernels(run := $pair) AS k
        INNER JOIN host_events AS l
            ON k.run = l.run AND k.worker = l.worker AND k.span = l.span AND k.launch_id = l.event_id
        INNER JOIN (
            SELECT *, row_number() OVER (PARTITION BY run ORDER BY start_ns) - 1 AS number
            FROM graphs
            WHERE role = 'capture'
        ) AS g
            ON k.capture_run = g.run AND k.capture_worker = g.worker AND k.capture_id = g.event_id
        ORDER BY l.start_ns, k.position
        """,
        {"pair": pair},
    ).fetchall()
    lines = [
        "\t".join(map(str, (*row[:5], json.dumps(json.loads(row[5])), row[6]))) for row in rows
    ]
    assert len(rows) == said["graph"]["attributed_events"]
    digest = hashlib.sha1("\n".join(lines).encode(), usedforsecurity=False).hexdigest()
    assert digest == said["graph"]["mapping_sha1"]


@each_pair
def test_coverage_and_how_launches_were_recognised(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    graph = said["graph"]
    found = inference.graph_replays(run=pair).aggregate(
        "basis, candidates, alignment, sum(unreplayed_nodes) AS missing, count(*) AS launches,"
        " sum(events) AS events, sum(attributed_events) AS attributed, sum(device_us) AS us,"
        " sum(attributed_us) AS attributed_us, bool_and(coverage_pct = 100) AS whole"
    )
    rows = found.order("launches").fetchall()
    assert [row[:5] for row in rows] == sorted(
        (
            (
                basis["basis"],
                basis["candidates"],
                basis["alignment"],
                basis["captured_but_not_replayed"],
                basis["launches"],
            )
            for basis in graph["launches_by_basis"]
        ),
        key=lambda row: row[-1],
    )
    assert sum(row[5] for row in rows) == graph["replayed_events"]
    assert sum(row[6] for row in rows) == graph["attributed_events"]
    assert sum(row[7] for row in rows) == pytest.approx(graph["replayed_us"])
    assert sum(row[8] for row in rows) == pytest.approx(graph["attributed_us"])
    assert all(row[9] for row in rows)


@each_pair
def test_time_by_operator_and_by_class_of_module(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    kernels = inference.graph_kernels(run=pair)
    for what, expected in (
        ("operator", said["by_operator"]),
        (r"regexp_replace(module, '_\d+$', '')", said["by_module_class"]),
    ):
        rows = kernels.aggregate(f"{what} AS name, count(*), sum(duration_us)").fetchall()
        assert {name: [events, pytest.approx(us)] for name, events, us in rows} == expected


def test_the_captures_of_another_run_attribute_nothing(shared: Path, tmp_path: Path) -> None:
    folders = [shared / "data" / "inference" / pair for pair in PAIRS]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip(f"no folder {folders[0].parent}")
    for run, other in (folders, reversed(folders)):
        for trace in run.glob("*.json.gz"):
            tracewh.ingest([trace], tmp_path, run=run.name)
        tracewh.ingest([other / "capture_traces"], tmp_path, run=f"{run.name}/capture_traces")
    with tracewh.open(tmp_path) as warehouse:
        found = warehouse.graph_replays().aggregate(
            "run, count(*), sum(attributed_us), max(candidates), min(reason), max(reason)"
        )
        why = "No captured graph has these kernels in this order."
        assert found.order("run").fetchall() == [
            ("sglang_decode", 1, 0, 0, why, why),
            ("vllm_prefilldecode_piecewise", 25, 0, 0, why, why),
        ]


@each_pair
def test_every_view_shows_all_device_time_and_how_much_was_replayed(
    inference: tracewh.Warehouse, pair: str, said: dict[str, Any]
) -> None:
    """What was replayed moves from the launch to what captured it; no time is lost, and none counts twice."""
    graph = said["graph"]
    lines = inference.source_lines(run=pair).aggregate("sum(device_us), sum(replayed_us)")
    assert lines.fetchall() == [
        (pytest.approx(graph["device_us"]), pytest.approx(graph["replayed_us"]))
    ]
    [(stacks,)] = (
        inference.flamegraph(run=pair, metric="device").aggregate("sum(value_us)").fetchall()
    )
    assert stacks == pytest.approx(graph["device_us"])
    for view, name, expected in (
        ("operator_stats", "name", said["by_operator"]),
        ("module_stats", r"regexp_replace(module, '_\d+$', '')", said["by_module_class"]),
    ):
        rows = inference.view(view, run=pair).aggregate(f"{name} AS name, sum(replayed_us) AS us")
        found = dict(rows.filter("us > 0").fetchall())
        assert found == {key: pytest.approx(us) for key, (_, us) in expected.items()}
    launches = inference.kernel_stats(run=pair, group_by="launch").aggregate(
        "operator, sum(total_us)"
    )
    by_operator = dict(launches.fetchall())
    for name, (_, us) in said["by_operator"].items():
        assert by_operator[name] >= us * (1 - 1e-9)


def test_a_run_without_its_capture_says_what_is_missing(
    shared: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "data" / "inference" / "sglang_decode"
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}")
    tracewh.ingest(sorted(folder.glob("*.json.gz")), tmp_path / "warehouse")
    capfd.readouterr()
    for view in ("operator_stats", "module_stats", "source_lines"):
        assert main(["show", view, "--limit", "1", "-w", str(tmp_path / "warehouse")]) == 0
        assert capfd.readouterr().err.splitlines()[-1] == (
            "tracewh: sglang_decode/sglang_Qwen3-8B_decode/default: 9.7 ms of device time (98.8 %) in"
            " 1 graph launch has no operator: No capture of a graph belongs to this run."
        )


def test_the_page_shows_what_a_terminal_does(
    inference: tracewh.Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEWH_WAREHOUSE", str(inference.path))
    page = Path(__file__).parents[2].joinpath("docs/howto/cuda-graphs.md").read_text("utf-8")
    shown = re.findall(
        r'^```text\n\$ tracewh (query "[^"]+"|show [^\n]*)\n(.*?)^```$',
        page,
        re.MULTILINE | re.DOTALL,
    )
    assert len(shown) == 4
    for command, output in shown:
        code, printed = in_terminal(shlex.split(command))
        assert (code, printed.split()) == (0, output.split()), command
