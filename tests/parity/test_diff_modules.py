"""diff_modules against what the TensorBoard plugin says of a run diff, and of the time in its steps.

The plugin aligns the calls of the data loader and the optimizer, in those of the steps of one thread. Ours
has the steps around them, backward passes, and the time between, which the plugin puts together to nodes
that it gives the operators' time.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.parity.test_diff import DIFFS, RUNS, SPANS
from tests.views.test_diff_modules import assert_adds_up, rows_of

if TYPE_CHECKING:
    import tracewh

SIDES = (("left", "baseline"), ("right", "experiment"))


def ask(warehouse: tracewh.Warehouse, diff: str) -> list[dict[str, Any]]:
    """The rows for one of the plugin's diffs, in order of time."""
    sides: dict[str, str] = {}
    for side, trace in zip(("baseline", "experiment"), DIFFS[diff], strict=True):
        run, _, file = trace.rpartition("/")
        sides |= {side: run, f"{side}_span": str(SPANS[run].index(file) + 1)}
    rows = rows_of(warehouse.diff_modules(**sides))
    assert_adds_up(rows)
    return sorted(rows, key=lambda row: row["position"])


@pytest.mark.parametrize("diff", DIFFS)
def test_blocks_take_as_long_as_the_plugin_says(
    diff: str, corpus: tracewh.Warehouse, shared: Path
) -> None:
    """Its two figures of a block are our plain ones: its length on the host, and its device work."""
    said = json.loads((shared / "expected/v100_resnet50_2021" / f"{diff}.tb.json").read_text())
    blocks = said["diff"]["root"]["children"]
    rows = ask(corpus, diff)
    seen = 0
    for name in {block["left"]["name"] for block in blocks} - {"CompositeNodes"}:
        theirs = [block for block in blocks if block["left"]["name"] == name]
        ours = [row for row in rows if row["baseline_name"] == name]
        assert len(ours) == len(theirs) == 6
        for row, block in zip(ours, theirs, strict=True):
            assert row["matched"] and row["kind"] in ("dataloader", "optimizer")
            for theirs_side, side in SIDES:
                assert row[f"{side}_name"] == block[theirs_side]["name"]
                assert row[f"{side}_host_us"] == block[theirs_side]["duration"]
                assert row[f"{side}_device_us"] == block[theirs_side]["device_duration"]
            seen += 1
    # It aligns the loader by the whole name, so that it does not find that of four workers again.
    assert seen == {"diff__kineto_w0s1_w4s1": 6, "diff__kineto_w0s1_w0s2": 12}[diff]


def test_loading_data_is_by_far_the_largest_change(corpus: tracewh.Warehouse, shared: Path) -> None:
    """What counts for the loader is what the steps wait for data, to the microsecond."""
    rows = ask(corpus, "diff__kineto_w0s1_w4s1")
    assert all(row["matched"] for row in rows if row["kind"] != "unknown")
    loader = [row for row in rows if row["kind"] == "dataloader"]
    for (_, side), run in zip(SIDES, RUNS, strict=True):
        file = shared / "expected" / run / f"{SPANS[run][0]}.tb.json"
        [worker] = json.loads(file.read_text("utf-8"))["workers"]
        mean = sum(row[f"{side}_us"] for row in loader) / len(loader)
        assert mean == pytest.approx(worker["avg_costs"]["DataLoader"], abs=0.1)
    changes = defaultdict[str, float](float)
    for row in rows:
        if row["depth"] == 2:
            changes[row["name"]] += row["delta_us"]
    most, *others = sorted(changes.values(), key=abs, reverse=True)
    assert changes["DataLoader"] == most < 0
    assert all(3 * abs(change) < -most for change in others)
    # The first step alone: it is in the first line after the trace, too.
    by_size = rows_of(
        corpus.diff_modules(
            baseline=RUNS[0], experiment=RUNS[1], baseline_span="1", experiment_span="1"
        )
    )
    assert [row["kind"] for row in by_size[:6]] == ["trace", *["dataloader"] * 5]
