"""A child process of `tracewh serve`: it has the warehouse open and answers one question at a time.

It ends when its standard input does, so it does not outlive the server, whatever ended that.
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

from tracewh.cli.diagnostics import sql_error
from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.report import live
from tracewh.cli.report.messages import CANCEL, GRACE_SECONDS, Answer, Question, Setup, read, write
from tracewh.temporary import sweep
from tracewh.views import ViewError
from tracewh.views.warehouse import Warehouse, WarehouseError

#: A child that needed more memory for a query gives it back by ending.
SPENT_BYTES = 512 * 2**20
ANSWERS: dict[str, Callable[..., str | dict[str, Any]]] = {
    "page": live.page,
    "panel": live.panel,
    "query": live.query,
}


class Child:
    """The questions that the server asks, one after the other.

    Args:
        requests: What the server writes.
        answers: What it reads.
    """

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests, self._answers = requests, answers
        self._setup: Setup = pickle.loads(read(requests) or b"")
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._warehouse: Warehouse | None = None

    def run(self) -> None:
        """Answer until the server ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._warehouse = _opened(self._setup)
        except (WarehouseError, duckdb.Error) as error:
            failed: Answer | None = _error(str(error), 400, is_spent=True)
        else:
            failed = None
        with suppress(BrokenPipeError):
            write(self._answers, b"")  # it can answer from now on
        while (question := self._questions.get()) is not None:
            answer = failed or self._answer(question)
            self._idle.set()
            head = {"status": answer.status, "page": answer.is_page, "spent": answer.is_spent}
            with suppress(BrokenPipeError):
                write(self._answers, orjson.dumps(head), answer.body)
        if self._warehouse is not None:
            self._warehouse.close()
        _tidy()

    def _listen(self) -> None:
        while (frame := read(self._requests)) is not None:
            if frame == CANCEL:
                self._interrupt()
            else:
                self._idle.clear()
                self._questions.put(pickle.loads(frame))
        self._questions.put(None)
        self._interrupt()
        if not self._idle.is_set():  # DuckDB does not look up inside one function
            _tidy()
            os._exit(1)

    def _interrupt(self) -> None:
        """Have the question end, also where it is between two queries."""
        until = time.monotonic() + GRACE_SECONDS
        while not self._idle.wait(0.02) and time.monotonic() < until:
            if self._warehouse is not None:
                self._warehouse.interrupt()

    def _answer(self, question: Question) -> Answer:
        assert self._warehouse is not None
        try:
            found = ANSWERS[question.kind](self._warehouse, **question.arguments)
            if isinstance(found, str):
                return Answer(200, found.encode(), is_page=True)
            return Answer(200, orjson.dumps(found, default=str), is_spent=self._is_spent())
        except (MemoryError, duckdb.OutOfMemoryException) as error:
            return _error(self._out_of_memory(error), 400, is_spent=True)
        except duckdb.Error as error:
            return _error(sql_error(error), 400, is_spent=self._is_spent())
        except (CliError, ViewError, WarehouseError) as error:
            return _error(str(error), 400, is_spent=self._is_spent())

    def _out_of_memory(self, error: Exception) -> str:
        if self._setup.memory_mb is None:
            return str(error)
        return (
            f"the query needed more than {self._setup.memory_mb:,} MB of memory and was stopped; "
            "`tracewh serve --memory-limit MB` raises the limit"
        )

    def _is_spent(self) -> bool:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        used = most if sys.platform == "darwin" else most * 1024
        return self._setup.memory_mb is not None and used > SPENT_BYTES


def _opened(setup: Setup) -> Warehouse:
    if setup.is_nice:
        os.nice(5)
    warehouse = Warehouse(setup.warehouse)
    warehouse.confine(setup.memory_mb)
    if setup.memory_mb is not None:
        _limit_memory(2 * setup.memory_mb * 10**6)
    return warehouse


def _limit_memory(size: int) -> None:
    """Limit what the process may take beyond what it has: DuckDB counts its buffers alone.

    Of the system's limits that of data counts what is written to, and not what is mapped only.
    """
    with suppress(OSError):  # another system than Linux
        status = Path("/proc/self/status").read_text()
        [has] = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:")]
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = has * 1024 + size
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _tidy() -> None:
    """Remove what DuckDB spilled into this child's own folder, which the server names.

    Never the folder that the system gives for temporary files: it gives another one where this is gone.
    """
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    sweep(folder.parent.parent)  # the server may have been killed


def _error(text: str, status: int, *, is_spent: bool = False) -> Answer:
    return Answer(status, orjson.dumps({"error": text}), is_spent=is_spent)


def main() -> None:
    """Be a child of `tracewh serve`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, answers = (os.fdopen(os.dup(fd), mode) for fd, mode in ((0, "rb"), (1, "wb")))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # whatever prints does not print into an answer
    child = Child(requests, answers)
    child.run()


if __name__ == "__main__":
    main()
