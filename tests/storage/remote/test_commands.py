"""Commands on a warehouse in a store, and on one that was copied from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from tests.storage.remote.test_object_store import (
    FOLDER,
    OBJECTS,
    SAMPLE,
    W,
    names,
    operators,
    statuses,
    trace,
)
from tracewh.cli.app import main
from tracewh.ingest.api import ingest
from tracewh.storage.captures import link_captures
from tracewh.storage.checks import check
from tracewh.storage.copied_warehouse import make_local
from tracewh.storage.layout import Attempt


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("local") / "wh"
    ingest([SAMPLE], path)
    return path


def test_a_copied_folder_is_the_generation_before_all(
    s3: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There and back: `relink` makes a folder's warehouse of what was copied from a store."""
    path, url = tmp_path / "logs" / "run" / "w.json", f"{s3.url}/copied"
    ingest([trace(path, "first")], tmp_path / "wh")
    s3.put_folder(tmp_path / "wh" / "data", "copied/data")
    assert operators(url) == {W: "first"}
    assert statuses(path, url) == ["unchanged"]
    assert statuses(trace(path, "of another size"), url) == ["ingested"]
    assert operators(url) == {W: "of another size"}
    back = tmp_path / "back"
    ends = {"source_filesystem": s3.filesystem, "destination_filesystem": fs.LocalFileSystem()}
    (back / "data").mkdir(parents=True)
    fs.copy_files("traces/copied/data", str(back / "data"), **ends)
    (back / "data" / FOLDER / "steps.9-01234567.parquet").write_bytes(b"lost")
    for old in [*back.glob("data/*/*/*/traces.parquet"), *back.glob("data/*/*/*/_manifest.json")]:
        old.unlink()  # as where it was swept
    assert main(["runs", "-w", str(back)]) == 1
    said = f"{back} was copied from an object store; convert it with `tracewh relink -w {back}`"
    assert capsys.readouterr().err == f"tracewh: {said}\n"
    assert main(["relink", "-w", str(back)]) == 0
    for _ in range(2):  # what was interrupted can be repeated
        make_local(back)
        assert [one.problems for one in check(back)] == [()]
        assert operators(str(back)) == {W: "of another size"}
    assert statuses(path, back) == ["unchanged"]


def test_a_copied_folder_with_damaged_manifests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In w0 the newest attempt has an empty manifest, so it does not count; in w1 the only manifest is damaged."""
    path = tmp_path / "wh"
    logs = [trace(tmp_path / "run" / f"w{number}.json", str(number)) for number in range(2)]
    assert statuses(logs, path) == ["ingested"] * 2
    folders = [path / f"data/run=run/worker=w{number}/span=default" for number in range(2)]
    attempt = Attempt.new(1)
    for folder in folders:
        for file in [*folder.iterdir()]:
            file.rename(folder / attempt.name(file.name))
        manifest = folder / attempt.name("_manifest.json")
        manifest.write_text(manifest.read_text().replace(".parquet", f".1-{attempt.token}.parquet"))
    (folders[0] / Attempt.new(2).name("_manifest.json")).touch()
    manifest.write_text("{}")
    assert main(["relink", "-w", str(path)]) == 0
    assert capsys.readouterr().err == (
        f"tracewh: {folders[1]}/_manifest.json is damaged; `tracewh check` says how to repair it\n"
        f"wrote {path}/tracewh.duckdb\n"
    )
    assert operators(str(path)) == {("run", f"w{n}", "default"): str(n) for n in range(2)}
    assert [[each.file for each in one.problems] for one in check(path)] == [[], ["_manifest.json"]]


def test_commands(s3: Any, local: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"{s3.url}/commands"
    for more in ([], ["--force"]):
        assert main(["ingest", str(SAMPLE), "-w", url, *more]) == 0
    assert main(["check", "-w", url]) == 0
    _, err = capsys.readouterr()
    assert err.splitlines()[-1].endswith(": no problems found")
    words = ["export", "ddp_gloo", "--worker", "rank0", "-o"]
    for warehouse in (url, str(local)):
        path = tmp_path / f"{warehouse[:2].strip('/')}.json"
        assert main([*words, str(path), "-w", warehouse]) == 0
    assert (tmp_path / "s3.json").read_bytes() == path.read_bytes()
    # An attempt that is under way when its run is dropped comes in afterwards, whole.
    folder = next(name for name in names(s3, "commands") if "_manifest" in name).rpartition("/")[0]
    s3.put(f"commands/data/{folder}/steps.9-01234567.parquet", b"PAR1")
    capsys.readouterr()
    before = len(s3.requests())
    assert main(["drop", "ddp_gloo", "-y", "-w", url]) == 0
    assert capsys.readouterr().err == "removed 2 traces of run 'ddp_gloo'\n"
    gone = [line.split('"')[1] for line in s3.requests()[before:] if '"DELETE' in line]
    assert len(gone) == 2 * 2 * OBJECTS
    for worker in ("rank0", "rank1"):  # readers see the newest trace until there is none
        older, newest, *rest = (each for each in gone if worker in each)
        assert "_manifest.1-" in older and "_manifest.2-" in newest
        assert not any("_manifest" in each for each in rest)
    assert names(s3, "commands") == [f"{folder}/steps.9-01234567.parquet"]
    assert main(["drop", "ddp_gloo", "-y", "-w", url]) == 1
    assert capsys.readouterr().err == f"tracewh: {url}: holds no traces\n"


def test_check_names_what_is_wrong(
    s3: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, path = f"{s3.url}/damaged", trace(tmp_path / "run" / "w.json")
    assert statuses(path, url) == ["ingested"]
    found = {name.rpartition("/")[2].partition(".")[0]: name for name in names(s3, "damaged")}
    [info] = s3.filesystem.get_file_info([f"traces/damaged/data/{found['steps']}"])
    s3.put(f"damaged/data/{found['steps']}", b"PAR1")
    s3.filesystem.delete_file(f"traces/damaged/data/{found['flows']}")
    assert main(["check", "-w", url, "--format", "csv"]) == 1
    remedy = f"tracewh ingest --force --run run -w {url} {path}"
    assert capsys.readouterr().out.splitlines() == [
        "run,worker,span,file,problem,remedy",
        f"run,w,default,flows.parquet,it is missing,{remedy}",
        f'run,w,default,steps.parquet,"it has 4 bytes, {info.size:,} were written",{remedy}',
    ]
    assert statuses(path, url, force=True) == ["ingested"]
    assert main(["check", "-w", url]) == 0


@pytest.mark.parametrize("place", ["folder", "s3"])
def test_captures_of_several_runs(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each run has one trace of the same worker and span, with an operator of its name."""
    warehouse = str(tmp_path / "wh")
    if place == "s3":
        warehouse = f"{request.getfixturevalue('s3').url}/captures"
    logs = {run: tmp_path / run / "w.json" for run in ("serve", "warm1", "warm2")}
    for run, path in logs.items():
        assert statuses(trace(path, run), warehouse) == ["ingested"]
    name = "serve/capture_traces"
    assert link_captures(warehouse, "serve", "warm1") == [(name, "w", "default")]
    assert link_captures(warehouse, "serve", "warm2") == [(name, "w", "2")]
    assert statuses(trace(logs["warm1"], "again"), warehouse) == ["ingested"]
    assert link_captures(warehouse, "serve", "warm1") == [(name, "w", "default")]
    assert operators(warehouse) == {
        ("serve", "w", "default"): "serve",
        (name, "w", "default"): "again",
        (name, "w", "2"): "warm2",
        ("warm1", "w", "default"): "again",
        ("warm2", "w", "default"): "warm2",
    }
