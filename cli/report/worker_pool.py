"""Child processes that answer questions side by side; what they cannot begin yet waits in line.

A question that takes too long, or that nobody waits for any more, is interrupted, and its process is
killed where that does not help.
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

from tracewh.cli.report.messages import CANCEL, GRACE_SECONDS, Answer, Question, Setup, read, write
from tracewh.temporary import Temporary

#: A child that has not opened the warehouse by then never will.
OPEN_SECONDS = 120


class LineFullError(Exception):
    """So many questions wait already that one more is refused."""


class Worker:
    """One child process."""

    def __init__(self, setup: bytes, folder: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(dir=folder))
        self._lock = threading.Lock()
        self._asked = 0
        self._is_busy = False
        self._is_open = False
        # In a session of its own: Ctrl-C in a terminal reaches the server alone.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tracewh.cli.report.worker", str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "TMPDIR": str(self._folder),
                # It finds all modules where this process does.
                "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
            },
            start_new_session=True,
        )
        with suppress(BrokenPipeError):
            assert self._process.stdin is not None
            write(self._process.stdin, setup)

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def open(self) -> bool:
        """Wait until it can answer, which is no part of the time of a question; False where it ended."""
        if not self._is_open:
            timer = threading.Timer(OPEN_SECONDS, self.kill)
            timer.daemon = True
            timer.start()
            assert self._process.stdout is not None
            self._is_open = read(self._process.stdout) is not None
            timer.cancel()
        return self._is_open

    def ask(self, question: bytes, asked: Asked) -> Answer | None:
        """What it answers; None where it ended instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            with self._lock:
                self._is_busy = True
                write(self._process.stdin, question)
            if asked.is_stopped:  # before there was something to stop
                self.stop()
            head, body = read(self._process.stdout), read(self._process.stdout)
        except BrokenPipeError:
            return None
        finally:
            with self._lock:
                self._is_busy = False
                self._asked += 1
        if head is None or body is None:
            return None
        said = orjson.loads(head)
        return Answer(said["status"], body, said["page"], said["spent"])

    def stop(self) -> None:
        """Interrupt what it answers now, and kill it where it does not stop."""
        with self._lock:
            if not self._is_busy:
                return
            timer = threading.Timer(GRACE_SECONDS, self._kill_at, [self._asked])
            timer.daemon = True
            timer.start()
            with suppress(BrokenPipeError):
                assert self._process.stdin is not None
                write(self._process.stdin, CANCEL)

    def _kill_at(self, asked: int) -> None:
        with self._lock:
            if self._is_busy and self._asked == asked:
                self._process.kill()

    def kill(self) -> None:
        """End it now; a question that it answers has no answer then."""
        self._process.kill()

    def bury(self) -> str:
        """Wait for its end, remove what it left, and say what ended it."""
        self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):  # what it did not read any more
                assert pipe is not None
                pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


class Asked:
    """A question in line, or one that is being answered."""

    answer: Future[Answer]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._is_stopped = False

    @property
    def is_stopped(self) -> bool:
        """Whether its answer is not wanted any more, or is late."""
        return self._is_stopped

    def stop(self) -> None:
        """Give it up."""
        with self._lock:
            self._is_stopped = True
            worker = self._worker
        self.answer.cancel()  # where it is in line
        if worker is not None:
            worker.stop()

    def given_to(self, worker: Worker | None) -> bool:
        """Say who answers it from now on; False where it was given up before."""
        with self._lock:
            self._worker = worker
            return not self._is_stopped


class Pool:
    """Child processes over one warehouse, each started when there is a question for it.

    Args:
        setup: What each is told.
        size: So many at most.
        most_waiting: So many questions wait at most.
        seconds: A question may take so long once it is begun.
        too_long: What to say where it takes longer.
    """

    def __init__(
        self, setup: Setup, size: int, most_waiting: int, seconds: float, too_long: str
    ) -> None:
        self._setup = pickle.dumps(setup)
        self._most = size + most_waiting
        self._full = f"{most_waiting} queries wait already: try again in a moment"
        self._seconds, self._too_long = seconds, too_long
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="tracewh-pool")
        self._lock = threading.Lock()
        self._folder = Temporary()
        self._count = 0
        self._is_closed = False
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = [self._start()]

    def submit(self, question: Question) -> Asked:
        """Put a question in line.

        Raises:
            LineFullError: The line is full.
        """
        with self._lock:
            if self._is_closed or self._count >= self._most:
                raise LineFullError("the server ends" if self._is_closed else self._full)
            self._count += 1
            asked = Asked()
            asked.answer = self._threads.submit(self._answer, asked, pickle.dumps(question))
        asked.answer.add_done_callback(self._done)
        return asked

    def close(self) -> None:
        """End all processes; questions that are not answered yet get an error."""
        with self._lock:
            self._is_closed = True
            workers = list(self._workers)
        for worker in workers:
            worker.kill()
        self._threads.shutdown()  # those in line see that it is closed
        for worker in workers:
            worker.bury()
        self._folder.close()

    def _done(self, _: Future[Answer]) -> None:
        with self._lock:
            self._count -= 1

    def _answer(self, asked: Asked, question: bytes) -> Answer:
        worker = self._take()
        if worker is None:
            return _error("the server ends", 503)
        is_open = worker.open()
        if not asked.given_to(worker):
            self._keep(worker)
            return _error("nobody waits for it", 503)
        timer = threading.Timer(self._seconds, asked.stop)
        timer.daemon = True
        timer.start()
        answer = worker.ask(question, asked) if is_open else None
        timer.cancel()
        asked.given_to(None)
        if answer is not None and not answer.is_spent:
            self._keep(worker)
            ended = ""
        else:
            ended = self._replace(worker)
        if self._is_closed:
            return _error("the server ends", 503)
        if asked.is_stopped:
            return _error(self._too_long, 400)
        if answer is None:
            said = f"the process of the query ended with {ended}; it may have run out of memory"
            return _error(said, 400)
        return answer

    def _take(self) -> Worker | None:
        """A process that waits for a question, or a new one; None where there shall be none."""
        with self._lock:
            while self._idle and not self._is_closed:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                self._workers.discard(worker)
                worker.bury()
            return None if self._is_closed else self._start()

    def _keep(self, worker: Worker) -> None:
        with self._lock:
            self._idle.append(worker)

    def _replace(self, worker: Worker) -> str:
        """Start a new process in the place of one, so that the next question need not wait for it."""
        ended = worker.bury()
        with self._lock:
            self._workers.discard(worker)
            if not self._is_closed:
                self._idle.append(self._start())
        return ended

    def _start(self) -> Worker:
        worker = Worker(self._setup, self._folder.path)
        self._workers.add(worker)
        return worker


def _error(text: str, status: int) -> Answer:
    return Answer(status, orjson.dumps({"error": text}))
