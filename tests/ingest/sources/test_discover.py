"""Which files are taken in, and what run, worker and span their paths make them."""

from __future__ import annotations

import inspect
import os
import re
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tracewh.errors import IngestError
from tracewh.ingest.sources.discover import discover
from tracewh.ingest.sources.rank_folders import joined_ranks
from tracewh.ingest.sources.readers import TABLE_READERS
from tracewh.ingest.sources.search import LogFolder
from tracewh.storage import layout

Lay = Callable[..., Path]


@pytest.fixture
def lay(tmp_path: Path) -> Lay:
    """Makes empty files, by their paths below a log folder, and returns that folder."""

    def lay(*names: str) -> Path:
        for name in names:
            path = tmp_path / "logs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path / "logs"

    return lay


def found(*paths: Path, run: str | None = None) -> list[tuple[str, str, str, str]]:
    return [(s.path.name, s.run, s.worker, s.span) for s in discover(paths, run)]


def test_a_folder_of_runs(lay: Lay) -> None:
    logs = lay(
        "b/second/w0.pt.trace.json",
        "a/w1.pt.trace.json.gz",
        "a/w0.pt.trace.json.gz",
        "a/notes.txt",
        "a/events.out.tfevents.1",
        "top.json",
    )
    assert found(logs) == [
        ("w0.pt.trace.json.gz", "a", "w0", "default"),
        ("w1.pt.trace.json.gz", "a", "w1", "default"),
        ("w0.pt.trace.json", "b/second", "w0", "default"),
        ("top.json", "logs", "top", "default"),
    ]


def test_captures_are_named_after_the_run_that_they_lie_in(lay: Lay) -> None:
    logs = lay("a/w0.json", "a/capture_traces/bs_8.json", "a/capture_traces/more/bs_16.json")
    captures = [
        ("bs_8.json", "a/capture_traces", "bs_8", "default"),
        ("bs_16.json", "a/capture_traces/more", "bs_16", "default"),
    ]
    whole = [("w0.json", "a", "w0", "default"), *captures]
    assert layout.replaying_run("a/capture_traces/more") == "a"
    assert layout.replaying_run("a") == "a"
    assert found(logs) == whole
    assert found(logs / "a") == whole
    assert found(logs / "a" / "capture_traces") == captures
    assert found(logs / "a" / "capture_traces" / "bs_8.json") == captures[:1]
    assert found(logs / "a" / "capture_traces", run="b/capture_traces") == [
        ("bs_8.json", "b/capture_traces/a/capture_traces", "bs_8", "default"),
        ("bs_16.json", "b/capture_traces/a/capture_traces/more", "bs_16", "default"),
    ]


def test_a_run_folder_and_a_file_are_named_by_the_folder(lay: Lay) -> None:
    logs = lay("a/w0.json", "a/w1.json", "b/w0.json")
    assert found(logs / "a") == [
        ("w0.json", "a", "w0", "default"),
        ("w1.json", "a", "w1", "default"),
    ]
    assert found(logs / "b" / "w0.json") == [("w0.json", "b", "w0", "default")]


def test_a_file_that_is_named_twice_is_taken_once(lay: Lay) -> None:
    logs = lay("a/w0.json")
    assert found(logs / "a" / "w0.json", logs, logs / "a" / ".." / "a") == [
        ("w0.json", "a", "w0", "default")
    ]


def test_a_named_file_need_not_have_a_suffix(lay: Lay) -> None:
    logs = lay("a/trace.txt", "a/.json")
    assert found(logs / "a" / "trace.txt") == [("trace.txt", "a", "trace.txt", "default")]
    assert found(logs / "a") == [(".json", "a", ".json", "default")]


