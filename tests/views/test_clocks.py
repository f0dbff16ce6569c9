"""Offsets and drifts that are added to clocks are found again, on made and on recorded collectives."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pytest

import tracewh
from tests.conftest import ROOT
from tracewh.quoting import quote_literal
from tracewh.views.registry import installed

#: A collective on a clock: match_id, clock_id, end_ns, last_start_ns.
End = tuple[int, int, float, float]
CLOCKS = 8
START_NS = 1_700_000_000_000_000_000
COLUMNS = ("match_id", "clock_id", "end_ns", "first_end_ns", "last_start_ns")


def clock_errors(seed: int, clocks: int = CLOCKS) -> tuple[list[float], list[float]]:
    """Offsets of up to 50 ms and drifts of up to 20 ppm, one of each for a clock."""
    random_ = random.Random(seed)
    offsets = [random_.uniform(-50e6, 50e6) for _ in range(clocks)]
    return offsets, [random_.uniform(-20e-6, 20e-6) for _ in range(clocks)]


def ask(ends: Sequence[End], offsets: Sequence[float], drifts: Sequence[float]) -> dict[int, Any]:
    """Read the ends on clocks with these errors, and let clock_balance say what is what."""
    registry = installed()
    rows = []
    for match, clock, end, start in ends:
        end_ns, start_ns = (
            START_NS + round(at + offsets[clock] + drifts[clock] * at) for at in (end, start)
        )
        rows.append((match, clock, end_ns, end_ns, start_ns))
    with duckdb.connect(config={"threads": 1}) as con:
        registry.create(
            con,
            registry.needs(
                "FROM clock_pairs('ends'), clock_walk('pairs'), clock_balance('pairs', 'walk')"
            ),
        )
        con.register(
            "ends", pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
        )
        con.execute("CREATE TABLE pairs AS FROM clock_pairs('ends')")
        assert con.execute("SELECT bool_and(is_possible) FROM pairs").fetchall() == [(True,)]
        con.execute("CREATE TABLE walk AS FROM clock_walk('pairs')")
        found = con.execute(
            "SELECT clock_id, root_id, local_ns, drift FROM clock_balance('pairs', 'walk')"
        )
        return {clock: (root, local, drift) for clock, root, local, drift in found.fetchall()}


def errors(
    found: dict[int, Any], offsets: Sequence[float], drifts: Sequence[float]
) -> tuple[float, float]:
    """The largest error of an offset in us and of a drift in ppm, from means of 0."""
    assert {root for root, *_ in found.values()} == {0}
    # The root's first end, on a clock without errors.
    at = (found[0][1] - START_NS - offsets[0]) / (1 + drifts[0])
    off = [found[c][1] - (START_NS + at + offsets[c] + drifts[c] * at) for c in found]
    drift = [found[c][2] - (drifts[c] - drifts[0]) for c in found]
    return tuple(
        max(abs(each - sum(wrong) / len(wrong)) for each in wrong) * unit
        for wrong, unit in ((off, 1e-3), (drift, 1e6))
    )


def made(jitter_ns: float, wrong: float, collectives: int = 4000) -> list[End]:
    """Collectives 20 ms apart, whose ends are late by a little, and some by up to 5 ms."""
    random_ = random.Random(3)
    rows = []
    for match in range(collectives):
        for clock in range(CLOCKS):
            end = match * 2e7 + abs(random_.gauss(0, jitter_ns))
            if random_.random() < wrong:
                end += random_.uniform(0, 5e6)
            rows.append((match, clock, end, match * 2e7 - random_.uniform(5e4, 3e6)))
    return rows


@pytest.mark.parametrize(
    ("jitter_ns", "wrong", "most_us", "most_ppm"),
    [(2e3, 0, 0.3, 0.01), (5e3, 0.05, 0.5, 0.03), (5e3, 0.3, 0.6, 0.09), (50e3, 0.05, 4, 0.28)],
)
def test_errors_of_made_clocks_are_found(
    jitter_ns: float, wrong: float, most_us: float, most_ppm: float
) -> None:
    offsets, drifts = clock_errors(1)
    found = errors(ask(made(jitter_ns, wrong), offsets, drifts), offsets, drifts)
    assert found[0] < most_us
    assert found[1] < most_ppm


def recorded(table: Path, *optypes: str) -> tuple[list[End], int]:
    """The collectives of a table of pipeline operations, a clock for each rank, its steps 9 s apart."""
    groups = {
        "params-all-gather": "stage",
        "grads-reduce-scatter": "stage",
        "optimizer-clip-main-grad": "0",
        "embedding-grads-all-reduce": "dp_rank",
    }
    kinds = " UNION ALL ".join(
        f"SELECT {quote_literal(optype)} AS optype, step, seq_id, {groups[optype]} AS part, t.rank, "
        f"start_ts, start_ts + duration AS end_ts FROM t WHERE optype = {quote_literal(optype)}"
        for optype in optypes
    )
    rows = duckdb.execute(
        f"""
        WITH t AS (
            SELECT * REPLACE (start_ts::DOUBLE AS start_ts, duration::DOUBLE AS duration),
                dense_rank() OVER (ORDER BY step) * 9e9 AS since_ns
            FROM {quote_literal(str(table))}
        )
        SELECT dense_rank() OVER (ORDER BY k.optype, k.step, k.seq_id, k.part),
            dense_rank() OVER (ORDER BY k."rank") - 1,
            (since + 1e9 * k.end_ts), (since + 1e9 * k.start_ts)
        FROM ({kinds}) AS k
        INNER JOIN (SELECT DISTINCT step, since_ns AS since FROM t) AS s ON k.step = s.step
        """
    ).fetchall()
    return rows, 1 + max(rank for _, rank, *_ in rows)


@pytest.mark.parametrize(
    ("job", "optypes", "most_us"),
    [
        ("ST", ("params-all-gather", "optimizer-clip-main-grad"), 0.5),
        (
            "ST",
            ("grads-reduce-scatter", "embedding-grads-all-reduce", "optimizer-clip-main-grad"),
            1,
        ),
        ("AR", ("optimizer-clip-main-grad",), 2),
        # The two kinds contradict each other: on rank 0 they end 10 ms apart.
        ("AR", ("params-all-gather", "optimizer-clip-main-grad"), 50),
    ],
)
def test_errors_added_to_recorded_ends_are_found(
    shared: Path, job: str, optypes: tuple[str, ...], most_us: float
) -> None:
    """What is asked for is the difference: how far apart the ends were before is not known."""
    table = shared / "data" / "stragglers" / f"trace-{job}.parquet"
    ends, ranks = recorded(table, *optypes)
    offsets, drifts = clock_errors(2, ranks)
    none = [0.0] * ranks
    before, after = ask(ends, none, none), ask(ends, offsets, drifts)
    # As if the clocks before had the errors that they were found to have.
    at = before[0][1] - START_NS
    own = [before[c][1] - START_NS - at for c in range(ranks)]
    own_drifts = [before[c][2] for c in range(ranks)]
    off_us, drift_ppm = errors(
        after,
        [o + each - d * at for o, each, d in zip(offsets, own, own_drifts, strict=True)],
        [d + each for d, each in zip(drifts, own_drifts, strict=True)],
    )
    assert off_us < most_us
    assert drift_ppm < 0.05


def test_a_kind_whose_groups_do_not_join_tells_nothing_of_the_rest(shared: Path) -> None:
    """The ranks of one stage reduce their gradients, and no stage does with another."""
    ends, ranks = recorded(
        shared / "data" / "stragglers" / "trace-ST.parquet", "grads-reduce-scatter"
    )
    found = ask(ends, [0.0] * ranks, [0.0] * ranks)
    assert len({root for root, *_ in found.values()}) == 4


def test_offsets_added_to_copies_of_a_trace_are_found(tmp_path: Path) -> None:
    """Copies of two recorded ranks, as if of two hosts, and one of them with a clock that is 50 ms ahead."""
    offsets = {}
    for name, ahead_us in (("before", 0), ("after", 50_000)):
        folder = tmp_path / name
        folder.mkdir()
        for rank, path in enumerate(sorted((ROOT / "samples" / "ddp_gloo").glob("*.json*"))):
            trace = orjson.loads(gzip.decompress(path.read_bytes()))
            trace["host_name"] = f"host{rank}"
            for event in trace["traceEvents"]:
                if "ts" in event:
                    event["ts"] += rank * ahead_us
            (folder / path.name.removesuffix(".gz")).write_bytes(orjson.dumps(trace))
        tracewh.ingest([folder], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        for name in ("before", "after"):
            rows = warehouse.view("clocks", run=name).fetchall()
            offsets[name] = [row[7] for row in rows]
            assert [row[4] for row in rows] == ["host0", "host1"]
        names = "worker, name, occurrence, step, wait_us, do_clocks_agree"
        recorded_ns, aligned_ns, differ_ns = (
            warehouse.sql(
                f"SELECT {names}, start_ns FROM collectives(run := '{run}', align := {align}) ORDER BY ALL"
            ).fetchall()
            for run, align in (("before", "FALSE"), ("before", "TRUE"), ("after", "TRUE"))
        )
    # Before, the clocks are the same within the spread: nothing is moved. After, all rows are as before, but for 25 ms and
    # what the ends were apart before.
    assert aligned_ns == recorded_ns
    own_ns = dict(zip(("rank0", "rank1"), offsets["before"], strict=True))
    assert [(*row[:-1], row[-1] - own_ns[row[0]] + 25_000_000) for row in recorded_ns] == differ_ns
    moved = [b - a for a, b in zip(offsets["before"], offsets["after"], strict=True)]
    assert moved == [-25_000_000, 25_000_000]
