"""Cores and memory that a task may use."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

#: Memory limit of the database per core of a task. The process then uses up to 0.75 GiB.
MEMORY_BYTES = 320 << 20


@dataclass(frozen=True, slots=True)
class Share:
    """The cores of a task, and the memory for them."""

    cores: int

    @classmethod
    def of_task(cls) -> Share:
        """The share of the task that runs in this process."""
        from pyspark import TaskContext

        task = TaskContext.get()
        return cls(task.cpus() if task else 1)

    @property
    def memory_bytes(self) -> int:
        """Memory limit of the task's database."""
        return MEMORY_BYTES * self.cores

    @property
    def remedy(self) -> str:
        """What the user can do if the memory is not enough."""
        return f"set spark.task.cpus to {2 * self.cores}"


def local_folder() -> Path | None:
    """A local folder of Spark, which it removes when the executor ends; None outside an executor."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return Path(random.choice(folders)) if all(folders) else None
