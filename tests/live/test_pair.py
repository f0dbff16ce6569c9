"""Two processes that average gradients over gloo, one of which is late in every step on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from tests.live.conftest import ANNOTATION, OPERATOR, PAIR, Live, Trace

# As in record.py.
STEPS = [2, 3]
LATE_US = 300_000
ON_TIME, LATE = "rank0", "rank1"
#: The model has four leaves with a layer each, of 8 by 8 weights and 8 biases; a float has 4 bytes.
GRADIENT_BYTES = 4 * (8 * 8 + 8) * 4
#: Steps, and waiting for data.
NO_COMPUTATION = ("ProfilerStep#", "enumerate(DataLoader)#")

each_rank = pytest.mark.parametrize("trace", PAIR, ids="-".join)


def reductions(live: Live, trace: Trace) -> list[dict[str, Any]]:
    """What the profiler says of the collectives of a rank, in order of time."""
    recorded = live.said(trace)["recorded"]
    found = [event for event in recorded if event["name"].startswith("gloo:")]
    return sorted(found, key=lambda event: int(event["start_ns"]))


def lengths(live: Live) -> dict[str, list[int]]:
    """Of each rank the length of the reduction in each step, in ns."""
    return {
        trace[1]: [event["end_ns"] - event["start_ns"] for event in reductions(live, trace)]
        for trace in PAIR
    }


def test_the_ranks_are_there(live: Live) -> None:
    rows = live.warehouse.sql(
        "SELECT worker, rank, world_size, device_id, process_id IS NOT NULL, hostname"
        " FROM topology(run := 'pair')"
    ).fetchall()
    assert [row[:5] for row in rows] == [(ON_TIME, 0, 2, None, True), (LATE, 1, 2, None, True)]
    assert len({row[5] for row in rows}) == 1
    checks = live.warehouse.sql(
        "SELECT DISTINCT \"check\" FROM trace_quality(run := 'pair')"
    ).fetchall()
    # Stacks and modules are not recorded there, and a CPU has no devices; nothing else is missing.
    assert {check for (check,) in checks} == {"no_device_events", "no_modules", "no_stacks"}


@each_rank
def test_collectives_are_those_of_the_profiler(live: Live, trace: Trace) -> None:
    theirs = [
        (step, event["start_ns"], event["end_ns"] - event["start_ns"])
        for step, event in zip(STEPS, reductions(live, trace), strict=True)
    ]
    rows = live.rows(trace, "collectives")
    assert (
        sorted((row["step"], row["start_ns"], round(row["duration_us"] * 1000)) for row in rows)
        == theirs
    )
    for row in rows:
        said = (row["name"], row["dtype"], row["bytes"], row["group_size"], row["members"])
        assert said == ("all_reduce", "float32", GRADIENT_BYTES, 2, 2)
        assert (row["backend"], row["device_id"], row["occurrence"]) == ("gloo", None, 1)
        assert row["do_clocks_agree"] is True


@each_rank
def test_waits_are_the_differences_of_lengths(live: Live, trace: Trace) -> None:
    ranks = lengths(live)
    transfers = [min(pair) for pair in zip(*ranks.values(), strict=True)]
    waits = [ours - least for ours, least in zip(ranks[trace[1]], transfers, strict=True)]
    rows = sorted(live.rows(trace, "collectives"), key=lambda row: int(row["step"]))
    assert [round(row["transfer_us"] * 1000) for row in rows] == transfers
    assert [round(row["wait_us"] * 1000) for row in rows] == waits
    for row in rows:
        algorithm = GRADIENT_BYTES / row["transfer_us"] / 1000
        assert row["algorithm_bandwidth_gbps"] == pytest.approx(algorithm)
        # Two ranks: 2 (n - 1) / n is 1.
        assert row["bus_bandwidth_gbps"] == pytest.approx(algorithm)

    [stats] = live.rows(trace, "collective_stats")
    assert (stats["name"], stats["calls"], stats["compared_calls"]) == ("all_reduce", 2, 2)
    assert (stats["total_bytes"], stats["mean_bytes"]) == (2 * GRADIENT_BYTES, GRADIENT_BYTES)
    figures = ("total_us", "transfer_us", "wait_us")
    assert [round(stats[name] * 1000) for name in figures] == [
        sum(ranks[trace[1]]),
        sum(transfers),
        sum(waits),
    ]
    assert [
        (row["step"], round(row["transfer_us"] * 1000), round(row["synchronizing_us"] * 1000))
        for row in live.rows(trace, "comm_wait")
    ] == [(None, sum(transfers), sum(waits)), *zip(STEPS, transfers, waits, strict=True)]
    assert {row["uncompared_us"] for row in live.rows(trace, "comm_wait")} == {0}


def test_the_late_rank_is_named(live: Live) -> None:
    """Who is late does not wait; the other one waits for about as long as it slept."""
    ranks = lengths(live)
    lateness = [a - b for a, b in zip(ranks[ON_TIME], ranks[LATE], strict=True)]
    rows = live.warehouse.sql(
        "SELECT worker, step, lateness_us, share_pct, waited_by, collectives"
        " FROM stragglers(run := 'pair')"
    ).fetchall()
    assert rows == [
        (LATE, step, pytest.approx(late / 1000), 100.0, 1, number)
        for step, late, number in zip(
            (None, *STEPS), (sum(lateness), *lateness), (2, 1, 1), strict=True
        )
    ]
    assert all(late > LATE_US * 1000 / 2 for late in lateness)
    waits = live.warehouse.sql(
        "SELECT worker, max(synchronizing_us) FROM comm_wait(run := 'pair', step := 3) GROUP BY ALL"
    ).fetchall()
    assert dict(waits)[LATE] == 0 < dict(waits)[ON_TIME]


@each_rank
def test_what_computation_hides_is_worked_out_again(live: Live, trace: Trace) -> None:
    kinds = (OPERATOR, ANNOTATION)
    events = [event for event in live.said(trace)["recorded"] if event["kind"] in kinds]
    [window] = live.warehouse.sql(
        "SELECT start_ns, end_ns FROM traces WHERE (run, worker, span) = (?, ?, ?)", list(trace)
    ).fetchall()
    spans = {None: window} | {
        int(event["name"].removeprefix("ProfilerStep#")): (event["start_ns"], event["end_ns"])
        for event in events
        if event["name"].startswith("ProfilerStep#")
    }
    rows = {row["step"]: row for row in live.rows(trace, "comm_overlap")}
    assert rows.keys() == spans.keys() == {None, *STEPS}
    for step, span in spans.items():
        communication, computation = set[tuple[int, int]](), set[tuple[int, int]]()
        for event in events:
            part = (max(event["start_ns"], span[0]), min(event["end_ns"], span[1]))
            if part[0] < part[1] and not event["name"].startswith(NO_COMPUTATION):
                of = communication if is_collective(event["name"]) else computation
                of.add(part)
        both = covered(communication) + covered(computation) - covered(communication | computation)
        figures = ("computation_us", "overlap_us", "communication_us", "other_us")
        assert [round(rows[step][name] * 1000) for name in figures] == [
            covered(computation) - both,
            both,
            covered(communication) - both,
            span[1] - span[0] - covered(communication | computation),
        ]
        assert rows[step]["overlap_pct"] == pytest.approx(100 * both / covered(communication))


def test_the_rank_that_waits_is_told_for_whom(live: Live) -> None:
    [headline, finding] = live.warehouse.sql(
        "SELECT text, value FROM verdict(run := 'pair', worker := $1)"
        " WHERE part IN ('headline', 'finding') ORDER BY part DESC LIMIT 2",
        params=[ON_TIME],
    ).fetchall()
    assert f" This worker waits for {LATE} for up to " in headline[0]
    assert finding[0] == f"The step waits for {LATE}."
    assert finding[1] == pytest.approx(LATE_US, rel=0.2)


def is_collective(name: str) -> bool:
    return name.startswith(("gloo:", "c10d::allreduce_"))


def covered(spans: set[tuple[int, int]]) -> int:
    """How long at least one of them lasts."""
    total, until = 0, 0
    for start, end in sorted(spans):
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total
