"""A child process of `tracewh serve`: it opens the warehouse and runs one task at a time.

It exits when its standard input closes, so it never outlives the server, even if that is killed.
"""

from __future__ import annotations

import os
import pickle
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

import duckdb
import orjson

from tracewh.cli.diagnostics import is_damage, sql_error
from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.report import home, live
from tracewh.cli.report.messages import CANCEL, GRACE_SECONDS, Setup, Task, TaskResult, read, write
from tracewh.errors import IngestError
from tracewh.temporary import remove_abandoned
from tracewh.views import ViewError
from tracewh.views.warehouse import Warehouse, WarehouseError

#: A child that used more memory than this for a query is replaced, which frees the memory.
RESTART_BYTES = 512 * 2**20
#: Memory that a process for queries may use besides that of DuckDB: as much again, but at least this, which sorting needs
#: while it spills.
LEAST_BESIDE_MB = 400
HANDLERS: dict[str, Callable[..., str | dict[str, Any]]] = {
    "page": live.page,
    "panel": live.panel,
    "timeline": live.timeline,
    "state": live.state,
    "query": live.query,
    "export": live.export,
    "trace_file": live.trace_file,
    "runs": home.runs,
    "figures": home.figures,
}


class Child:
    """Runs the tasks of the server one after the other.

    Args:
        requests: The stream that the server writes.
        results: The stream that the server reads.
    """

    def __init__(self, requests: IO[bytes], results: IO[bytes]) -> None:
        self._requests, self._results = requests, results
        self._setup: Setup = pickle.loads(read(requests) or b"")
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._warehouse: Warehouse | None = None

    def run(self) -> None:
        """Run tasks until the server ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._warehouse = _opened(self._setup)
        except (WarehouseError, duckdb.Error) as error:
            failed: TaskResult | None = _error(str(error), 400, needs_restart=True)
        else:
            failed = None
        with suppress(BrokenPipeError):
            write(self._results, b"")  # ready for tasks
        while (task := self._tasks.get()) is not None:
            result = failed or self._run(task)
            self._idle.set()
            head = {
                "status": result.status,
                "page": result.is_page,
                "restart": result.needs_restart,
            }
            with suppress(BrokenPipeError):
                write(self._results, orjson.dumps(head), result.body)
        if self._warehouse is not None:
            self._warehouse.close()
        _tidy()

    def _listen(self) -> None:
        while (frame := read(self._requests)) is not None:
            if frame == CANCEL:
                self._interrupt()
            else:
                self._idle.clear()
                self._tasks.put(pickle.loads(frame))
        self._tasks.put(None)
        self._interrupt()
        if not self._idle.is_set():  # DuckDB does not check for interrupts within one function
            _tidy()
            os._exit(1)

    def _interrupt(self) -> None:
        """Interrupt the task, repeatedly: it may be between two queries."""
        until = time.monotonic() + GRACE_SECONDS
        while not self._idle.wait(0.02) and time.monotonic() < until:
            if self._warehouse is not None:
                self._warehouse.interrupt()

    def _run(self, task: Task) -> TaskResult:
        assert self._warehouse is not None
        try:
            found = self._answer(task)
            if isinstance(found, str):
                return TaskResult(200, found.encode(), is_page=True)
            return TaskResult(
                200, orjson.dumps(found, default=str), needs_restart=self._needs_restart()
            )
        except (MemoryError, duckdb.OutOfMemoryException):
            return _error(self._out_of_memory(), 400, needs_restart=True)
        except duckdb.Error as error:
            return _error(sql_error(error), 400, needs_restart=self._needs_restart())
        except (CliError, IngestError, ViewError, WarehouseError) as error:
            return _error(str(error), 400, needs_restart=self._needs_restart())

    def _answer(self, task: Task) -> str | dict[str, Any]:
        """Answer a task, and once more if a file cannot be read: its trace may have been replaced meanwhile.

        A task that writes a file may have written a part of it.
        """
        try:
            return HANDLERS[task.kind](self._warehouse, **task.arguments)
        except duckdb.Error as error:
            if "path" in task.arguments or not is_damage(error):
                raise
        return HANDLERS[task.kind](self._warehouse, **task.arguments)

    def _out_of_memory(self) -> str:
        what, limit = "query", f"{self._setup.memory_mb:,} MB"
        if self._setup.shared_by is not None:
            assert self._warehouse is not None
            [(limit,)] = self._warehouse.sql("SELECT current_setting('memory_limit')").fetchall()
            what = "page"
        return (
            f"the {what} needed more than {limit} of memory and was stopped; "
            "`tracewh serve --memory-limit MB` raises the limit"
        )

    def _needs_restart(self) -> bool:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        used = most if sys.platform == "darwin" else most * 1024
        return self._setup.shared_by is None and used > RESTART_BYTES


def _opened(setup: Setup) -> Warehouse:
    if setup.is_nice:
        os.nice(5)
    warehouse = Warehouse(setup.warehouse)
    if setup.shared_by is not None:
        warehouse.share_memory(setup.shared_by, setup.memory_mb)
        warehouse.confine()
    else:
        warehouse.confine(setup.memory_mb)
        _limit_memory((setup.memory_mb + max(setup.memory_mb, LEAST_BESIDE_MB)) * 10**6)
    return warehouse


def _limit_memory(size: int) -> None:
    """Limit the memory of the process beyond its current use: DuckDB's own limit covers only its buffers.

    RLIMIT_DATA counts memory that is written to, but not memory that is only mapped.
    """
    with suppress(OSError):  # not on Linux
        status = Path("/proc/self/status").read_text()
        [has] = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:")]
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = has * 1024 + size
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _tidy() -> None:
    """Remove what DuckDB spilled into this child's own folder, the first argument of the process.

    It does not use the folder for temporary files of the system, which is another one if this is gone.
    """
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    remove_abandoned(folder.parent.parent)  # the server may have been killed


def _error(text: str, status: int, *, needs_restart: bool = False) -> TaskResult:
    return TaskResult(status, orjson.dumps({"error": text}), needs_restart=needs_restart)


def main() -> None:
    """Run a child process of `tracewh serve`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, results = (os.fdopen(os.dup(fd), mode) for fd, mode in ((0, "rb"), (1, "wb")))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # redirects prints to stderr, away from the results
    child = Child(requests, results)
    child.run()


if __name__ == "__main__":
    main()
