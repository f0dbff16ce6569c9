"""What goes wrong in the middle of an ingest on a cluster: whole traces only, and none twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from operator import methodcaller
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

import pytest
from pyarrow.fs import FileSelector

import tracewh
import tracewh.spark
from tests.conftest import ROOT
from tests.spark.conftest import Cluster
from tests.spark.test_ingest_tasks import Rows, rows
from tests.storage.remote.conftest import BUCKET, Store
from tracewh.errors import IngestError
from tracewh.ingest import plan
from tracewh.ingest.plan import make_plan
from tracewh.ingest.result import FileResult
from tracewh.ingest.sources.discover import discover
from tracewh.spark import SparkError
from tracewh.spark.ingest_tasks import Job, ingest_sources, ingest_task
from tracewh.spark.tasks import collect, one_per_task
from tracewh.storage import local_store as folders
from tracewh.storage.open_store import open_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The command line, with one trace per task: when the first is done, others are not.
ONE_BY_ONE = (
    "import sys; from tracewh.cli.app import main; from tracewh.ingest import plan;"
    " plan.SMALL_BYTES = 0; sys.exit(main())"
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight traces, of four workers and two runs."""
    folder = tmp_path_factory.mktemp("logs")
    for path in (ROOT / "samples" / "ddp_gloo").iterdir():
        for run in ("one", "two"):
            (folder / run).mkdir(exist_ok=True)
            for copy in "ab":
                shutil.copy(path, folder / run / f"{copy}{path.name}")
    return folder


@pytest.fixture(scope="module")
def whole(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """All rows of the warehouse that one machine makes of them."""
    folder = tmp_path_factory.mktemp("local")
    tracewh.ingest(logs, folder)
    return rows(folder)


def test_a_machine_is_lost(
    spark: SparkSession,
    cluster: Cluster,
    bucket: Store,
    logs: Path,
    whole: Rows,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "SMALL_BYTES", 0)  # one trace per task
    warehouse = f"s3://{BUCKET}/lost"
    lost: list[FileResult] = []

    def lose(outcome: FileResult) -> None:
        if not lost:
            cluster.lose_worker()
        lost.append(outcome)

    try:
        outcomes = tracewh.spark.ingest(spark, logs, warehouse, on_result=lose)
    finally:
        cluster.add_worker()
    assert {o.status for o in outcomes} == {"ingested"}
    assert len(lost) == len(outcomes) == 8
    assert rows(warehouse) == whole
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(each) for each in range(100)]
    assert any(stage.numFailedTasks for stage in stages if stage), "it was lost too late"


def is_python(pid: int) -> bool:
    """Whether a process can be one that ingests: those of Java have hundreds of files open."""
    with suppress(OSError):
        return "python" in os.readlink(f"/proc/{pid}/exe")
    return False


@contextmanager
def killing(cluster: Cluster, path: Path) -> Iterator[set[int]]:
    """Kill every process of the cluster that opens a file."""
    done, killed = threading.Event(), set[int]()

    def watch() -> None:
        while not done.is_set():
            time.sleep(0.005)  # a file of 18 MB is read in some 50 ms
            for pid in filter(is_python, cluster.processes()):
                with suppress(OSError):
                    opened = [os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()]
                    if str(path) in opened:
                        os.kill(pid, signal.SIGKILL)
                        killed.add(pid)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        done.set()
        thread.join()


def test_a_trace_that_ends_its_process_is_refused_and_no_other(
    spark: SparkSession, cluster: Cluster, logs: Path, whole: Rows, tmp_path: Path
) -> None:
    shutil.copytree(logs / "one", tmp_path / "logs" / "one")
    event = '{"ph": "X", "cat": "cpu_op", "name": "x", "ts": 1, "dur": 1, "pid": 1, "tid": 1},'
    killer = tmp_path / "logs" / "one" / "killer.json"
    killer.write_text(f'{{"traceEvents": [{200_000 * event}]}}')
    with killing(cluster, killer) as killed:
        outcomes = tracewh.spark.ingest(spark, tmp_path / "logs", tmp_path / "wh")
    assert len(killed) == 4  # twice beside the others, twice alone
    [refused] = [o for o in outcomes if o.status != "ingested"]
    assert (refused.source, refused.status) == (killer, "refused")
    assert refused.reason == (
        "its ingest crashed its process in every attempt, the last on 127.0.0.1: it may need more "
        "memory than the executors have; ingest it without --engine spark"
    )
    assert len(outcomes) == 5
    found = rows(tmp_path / "wh")
    assert set(found["host_events"]) == {row for row in whole["host_events"] if "one" in row}


