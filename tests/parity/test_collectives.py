"""collectives, collective_stats, comm_wait and stragglers against TraceLens, HolisticTraceAnalysis
and the raw files, and against the TensorBoard plugin on a run of our own.

The bundled pair of gloo traces is the one run here that the plugin matches right. Its figures were
made with torch-tb-profiler 0.4.3; they do not change, for the traces do not.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

#: Transfer and wait in us.
Wait = tuple[float, float]

TWO_RANKS = "two_ranks_nccl_2023"
RANK_0, RANK_1 = (f"{TWO_RANKS}/sampled_rank-{rank}" for rank in (0, 1))

#: The plugin on samples/ddp_gloo, per step, None being what is in no step.
GLOO_WAITS: dict[str, dict[int | None, Wait]] = {
    "rank0": {
        2: (2624.97900390625, 6403.5439453125),
        3: (952.9189453125, 20448.06298828125),
        4: (12454.18115234375, 6473.3388671875),
    },
    "rank1": {
        2: (728.23388671875, 0.0),
        3: (1002.2421875, 0.0),
        4: (12502.93408203125, 891.51806640625),
        # An all_reduce that starts in step 2 and ends after it: for us in step 2.
        None: (1848.14208984375, 7643.92578125),
    },
}
#: The same: calls, bytes, time of the collectives and of their transfers.
GLOO_STATS = {
    ("rank0", "broadcast"): (6, 2400, 40711.34716796875, 7594.67431640625),
    ("rank0", "all_reduce"): (3, 238776, 8645.677734375, 8437.40478515625),
    ("rank1", "broadcast"): (6, 2400, 7644.1474609375, 7644.1474609375),
    ("rank1", "all_reduce"): (3, 238776, 16972.8486328125, 8437.40478515625),
}


def test_of_the_gloo_pair_the_plugin_says_the_same(samples: tracewh.Warehouse) -> None:
    ours: dict[str, dict[int | None, Wait]] = defaultdict(dict)
    for _, worker, _, step, transfer, wait, uncompared in samples.comm_wait(
        run="ddp_gloo"
    ).fetchall():
        assert uncompared == 0
        if step is not None:  # the whole trace, which the plugin has no row for
            ours[worker][step] = (transfer, wait)
    theirs = {worker: dict(steps) for worker, steps in GLOO_WAITS.items()}
    in_no_step = theirs["rank1"].pop(None)
    ends_later = theirs["rank1"][2]
    theirs["rank1"][2] = (ends_later[0] + in_no_step[0], ends_later[1] + in_no_step[1])
    for worker, steps in theirs.items():
        for step, figures in steps.items():
            # The plugin's floats hold 1/4096 us of relative times.
            assert ours[worker].pop(step) == pytest.approx(figures, abs=0.005)
    assert not any(ours.values())


def test_of_the_gloo_pair_the_plugin_counts_the_same(samples: tracewh.Warehouse) -> None:
    rows = samples.collective_stats(run="ddp_gloo").fetchall()
    ours = {(row[1], row[3]): (row[4], row[5], row[7], row[11]) for row in rows}
    assert ours == {key: pytest.approx(row, abs=0.005) for key, row in GLOO_STATS.items()}


def test_of_one_rank_tracelens_says_the_same(shared: Path, corpus: tracewh.Warehouse) -> None:
    text = (shared / "expected/a100_nccl_2024/nccl_data.tracelens.json").read_text("utf-8")
    theirs = {
        (row["Collective name"], row["dtype"], row["In msg nelems"]): row
        for row in json.loads(text)["data"]["sheets"]["coll_analysis"]["data"]
    }
    rows = corpus.sql(
        """
        SELECT
            d.collective, d.collective_dtype, d.in_elements, any_value(c.group_name),
            any_value(c.group_size), any_value(c.bytes), sum(c.duration_us), avg(c.duration_us),
            min(c.duration_us), max(c.duration_us), count(*)
        FROM collectives(run := 'a100_nccl_2024') AS c
        INNER JOIN device_events AS d ON c.run = d.run AND c.event_id = d.event_id
        GROUP BY ALL
        """
    ).fetchall()
    assert len(rows) == len(theirs)
    for *key, group, size, bytes_, total, mean, shortest, longest, calls in rows:
        row = theirs[tuple(key)]
        assert (group, size, calls) == (
            row["Process Group Name"],
            row["Group size"],
            row["operation_count"],
        )
        assert bytes_ == row["In msg size (MB)_first"] * 2**20
        assert (total, mean, shortest, longest) == pytest.approx(
            (row["dur_sum"], row["dur_mean"], row["dur_min"], row["dur_max"])
        )


def test_of_two_ranks_both_are_late_at_times_as_hta_says(
    shared: Path, corpus: tracewh.Warehouse
) -> None:
    said = json.loads((shared / "expected" / TWO_RANKS / "RUNDIR.hta.json").read_text("utf-8"))
    late = corpus.stragglers(run=TWO_RANKS).fetchall()
    assert {row[1] for row in late if row[3] is None} == {
        f"sampled_rank-{rank}" for rank in said["data"]["potential_stragglers"]
    }


def test_waits_and_transfers_make_up_the_communication(corpus: tracewh.Warehouse) -> None:
    """comm_overlap, which agrees with HTA, counts the same time in another way."""
    rows = corpus.sql(
        """
        SELECT
            o.run,
            coalesce(w.transfer_us + w.synchronizing_us, 0) + w.uncompared_us,
            o.overlap_us + o.communication_us
        FROM comm_wait() AS w
        INNER JOIN comm_overlap() AS o USING (run, worker, span)
        WHERE w.step IS NULL AND o.step IS NULL
        """
    ).fetchall()
    assert {run for run, *_ in rows} >= {TWO_RANKS, "a100_nccl_2024", "cpu_only_2024"}
    for _, ours, communication in rows:
        assert ours == pytest.approx(communication, abs=0.001)


def test_two_ranks_are_matched_as_the_raw_files_say(
    shared: Path, corpus: tracewh.Warehouse
) -> None:
    ranks = [_raw(shared / "traces" / f"{trace}.json.gz") for trace in (RANK_0, RANK_1)]
    expected = {}
    for rank, (mine, other) in enumerate([ranks, ranks[::-1]]):
        for key, (event, duration) in mine.items():
            shortest = min(duration, other[key][1]) if key in other else None
            wait = None if shortest is None else duration - shortest
            expected[f"sampled_rank-{rank}", event] = (key[0], duration, shortest, wait)
    rows = corpus.collectives(run=TWO_RANKS).fetchall()
    columns = corpus.collectives(run=TWO_RANKS).columns
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    assert {
        (row["worker"], row["event_id"]): (
            row["step"],
            row["duration_us"],
            row["transfer_us"],
            row["wait_us"],
        )
        for row in named
    } == expected
    # The last all_to_all of each is of another direction: one rank lacks each. Lengths cannot tell.
    disagreeing = {row["worker"]: row["name"] for row in named if row["do_clocks_agree"] is False}
    assert disagreeing == dict.fromkeys(("sampled_rank-0", "sampled_rank-1"), "all_to_all")


def _raw(path: Path) -> dict[tuple[Any, ...], tuple[int, float]]:
    """Position and length of each collective by what tells it apart, independent of SQL.

    No rank has two alike in one step.
    """
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    timed = [(number, event) for number, event in enumerate(events) if event["ph"] == "X"]
    annotations = [event for _, event in timed if event["cat"] == "user_annotation"]
    launches = {
        event["args"]["correlation"]: event for _, event in timed if event["cat"] == "cuda_runtime"
    }
    found: dict[tuple[Any, ...], tuple[int, float]] = {}
    for number, event in timed:
        if event["cat"] != "kernel" or "nccl" not in event["name"]:
            continue
        launch = launches[event["args"]["correlation"]]
        around = [
            annotation
            for annotation in annotations
            if annotation["ts"] <= launch["ts"] < annotation["ts"] + annotation["dur"]
        ]
        [step] = [each for each in around if each["name"].startswith("ProfilerStep#")]
        [collective] = [
            each
            for each in around
            if each["name"].startswith("nccl:") and each["tid"] == launch["tid"]
        ]
        [shape], [dtype] = collective["args"]["Input Dims"], collective["args"]["Input type"]
        size = None if collective["name"] == "nccl:all_to_all" else shape[0]
        key = (int(step["name"].partition("#")[2]), collective["name"], dtype, size)
        assert key not in found
        found[key] = (number, event["dur"])
    return found
