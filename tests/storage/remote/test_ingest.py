"""Traces in S3, Azure and Google Cloud are taken in as local ones are."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.request import Request, urlopen

import pytest
from pyarrow import fs

import tracewh
from tests.nsys_exports import tiny, write_parquet, write_sqlite
from tracewh.errors import IngestError
from tracewh.ingest.sources import files
from tracewh.ingest.sources.discover import discover


class Store(Protocol):
    filesystem: fs.FileSystem
    url: str
    endpoint: str
    put: Callable[[str, bytes], None]
    requests: Callable[[], list[str]]


def trace(name: str = "aten::mm") -> bytes:
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10, "dur": 5}
    return json.dumps({"schemaVersion": 1, "traceEvents": [event]}).encode()


def taken(paths: list[str], warehouse: Path, **more: Any) -> list[tuple[str, ...]]:
    return [
        (one.status, one.reason, str(one.source), one.run or "", one.worker or "", one.span or "")
        for one in tracewh.ingest(paths, warehouse, **more)
    ]


def failed(path: str, warehouse: Path) -> str:
    with pytest.raises(IngestError) as error:
        tracewh.ingest([path], warehouse)
    assert not warehouse.exists()
    return str(error.value)


def test_a_folder(store: Store, tmp_path: Path) -> None:
    for key in (
        "b/w1.20.pt.trace.json.gz",
        "b/w1.3.pt.trace.json.gz",
        "a/deep/w0.json",
        "top.json",
    ):
        text = trace(key)
        store.put(f"folder/{key}", gzip.compress(text) if key.endswith("gz") else text)
    for key in (
        "a/notes.txt",
        ".hidden/w.json",
        "wh/tracewh.duckdb",
        "wh/x.json",
        "wh/data/y.json",
    ):
        store.put(f"folder/{key}", b"")
    url = f"{store.url}/folder"
    want = [
        ("ingested", "", f"{url}/a/deep/w0.json", "a/deep", "w0", "default"),
        ("ingested", "", f"{url}/b/w1.20.pt.trace.json.gz", "b", "w1", "1"),
        ("ingested", "", f"{url}/b/w1.3.pt.trace.json.gz", "b", "w1", "2"),
        ("ingested", "", f"{url}/top.json", "folder", "top", "default"),
    ]
    assert taken([url], tmp_path / "wh") == want
    again = [("unchanged", *one[1:]) for one in want]
    assert taken([f"{url}/"], tmp_path / "wh") == again
    with tracewh.open(tmp_path / "wh") as warehouse:
        rows = warehouse.sql("FROM traces SELECT source_path, source_bytes ORDER BY 1").fetchall()
        names = warehouse.sql("FROM host_events SELECT name ORDER BY 1").fetchall()
    infos = {f"{store.url}/{i.path.partition('/')[2]}": i.size for i in listed(store, "folder")}
    assert rows == [(path, infos[path]) for _, _, path, *_ in want]
    assert [name for (name,) in names] == [path.removeprefix(f"{url}/") for _, _, path, *_ in want]


def listed(store: Store, key: str) -> list[fs.FileInfo]:
    selector = fs.FileSelector(f"traces/{key}", recursive=True)
    return list(store.filesystem.get_file_info(selector))


def test_a_file_has_the_span_that_its_folder_gives_it(store: Store, tmp_path: Path) -> None:
    for stamp in (5, 7):
        store.put(f"file/run/w.{stamp}.json", trace())
    url = f"{store.url}/file/run/w.7.json"
    assert taken([url, url], tmp_path / "wh") == [("ingested", "", url, "run", "w", "2")]


def test_a_changed_object_is_taken_in_again(store: Store, tmp_path: Path) -> None:
    url = f"{store.url}/changes/w.json"
    store.put("changes/w.json", trace("first"))
    taken([url], tmp_path / "wh")
    time.sleep(1.1)  # stores know when an object was written to the second
    store.put("changes/w.json", trace("other"))
    assert taken([url], tmp_path / "wh") == [("ingested", "", url, "changes", "w", "default")]
    store.put("changes/w.json", trace("other"))  # another time, the same bytes
    assert taken([url], tmp_path / "wh") == [("unchanged", "", url, "changes", "w", "default")]


def test_a_refused_object_is_named_by_its_url(store: Store, tmp_path: Path) -> None:
    url = f"{store.url}/bad/w.json"
    store.put("bad/w.json", b"[[1]]")
    [(status, reason, source, *_)] = taken([url], tmp_path / "wh")
    assert (status, source) == ("refused", url)
    assert reason == "not a Kineto trace: a PyTorch memory timeline (a list of lists)"


def test_names_that_urls_treat_specially(store: Store, tmp_path: Path) -> None:
    names = ["a b.json", "a%20b.json", "a+b.json", "ü.json"]
    for name in names:
        store.put(f"odd/{name}", trace(name))
    outcomes = tracewh.ingest([f"{store.url}/odd"], tmp_path / "wh")
    assert sorted(one.worker or "" for one in outcomes) == sorted(n[:-5] for n in names)
    for one in outcomes:  # what it says is what names it
        assert [again.status for again in tracewh.ingest([str(one.source)], tmp_path / "wh")] == [
            "unchanged"
        ]


def test_what_is_not_there(store: Store, tmp_path: Path) -> None:
    for url in (f"{store.url}/nothing/here", store.url.replace("traces", "no-such-bucket") + "/x"):
        assert failed(url, tmp_path / "wh") == f"{url}: no such file or folder"
    store.put("empty/notes.txt", b"")
    names = "*.json, *.json.gz, *.json.zst"
    url = f"{store.url}/empty"
    assert failed(url, tmp_path / "wh") == f"no trace files ({names}) in {url}"


def test_a_large_object_comes_in_few_requests(s3: Store) -> None:
    content = random.Random(0).randbytes(3 * files.REQUEST_BYTES // 2)
    s3.put("large/w.json", content)
    [source] = discover([f"{s3.url}/large"])
    before = len(s3.requests())
    with source.path.open("rb") as file:
        assert b"".join(iter(lambda: file.read(1 << 18), b"")) == content
    asked = [line.split('"')[1].split()[0] for line in s3.requests()[before:]]
    assert asked.count("GET") == 2
    assert len(asked) <= 4


def test_a_folder_is_listed_once_not_once_per_file(s3: Store) -> None:
    for number in range(30):
        s3.put(f"many/run{number}/w.{number}.json", b"{}")
    before = len(s3.requests())
    assert len(discover([f"{s3.url}/many"])) == 30
    assert len(s3.requests()) - before <= 3
    before = len(s3.requests())
    for number in range(30):
        s3.put(f"many/one/w.{number}.json", b"{}")
    urls = [f"{s3.url}/many/one/w.{number}.json" for number in range(30)]
    before = len(s3.requests())
    assert [source.span for source in discover(urls)][:2] == ["1", "2"]
    assert len(s3.requests()) - before <= 31


def test_folders_of_ranks_are_workers_of_a_run(s3: Store) -> None:
    for rank in range(8):
        stated = f'{{"distributedInfo": {{"rank": {rank}}}, "traceEvents": []}}'
        s3.put(f"ranks/job/rank_{rank}/w.json", stated.encode())
    named = {("job", f"rank_{rank}") for rank in range(8)}
    before = len(s3.requests())
    for given in ("ranks", "ranks/job"):
        assert {(each.run, each.worker) for each in discover([f"{s3.url}/{given}"])} == named
    assert len(s3.requests()) - before <= 16  # one trace is opened, not eight
    [source] = discover([f"{s3.url}/ranks/job/rank_7/w.json"])
    assert (source.run, source.worker) == ("job", "rank_7")


def test_an_object_that_changes_while_it_is_read(store: Store) -> None:
    store.put("moving/w.json", bytes(100))
    [source] = discover([f"{store.url}/moving/w.json"])
    store.put("moving/w.json", bytes(99))
    with source.path.open("rb") as file, pytest.raises(OSError, match="changed while") as error:
        file.read()
    assert error.value.strerror == "changed while it was read; try again"
    assert error.value.filename == f"{store.url}/moving/w.json"


def test_an_object_that_changes_is_refused(store: Store, tmp_path: Path, monkeypatch: Any) -> None:
    url = f"{store.url}/moved/w.json"
    store.put("moved/w.json", trace("long name"))
    found = discover([url])
    store.put("moved/w.json", trace("short"))
    monkeypatch.setattr(import_module("tracewh.ingest.api"), "discover", lambda *_: found)
    assert taken([url], tmp_path / "wh") == [
        ("refused", f"changed while it was read; try again: {url}", url, "", "", "")
    ]
    assert list((tmp_path / "wh" / "data").iterdir()) == []


def test_an_object_that_vanishes(store: Store, tmp_path: Path, monkeypatch: Any) -> None:
    url = f"{store.url}/gone/w.json"
    store.put("gone/w.json", trace())
    found = discover([url])
    store.filesystem.delete_file("traces/gone/w.json")
    monkeypatch.setattr(import_module("tracewh.ingest.api"), "discover", lambda *_: found)
    assert taken([url], tmp_path / "wh") == [
        ("refused", f"no such file or folder: {url}", url, "", "", "")
    ]


def test_s3_without_a_server(s3: Store, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("S3_ENDPOINT", "http://127.0.0.1:1")
    said = failed(f"{s3.url}/x", tmp_path / "wh")
    assert said == f"{s3.url}/x: the store cannot be reached; check S3_ENDPOINT and AWS_REGION"


def test_s3_that_gives_no_access(s3: Store, tmp_path: Path) -> None:
    def check_keys_after(actions: str) -> None:
        url = f"{s3.endpoint}/moto-api/reset-auth"
        with urlopen(Request(url, actions.encode(), {"Content-Type": "text/plain"})):
            pass

    check_keys_after("0")
    try:
        said = failed(f"{s3.url}/x", tmp_path / "wh")
    finally:
        check_keys_after("inf")
    assert said == (
        f"{s3.url}/x: the store denies access; check AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    )


def test_azure_that_gives_no_access(azure: Store, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("AZURE_STORAGE_CONNECTION_STRING")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "AAAA")
    url = f"{azure.endpoint}/traces/x"
    assert failed(url, tmp_path / "wh") == (
        f"{url}: the store denies access; check AZURE_STORAGE_CONNECTION_STRING, or "
        "AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or `az login`"
    )


def test_azure_by_all_its_urls(azure: Store, tmp_path: Path, monkeypatch: Any) -> None:
    azure.put("urls/a b.json", trace())
    account = "devstoreaccount1"
    host = f"abfss://traces@{account}.dfs.core.windows.net"
    for url in ("az://traces", "abfs://traces", "abfss://traces", host):
        [source] = discover([f"{url}/urls"])
        assert str(source.path) == f"{url}/urls/a b.json"
    monkeypatch.delenv("AZURE_STORAGE_CONNECTION_STRING")
    [source] = discover([f"{azure.endpoint}/traces/urls"])  # everybody knows Azurite's key
    assert str(source.path) == f"{azure.endpoint}/traces/urls/a%20b.json"
    assert (source.run, source.worker) == ("urls", "a b")
    with pytest.raises(IngestError) as error:
        discover(["az://traces/urls"])
    assert str(error.value) == (
        "az://traces/urls: the storage account is missing; set AZURE_STORAGE_CONNECTION_STRING or "
        "AZURE_STORAGE_ACCOUNT, or write https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH"
    )


def test_an_export_of_nsight_systems_is_copied_and_read(store: Store, tmp_path: Path) -> None:
    """A database cannot be read front to back; a folder of Parquet files is refused."""
    export = write_sqlite(tmp_path / "r.sqlite", tiny())
    store.put("nsys/run/r.sqlite", export.read_bytes())
    url = f"{store.url}/nsys/run/r.sqlite"
    for status in ("ingested", "unchanged"):
        assert taken([f"{store.url}/nsys"], tmp_path / "wh") == [
            (status, "", url, "run", "r", "default")
        ]
    store.put("database/r.db", export.read_bytes())
    [result] = tracewh.ingest([f"{store.url}/database/r.db"], tmp_path / "wh")
    assert result.reason == (
        "not a Kineto trace: an SQLite database, which cannot be read from a pipe or a store: "
        "name a file on a disk"
    )
    for path in write_parquet(tmp_path / "p_pqtdir", tiny()).iterdir():
        store.put(f"parquet/run/p_pqtdir/{path.name}", path.read_bytes())
    [result] = tracewh.ingest([f"{store.url}/parquet"], tmp_path / "wh")
    assert (str(result.source), result.reason) == (
        f"{store.url}/parquet/run/p_pqtdir",
        "such a trace is read from a disk: copy it to this machine, and ingest the copy",
    )
