"""Records real runs with torch.profiler, and what the profiler itself says of them.

    python record.py FOLDER

writes FOLDER/traces/RUN/... as tensorboard_trace_handler names them, and FOLDER/said/RUN.WORKER.SPAN.json:
the sums of key_averages, its events, and the allocations in the profiler's own tree of events.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from models import Rows, Tree  # type: ignore[import-not-found]  # beside the script
from torch import Tensor, nn
from torch._C._profiler import _EventType, _ExperimentalConfig
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)
from torch.utils.data import DataLoader

WAIT, WARMUP, ACTIVE, REPEAT = 1, 1, 2, 2
#: How much later than the other one a rank of the pair begins with each step.
LATE_S = 0.3
LATE_RANK = 1


def loop(folder: Path) -> None:
    """A training loop with everything switched on; two workers load the data."""
    with recorder(folder, "loop", "main", repeat=REPEAT, with_stack=True) as profiler:
        train(Tree(), profiler, REPEAT, workers=2)


def bare(folder: Path) -> None:
    """The same loop without Python frames; the process loads the data itself."""
    with recorder(folder, "bare", "main", repeat=1, with_stack=False) as profiler:
        train(Tree(), profiler, 1, workers=0)


def threads(folder: Path) -> None:
    """Two threads that compute at the same time, and no steps."""

    def work(size: int) -> None:
        with record_function("work"):
            for _ in range(3):
                (torch.ones(size, size) @ torch.ones(size, size)).sum()

    with recorder(folder, "threads", "main", repeat=None, with_stack=False):
        both = [threading.Thread(target=work, args=(size,)) for size in (64, 96)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()


def pair(folder: Path) -> None:
    """Two processes that average their gradients over gloo; one of them is late in every step."""
    with tempfile.TemporaryDirectory() as store:
        spawn(rank_of_pair, (folder, f"file://{store}/store"), 2)


def rank_of_pair(rank: int, folder: Path, meeting: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    late_s = LATE_S if rank == LATE_RANK else 0.0
    with recorder(folder, "pair", f"rank{rank}", repeat=1, with_stack=False) as profiler:
        train(DistributedDataParallel(Tree()), profiler, 1, workers=0, late_s=late_s)
    dist.destroy_process_group()


def train(
    model: nn.Module, profiler: profile, repeat: int, workers: int, late_s: float = 0
) -> None:
    """Train for all steps of the schedule."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batches: Iterator[Tensor] = iter(
        DataLoader(Rows((WAIT + WARMUP + ACTIVE) * repeat), 4, num_workers=workers)
    )
    for batch in batches:
        optimizer.zero_grad()
        with record_function("forward"):
            loss = model(batch).square().mean()
        time.sleep(late_s)
        with record_function("backward"):
            loss.backward()
        optimizer.step()
        profiler.step()


def recorder(folder: Path, run: str, worker: str, repeat: int | None, with_stack: bool) -> profile:
    """A profiler that writes a trace and what it says of it itself, for each span."""
    write = tensorboard_trace_handler(str(folder / "traces" / run), worker)
    spans = count(1)

    def ready(profiler: profile) -> None:
        write(profiler)
        path = folder / "said" / f"{run}.{worker}.{next(spans)}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(said(profiler, with_stack)), "utf-8")

    return profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=repeat)
        if repeat
        else None,
        on_trace_ready=ready,
        record_shapes=True,
        profile_memory=True,
        with_flops=True,
        with_stack=with_stack,
        with_modules=with_stack,
        experimental_config=_ExperimentalConfig(
            # Without it the trace has frames, but no stack at each operator.
            verbose=with_stack,
            profile_all_threads=run == "threads",
        ),
    )


def said(profiler: profile, with_stack: bool) -> dict[str, Any]:
    """What the profiler says of a run."""
    assert profiler.profiler and profiler.profiler.kineto_results
    result = profiler.profiler.kineto_results
    begin = result.trace_start_ns()
    events = profiler.events()
    numbers = {id(event): number for number, event in enumerate(events)}
    tree = [event for root in result.experimental_event_tree() for event in below(root)]
    return {
        "averages": {
            "name": sums(profiler.key_averages()),
            "input_shape": sums(profiler.key_averages(group_by_input_shape=True)),
            "call_stack": sums(profiler.key_averages(group_by_stack_n=1000)),
            "input_shape_call_stack": sums(
                profiler.key_averages(group_by_input_shape=True, group_by_stack_n=1000)
            ),
        },
        "events": [
            {
                "name": event.trace_name,
                "kind": event.activity_type,
                "thread": event.thread,
                "start_ns": begin + round(event.time_range.start * 1000),
                "end_ns": begin + round(event.time_range.end * 1000),
                "self_ns": round(event.self_cpu_time_total * 1000),
                "is_async": event.is_async,
                "parent": numbers.get(id(event.cpu_parent)),
                "input_shapes": event.input_shapes,
                "is_backward": event.scope == 1,
                "stack": event.stack,
            }
            for event in events
        ],
        "recorded": [
            {
                "name": event.name(),
                "kind": event.activity_type(),
                "start_ns": event.start_ns(),
                "end_ns": event.end_ns(),
                "thread": event.start_thread_id(),
                "stack": event.stack(),
            }
            for event in result.events()
        ],
        "allocations": [
            {
                "time_ns": event.start_time_ns,
                "address": event.typed[1].ptr,
                "bytes": event.typed[1].alloc_size,
                "allocated_bytes": event.typed[1].total_allocated,
                "reserved_bytes": event.typed[1].total_reserved,
                "device": str(event.typed[1].device),
                "thread": event.start_tid,
                "frames": [
                    (outer.name, outer.start_time_ns)
                    for outer in above(event)
                    if outer.tag == _EventType.PyCall
                ],
            }
            for event in tree
            if event.tag == _EventType.Allocation
        ],
        "timeline": [
            (time_ns, action.name, str(key), size)
            for time_ns, action, key, size in profiler._memory_profile().timeline
        ]
        if with_stack
        else [],
    }


def sums(averages: Any) -> list[dict[str, Any]]:
    """Rows of key_averages."""
    return [
        {
            "name": row.key,
            "is_annotation": row.is_user_annotation,
            "input_shapes": row.input_shapes,
            "stack": row.stack,
            "calls": row.count,
            "self_ns": round(row.self_cpu_time_total * 1000),
            "total_ns": round(row.cpu_time_total * 1000),
            "self_bytes": row.self_cpu_memory_usage,
            "bytes": row.cpu_memory_usage,
            "flops": row.flops,
        }
        for row in averages
    ]


def below(event: Any) -> Iterator[Any]:
    """An event of the profiler's tree, and all that is inside it."""
    yield event
    for child in event.children:
        yield from below(child)


def above(event: Any) -> Iterator[Any]:
    """What is around an event of the tree, the innermost first."""
    while (event := event.parent) is not None:
        yield event


#: First the one that starts processes: tests/torch_forks.py forks them, and a fork lacks the threads that the
#: profiler and autograd start.
RUNS: list[Callable[[Path], None]] = [pair, loop, bare, threads]

if __name__ == "__main__":
    torch.manual_seed(2021)
    torch.set_num_threads(1)
    for run in RUNS:
        run(Path(sys.argv[1]))
