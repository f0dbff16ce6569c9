"""Work for a Spark cluster: one call of a function a task, on executors that have this tracewh too."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

T = TypeVar("T")

#: What an executor says whose tracewh is not the driver's.
MISMATCH = "TRACEWH_VERSION_MISMATCH"


def one_a_task(
    spark: SparkSession,
    function: Callable[[T], Iterator[pa.RecordBatch]],
    arguments: Sequence[T],
    schema: StructType | str,
) -> DataFrame:
    """What a function gives for each of many arguments, one argument a task.

    Args:
        spark: The session. Its executors must have this version of tracewh.
        function: A function of a module, which executors import; or a `partial` of one.
        arguments: Plain data that can be pickled; at least one.
        schema: Of the record batches.
    """
    work = partial(_work, version("tracewh"), pickle.dumps((function, list(arguments))))
    with warnings.catch_warnings():
        # PySpark looks at the version of pandas, which nothing here uses.
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        numbers = spark.range(0, len(arguments), 1, len(arguments))
        return numbers.mapInArrow(work, schema)


def _work(
    wanted: str, pickled: bytes, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What a task does: its partition of the numbers is one number."""
    found = version("tracewh")
    if found != wanted:
        raise RuntimeError(f"[{MISMATCH}] {found} {wanted}")
    function, arguments = pickle.loads(pickled)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from function(arguments[number])
