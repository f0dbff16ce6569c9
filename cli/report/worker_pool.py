"""A pool of child processes that run tasks in parallel, with a queue for waiting tasks.

A task that exceeds its time limit, or whose client has disconnected, is interrupted. If it does not stop,
its process is killed.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import orjson

from tracewh.cli.report.messages import CANCEL, GRACE_SECONDS, Setup, Task, TaskResult, read, write
from tracewh.temporary import Temporary

#: Seconds that a child has to open the warehouse.
OPEN_SECONDS = 120


class QueueFullError(Exception):
    """The queue of the pool is full."""


class Worker:
    """One child process."""

    def __init__(self, setup: bytes, folder: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(dir=folder))
        self._lock = threading.Lock()
        self._sent = 0
        self._is_busy = False
        self._is_open = False
        # In its own session, so that Ctrl-C in a terminal reaches only the server.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tracewh.cli.report.worker", str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "TMPDIR": str(self._folder),
                # The child finds all modules in the same places as this process.
                "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
            },
            start_new_session=True,
        )
        with suppress(BrokenPipeError):
            assert self._process.stdin is not None
            write(self._process.stdin, setup)

    @property
    def is_alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def open(self) -> bool:
        """Wait until the process is ready, outside the time limit of a task; return False if it ended."""
        if not self._is_open:
            timer = threading.Timer(OPEN_SECONDS, self.kill)
            timer.daemon = True
            timer.start()
            assert self._process.stdout is not None
            self._is_open = read(self._process.stdout) is not None
            timer.cancel()
        return self._is_open

    def run(self, task: bytes, pending: PendingTask) -> TaskResult | None:
        """Run a task and return its result, or None if the process ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            with self._lock:
                self._is_busy = True
                write(self._process.stdin, task)
            if pending.is_stopped:  # it was stopped before the task was sent
                self.stop()
            head, body = read(self._process.stdout), read(self._process.stdout)
        except BrokenPipeError:
            return None
        finally:
            with self._lock:
                self._is_busy = False
                self._sent += 1
        if head is None or body is None:
            return None
        fields = orjson.loads(head)
        return TaskResult(fields["status"], body, fields["page"], fields["restart"])

    def stop(self) -> None:
        """Interrupt the current task, and kill the process if the task does not stop."""
        with self._lock:
            if not self._is_busy:
                return
            timer = threading.Timer(GRACE_SECONDS, self._kill_at, [self._sent])
            timer.daemon = True
            timer.start()
            with suppress(BrokenPipeError):
                assert self._process.stdin is not None
                write(self._process.stdin, CANCEL)

    def _kill_at(self, sent: int) -> None:
        with self._lock:
            if self._is_busy and self._sent == sent:
                self._process.kill()

    def kill(self) -> None:
        """Kill the process; its current task has no result."""
        self._process.kill()

    def reap(self) -> str:
        """Wait for the end of the process, remove its temporary files, and return what ended it."""
        self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):  # bytes that it has not read
                assert pipe is not None
                pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


class PendingTask:
    """A task that waits in the queue or runs."""

    future: Future[TaskResult]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._is_stopped = False

    @property
    def is_stopped(self) -> bool:
        """Whether its result is no longer needed, or its time is over."""
        return self._is_stopped

    def stop(self) -> None:
        """Cancel the task."""
        with self._lock:
            self._is_stopped = True
            worker = self._worker
        self.future.cancel()  # if it waits in the queue
        if worker is not None:
            worker.stop()

    def assign(self, worker: Worker | None) -> bool:
        """Set the process that runs the task; return False if the task was cancelled before."""
        with self._lock:
            self._worker = worker
            return not self._is_stopped


class Pool:
    """Child processes for one warehouse, each started when there is a task for it.

    Args:
        setup: The setup of each process.
        size: Maximum number of processes.
        most_waiting: Maximum number of waiting tasks.
        seconds: Time limit of a task, from its start.
        too_long: Error message for a task that exceeds the time limit, with a place for its seconds.
    """

    def __init__(
        self, setup: Setup, size: int, most_waiting: int, seconds: float, too_long: str
    ) -> None:
        self._setup = pickle.dumps(setup)
        self._most = size + most_waiting
        self._full = f"{most_waiting} queries are already waiting; try again in a moment"
        self._seconds, self._too_long = seconds, too_long
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="tracewh-pool")
        self._lock = threading.Lock()
        self._folder = Temporary()
        self._count = 0
        self._is_closed = False
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = [self._start()]

    def submit(self, task: Task) -> PendingTask:
        """Add a task to the queue.

        Raises:
            QueueFullError: The queue is full, or the pool is closed.
        """
        with self._lock:
            if self._is_closed or self._count >= self._most:
                raise QueueFullError(
                    "the server is shutting down" if self._is_closed else self._full
                )
            self._count += 1
            pending = PendingTask()
            pending.future = self._threads.submit(
                self._run, pending, pickle.dumps(task), task.seconds or self._seconds
            )
        pending.future.add_done_callback(self._done)
        return pending

    def close(self) -> None:
        """End all processes; unfinished tasks get an error."""
        with self._lock:
            self._is_closed = True
            workers = list(self._workers)
        for worker in workers:
            worker.kill()
        self._threads.shutdown()  # waiting tasks see that the pool is closed
        for worker in workers:
            worker.reap()
        self._folder.close()

    def _done(self, _: Future[TaskResult]) -> None:
        with self._lock:
            self._count -= 1

    def _run(self, pending: PendingTask, task: bytes, seconds: float) -> TaskResult:
        worker = self._take()
        if worker is None:
            return _error("the server is shutting down", 503)
        is_open = worker.open()
        if not pending.assign(worker):
            self._keep(worker)
            return _error("the query was cancelled", 503)
        timer = threading.Timer(seconds, pending.stop)
        timer.daemon = True
        timer.start()
        result = worker.run(task, pending) if is_open else None
        timer.cancel()
        pending.assign(None)
        if result is not None and not result.needs_restart:
            self._keep(worker)
            ended = ""
        else:
            ended = self._replace(worker)
        if self._is_closed:
            return _error("the server is shutting down", 503)
        if pending.is_stopped:
            return _error(self._too_long.format(seconds), 400)
        if result is None:
            reason = f"the process of the query ended with {ended}; it may have run out of memory"
            return _error(reason, 400)
        return result

    def _take(self) -> Worker | None:
        """Return an idle process, or a new one; None if the pool is closed."""
        with self._lock:
            while self._idle and not self._is_closed:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                self._workers.discard(worker)
                worker.reap()
            return None if self._is_closed else self._start()

    def _keep(self, worker: Worker) -> None:
        with self._lock:
            self._idle.append(worker)

    def _replace(self, worker: Worker) -> str:
        """End a process and start a new one, so that the next task does not wait for its start."""
        ended = worker.reap()
        with self._lock:
            self._workers.discard(worker)
            if not self._is_closed:
                self._idle.append(self._start())
        return ended

    def _start(self) -> Worker:
        worker = Worker(self._setup, self._folder.path)
        self._workers.add(worker)
        return worker


def _error(text: str, status: int) -> TaskResult:
    return TaskResult(status, orjson.dumps({"error": text}))
