"""What TraceLens says of devices and operators: ours is the same, or differences.txt says why not.

Of devices it says it twice: of all device events, and of those that it links to a host row, by
default. Where it failed it has no figures: traces without device events, or in words of theirs that
it does not know.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.parity.conftest import TRACES, keys
from tests.parity.differences import Table, problems
from tests.parity.test_flops import SAID, every_operator_and_shape

if TYPE_CHECKING:
    import tracewh

NAMES = {
    "total_time": "window_us",
    "busy_time": "busy_us",
    "idle_time": "idle_us",
    "computation_time": "compute_us",
    "total_comm_time": "communication_us",
    "total_memcpy_time": "memcpy_us",
    "exposed_comm_time": "exposed_communication_us",
    "exposed_memcpy_time": "exposed_memcpy_us",
}


@pytest.mark.parametrize("name", TRACES)
def test_of_a_trace_nothing_differs_but_what_is_listed(
    name: str, shared: Path, corpus: tracewh.Warehouse
) -> None:
    text = (shared / "expected" / f"{name}.tracelens.json").read_text("utf-8")
    said = json.loads(text)["data"]
    relation = corpus.gpu_time(**keys(corpus, name))
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    ours, theirs = {}, {}
    for section in ("all_kernels", "linked"):
        timeline = said[f"gpu_timeline_{section}"]
        if timeline:
            [row] = rows
            ours[section] = {figure: row[figure] for figure in NAMES.values()}
            theirs[section] = {
                figure: timeline["metrics_us"][name] for name, figure in NAMES.items()
            }
    tables = [Table("gpu_time", ours, theirs)]
    if name in SAID:
        tables.append(every_operator_and_shape(name, corpus))
    assert problems(f"tracelens {name}", tables) == []
