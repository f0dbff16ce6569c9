"""Record steps that spend their time outside of operators, or on other threads.

python -m tests.live.record_waits FOLDER
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

STEPS = 3
SLEEP_S = 0.02


def multiply() -> None:
    """An operator that takes microseconds."""
    torch.ones(8, 8) @ torch.ones(8, 8)


def sleep() -> None:
    """Wait in a function of its own."""
    multiply()
    time.sleep(SLEEP_S)


def on_a_thread() -> None:
    """Run operators on a thread that the profiler does not know."""
    thread = threading.Thread(target=multiply)
    thread.start()
    thread.join()


def record(folder: str, run: str, step: Callable[[], None], with_stack: bool = False) -> None:
    """Record steps that call a function, and then sleep here if the run is called inline."""
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=STEPS),
        on_trace_ready=tensorboard_trace_handler(str(Path(folder, run)), "main"),
        with_stack=with_stack,
    ) as profiler:
        for _ in range(STEPS + 1):
            step()
            if run == "inline":
                time.sleep(SLEEP_S)
            profiler.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    record(sys.argv[1], "called", sleep, with_stack=True)
    record(sys.argv[1], "inline", multiply, with_stack=True)
    record(sys.argv[1], "unknown", sleep)
    record(sys.argv[1], "thread", on_a_thread)
