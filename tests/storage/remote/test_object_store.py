"""A warehouse is written in a store as it is in a folder, and read by its manifests."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import dataset, fs

import tracewh
from tracewh.ingest.api import ingest
from tracewh.ingest.database_pool import DatabasePool, Limits
from tracewh.ingest.ingest_trace import ingest_traces
from tracewh.ingest.plan import Planned, make_plan
from tracewh.ingest.sources.discover import discover
from tracewh.schema import tables
from tracewh.storage import staging
from tracewh.storage.open_store import open_store
from tracewh.storage.staging import Session
from tracewh.storage.store import Store
from tracewh.views.listing import Listing
from tracewh.views.registry import installed

ROOT = Path(__file__).parents[3]
#: Of two workers.
SAMPLE = ROOT / "samples" / "ddp_gloo"
#: The objects of a trace.
OBJECTS = len(tables()) + 1
W = ("run", "w", "default")
FOLDER = "run=run/worker=w/span=default"


def trace(path: Path, name: str = "aten::mm") -> Path:
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10, "dur": 5}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event]}), "utf-8")
    return path


def names(store: Any, key: str) -> list[str]:
    """The objects below a warehouse's data/."""
    selector = fs.FileSelector(f"traces/{key}/data", recursive=True, allow_not_found=True)
    found = store.filesystem.get_file_info(selector)
    return sorted(info.path.partition("/data/")[2] for info in found if info.is_file)


def operators(warehouse: str | Listing) -> dict[tuple[str, ...], str]:
    """The operator of every trace."""
    with tracewh.Warehouse(warehouse) as opened:
        rows = opened.sql("FROM host_events SELECT run, worker, span, name").fetchall()
    assert len({row[:3] for row in rows}) == len(rows)
    return {row[:3]: row[3] for row in rows}


def statuses(*given: Any, **more: Any) -> list[str]:
    return [one.reason or one.status for one in tracewh.ingest(*given, **more)]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("local") / "wh"
    ingest([SAMPLE], path)
    return path


def test_the_tables_are_those_of_a_folder(store: Any, local: Path) -> None:
    url = f"{store.url}/equal"
    outcomes = tracewh.ingest(SAMPLE, url)
    assert {one.reason or one.status for one in outcomes} == {"ingested"}
    with tracewh.open(local) as here, tracewh.open(url) as there:
        for spec in installed().tables():
            left_out = " EXCLUDE (ingested_at)" if spec.name == "traces" else ""
            sql = f"FROM {spec.name} SELECT CAST(COLUMNS(*{left_out}) AS VARCHAR) ORDER BY ALL"
            assert there.sql(sql).fetchall() == here.sql(sql).fetchall(), spec.name
    told = [(o.run, o.worker, o.span, o.events, o.stored_bytes) for o in outcomes]
    again = tracewh.ingest(SAMPLE, url)
    assert {one.status for one in again} == {"unchanged"}
    assert [(o.run, o.worker, o.span, o.events, o.stored_bytes) for o in again] == told