def test_a_driver_is_killed_and_started_again(
    cluster: Cluster, bucket: Store, logs: Path, whole: Rows
) -> None:
    warehouse = f"s3://{BUCKET}/driver"
    command = [
        sys.executable,
        "-c",
        ONE_BY_ONE,
        "ingest",
        str(logs),
        "-w",
        warehouse,
        "--engine",
        "spark",
    ]
    environ = os.environ | cluster.environ
    first = subprocess.Popen(
        [*command, "--master", cluster.url], stderr=subprocess.PIPE, text=True, env=environ
    )
    assert first.stderr is not None
    assert first.stderr.readline().startswith(f"{logs}/one/")
    first.kill()
    first.communicate()
    found = rows(warehouse)
    assert 1 <= len(found["traces"]) < 8
    assert all(set(found[table]) <= set(whole[table]) for table in whole)
    second = subprocess.run(command, check=False, capture_output=True, text=True, env=environ)
    assert second.returncode == 0, second.stderr
    *lines, summary = second.stderr.splitlines()
    assert all(line.startswith(f"{logs}/") for line in lines), second.stderr
    assert summary.startswith("tracewh: ") and "unchanged; " in summary
    assert rows(warehouse) == whole


@pytest.mark.parametrize("kind", ["folder", "store"])
def test_a_task_runs_twice_at_once(
    bucket: Store, logs: Path, whole: Rows, tmp_path: Path, kind: str
) -> None:
    warehouse = f"s3://{BUCKET}/twice" if kind == "store" else str(tmp_path)
    store = open_store(warehouse)
    for item in enumerate(make_plan(store, discover([logs / "one"]), force=False)):
        with ThreadPoolExecutor() as pool:
            for task in [
                pool.submit(list, ingest_task(Job(store, None, None), [item])) for _ in "ab"
            ]:
                task.result()
    if kind == "store":
        found = bucket.filesystem.get_file_info(FileSelector(f"{BUCKET}/twice", recursive=True))
        assert sum("_manifest." in info.path for info in found) == 8
    assert rows(warehouse) == {
        table: [row for row in found if row[0] == "one"] for table, found in whole.items()
    }


def test_files_and_folders_that_executors_do_not_see(
    spark: SparkSession, logs: Path, tmp_path: Path
) -> None:
    shutil.copytree(logs / "one", tmp_path / "logs" / "one")
    sources = discover([tmp_path / "logs"])
    Path(str(sources[0].path)).unlink()
    store = folders.LocalStore(tmp_path / "wh")
    outcomes = ingest_sources(spark, sources, store)
    assert [o.status for o in outcomes] == ["refused", "ingested", "ingested", "ingested"]
    assert outcomes[0].reason == (
        f"not found on {gethostname()}: trace files must be in a folder that all machines share, or in a "
        "store: s3://BUCKET/PATH"
    )
    items = [[item] for item in enumerate(make_plan(store, sources, force=True))]
    elsewhere = Job(store, tmp_path / "wh" / ".staging" / "of the driver" / "lock", None)
    frame = one_per_task(spark, partial(ingest_task, elsewhere), items, "result string")
    with pytest.raises(SparkError) as raised:
        collect(frame, methodcaller("collect"))
    assert str(raised.value) == (
        f"on {gethostname()}: {tmp_path}/wh is not the folder in which the ingest was started; the "
        "warehouse must be in a folder that all machines share, or in a store: s3://BUCKET/PATH"
    )


def test_standard_input_is_for_one_machine(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(IngestError) as raised:
        tracewh.spark.ingest(spark, "-", tmp_path)
    assert (
        str(raised.value)
        == "- is standard input, which executors cannot read; ingest it without Spark"
    )
