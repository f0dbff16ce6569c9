"""`tracewh compact`: copies that nobody sees but in the time that a question takes."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyarrow.fs import FileSelector

import tracewh
from tests.conftest import ROOT
from tests.forked import said, start_forked
from tests.storage.remote.conftest import BUCKET, Store
from tests.storage.remote.test_object_store import operators, statuses, trace
from tracewh.cli.app import main
from tracewh.errors import IngestError
from tracewh.ingest.api import drop
from tracewh.ingest.reconstruct import events
from tracewh.schema import tables
from tracewh.storage import compaction as module
from tracewh.storage.checks import check
from tracewh.storage.compaction import Compaction, MergedTable, compact
from tracewh.storage.listing import contents
from tracewh.views.listing import Listing

SAMPLES = [ROOT / "samples" / "ddp_gloo", ROOT / "samples" / "resnet_workers_0"]
KILLS = 3
TABLES = tuple(sorted(tables()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where traces lie: one that is ingested again is known by its path."""
    return tmp_path_factory.mktemp("logs") / "run"


@pytest.fixture
def logs(folder: Path) -> list[Path]:
    """Four traces of the run `run`, of workers w0 to w3, with operators of their names."""
    return four(folder)


def four(folder: Path) -> list[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    return [trace(folder / f"w{number}.json", str(number)) for number in range(4)]


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a warehouse can be: here, or in a store."""
    if request.param == "s3":
        return f"{request.getfixturevalue('s3').url}/{tmp_path.name}"
    return str(tmp_path / "wh")


@pytest.fixture(scope="module")
def ingested(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of them, to be copied, which takes a tenth of an ingest."""
    path = tmp_path_factory.mktemp("ingested") / "wh"
    tracewh.ingest(four(folder), path)
    return path


@pytest.fixture
def in_folder(ingested: Path, logs: list[Path], tmp_path: Path) -> Path:
    """A warehouse of them in a folder."""
    return shutil.copytree(ingested, tmp_path / "wh")


@pytest.fixture
def in_store(s3: Store, logs: list[Path], tmp_path: Path) -> None:
    """A warehouse of them in the store: a copy of the one that the first test ingests."""
    ingested = f"{logs[0].parents[1].name}-ingested"
    wanted = FileSelector(f"{BUCKET}/{ingested}", recursive=True, allow_not_found=True)
    if not (found := s3.filesystem.get_file_info(wanted)):
        tracewh.ingest(logs, f"{s3.url}/{ingested}")
        found = s3.filesystem.get_file_info(wanted)
    for each in found:
        if each.is_file:
            to = each.path.replace(ingested, tmp_path.name, 1)
            s3.filesystem.copy_file(each.path, to)


@pytest.fixture
def warehouse(request: pytest.FixtureRequest, place: str) -> str:
    """A warehouse of them."""
    request.getfixturevalue("in_store" if "://" in place else "in_folder")
    return place


def seen(warehouse: str | Listing) -> dict[str, str]:
    return {worker: name for (_, worker, _), name in operators(warehouse).items()}


def agreed(warehouse: str) -> dict[str, str]:
    """What is seen; of a folder also where it is listed, as a store always is."""
    found = seen(warehouse)
    assert "://" in warehouse or seen(Listing.of(warehouse)) == found
    return found


def copies(warehouse: str) -> list[str]:
    """The names of the copies, whole or not."""
    if "://" not in warehouse:
        return sorted(path.name for path in Path(warehouse).glob("data/*/_compact.*"))
    found = contents(tracewh.storage.remote.locate(warehouse)).merged
    return sorted(f"{a.generation}-{a.token}" for each in found for a in each.attempts)


def reads(warehouse: str | tracewh.Warehouse, table: str) -> int:
    """From how many files the rows of a table are read in a folder."""
    opened = warehouse if isinstance(warehouse, tracewh.Warehouse) else tracewh.open(warehouse)
    ((_, plan),) = opened.sql(f"EXPLAIN ANALYZE FROM {table}").fetchall()
    return sum(map(int, re.findall(r"Files Read: (\d+)", plan)))


def everything(warehouse: str | Listing) -> Iterator[Any]:
    with tracewh.Warehouse(warehouse) as opened:
        for table in TABLES:
            yield opened.sql(f"FROM {table} ORDER BY ALL").to_arrow_table()
        for view in ("step_breakdown", "operator_stats"):
            yield opened.view(view).fetchall()


def test_tables_and_views_are_the_same(place: str) -> None:
    """Of a run that is compact and another that is not, and then of both."""
    tracewh.ingest(SAMPLES, place)
    before = list(everything(place))
    for run in ("resnet_workers_0", "ddp_gloo"):
        assert compact(place, run) == Compaction(2, TABLES)
        assert list(everything(place)) == before
    if "://" not in place:  # a store is always listed
        assert list(everything(Listing.of(place))) == before


def test_fewer_requests(s3: Any, logs: list[Path]) -> None:
    url = f"{s3.url}/fewer"
    tracewh.ingest(logs, url)

    def asked() -> list[str]:
        old = len(s3.requests())
        with tracewh.open(url) as opened:
            opened.step_breakdown().fetchall()
        return [line for line in s3.requests()[old:] if ".parquet" in line]

    assert len(asked()) >= 4 * 2
    compact(url, "run")
    assert 2 <= len(asked()) <= 4


def test_of_one_trace_its_own_file_is_read(warehouse: str) -> None:
    compact(warehouse, "run")
    listing = Listing.of(warehouse)
    one = pickle.loads(pickle.dumps(listing.only(listing.traces[1:2])))
    assert (one.compacted, seen(one)) == ((), {"w1": "1"})
    most = pickle.loads(pickle.dumps(listing.only(listing.traces[1:])))
    assert (len(most.compacted), seen(most)) == (1, {"w1": "1", "w2": "2", "w3": "3"})


def test_what_comes_changes_and_goes_later(warehouse: str, logs: list[Path]) -> None:
    compact(warehouse, "run")
    assert compact(warehouse, "run") == Compaction(4, TABLES, unchanged=True)
    opened = tracewh.open(warehouse)
    before = opened.sql("FROM host_events SELECT worker, name").fetchall()
    statuses(trace(logs[2], "changed"), warehouse)
    statuses(trace(logs[0].with_name("v.json"), "new"), warehouse)
    want = {"v": "new", "w0": "0", "w1": "1", "w2": "changed", "w3": "3"}
    assert agreed(warehouse) == want
    if "://" in warehouse:  # it shows what was there when it was opened
        assert opened.sql("FROM host_events SELECT worker, name").fetchall() == before
    else:
        assert dict(opened.sql("FROM host_events SELECT worker, name").fetchall()) == want
        assert (
            dict(opened.connection.sql("FROM host_events SELECT worker, name").fetchall()) == want
        )
        assert reads(opened, "host_events") == 1 + 2
    assert compact(warehouse, "run") == Compaction(5, TABLES)
    assert agreed(warehouse) == want
    for each in (0, 1, 3):
        statuses(trace(logs[each], "again"), warehouse)
    want |= dict.fromkeys(("w0", "w1", "w3"), "again")
    assert agreed(warehouse) == want
    if "://" not in warehouse:  # most of them are others now
        assert reads(opened, "host_events") == 5


def test_what_is_dropped_leaves_no_copy(warehouse: str) -> None:
    compact(warehouse, "run")
    assert drop(warehouse, "run", "w9") == 0
    assert len(copies(warehouse)) == 1
    assert drop(warehouse, "run", "w1") == 1
    assert copies(warehouse) == []
    assert seen(warehouse) == {"w0": "0", "w2": "2", "w3": "3"}
    compact(warehouse, "run")
    assert drop(warehouse, "run") == 3
    if "://" not in warehouse:
        assert list(Path(warehouse, "data").iterdir()) == []


def test_a_trace_that_changes_meanwhile(warehouse: str, logs: list[Path]) -> None:
    """Its copy may be of either, or of both: its own files are read."""

    def replace(merged: MergedTable) -> None:
        if merged.table == TABLES[2]:
            statuses(trace(logs[1], "changed"), warehouse)

    compact(warehouse, "run", on_table=replace)
    want = {"w0": "0", "w1": "changed", "w2": "2", "w3": "3"}
    assert agreed(warehouse) == want


@pytest.mark.parametrize("table", [TABLES[2], TABLES[-1]])
def test_a_trace_that_is_dropped_meanwhile(warehouse: str, table: str) -> None:
    def remove(merged: MergedTable) -> None:
        if merged.table == table:
            drop(warehouse, "run", "w1")

    with pytest.raises(IngestError) as error:
        compact(warehouse, "run", on_table=remove)
    said = str(error.value)
    assert said.startswith("run 'run' was not compacted: ")
    assert said.endswith("; if its traces changed meanwhile, try again, else run `tracewh check`")
    assert "run=run/worker=w1/span=default" in said
    assert "\n" not in said
    assert seen(warehouse) == {"w0": "0", "w2": "2", "w3": "3"}
    assert compact(warehouse, "run") == Compaction(3, TABLES)


def test_two_at_once(warehouse: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(compact, warehouse, "run", True) for _ in range(2)]
        assert [each.result() for each in both] == [Compaction(4, TABLES)] * 2
    assert len(copies(warehouse)) == 2
    assert seen(warehouse) == {f"w{n}": str(n) for n in range(4)}


def test_one_that_is_killed(
    warehouse: str, logs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is seen. What it left where it worked goes with the next one."""
    scratch, log = tmp_path / "scratch", tmp_path / "log"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))

    def force() -> ForkServerProcess:
        return start_forked(log, "compact", "--force", "run", "-w", warehouse)

    def run() -> None:
        process = force()
        process.join()
        assert process.exitcode == 0, said(log)

    start_forked(log, "--version").join()
    began = time.monotonic()
    run()
    duration = time.monotonic() - began
    for turn in range(KILLS):
        process = force()
        time.sleep(duration * (turn + 1) / (KILLS + 1))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        assert agreed(warehouse) == {f"w{n}": str(n) for n in range(4)}
    run()
    staging = scratch if "://" in warehouse else Path(warehouse, ".staging")
    assert list(staging.iterdir()) == []
    assert set(statuses(logs, warehouse)) == {"unchanged"}  # but the database of a copied folder
    assert main(["check", "-w", warehouse]) == 0


def test_old_copies_stay_for_a_day(in_folder: Path) -> None:
    warehouse = str(in_folder)
    for _ in range(3):
        compact(warehouse, "run", force=True)
    _, second, third = copies(warehouse)
    (Path(warehouse, "data/run=run", third) / "_manifest.json").unlink()  # as where one was lost
    for path in Path(warehouse).glob("data/run=run/_compact.*/*"):
        os.utime(path, (time.time() - 25 * 3600,) * 2)
    assert reads(warehouse, "steps") == 1
    compact(warehouse, "run", force=True)
    left = copies(warehouse)
    assert left[0] == second, "others may have seen it until now"
    assert left[1].startswith("_compact.4-") and len(left) == 2
    assert reads(warehouse, "steps") == 1


def test_other_readers_see_none(tmp_path: Path, logs: list[Path]) -> None:
    # Slow to import, and every process of a test run collects this file.
    from pyarrow import dataset

    warehouse = tmp_path / "wh"
    tracewh.ingest(logs, warehouse)

    def counts() -> list[Any]:
        glob = f"{warehouse}/data/*/*/*/host_events.parquet"
        found = dataset.dataset(
            warehouse / "data", partitioning="hive", exclude_invalid_files=False
        ).files
        with duckdb.connect(warehouse / "tracewh.duckdb", read_only=True) as con:
            return [
                duckdb.execute("SELECT count(*) FROM read_parquet(?)", [glob]).fetchall(),
                con.execute("SELECT count(*) FROM host_events").fetchall(),
                sorted(found),
                tracewh.open(warehouse).files("host_events"),
            ]

    before = counts()
    compact(warehouse, "run")
    assert counts() == before
    moved = shutil.copytree(warehouse, tmp_path / "moved")
    assert seen(str(moved)) == seen(str(warehouse))


def test_a_folder_whose_name_is_a_pattern_for_another(in_folder: Path, logs: list[Path]) -> None:
    """The folder wh has operators 0 to 3, and [w]h beside it has an operator `new`, four times."""
    path = in_folder.with_name("[w]h")
    tracewh.ingest([trace(log, "new") for log in logs], path)
    own = dict.fromkeys(("w0", "w1", "w2", "w3"), "new")
    for _ in ("merged by the first", "not merged again"):
        compact(path, "run")
        assert agreed(str(path)) == own
    assert [found.problems for found in check(path)] == [()] * 4
    [text] = events(path / "data/run=run/worker=w0/span=default")
    assert '"name":"new"' in text
    moved = path.rename(in_folder.with_name("moved"))
    assert agreed(str(moved)) == own


def test_large_tables_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = str(tmp_path / "wh")
    tracewh.ingest(SAMPLES[0], warehouse)
    before = list(everything(warehouse))
    monkeypatch.setattr(module, "SMALL_BYTES", 4096)
    done = compact(warehouse, "ddp_gloo")
    assert "host_events" not in done.tables and "steps" in done.tables
    assert list(everything(warehouse)) == list(everything(Listing.of(warehouse))) == before
    assert [reads(warehouse, table) for table in ("host_events", "steps")] == [2, 1]
    monkeypatch.setattr(module, "SMALL_BYTES", 1)
    assert compact(warehouse, "ddp_gloo") == Compaction(2)


def test_damaged_copies(
    tmp_path: Path, logs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = tmp_path / "wh"
    tracewh.ingest(logs, warehouse)
    compact(warehouse, "run")
    assert main(["check", "-w", str(warehouse)]) == 0
    (steps,) = warehouse.glob("data/run=run/_compact.*/steps.parquet")
    steps.write_bytes(steps.read_bytes()[:-1] + b"x")
    capsys.readouterr()
    assert main(["check", "run", "-w", str(warehouse), "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {
        "run": "run",
        "worker": None,
        "span": None,
        "file": f"{steps.parent.name}/steps.parquet",
        "problem": "its contents differ from what was written",
        "remedy": f"tracewh compact --force run -w {warehouse}",
    }
    assert main(["compact", "--force", "run", "-w", str(warehouse)]) == 0
    assert main(["check", "-w", str(warehouse)]) == 0
    (newest,) = warehouse.glob("data/run=run/_compact.2-*/_manifest.json")
    newest.write_text("{}")
    assert seen(str(warehouse)) == {f"w{n}": str(n) for n in range(4)}
    assert reads(str(warehouse), "steps") == 4
    capsys.readouterr()
    assert main(["check", "-w", str(warehouse), "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    said = "it is damaged or cannot be read ('files')"
    assert (row["file"], row["problem"]) == (f"{newest.parent.name}/_manifest.json", said)
    newest.write_text("[" * 100_000)
    assert seen(str(warehouse)) == {f"w{n}": str(n) for n in range(4)}
    assert main(["check", "-w", str(warehouse)]) == 1


def test_what_the_command_says(
    tmp_path: Path, logs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["-w", str(tmp_path / "wh")]
    assert main(["compact", "run", *where]) == 1
    said = (
        f"{where[1]} does not exist; create a warehouse with `tracewh ingest LOGDIR -w {where[1]}`"
    )
    assert capsys.readouterr().err == f"tracewh: {said}\n"
    tracewh.ingest(logs[0], where[1])
    assert main(["compact", "run", *where]) == 0
    said = "nothing to compact in run 'run' (1 trace): it has one trace"
    assert capsys.readouterr().err == f"tracewh: {said}\n"
    tracewh.ingest(logs[1], where[1])
    damaged = next(tmp_path.glob("wh/data/run=run/worker=w0/*/steps.parquet"))
    kept = damaged.read_bytes()
    damaged.unlink()
    capsys.readouterr()
    assert main(["compact", "run", *where]) == 0
    said = (
        "nothing to compact in run 'run' (2 traces): one of them is damaged; `tracewh check` says how to "
        "repair it"
    )
    assert capsys.readouterr().err == f"tracewh: {said}\n"
    damaged.write_bytes(kept)
    assert main(["compact", "ran", *where]) == 2
    assert capsys.readouterr().err == "tracewh: no run named 'ran'; did you mean 'run'?\n"
    tracewh.ingest(logs, where[1])
    assert main(["compact", "run", *where]) == 0
    *lines, last = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(TABLES)
    assert re.fullmatch(r"traces: merged 4 files \([\d.]+ kB\) into one \([\d.]+ kB\)", lines[-1])
    assert last == "tracewh: run 'run' is now compacted: 18 tables of 4 traces"
    assert main(["compact", "run", *where]) == 0
    said = "run 'run' is already compacted: 18 tables of 4 traces"
    assert capsys.readouterr().err == f"tracewh: {said}\n"
