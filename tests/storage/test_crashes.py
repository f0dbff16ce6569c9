"""Real processes that are killed, interrupted, or run out of room or rights in the middle."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tracewh
from tests.conftest import CPU_SAMPLES
from tests.forked import run_forked, said, start_forked
from tracewh.ingest.plan import SMALL_BYTES
from tracewh.schema import tables
from tracewh.storage.checks import check, left_behind
from tracewh.views.database import database_problem

SAMPLES = Path(__file__).parents[2] / "samples"
#: Those of a CPU, as words of a command.
RUNS = " ".join(map(str, CPU_SAMPLES))
KILLS = 30
#: Rows of a trace, by table.
Rows = dict[str, int]


def rows(warehouse: Path) -> dict[tuple[str, str, str], Rows]:
    """The rows of every table of every trace that a reader sees."""
    found: dict[tuple[str, str, str], Rows] = {}
    if not any(warehouse.glob("data/*/*/*/*.parquet")):
        return found
    with tracewh.open(warehouse) as opened:
        sql = " UNION ALL ".join(
            f"SELECT run, worker, span, '{table}', count(*) FROM {table} GROUP BY ALL"
            for table in tables()
        )
        for *key, table, count in opened.sql(sql).fetchall():
            found.setdefault((key[0], key[1], key[2]), {})[table] = count
    return found


def is_clean(warehouse: Path) -> bool:
    """Whether nothing is damaged or left behind."""
    problems = [p for each in check(warehouse) for p in each.problems]
    assert (problems, left_behind(warehouse), database_problem(warehouse)) == ([], [], None)
    assert list((warehouse / ".staging").iterdir()) == []
    return sorted(path.name for path in warehouse.iterdir()) == [
        ".lock",
        ".staging",
        ".tracewh.duckdb.origin",
        "data",
        "tracewh.duckdb",
    ]


def two_runs(folder: Path) -> Path:
    """Logs of two runs with two traces each."""
    for run in ("ddp_gloo", "resnet_workers_0"):
        shutil.copytree(SAMPLES / run, folder / "logs" / run)
    return folder / "logs"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return two_runs(tmp_path)


def test_kill_at_random_moments(logs: Path, tmp_path: Path) -> None:
    """By turns of a first ingest, of one that finishes what a killed one left, and of one that
    replaces everything. All is imported before: each comes in the middle of the ingest."""
    next((logs / "resnet_workers_0").iterdir()).unlink()
    for path in logs.rglob("*.gz"):  # short ones: what takes time is writing, not reading
        trace = json.loads(gzip.decompress(path.read_bytes()))
        trace["traceEvents"] = trace["traceEvents"][:300]
        path.write_bytes(gzip.compress(json.dumps(trace).encode()))
    log = tmp_path / "log"
    start_forked(log, "--version").join()
    began = time.monotonic()
    process = start_forked(log, "ingest", logs, "-w", tmp_path / "whole", "--jobs", "2")
    process.join()
    duration = time.monotonic() - began
    assert process.exitcode == 0, said(log)
    expected = rows(tmp_path / "whole")
    assert len(expected) == 3
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    warehouse = tmp_path / "wh"
    finished = left = 0
    for turn in range(KILLS):
        if turn % 3 == 0:
            shutil.rmtree(warehouse, ignore_errors=True)
        force = ["--force"] if turn % 3 == 2 else []
        process = start_forked(log, "ingest", logs, "-w", warehouse, "--jobs", 1 + turn % 2, *force)
        moment = moments.uniform(0, duration)
        time.sleep(moment)
        process.kill()
        process.join()
        if process.exitcode == 0:
            finished += 1
            duration = moment  # the machine is less busy than it was
        assert process.exitcode in (0, -signal.SIGKILL), (seed, turn, said(log))
        seen = rows(warehouse)
        assert all(expected[key] == found for key, found in seen.items()), (seed, turn)
        interrupted = any(warehouse.glob(".staging/*"))
        left += interrupted
        if process.exitcode != 0 and not interrupted:
            duration *= 1.05  # or busier: the ingest had not begun to write
    # So that the test tests something: kills came in the middle of the writing.
    assert finished < KILLS / 2, f"seed {seed}: {finished} ended before they were killed"
    assert left > KILLS / 5, f"seed {seed}: only {left} left something behind"
    process = start_forked(log, "ingest", logs, "-w", warehouse)
    process.join()
    assert process.exitcode == 0, (seed, said(log))
    assert rows(warehouse) == expected, seed
    assert is_clean(warehouse), seed


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_an_interrupted_ingest_leaves_nothing(
    logs: Path, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    for path in list(logs.rglob("*.gz")):  # as large files, which are not ingested together
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
        assert path.with_suffix("").stat().st_size > SMALL_BYTES
    for run in list(logs.iterdir()):
        shutil.copytree(run, logs / f"{run.name} again")
    warehouse, log = tmp_path / "wh", tmp_path / "log"
    process = start_forked(log, "ingest", logs, "-w", warehouse, "--jobs", "2")
    while not any(warehouse.glob("data/*/*/*/_manifest.json")):
        assert process.is_alive(), said(log)
        time.sleep(0.01)
    assert process.pid is not None
    os.kill(process.pid, sent)
    process.join(60)
    assert process.exitcode == code
    *files, last = said(log).splitlines()
    assert (
        last == "tracewh: interrupted; ingested traces are kept, run the command again to continue"
    )
    assert all(": ingested " in line for line in files)
    assert list((warehouse / ".staging").iterdir()) == []
    assert 0 < len(rows(warehouse)) < 8
    assert run_forked(log, "ingest", logs, "-w", warehouse)[0] == 0
    assert len(rows(warehouse)) == 8


def test_an_interrupt_ends_what_the_database_is_doing(tmp_path: Path) -> None:
    """It does not wait for a statement that may take minutes.

    The thread that asks is the one to get the signal, as any may that was begun a moment before.
    """
    (tmp_path / "w.json").write_text('{"traceEvents": []}', "utf-8")
    code = f"""
