"""Errors of Spark, with one-line messages."""

from __future__ import annotations


class SparkError(Exception):
    """Spark is not installed, does not start, cannot be reached, or its executors cannot work."""


class TaskLostError(Exception):
    """A task crashed its process or its executor in every attempt.

    Args:
        number: Number of the task, from 0.
        host: Host of the last attempt.
    """

    def __init__(self, number: int, host: str) -> None:
        super().__init__(f"task {number} was lost, the last attempt on {host}")
        self.number = number
        self.host = host
