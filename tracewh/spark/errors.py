"""What can go wrong with Spark itself, in one line each."""

from __future__ import annotations


class SparkError(Exception):
    """Spark is not installed, does not start, cannot be reached, or its executors cannot work."""


class TaskLostError(Exception):
    """A task ended its process, or its executor, at every attempt that Spark gave it.

    Args:
        number: Which task, from 0.
        host: Where the last attempt was.
    """

    def __init__(self, number: int, host: str) -> None:
        super().__init__(f"task {number} was lost, at last on {host}")
        self.number = number
        self.host = host