def test_a_trace_is_that_of_its_newest_manifest(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, path = f"{store.url}/life", tmp_path / "logs" / "run" / "w.json"
    assert statuses(trace(path, "first"), url) == ["ingested"]
    before = Listing.of(url)
    assert statuses(trace(path, "of another size"), url) == ["ingested"]
    assert statuses(path, url) == ["unchanged"]
    assert operators(url) == {W: "of another size"}
    assert operators(before) == {W: "first"}  # what a reader has listed stays
    assert statuses(path, url, force=True) == ["ingested"]
    assert len(names(store, "life")) == 3 * OBJECTS
    # An attempt of which all is there but the manifest, which Azure shows before its contents.
    for name in names(store, "life"):
        if ".1-" in name:
            content = store.filesystem.open_input_stream(f"traces/life/data/{name}").read()
            content = b"" if "_manifest" in name else content
            store.put(f"life/data/{name.replace('.1-', '.7-')}", content)
    assert operators(url) == {W: "of another size"}
    assert statuses(path, url) == ["unchanged"]
    assert statuses(trace(path, "the last"), url) == ["ingested"]
    assert operators(url) == {W: "the last"}
    assert len([name for name in names(store, "life") if ".8-" in name]) == OBJECTS
    # What nobody needs goes, when it is old enough, and nothing else.
    assert len(names(store, "life")) == 5 * OBJECTS
    monkeypatch.setattr(staging, "ABANDONED_SECONDS", -3600)
    assert statuses(path, url) == ["unchanged"]
    assert len(names(store, "life")) == OBJECTS
    assert operators(url) == {W: "the last"}


def _ingested(store: Store, session: Session, databases: DatabasePool, planned: Planned) -> str:
    """Ingest a file as planned, and return its span."""
    spans = []

    def commit(_: int, folder: Path, __: object) -> None:
        spans.append(store.commit(session, planned.target, folder))

    ingest_traces(databases, [planned.source], lambda _: None, lambda _: None, commit)
    [span] = spans
    return span


def test_attempts_at_once(s3: Any, tmp_path: Path) -> None:
    """What a plan says is all that another process needs, and any number may follow it."""
    url = f"{s3.url}/together"
    [planned] = make_plan(open_store(url), discover([trace(tmp_path / "run" / "w.json")]), False)
    assert (planned.known, planned.generation) == (None, 1)
    pickled = pickle.dumps((open_store(url), planned))
    asked = len(s3.requests())
    for _ in range(3):
        there, again = pickle.loads(pickled)
        with (
            there.session() as session,
            DatabasePool(session, Limits(1, 1 << 28)) as databases,
        ):
            span = _ingested(there, session, databases, again)
        assert span == "default"
        assert not session.path.exists()
    done = [line.split('"')[1] for line in s3.requests()[asked:]]
    assert len(done) == 3 * OBJECTS
    assert all(each.startswith("PUT") for each in done)
    manifests = [number for number, each in enumerate(done, 1) if "_manifest." in each]
    assert manifests == [OBJECTS, 2 * OBJECTS, 3 * OBJECTS]  # each is the last of its attempt
    assert operators(url) == {W: "aten::mm"}
    with tracewh.open(url) as opened:
        files = [file for table in tables() for file in opened.files(table)]
        paths = [file.removeprefix("s3://") for file in opened.files("host_events")]
    assert dataset.dataset(paths, filesystem=s3.filesystem).count_rows() == 1
    newest = max(name for name in names(s3, "together") if "_manifest" in name)
    attempt = newest.partition("_manifest")[2].removesuffix(".json")
    assert files == [f"{url}/data/{FOLDER}/{table}{attempt}.parquet" for table in tables()]
    assert statuses(tmp_path / "run" / "w.json", url) == ["unchanged"]


def test_requests(s3: Any, tmp_path: Path) -> None:
    """Few of them, and no more where a warehouse has other runs: a store is slow to ask."""
    url = f"{s3.url}/requests"

    def asked(do: Callable[[], object]) -> dict[str, int]:
        before = len(s3.requests())
        do()
        kinds = [line.split('"')[1].split() for line in s3.requests()[before:]]
        return {
            kind: found
            for kind in ("GET", "HEAD", "PUT", "POST", "LIST")
            if (
                found := sum(
                    (("LIST" if "list-type" in key else verb) == kind) for verb, key, _ in kinds
                )
            )
        }

    logs = [trace(tmp_path / "run" / f"w{number}.json") for number in range(3)]
    other = trace(tmp_path / "other" / "w.json")
    assert asked(lambda: statuses(other, url)) == {"LIST": 1, "HEAD": 1, "PUT": OBJECTS}
    assert asked(lambda: statuses(logs, url)) == {"LIST": 1, "HEAD": 1, "PUT": 3 * OBJECTS}
    # A manifest of each of these workers, of which Arrow asks the size first.
    assert asked(lambda: statuses(logs[:2], url)) == {"LIST": 1, "HEAD": 2, "GET": 2}
    one_run = "FROM host_events AS h SELECT h.name WHERE h.run = 'other'"
    with tracewh.open(url) as opened:
        # Of each file its end, and the columns that are wanted.
        assert asked(lambda: opened.host_events.fetchall()) == {"GET": 8}
        assert asked(lambda: opened.sql(one_run).fetchall()) == {"GET": 1}


def test_a_listing_can_be_cut_and_sent(s3: Any, tmp_path: Path) -> None:
    logs = [trace(tmp_path / "logs" / run / f"{w}.json", run + w) for run in "ab" for w in "xy"]
    for warehouse in (f"{s3.url}/cut", tmp_path / "wh"):
        ingest(logs, warehouse)
        listing = Listing.of(warehouse)
        assert [(t.run, t.worker, t.span) for t in listing.traces] == [
            (run, worker, "default") for run in "ab" for worker in "xy"
        ]
        assert all(trace.files.keys() == tables().keys() for trace in listing.traces)
        part = listing.only(trace for trace in listing.traces if trace.worker == "y")
        sent = pickle.loads(pickle.dumps(part))
        assert operators(sent) == {("a", "y", "default"): "ay", ("b", "y", "default"): "by"}
        with tracewh.Warehouse(sent) as opened:
            assert len(opened.files("flows")) == 2
            with pytest.raises(tracewh.WarehouseError) as error:
                opened.files("stepz")
            assert str(error.value) == "no table named 'stepz'; did you mean 'steps'?"
            with pytest.raises(tracewh.WarehouseError) as error:
                opened.files("kernels")
            assert str(error.value) == (
                "kernels is a slice, which has no files of its own; the tables with files are "
                f"{', '.join(tables())}"
            )
