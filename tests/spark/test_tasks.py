"""One call of a function a task, on the cluster's executors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyarrow import RecordBatch

from tracewh.spark.tasks import one_a_task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def upper(word: str) -> Iterator[RecordBatch]:
    from pyspark import TaskContext

    task = TaskContext.get()
    columns = {"word": [word.upper()], "task": [task.partitionId()], "parent": [os.getppid()]}
    yield RecordBatch.from_pydict(columns)


def test_each_argument_has_a_task_of_its_own(spark: SparkSession) -> None:
    words = ["a", "b", "c", "d", "e", "f"]
    found = one_a_task(spark, upper, words, "word string, task long, parent long").toArrow()
    assert found["word"].to_pylist() == ["A", "B", "C", "D", "E", "F"]
    assert found["task"].to_pylist() == [0, 1, 2, 3, 4, 5]
    assert len(set(found["parent"].to_pylist())) == 2  # an executor on each worker