@pytest.mark.parametrize(
    ("name", "worker", "span"),
    [
        ("worker0.1623143089861.pt.trace.json.gz", "worker0", "1"),
        ("host_name_1234.1719792000123456789.pt.trace.json", "host_name_1234", "1"),
        ("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", "rank-34.Jul_15_10_52_41", "1"),
        ("worker0.12.34.pt.trace.json", "worker0.12", "1"),
        ("worker0.v2.pt.trace.json", "worker0.v2", "default"),
        ("worker0.pt.trace.json", "worker0", "default"),
        ("trace.json.gz", "trace", "default"),
        ("trace.17.json.zst", "trace", "1"),
        ("trace.17.json", "trace", "1"),
        ("memory.raw.gz", "memory", "default"),
        ("rank0.trace.json", "rank0", "default"),
        (".trace.json", ".trace.json", "default"),
        ("1763000000.12-TP-0.trace.json.gz", "TP-0", "1"),
        ("1763000000-TP-0.trace.json.gz", "TP-0", "1"),
        ("1763000000.12-TP-3-DP-1-PP-0-EP-2.trace.json.gz", "TP-3-DP-1-PP-0-EP-2", "1"),
        ("1763000000.12-TP-0-DECODE.trace.json.gz", "TP-0", "1-DECODE"),
        ("1763000000.12-TP-0-EP-1-EXTEND.trace.json", "TP-0-EP-1", "1-EXTEND"),
        ("bs-1-il-8-1763000000.12-TP-0-DECODE.trace.json.gz", "TP-0", "1-bs-1-il-8-DECODE"),
        ("1763000000.12-TP-0-decode.trace.json.gz", "TP-0", "1-decode"),
        ("TP-0.trace.json.gz", "TP-0", "default"),
    ],
)
def test_worker_and_stamp(lay: Lay, name: str, worker: str, span: str) -> None:
    assert found(lay(f"a/{name}")) == [(name, "a", worker, span)]


def test_spans_are_numbered_by_their_stamps_as_text(lay: Lay) -> None:
    """As the TensorBoard plugin does: '10' comes before '9'. Other workers do not count."""
    logs = lay("a/w.9.json", "a/w.10.json", "a/w.100.json", "a/v.5.json", "a/w.json", "b/w.1.json")
    lay("a/w.1.raw")
    assert found(logs / "a") == [
        ("v.5.json", "a", "v", "1"),
        ("w.10.json", "a", "w", "1"),
        ("w.100.json", "a", "w", "2"),
        ("w.9.json", "a", "w", "3"),
        ("w.json", "a", "w", "default"),
    ]
    assert found(logs / "a" / "w.9.json") == [("w.9.json", "a", "w", "3")]


def test_recordings_of_sglang_are_spans_of_a_rank(lay: Lay) -> None:
    """It writes when the recording began before the rank, and the stage after it."""
    logs = lay(
        "a/1763000100.5-TP-0-DECODE.trace.json.gz",
        "a/1763000100.5-TP-0-EXTEND.trace.json.gz",
        "a/1763000100.5-TP-1-DECODE.trace.json.gz",
        "a/1763000099.25-TP-0.trace.json.gz",
    )
    assert [(worker, span) for *_, worker, span in found(logs)] == [
        ("TP-0", "1"),
        ("TP-0", "2-DECODE"),
        ("TP-0", "2-EXTEND"),
        ("TP-1", "1-DECODE"),
    ]


def test_what_sglang_merged_is_read_if_nothing_else_is_there(lay: Lay) -> None:
    """Its events are those of the ranks, whose files lie beside it."""
    merged = "merged-1763000100.5.trace.json.gz"
    rank = "1763000100.5-TP-0.trace.json.gz"
    logs = lay(f"a/{merged}", f"a/{rank}", f"b/{merged}", f"b/2{rank}")
    assert [(run, worker) for _, run, worker, _ in found(logs)] == [
        ("a", "TP-0"),
        ("b", "TP-0"),
        ("b", "merged-1763000100"),
    ]
    assert [run for _, run, *_ in found(logs / "a" / merged)] == ["a"]


