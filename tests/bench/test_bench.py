"""The benchmark scripts: a grown trace is a real trace, only longer."""

from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tracewh
from bench import clocks, serve
from bench.views import MANY, best, cold, over

ROOT = Path(__file__).parents[2]
SOURCE = next((ROOT / "samples" / "resnet_workers_0").glob("*.gz"))


def bench(script: str, *arguments: object) -> str:
    command: list[str | Path] = [sys.executable, ROOT / "bench" / script, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three copies of a sample of 3.27 MB."""
    target = tmp_path_factory.mktemp("grown") / "worker0.pt.trace.json.gz"
    assert "3 copies" in bench("grow.py", SOURCE, target, "--megabytes", 8)
    return target


def events(trace: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    return found


def test_the_first_copy_is_the_original_to_the_byte(grown: Path) -> None:
    text, original = (gzip.decompress(path.read_bytes()) for path in (grown, SOURCE))
    first = original.index(b'"cpu_op"')
    length = original.rindex(b'"cpu_op"') - first
    assert text.count(original[first : first + length]) == 1
    assert text.endswith(original[original.rindex(b"]") :])


def test_every_event_is_there_three_times_with_ids_of_its_own(grown: Path) -> None:
    once, thrice = Counter[str | None](), Counter[str | None]()
    for counts, trace in ((once, SOURCE), (thrice, grown)):
        counts.update(e.get("cat") for e in events(trace) if e["ph"] != "M" and "tid" in e)
    assert thrice["cpu_op"] == 3 * once["cpu_op"] > 0
    assert thrice["fwdbwd"] == 3 * once["fwdbwd"] > 0
    for name in ("External id", "Python id"):
        ids = [e["args"][name] for e in events(grown) if name in e.get("args", {})]
        assert len(ids) == len(set(ids)) > 0


def test_it_has_three_times_the_steps_and_calls(
    grown: Path, tmp_path: Path, samples: tracewh.Warehouse
) -> None:
    tracewh.ingest([grown], tmp_path / "warehouse", run="grown")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        (steps,) = warehouse.sql("SELECT list(step ORDER BY step) FROM step_breakdown()").fetchall()
        assert steps == (list(range(2, 17)),)
        calls = dict(warehouse.sql("SELECT name, calls FROM operator_stats()").fetchall())
    question = "SELECT name, calls FROM operator_stats(run := 'resnet_workers_0', span := '1')"
    assert calls == {name: 3 * number for name, number in samples.sql(question).fetchall()}


def test_the_ingest_benchmark_measures_a_file_and_a_folder_of_ranks(
    grown: Path, tmp_path: Path
) -> None:
    for rank in range(2):
        (tmp_path / f"rank{rank}.pt.trace.json.gz").symlink_to(grown)
    table = bench("ingest.py", grown, tmp_path, "--repeat", 1, "--only", "gzip")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[4:]]
    assert [row[:2] + row[3:4] for row in rows] == [
        [name, files, contestant]
        for name, files in ((grown.name, "1"), (tmp_path.name, "2"))
        for contestant in ("tracewh", "gzip")
    ]
    one, two = float(rows[0][2]), float(rows[2][2])
    assert two == pytest.approx(2 * one, abs=0.2)
    for ours, floor in (rows[:2], rows[2:]):
        assert float(ours[4]) > float(floor[4]) > 0


def test_the_view_benchmark_measures_views_and_many_workers(grown: Path, tmp_path: Path) -> None:
    """One view of each kind that it asks in its own way, and on the larger of two traces; one has no rows."""
    short = tmp_path / "short.pt.trace.json.gz"
    short.symlink_to(SOURCE)
    views = ["step_breakdown", "diff_steps", "trend"]
    chosen = [word for view in [*views, "roofline"] for word in ("--view", view)]
    table = bench("views.py", short, grown, "--repeat", 1, "--workers", 3, *chosen)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line.startswith("| ")
    ]
    one, many = (
        {row[0]: row[1:] for row in rows if row[0] != "view" and len(row) == columns}
        for columns in (11, 6)
    )
    assert list(one) == list(many) == views
    steps = {"worker0": "15", "short": "5"}
    assert one["step_breakdown"][0] == steps[one["step_breakdown"][8]]
    for name, row in one.items():
        warm, cold, peak_mb = float(row[1]), float(row[4]), float(row[7])
        assert 0 < warm < cold
        assert peak_mb > 50
        seconds = (("warm", min(warm, float(row[3])), 0.3), ("cold", min(cold, float(row[6])), 0.7))
        # Seconds that are printed as the goal may be rounded, so they may be over it or not.
        equal = {what for what, took, goal in seconds if took == goal}
        said = {what for what in row[9].split(", ") if what}
        assert said - equal == {what for what, took, goal in seconds if took > goal}
        assert many[name][3:] == [row[8], ""]
    assert "No rows for these traces: roofline." in table


def test_a_call_over_many_workers_is_stopped_at_its_limit(samples: tracewh.Warehouse) -> None:
    endless = "SELECT sum(sin(r.range)) FROM range(1_000_000_000_000) AS r"
    run = cold("query", endless, "-w", str(samples.path), limit=1)
    assert run.seconds == math.inf
    assert run.peak_bytes > 0
    assert over(MANY, [run]) == "cold"
    run = cold("show", "runs", "-w", str(samples.path), limit=60)
    assert best([run]) <= run.cpu_seconds < 60


def test_drawn_ranks_are_traces_that_differ_and_can_be_drawn_again(tmp_path: Path) -> None:
    first, again = tmp_path / "first" / "job", tmp_path / "again" / "job"
    for folder in (first, again):
        bench("draw.py", folder, "--ranks", 2, "--steps", 1, "--layers", 4)
    files = sorted(first.iterdir())
    assert [path.read_bytes() for path in files] == [
        (again / path.name).read_bytes() for path in files
    ]
    table = bench("views.py", "--ranks", first.parent, "--repeat", 1)
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    names = {row[0]: int(row[1]) for row in rows if row[0] != "view"}
    assert names == {"kernel_stats": 2 * 4, "step_breakdown": 2, "comm_overlap": 2 * 2}
    tracewh.ingest([first], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        steps = warehouse.sql("SELECT worker, total_us FROM step_breakdown()").fetchall()
        assert [worker for worker, _ in steps] == ["node0000_rank0", "node0000_rank1"]
        assert len({length for _, length in steps}) == 2
        clean = "SELECT count(*) FROM trace_quality() WHERE severity = 'error'"
        assert warehouse.sql(clean).fetchall() == [(0,)]


@pytest.mark.parametrize("ranks", ["8", "20"])
def test_the_benchmark_of_clocks_needs_two_whole_hosts(
    ranks: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clocks", "--ranks", ranks])
    with pytest.raises(SystemExit):
        clocks.main()
    told = "error: --ranks must be a multiple of 8, the ranks of a host, and at least 16"
    assert told in capsys.readouterr().err


def test_the_benchmark_of_serve_says_that_no_client_asked() -> None:
    """Clients that ask every 5 s may ask nothing in 0 s."""
    arguments = Namespace(clients=1, seconds=0.0)
    stream = serve.Stream((), 5)
    told = "^queries: no client asked in 0 s; give --seconds more$"
    with pytest.raises(SystemExit, match=told):
        list(serve.lines(os.getpid(), "http://none", ["queries"], [stream], arguments))
