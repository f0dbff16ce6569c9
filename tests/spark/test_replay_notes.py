"""Work that graphs replayed: what an answer of Spark says of it. No cluster is started."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh
from tracewh.cli.app import main
from tracewh.cli.commands.engine import Cluster
from tracewh.spark.sql_script import functions, select_views
from tracewh.views.registry import installed

COMMENT = (
    "Without the operators of replayed graphs: for those use `tracewh show {} --engine spark`."
)


def test_the_comment_of_a_function_says_what_it_leaves_out() -> None:
    registry = installed()
    views = select_views(registry, ["operator_stats", "step_breakdown"])
    stats, steps = list(functions(registry, views))[-2:]
    assert COMMENT.format("operator_stats") in stats
    assert "replayed graphs" not in steps.partition("RETURN ")[0]


def test_an_answer_of_a_cluster_has_the_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = {"correlation": 1}
    call = {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
    events: list[dict[str, Any]] = [
        call | {"cat": "cpu_op", "name": "aten::mm", "args": {}},
        call | {"cat": "cuda_runtime", "name": "cudaGraphLaunch", "args": launch, "ts": 10},
        call | {"cat": "kernel", "name": "a", "args": {**launch, "device": 0, "stream": 7}},
    ]
    (tmp_path / "served").mkdir()
    trace = {"schemaVersion": 1, "traceEvents": events}
    (tmp_path / "served" / "rank0.json").write_text(json.dumps(trace), "utf-8")
    tracewh.ingest([tmp_path / "served"], tmp_path / "warehouse")

    @contextmanager
    def views(_: Cluster, warehouse: str) -> Iterator[Callable[..., duckdb.DuckDBPyRelation]]:
        """The rows, without a cluster: the notes are what is tested."""
        with tracewh.open(warehouse) as opened:
            yield opened.view

    monkeypatch.setattr(Cluster, "views", views)
    command = ["show", "operator_stats", "-w", str(tmp_path / "warehouse")]
    capsys.readouterr()
    assert main([*command]) == 0
    here = capsys.readouterr()
    assert main([*command, "--engine", "spark"]) == 0
    assert capsys.readouterr() == here
    assert (
        "served/rank0/default: 5.0 us of device time (100.0 %) in 1 graph launch has no operator: "
        "No capture of a graph belongs to this run." in here.err
    )