import signal, sys, threading
from tracewh.ingest.link.link_tasks import LINK_TASKS
from tracewh.ingest.link.task_graph import Task
from tracewh.cli.app import main
def nest(con):
    sys.stdout.write("linking\\n")
    sys.stdout.flush()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    con.execute("SELECT sum(sin(r.range)) FROM range(1000000000000) AS r")
LINK_TASKS["nesting"] = Task(nest)
sys.exit(main(["ingest", {str(tmp_path / "w.json")!r}, "-w", {str(tmp_path / "wh")!r}]))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "linking\n"
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert (
        err == "tracewh: interrupted; ingested traces are kept, run the command again to continue\n"
    )
    assert list((tmp_path / "wh" / ".staging").iterdir()) == []


@pytest.fixture
def on_a_small_disk(tmp_path: Path) -> Callable[..., str]:
    """Runs a shell script in a folder that is a tmpfs of its own, and gives what it wrote.

    The script finds `tracewh` as a function, and copies to $OUT what is to be looked at.
    """
    outside = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-r", "--mount"]
    disk, out = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    out.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if (
        not shutil.which("unshare")
        or subprocess.run([*outside, *mount], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs the right to mount a tmpfs")

    def run(kilobytes: int, script: str, **environment: str) -> str:
        mount[4] = f"size={kilobytes}k"
        main = "from tracewh.cli.app import run; run()"
        whole = f"""
            {" ".join(mount)} && cd {disk} || exit 99
            tracewh() {{ '{sys.executable}' -c '{main}' "$@"; }}
            {script}
        """
        done = subprocess.run(
            [*outside, "sh", "-c", whole], capture_output=True, text=True, check=False,
            env={**os.environ, "OUT": str(out), "SAMPLES": str(SAMPLES), "RUNS": RUNS, **environment},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


FULL = "no space left on the disk of {disk}/wh: free some, or name another warehouse"


def test_a_disk_that_fills_up(tmp_path: Path, on_a_small_disk: Callable[..., str]) -> None:
    """One trace goes in, the disk fills up, the others are refused; with room they go in."""
    said = on_a_small_disk(
        8000,
        """
        tracewh ingest $SAMPLES/ddp_gloo/rank0* -w wh > $OUT/table 2> $OUT/first || exit 1
        head -c $(( $(df --output=avail -B1 . | tail -1) - 90000 )) /dev/zero > filler
        tracewh ingest $RUNS --force -w wh > $OUT/table 2> $OUT/second
        echo $? > $OUT/code
        rm filler
        cp -a wh $OUT/full
        tracewh check -w wh > $OUT/check 2>&1 || exit 2
        tracewh ingest $RUNS -w wh > $OUT/table 2> $OUT/third || exit 3
        tracewh check -w wh 2> $OUT/sound || exit 4
        ls -A wh/.staging
        """,
    )
    out, disk = tmp_path / "out", tmp_path / "disk"
    assert (out / "code").read_text() == "1\n"
    *files, total = (out / "second").read_text().splitlines()
    assert len(files) == 6
    for line in files:
        path, _, reason = line.partition(": refused: ")
        assert reason == FULL.format(disk=disk), line
        assert Path(path).is_file()
    assert total == "tracewh: 6 refused"
    assert len(rows(out / "full")) == 1
    assert list((out / "full" / ".staging").iterdir()) == []
    third = (out / "third").read_text().splitlines()
    assert sum(": ingested " in line for line in third) == 5
    assert (out / "sound").read_text().startswith("tracewh: 6 traces, ")
    assert said == "", "nothing is left behind"


def test_a_disk_too_full_for_the_database(
    tmp_path: Path, on_a_small_disk: Callable[..., str]
) -> None:
    """The trace is in and stays in; what it is made from later is said."""
    on_a_small_disk(
        400,
        """
        tracewh ingest $SAMPLES/ddp_gloo/rank0* -w wh > $OUT/table 2> $OUT/said
        echo $? > $OUT/code
        ls -A wh > $OUT/list
        """,
    )
    out, disk = tmp_path / "out", tmp_path / "disk"
    assert (out / "code").read_text() == "1\n"
    said = (out / "said").read_text().splitlines()
    assert said[-1] == (
        f"tracewh: cannot write {disk}/wh/tracewh.duckdb: no space left on device: free some, "
        "then `tracewh relink`"
    )
    assert "1 ingested" in said[-2]
    assert (out / "list").read_text().split() == [
        ".lock", ".staging", ".tracewh.duckdb.origin", "data",
    ]  # fmt: skip


def test_a_disk_that_spilling_fills_up(tmp_path: Path, on_a_small_disk: Callable[..., str]) -> None:
    """What memory cannot hold goes to the disk of the warehouse, and does not fit there either."""
    event = '{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":1,"tid":%d,"ts":%d.5,"dur":3.25}'
    events = ",".join(event % (i * 7919 % 100_003, i % 50, i * 13) for i in range(400_000))
    (tmp_path / "w.json").write_text(f'{{"traceEvents":[{events}]}}', "utf-8")
    on_a_small_disk(
        3000,
        f"""
        '{sys.executable}' -c '
import sys
from tracewh.ingest import database_pool
from tracewh.cli.app import main
database_pool.MEMORY_BYTES = 60 << 20
sys.exit(main(["ingest", "{tmp_path / "w.json"}", "-w", "wh"]))' > $OUT/table 2> $OUT/said
        echo $? > $OUT/code
        find wh > $OUT/list
        """,
    )
    out, disk = tmp_path / "out", tmp_path / "disk"
    assert (out / "said").read_text().splitlines() == [
        f"{tmp_path}/w.json: refused: {FULL.format(disk=disk)}",
        "tracewh: 1 refused",
    ], json.dumps((out / "said").read_text())
    assert (out / "code").read_text() == "1\n"
    assert (out / "list").read_text().split() == ["wh", "wh/.lock", "wh/.staging", "wh/data"]


def ingest_as_anyone(log: Path, *words: object) -> tuple[int | None, list[str]]:
    """Exit code and lines on stderr."""
    code, err = run_forked(log, "ingest", *words, as_anyone=True)
    return code, err.splitlines()


@pytest.mark.parametrize("folder", ["wh", "wh/.staging", "wh/data"])
def test_a_warehouse_that_may_not_be_written(logs: Path, tmp_path: Path, folder: str) -> None:
    warehouse = tmp_path / "wh"
    tracewh.ingest(logs / "ddp_gloo", warehouse)
    before, log = rows(warehouse), tmp_path / "log"
    (tmp_path / folder).chmod(0o500)
    if folder == "wh":
        (warehouse / ".lock").unlink()
    try:
        code, lines = ingest_as_anyone(log, logs, "-w", warehouse)
    finally:
        (tmp_path / folder).chmod(0o700)
    if folder == "wh/data":
        assert code == 3
        assert sorted(line for line in lines if ": refused: " in line) == [
            f"{path}: refused: Permission denied: {warehouse}/data/run=resnet_workers_0"
            for path in sorted((logs / "resnet_workers_0").iterdir())
        ]
    else:
        assert (code, lines) == (
            1,
            [f"tracewh: cannot write the warehouse {warehouse}: Permission denied"],
        )
    assert rows(warehouse) == before
    assert list((warehouse / ".staging").iterdir()) == []
    assert ingest_as_anyone(log, logs, "-w", warehouse)[0] == 0
    assert len(rows(warehouse)) == 4
    assert is_clean(warehouse)


@pytest.mark.parametrize("folder", ["data", "data/run=a"])
def test_a_warehouse_that_may_not_be_read(tmp_path: Path, folder: str) -> None:
    """It may hold traces, so nobody is told to ingest some."""
    (tmp_path / "wh/data/run=a").mkdir(parents=True)
    (tmp_path / "wh" / folder).chmod(0)
    code, said = run_forked(tmp_path / "log", "runs", "-w", tmp_path / "wh", as_anyone=True)
    assert (code, said) == (1, f"tracewh: {tmp_path}/wh/{folder}: Permission denied\n")


def test_a_file_that_may_not_be_read(logs: Path, tmp_path: Path) -> None:
    first, second = sorted((logs / "ddp_gloo").iterdir())
    first.chmod(0)
    code, lines = ingest_as_anyone(
        tmp_path / "log", logs / "ddp_gloo", "-w", tmp_path / "wh", "--jobs", "1"
    )
    assert code == 3
    assert f"{first}: refused: Permission denied: {first}" in lines
    assert any(line.startswith(f"{second}: ingested ") for line in lines)
