"""What a task may use of the machine that it runs on."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

#: What the database may use for each core of a task; its process uses up to 0.75 GiB then.
MEMORY_BYTES = 320 << 20


@dataclass(frozen=True, slots=True)
class Share:
    """The cores that a task was given, and the memory for them."""

    cores: int

    @classmethod
    def of_task(cls) -> Share:
        """That of the task that runs in this process."""
        from pyspark import TaskContext

        task = TaskContext.get()
        return cls(task.cpus() if task else 1)

    @property
    def memory_bytes(self) -> int:
        """What its database may use."""
        return MEMORY_BYTES * self.cores

    @property
    def remedy(self) -> str:
        """What to do where that is too little."""
        return f"set spark.task.cpus to {2 * self.cores}"


def local_folder() -> Path | None:
    """The folder that Spark has on this machine, and removes when its executor ends."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return Path(random.choice(folders)) if all(folders) else None
