"""memory_at_peak: no peer has it, so it is worked out again from the records and the frames.

The peaks are the TensorBoard plugin's.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

TRACES = [
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002",
]
OLD = "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace"

#: The plugin's number of a device's type and of the device. None is the HIP that it does not know.
DEVICES = {"cpu": "0:-1", "cuda:0": "1:0", "hip:0": "None:0"}


@pytest.mark.parametrize("trace", TRACES)
def test_what_is_alive_is_what_a_replay_leaves(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    recorded = corpus.sql(
        "SELECT concat_ws(':', m.device_type, m.device_id), m.address, m.bytes,"
        " m.total_allocated_bytes FROM memory_records AS m"
        " WHERE m.run = ? AND m.worker = ? AND m.span = ? ORDER BY m.time_ns, m.event_id",
        list(keys.values()),
    ).fetchall()
    devices = {device for device, *_ in recorded}
    rows = corpus.memory_at_peak(**keys).fetchall()
    assert {row[3] for row in rows} == devices
    for device in devices:
        records = [record for of, *record in recorded if of == device]
        peak = max(total for *_, total in records)
        live: dict[int, int] = {}
        for address, size, total in records:
            if size > 0:
                live[address] = size
            else:
                live.pop(address, None)
            if total == peak:
                break
        ours = [row[8:10] for row in rows if row[3] == device]
        known = [(size, blocks) for size, blocks in ours if blocks is not None]
        assert peak == said["memory_records"]["peak"][DEVICES[device]]
        assert sum(size for size, _ in ours) == peak
        assert sum(size for size, _ in known) == sum(live.values())
        assert sum(blocks for _, blocks in known) == len(live)


@pytest.mark.parametrize("trace", TRACES)
def test_operators_modules_and_lines_are_those_around_the_allocation(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    """By the times of the frames on a thread, without the links between events."""
    _, keys = plugin(trace)
    rows = corpus.memory_at_peak(**keys, frame="innermost").fetchall()
    peaks = {row[3]: row[11] for row in rows}
    frames = corpus.sql(
        "SELECT h.tid, h.start_ns, h.start_ns + h.duration_ns, h.name, h.python_module_id,"
        " h.source_file, h.source_line FROM host_events AS h"
        " WHERE h.category = 'python_function' AND h.run = ?"
        " ORDER BY h.start_ns, h.duration_ns DESC",
        [keys["run"]],
    ).fetchall()
    blocks = corpus.sql(
        "SELECT e.device, e.operator, e.size_bytes, e.allocated_ns, e.released_ns, m.tid"
        " FROM memory_events(run := $run) AS e INNER JOIN memory_records AS m"
        " ON m.run = e.run AND m.time_ns = e.allocated_ns AND m.address = e.address",
        {"run": keys["run"]},
    ).fetchall()
    live: Counter[tuple[object, ...]] = Counter()
    for device, operator, size, allocated, released, thread in blocks:
        if allocated > peaks[device] or (released is not None and released <= peaks[device]):
            continue
        module, place = None, (None, None)
        for tid, start, end, name, module_id, *where in frames:
            if tid == thread and start <= allocated < end:
                module = module if module_id is None else name.removeprefix("nn.Module: ")
                place = place if where[0] is None else tuple(where)
        live[device, operator, module, *place] += size
    assert {row[3:8]: row[8] for row in rows if row[9] is not None} == live != {}


def test_records_without_address_and_totals_give_no_rows(
    plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(OLD)
    assert said["memory_records"]["count"] > 10_000
    assert corpus.memory_at_peak(**keys).fetchall() == []


def test_the_users_lines_have_the_same_sums(corpus: tracewh.Warehouse) -> None:
    """On every trace, by operator and module."""
    found = [
        corpus.memory_at_peak(frame=frame)
        .aggregate("run, worker, span, device, operator, module, sum(live_bytes), sum(blocks)")
        .order("ALL")
        .fetchall()
        for frame in ("user", "innermost")
    ]
    assert found[0] == found[1] != []