def test_a_recording_of_jax_is_named_after_its_log_folder_and_time(lay: Lay) -> None:
    # Two jobs may begin to record in the same second: their recordings are no spans of one run.
    recording = "plugins/profile/2026_11_30_12_00_00"
    logs = lay(f"a/{recording}/host.trace.json.gz", f"b/c/{recording}/host.trace.json.gz")
    assert [run for _, run, *_ in found(logs)] == [
        "a/2026_11_30_12_00_00",
        "b/c/2026_11_30_12_00_00",
    ]
    for given in ("a", "a/plugins", "a/plugins/profile", f"a/{recording}"):
        assert [run for _, run, *_ in found(logs / given)] == ["a/2026_11_30_12_00_00"], given
    named = logs / "a" / recording / "host.trace.json.gz"
    assert [run for _, run, *_ in found(named, logs / "b/c")] == [
        "a/2026_11_30_12_00_00",
        "c/2026_11_30_12_00_00",
    ]
    assert [run for _, run, *_ in found(lay("plugins/profile/x/host.json") / "plugins")] == [
        "logs/x"
    ]


def test_what_jax_wrote_for_perfetto_is_read_if_nothing_else_is_there(lay: Lay) -> None:
    logs = lay("a/perfetto_trace.json.gz", "a/host.trace.json.gz", "b/perfetto_trace.json.gz")
    assert [(run, worker) for _, run, worker, _ in found(logs)] == [
        ("a", "host"),
        ("b", "perfetto_trace"),
    ]
    assert len(found(logs / "a" / "perfetto_trace.json.gz")) == 1


@pytest.fixture
def lay_ranks(lay: Lay) -> Callable[[dict[str, int | None]], Path]:
    """Makes traces, by their paths, with the rank that each states."""

    def lay_ranks(ranks: dict[str, int | None]) -> Path:
        for name, rank in ranks.items():
            stated = (
                ""
                if rank is None
                else f'"distributedInfo": {{"backend": "nccl", "rank": {rank}}}, '
            )
            path = lay(name) / name
            path.write_text(f'{{"schemaVersion": 1, {stated}"traceEvents": []}}')
        return path.parents[len(Path(name).parts) - 1]

    return lay_ranks


def test_a_folder_of_a_rank_is_a_worker(lay_ranks: Callable[[dict[str, int | None]], Path]) -> None:
    logs = lay_ranks(
        {
            "a/rank_0/host_12.1699.pt.trace.json": 0,
            "a/rank_0/host_12.1700.pt.trace.json": 0,
            "a/rank_1/host_13.1699.pt.trace.json": 1,
            "a/b/Rank-10/trace.json": 10,
        }
    )
    named = [("a", "rank_0", "1"), ("a", "rank_0", "2"), ("a", "rank_1", "1")]
    assert [each[1:] for each in found(logs)] == [*named, ("a/b", "Rank-10", "default")]
    assert [each[1:] for each in found(logs / "a" / "rank_0", logs / "a" / "rank_1")] == named
    assert [each[1:] for each in found(logs / "a" / "rank_1" / "host_13.1699.pt.trace.json")] == [
        ("a", "rank_1", "1")
    ]
    assert [each[1:] for each in found(logs / "a" / "b", run="mine")] == [
        ("mine", "Rank-10", "default")
    ]


def test_a_rank_that_was_started_again_has_further_spans(
    lay_ranks: Callable[[dict[str, int | None]], Path],
) -> None:
    """The handler of torch names a file after the host and the process."""
    logs = lay_ranks(
        {
            "a/rank_0/host_9.1699.pt.trace.json": 0,
            "a/rank_0/host_12.1700.pt.trace.json": 0,
            "a/rank_0/1800-TP-0-DECODE.trace.json": 0,
            "a/rank_1/host_13.1699.pt.trace.json": 1,
            "b/rank_0/step_10.json": 0,
            "b/rank_0/step_20.json": 0,
        }
    )
    assert sorted(found(logs)) == [
        ("1800-TP-0-DECODE.trace.json", "a", "rank_0", "3-DECODE"),
        ("host_12.1700.pt.trace.json", "a", "rank_0", "2"),
        ("host_13.1699.pt.trace.json", "a", "rank_1", "1"),
        ("host_9.1699.pt.trace.json", "a", "rank_0", "1"),
        ("step_10.json", "b", "rank_0", "step_10"),
        ("step_20.json", "b", "rank_0", "step_20"),
    ]


def test_a_folder_of_a_rank_with_nothing_above_it_is_a_run(
    lay_ranks: Callable[[dict[str, int | None]], Path],
) -> None:
    [trace] = discover([lay_ranks({"a/rank_0/w.json": 0})])
    assert joined_ranks([(LogFolder("rank_0", [trace.path], (), above=""), [trace])]) == {}


