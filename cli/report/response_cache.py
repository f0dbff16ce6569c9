"""A cache of the responses of `tracewh serve`, for clients that request the same page or panel again.

An answer is kept together with the state of the traces that it is about. A child process finds out the state, which
takes a listing of their folders. So nobody gets an answer about a trace that has been replaced since. Clients with the
same request at the same time wait for one child process.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from tracewh.cli.report.messages import OK, Task, TaskResult

if TYPE_CHECKING:
    from tracewh.cli.report.worker_pool import PendingTask

#: The task, and the state of the traces.
Key = tuple[str, bytes, bytes]


def key_of(task: Task, state: bytes) -> Key:
    """Return under what an answer is kept."""
    return task.kind, orjson.dumps(task.arguments, option=orjson.OPT_SORT_KEYS), state


@dataclass
class Running:
    """A task that runs, and the number of clients that wait for it."""

    pending: PendingTask
    clients: int = 0
    finished: asyncio.Future[TaskResult] = field(init=False)

    def __post_init__(self) -> None:
        self.finished = asyncio.wrap_future(self.pending.future)


class ResponseCache:
    """A cache that drops the responses that nobody requested lately. Only for the thread of the event loop.

    Args:
        most_bytes: Maximum size of all responses.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._known: OrderedDict[Key, TaskResult] = OrderedDict()
        self._running: dict[Key, Running] = {}

    def get(self, key: Key) -> TaskResult | None:
        """Return an answer that was given before."""
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def join(self, key: Key, submit: Callable[[], PendingTask]) -> Running:
        """Return the task that computes an answer, a new one if none runs; `leave` must follow."""
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = Running(submit())
        running.clients += 1
        return running

    def leave(self, key: Key, running: Running) -> None:
        """Keep the answer if it is there. The last client that leaves without one stops the task."""
        running.clients -= 1
        is_current = self._running.get(key) is running
        if running.finished.done():
            if is_current:
                del self._running[key]
                if not running.finished.cancelled() and running.finished.exception() is None:
                    self._keep(key, running.finished.result())
        elif not running.clients:
            if is_current:
                del self._running[key]
            running.pending.stop()

    def _keep(self, key: Key, answer: TaskResult) -> None:
        if answer.status != OK or len(answer.body) > self._most:
            return
        self._known[key] = answer
        self._bytes += len(answer.body)
        while self._bytes > self._most:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= len(oldest.body)
