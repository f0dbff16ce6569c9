"""Sample the use of the CPUs in a thread."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any, Self

import psutil

from tracewh.record.record_file import RecordFile

_STAT = Path("/proc/stat")


class CpuSampler:
    """Samples until it is stopped. As a context manager, it stops at the end of the block.

    Args:
        file: Where to write.
        interval: Seconds between two samples.
    """

    def __init__(self, file: RecordFile, interval: float) -> None:
        self._file = file
        self._interval = min(interval, threading.TIMEOUT_MAX)  # the most that a wait takes
        self._own = psutil.Process()
        self._children: dict[int, psutil.Process] = {}
        self._stopped = threading.Event()
        file.add_object(kind="host", cores=psutil.cpu_count() or 1)
        file.flush()
        self._thread = threading.Thread(target=self._run, name="tracewh.record.cpu", daemon=True)
        self._thread.start()

    @property
    def path(self) -> str:
        """The file that is written."""
        return self._file.path

    def stop(self) -> None:
        """Take a last sample and close the file."""
        self._stopped.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _run(self) -> None:
        before = self._read()
        while True:
            is_last = self._stopped.wait(self._interval)
            now = self._read()
            self._add(before, now)
            before = now
            if is_last or not self._file.is_open:
                self._file.close()
                return

    def _read(self) -> dict[str, Any]:
        """All clocks and counters as they are now."""
        processes = {self._own.pid: self._own, **self._list_children()}
        times = {}
        for pid, process in processes.items():
            with contextlib.suppress(psutil.Error):  # it has ended
                found = process.cpu_times()
                times[pid] = found.user, found.system
        return {
            "time_ns": time.time_ns(),
            "clock": time.perf_counter(),
            "host": psutil.cpu_times(),
            "switches": psutil.cpu_stats().ctx_switches,
            "processes": times,
        }

    def _list_children(self) -> dict[int, psutil.Process]:
        """The child processes. On Linux, the kernel knows them; elsewhere every process has to be looked at."""
        try:
            tasks = Path(f"/proc/{self._own.pid}/task")
            pids = {
                int(pid)
                for task in tasks.iterdir()
                for pid in (task / "children").read_text().split()
            }
        except (OSError, ValueError):
            pids = {child.pid for child in self._own.children()}
        for pid in pids - self._children.keys():
            with contextlib.suppress(psutil.Error):
                self._children[pid] = psutil.Process(pid)
        self._children = {p: each for p, each in self._children.items() if p in pids}
        return self._children

    def _add(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        host = {
            name: getattr(now["host"], name) - getattr(before["host"], name, 0)
            for name in now["host"]._fields
            if name not in ("guest", "guest_nice")  # are part of user and nice
        }
        whole = sum(host.values()) or 1
        shares = {name: round(100 * value / whole, 2) for name, value in host.items()}
        seconds = now["clock"] - before["clock"]
        self._file.add_object(
            kind="cpu",
            time_ns=now["time_ns"],
            user_pct=round(shares.get("user", 0) + shares.get("nice", 0), 2),
            system_pct=round(sum(shares.get(name, 0) for name in ("system", "irq", "softirq")), 2),
            io_wait_pct=shares.get("iowait"),
            idle_pct=shares.get("idle"),
            runnable_processes=_runnable_processes(),
            context_switches=now["switches"] - before["switches"],
            processes=[
                {
                    "pid": pid,
                    "user_pct": round(100 * (user - before["processes"][pid][0]) / seconds, 2),
                    "system_pct": round(100 * (system - before["processes"][pid][1]) / seconds, 2),
                }
                for pid, (user, system) in now["processes"].items()
                if pid in before["processes"]
            ],
        )


def _runnable_processes() -> int | None:
    """The threads that run or could run now, all processes together; None if the system does not say."""
    with contextlib.suppress(OSError, ValueError), _STAT.open() as lines:
        for line in lines:
            if line.startswith("procs_running"):
                return int(line.split()[1])
    return None