def test_a_folder_of_a_rank_is_one_while_others_are_written(
    lay_ranks: Callable[[dict[str, int | None]], Path],
) -> None:
    """A watched folder: had the others another run until then, they would be ingested twice."""
    logs = lay_ranks({f"a/rank_{rank}/w.json": rank for rank in range(4)})
    (logs / "a" / "rank_0" / "second.json").write_bytes(b"")
    for rank in range(4):
        (logs / "a" / f"rank_{rank}" / "zz_metrics.json").write_bytes(b'{"loss": 1}')
    (logs / "a" / "rank_3" / "w.json").write_bytes(b"")
    (logs / "a" / "rank_2" / "w.json").write_bytes(b'{"schemaVersion": 1, "devi')
    assert {(run, worker) for _, run, worker, _ in found(logs)} == {
        ("a", f"rank_{rank}") for rank in range(4)
    }


@pytest.mark.parametrize(
    "ranks",
    [
        pytest.param({"rank_8/w.json": None, "rank_16/w.json": None}, id="ranks of matrices"),
        pytest.param({"rank_8/w.json": 0, "rank_16/w.json": 0}, id="of a rank of the job each"),
        pytest.param({"rank_0/w.json": 0, "rank_8/w.json": 0}, id="one with a matching number"),
        pytest.param({"rank_0/w.json": 0, "rank_8/w.json": None}, id="one without a rank"),
        pytest.param(
            {"rank_0/w0.json": 0, "rank_0/w1.json": 1, "rank_1/w.json": 1},
            id="a node of several processes",
        ),
        pytest.param(
            {"rank_x/w.json": 0, "ranks/w.json": 0, "rank_0_1/w.json": 0}, id="other names"
        ),
        pytest.param({"capture_traces/rank_0/w.json": 0}, id="captured graphs"),
    ],
)
def test_other_folders_are_runs(
    lay_ranks: Callable[[dict[str, int | None]], Path], ranks: dict[str, int | None]
) -> None:
    logs = lay_ranks({f"a/{name}": rank for name, rank in ranks.items()})
    runs = sorted({f"a/{Path(name).parent}" for name in ranks})
    assert sorted({run for _, run, *_ in found(logs)}) == runs
    files = [logs / "a" / name for name in ranks]
    assert len({run for _, run, *_ in found(*files)}) == len(runs)


def test_spans_come_in_the_order_of_their_numbers(lay: Lay) -> None:
    logs = lay(*(f"a/w.{stamp}.json" for stamp in range(100, 112)))
    assert [span for *_, span in found(logs)] == [str(number) for number in range(1, 13)]


def test_one_stamp_in_two_formats_is_one_span(lay: Lay) -> None:
    """Both get in all the same: the warehouse numbers what would fall together."""
    logs = lay("a/w.7.json", "a/w.7.json.gz", "a/w.8.json")
    assert [span for *_, span in found(logs)] == ["1", "1", "2"]


def test_a_given_name_replaces_the_name_of_one_run_and_precedes_those_of_several(lay: Lay) -> None:
    logs = lay("a/w.json", "b/c/w.json")
    assert [run for _, run, *_ in found(logs / "a", run="mine")] == ["mine"]
    assert [run for _, run, *_ in found(logs / "a" / "w.json", run="mine")] == ["mine"]
    assert [run for _, run, *_ in found(logs, run="mine")] == ["mine/a", "mine/b/c"]
    with pytest.raises(IngestError, match="a run needs a name; give it one with --run"):
        found(logs, run="")  # also of several runs, which would be called /a and /b/c


def test_a_warehouse_and_hidden_folders_are_not_searched(lay: Lay) -> None:
    logs = lay(
        "a/w.json", "wh/tracewh.duckdb", "wh/data/old.json", "wh/export.json", ".hidden/w.json"
    )
    assert found(logs) == [("w.json", "a", "w", "default")]


