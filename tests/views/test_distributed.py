"""Collectives of real runs: two processes over gloo, recorded here and now, and clocks that differ."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracewh
from tests.torch_forks import run_with_torch

SAMPLES = Path(__file__).parents[2] / "samples"
HOUR_NS = 3600 * 10**9


def run(script: str, *arguments: str | Path, cwd: Path) -> None:
    """Run a script that records."""
    run_with_torch(cwd / script, *arguments, cwd=cwd)


def test_each_collective_of_gloo_is_found_sized_and_matched(tmp_path: Path) -> None:
    # It imports torch, and every process of a test run collects this file.
    from tests.views.gloo_pair import ELEMENTS, RANKS

    folder = tmp_path / "pair"
    folder.mkdir()
    run("gloo_pair.py", folder, cwd=Path(__file__).parent)
    tracewh.ingest([folder], tmp_path / "warehouse")
    put_in = 4 * ELEMENTS
    expected = {  # name, dtype, bytes: how many workers are compared
        ("all_reduce", "float32", put_in): 2,
        ("all_reduce", "float16", 2 * ELEMENTS): 2,
        ("all_reduce", "int64", 8): 2,
        ("broadcast", "float32", put_in): 2,
        ("reduce", "float32", put_in): 2,
        ("all_gather", "float32", RANKS * put_in): 2,
        ("gather", "float32", RANKS * put_in): 2,
        ("all_to_all", "float32", put_in): 2,
        ("barrier", None, None): 2,
    }
    only_of: dict[str, dict[tuple[str, str | None, int | None], int]] = {
        "rank0": {("scatter", "float32", RANKS * put_in): 2, ("send", "float32", put_in): 1},
        "rank1": {("scatter", None, None): 2, ("recv", "float32", put_in): 1},
    }
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        for worker, others in only_of.items():
            rows = warehouse.sql(
                "SELECT name, dtype, bytes, members FROM collectives(worker := ?)", [worker]
            ).fetchall()
            assert {(*key,): members for *key, members in rows} == {**expected, **others}
            assert len(rows) == len(expected) + len(others)
        assert warehouse.sql(
            "SELECT DISTINCT backend, group_size, do_clocks_agree FROM collectives() "
            "WHERE name IN ('all_reduce', 'all_gather', 'all_to_all', 'barrier')"
        ).fetchall() == [("gloo", RANKS, True)]
        # One of the two has the transfer for its length, and waits for nobody.
        assert (
            warehouse.sql(
                """
            SELECT c.name FROM collectives() AS c WHERE c.members = 2
            GROUP BY c.name, c.transfer_us
            HAVING min(c.wait_us) <> 0 OR min(c.duration_us) <> c.transfer_us
            """
            ).fetchall()
            == []
        )


def test_a_recorded_training_run_averages_its_gradients_once_a_step(tmp_path: Path) -> None:
    from torch.nn.parameter import Parameter

    run("record.py", "--only", "ddp_gloo", "--output", tmp_path, cwd=SAMPLES)
    tracewh.ingest([tmp_path], tmp_path / "warehouse")
    spec = importlib.util.spec_from_file_location("record", SAMPLES / "record.py")
    assert spec is not None and spec.loader is not None
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    model = record.SmallResNet()
    # DistributedDataParallel sends the buffers of each type before, and the gradients, in one
    # bucket as they are under a megabyte, after they are there.
    bytes_ = Counter[str]()
    for tensor in (*model.parameters(), *model.buffers()):
        name = "all_reduce" if isinstance(tensor, Parameter) else "broadcast"
        bytes_[name] += tensor.numel() * tensor.element_size()
    first = record.WAIT + record.WARMUP
    expected = {
        (f"rank{rank}", step, name, calls, bytes_[name], 2)
        for rank in range(2)
        for step in range(first, first + record.RANK_ACTIVE)
        for name, calls in (("broadcast", 2), ("all_reduce", 1))
    }
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        rows = warehouse.sql(
            """
            SELECT worker, step, name, count(*), CAST(sum(bytes) AS BIGINT), min(members)
            FROM collectives() GROUP BY ALL
            """
        ).fetchall()
        assert set(rows) == expected
        ranks = [(row[2], row[4], row[5], row[6]) for row in warehouse.topology().fetchall()]
        assert ranks == [("rank0", 0, 2, None), ("rank1", 1, 2, None)]


@pytest.mark.parametrize("view", ["comm_wait", "collective_stats", "stragglers"])
def test_waits_and_transfers_do_not_depend_on_the_clocks(
    view: str, samples: tracewh.Warehouse, skewed: tracewh.Warehouse
) -> None:
    aligned = samples.view(view, run="ddp_gloo").fetchall()
    assert len(aligned) > 3
    assert skewed.view(view, run="ddp_gloo").fetchall() == aligned


def test_clocks_that_differ_are_said(samples: tracewh.Warehouse, skewed: tracewh.Warehouse) -> None:
    agree = """
        SELECT DISTINCT do_clocks_agree FROM collectives(run := 'ddp_gloo')
        WHERE name = 'all_reduce'
    """
    check = """
        SELECT worker, count, regexp_extract(message, '^[^;]*') FROM trace_quality(run := 'ddp_gloo')
        WHERE contains("check", 'clocks')
    """
    assert (samples.sql(agree).fetchall(), samples.sql(check).fetchall()) == ([(True,)], [])
    assert skewed.sql(agree).fetchall() == [(False,)]
    [(worker, count, said)] = skewed.sql(check).fetchall()
    assert (worker, count) == ("rank1", 3)
    ahead = re.fullmatch(
        "Collectives that do not overlap with the same ones of the other ranks: "
        "this clock is ([0-9]+) us ahead of the median rank",
        said,
    )
    # Both were recorded on one host: what the clocks differ by, but for when gloo lets each rank go.
    assert ahead and abs(int(ahead[1]) - HOUR_NS // 1000) < 10_000


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """The bundled gloo pair, the clock of its second rank an hour ahead."""
    path = tmp_path_factory.mktemp("skewed")
    (path / "ddp_gloo").mkdir()
    for trace in (SAMPLES / "ddp_gloo").glob("*.gz"):
        document = json.loads(gzip.decompress(trace.read_bytes()))
        if trace.name.startswith("rank1"):
            document["baseTimeNanoseconds"] += HOUR_NS
        (path / "ddp_gloo" / trace.name).write_bytes(gzip.compress(json.dumps(document).encode()))
    tracewh.ingest([path / "ddp_gloo"], path / "warehouse", run="ddp_gloo")
    with tracewh.open(path / "warehouse") as warehouse:
        yield warehouse
