"""Groups are detected in made and in recorded collectives, or nothing is said."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import tracewh
from tests.given import Tables
from tests.views.test_clocks import recorded
from tracewh.views.registry import installed

#: A collective of a member, which has a clock of its own: member_id, list, place, start_ns, end_ns.
End = tuple[int, str, int, int, int]
COLUMNS = ("member_id", "list", "place", "start_ns", "end_ns")


def ask(ends: Iterable[End]) -> tuple[set[frozenset[int]], float]:
    """The groups that are told, and the smallest gap."""
    registry = installed()
    columns = map(list, zip(*ends, strict=True))
    with duckdb.connect(config={"threads": 1}) as con:
        registry.create(con, registry.needs("FROM detected_groups('ends')"))
        con.register("members", pa.table(dict(zip(COLUMNS, columns, strict=True))))
        con.execute(
            "CREATE TABLE ends AS SELECT 1 AS job, TRUE AS is_complete, member_id AS clock_id, * FROM members"
        )
        rows = con.execute("SELECT member_id, group_id, gap FROM detected_groups('ends')")
        found = rows.fetchall()
    groups: dict[int, set[int]] = {}
    for member, group, _ in found:
        if group is not None:
            groups.setdefault(group, set()).add(member)
    return {frozenset(group) for group in groups.values()}, min(gap for *_, gap in found)


@pytest.mark.parametrize("jitter_us", [5, 50])
def test_made_groups_are_found_on_clocks_with_errors(jitter_us: int) -> None:
    """64 ranks in 16 groups with one list, on clocks that are up to 50 ms and 20 ppm off."""
    random_ = random.Random(5)
    rows: list[End] = []
    for group in range(16):
        at_ns, ends = 0.0, []
        for _ in range(60):
            at_ns += random_.uniform(5e6, 50e6)
            ends.append(at_ns)
        for member in range(4):
            offset, drift = random_.uniform(-50e6, 50e6), random_.uniform(-20e-6, 20e-6)
            for place, end in enumerate(ends, 1):
                late = abs(random_.gauss(0, jitter_us * 1e3))
                end_ns = round(end * (1 + drift) + offset + late)
                rows.append((group + 16 * member, "", place, end_ns - 1_000_000, end_ns))
    groups, gap = ask(rows)
    assert groups == {frozenset(range(group, 64, 16)) for group in range(16)}
    assert gap > 100


def of_job(shared: Path, job: str, optype: str) -> list[End]:
    """The ends of one kind of collective, one list for all ranks; a rank is a member."""
    ends, _ = recorded(shared / "data" / "stragglers" / f"trace-{job}.parquet", optype)
    places: dict[int, int] = {}
    rows = []
    for _, rank, end_ns, start_ns in sorted(ends, key=lambda end: end[2]):
        places[rank] = places.get(rank, 0) + 1
        rows.append((rank, "", places[rank], round(start_ns), round(end_ns)))
    return rows


@pytest.mark.parametrize(("job", "stages", "dp_ranks"), [("ST", 4, 2), ("AR", 4, 4)])
@pytest.mark.parametrize("optype", ["grads-reduce-scatter", "params-all-gather"])
def test_recorded_data_parallel_groups_are_found(
    shared: Path, job: str, stages: int, dp_ranks: int, optype: str
) -> None:
    """The ranks of one stage, of which each has the list of all others."""
    groups, gap = ask(of_job(shared, job, optype))
    stage = [frozenset(range(at * dp_ranks, (at + 1) * dp_ranks)) for at in range(stages)]
    assert groups == set(stage)
    assert gap > 10


@pytest.mark.parametrize(("job", "dp_ranks", "least"), [("ST", 2, 800), ("AR", 4, 60)])
def test_recorded_pairs_of_first_and_last_stage_are_found(
    shared: Path, job: str, dp_ranks: int, least: float
) -> None:
    groups, gap = ask(of_job(shared, job, "embedding-grads-all-reduce"))
    assert groups == {frozenset({rank, rank + dp_ranks}) for rank in range(dp_ranks)}
    assert gap > least


def test_one_recorded_group_alone_has_no_gap(shared: Path) -> None:
    """All ranks clip gradients together."""
    groups, gap = ask(of_job(shared, "AR", "optimizer-clip-main-grad"))
    assert groups == set()
    assert gap < 10


def test_recorded_traces(shared: Path, tmp_path: Path) -> None:
    """One trace names its group. Two of 128 ranks do not, and may be of two groups."""
    runs = ("a100_nccl_2024", "two_ranks_nccl_2023")
    tracewh.ingest([shared / "traces" / run for run in runs], tmp_path)
    with tracewh.open(tmp_path) as warehouse:
        columns = "run, group_name, description, ranks, size, members, collectives"
        rows = warehouse.sql(f"SELECT {columns}, reason FROM process_groups()").fetchall()
        overlap = warehouse.sql(
            """
            SELECT g.exposed_us, o.communication_us
            FROM process_groups(run := 'a100_nccl_2024') AS g
            CROSS JOIN comm_overlap(run := 'a100_nccl_2024') AS o WHERE o.step IS NULL
            """
        ).fetchall()
    why = "The trace names no groups, and the warehouse does not have all ranks of the job."
    assert rows == [
        (runs[0], "0", "default_pg", [0, 1], 2, 1, 21, None),
        # The streams of all_to_all have different lists.
        *((runs[1], None, None, None, None, *each, why) for each in ((1, 8), (1, 8), (2, 4))),
    ]
    # All communication of the trace is that of its one group.
    [(exposed_us, communication_us)] = overlap
    assert exposed_us == pytest.approx(communication_us)


def test_more_members_of_a_list_than_are_compared(tables: Tables) -> None:
    """257 ranks with one all_reduce each, without the name of its group."""
    tables.con.execute(
        "INSERT INTO traces (run, worker, span, rank, world_size) "
        "SELECT 'r', format('{:03}', i), '1', i, 257 FROM range(257) AS w(i)"
    )
    tables.con.execute(
        """
        INSERT INTO device_events (
            run, worker, span, event_id, category, kind, name, collective, device_id, stream_id,
            start_ns, duration_ns
        )
        SELECT
            'r', format('{:03}', i), '1', 1, 'kernel', 'communication', 'nccl', 'allreduce', 0, 7,
            0, 1000
        FROM range(257) AS w(i)
        """
    )
    query = "SELECT ranks, members, reason FROM process_groups_v1()"
    tables.prepare(query)
    why = (
        "The trace names no groups, and of more than 256 members with one list of collectives "
        "the times are not compared."
    )
    assert tables.con.execute(query).fetchall() == [(None, 257, why)]