def test_a_log_folder_that_is_a_warehouse_as_well(lay: Lay) -> None:
    """After `tracewh ingest . -w .` the next trace is still found."""
    logs = lay("a/w.json", "tracewh.duckdb", "data/run=a/old.json")
    assert found(logs) == [("w.json", "a", "w", "default")]


def test_errors(lay: Lay) -> None:
    logs = lay("a/notes.txt", "b/notes.txt")
    with pytest.raises(IngestError) as error:
        discover([logs, logs / "c"])
    assert str(error.value) == f"no such file or folder: {logs / 'c'}"
    with pytest.raises(IngestError) as error:
        discover(iter([logs / "a", logs / "b"]))
    assert (
        str(error.value)
        == f"no trace files (*.json, *.json.gz, *.json.zst) in {logs / 'a'}, {logs / 'b'}"
    )


@pytest.mark.parametrize(
    ("paths", "what"), [([], "the list of paths"), ([""], "a path"), (["a", ""], "a path")]
)
def test_no_path(paths: list[str], what: str) -> None:
    with pytest.raises(IngestError) as error:
        discover(paths)
    assert str(error.value) == f"{what} is empty; name a trace file, or a folder of them"


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    itself, one, other, dangling = (tmp_path / name for name in ("a.json", "b", "c", "d.json"))
    itself.symlink_to(itself)
    one.symlink_to(other)
    other.symlink_to(one)
    dangling.symlink_to("gone.json")
    for link in (itself, one):
        assert refused(link) == f"cannot read {link}: a link that leads to itself"
    assert refused(dangling) == f"{dangling} is a link to gone.json, which does not exist"
    assert [name for name, *_ in found(tmp_path)] == ["a.json", "d.json"]  # refused one by one


def test_a_link_to_a_folder_is_followed_only_if_it_is_named(tmp_path: Path) -> None:
    run, logs = tmp_path / "run", tmp_path / "logs"
    run.mkdir()
    logs.mkdir()
    (run / "w.json").touch()
    latest = logs / "latest"
    latest.symlink_to(run)
    assert refused(logs) == (
        f"no trace files (*.json, *.json.gz, *.json.zst) in {logs}; {latest} is a link, which is not followed: name it"
    )
    assert [name for name, *_ in found(latest)] == ["w.json"]


def test_what_is_neither_file_nor_folder(tmp_path: Path) -> None:
    remedy = "give a trace file, a folder or a pipe"
    assert refused(Path("/dev/null")) == f"/dev/null is a device; {remedy}"
    with socket.socket(socket.AF_UNIX) as opened:
        path = tmp_path / "s.json"
        opened.bind(os.path.relpath(path))
        assert refused(path) == f"{path} is a socket; {remedy}"
        os.mkfifo(tmp_path / "p.json")
        (tmp_path / "w.json").touch()
        assert [name for name, *_ in found(tmp_path)] == ["w.json"]  # of a folder, its files
    assert refused(Path("a" * 300)) == f"cannot read {'a' * 300}: File name too long"
    # The rest are words of Python, which differ by version.
    assert refused(Path("a\0b")).startswith("cannot read a\0b: ")
    assert (
        refused(tmp_path / "w.json" / "x") == f"no such file or folder: {tmp_path / 'w.json' / 'x'}"
    )


def test_a_folder_without_permission() -> None:
    with tempfile.TemporaryDirectory() as open_to_all:
        folder = Path(open_to_all) / "closed"
        folder.mkdir(0o000)
        os.chmod(open_to_all, 0o755)
        user = os.geteuid()
        os.seteuid(user or 65534)  # root may read everything
        try:
            assert refused(folder) == f"cannot read {folder}: Permission denied"
        finally:
            os.seteuid(user)


def refused(path: Path) -> str:
    with pytest.raises(IngestError) as error:
        discover([path])
    return str(error.value)


def test_it_knows_no_profiler_by_name() -> None:
    """What differs between profilers is asked of their readers."""
    text = inspect.getsource(inspect.getmodule(discover) or discover)
    code = "\n".join(
        line for line in text.splitlines() if not line.lstrip().startswith(("#", '"""'))
    )
    names = {reader.name for reader in TABLE_READERS}
    assert [name for name in names if re.search(rf"\b{name}\b", code)] == []
