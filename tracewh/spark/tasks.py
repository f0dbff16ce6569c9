"""Run Python functions in the tasks of a Spark cluster, and translate Spark's errors."""

from __future__ import annotations

import pickle
import re
import socket
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

from tracewh.debug import DEBUG, debugging
from tracewh.spark.errors import SparkError, TaskLostError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

T = TypeVar("T")

#: Marks a task's message for the user inside Spark's error text.
_MARK = "TRACEWH SAYS"


def one_per_task(
    spark: SparkSession,
    function: Callable[[T], Iterator[pa.RecordBatch]],
    arguments: Sequence[T],
    schema: StructType | str,
) -> DataFrame:
    """Call a function for each of many arguments, one per task, and return all its rows.

    Args:
        spark: The session. Its executors must have this version of tracewh.
        function: A function of a module, which executors import, or a `partial` of one.
        arguments: Picklable data; at least one.
        schema: Schema of the record batches.
    """
    numbers = spark.range(0, len(arguments), 1, len(arguments))
    return map_in_arrow(numbers, partial(_each, function, list(arguments)), schema)


def map_in_arrow(
    frame: DataFrame,
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """Call a function with the rows of each partition of a data frame, and return all its rows.

    Args:
        frame: The rows. Executors of its session must have this version of tracewh.
        function: A function of a module, which executors import, or a `partial` of one.
        schema: Schema of the record batches that it returns.
    """
    work = partial(_work, version("tracewh"), pickle.dumps(function))
    return frame.mapInArrow(work, schema)


def _each(
    function: Callable[[T], Iterator[pa.RecordBatch]],
    arguments: Sequence[T],
    numbers: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            yield from function(arguments[number])


def _work(
    wanted: str, pickled: bytes, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run the function in a task, after checking the version of tracewh."""
    found, host = version("tracewh"), socket.gethostname()
    if found != wanted:
        raise RuntimeError(
            f"{_MARK}: {host} has tracewh {found}, but the driver has {wanted}: "
            f"run pip install 'tracewh[spark]=={wanted}' there"
        )
    try:
        yield from pickle.loads(pickled)(batches)
    except Exception as error:
        if type(error).__module__.startswith("tracewh."):  # its message is for the user
            raise RuntimeError(f"{_MARK}: on {host}: {error}") from None
        raise


def collect(
    frame: DataFrame, action: Callable[[DataFrame], T], tick: Callable[[], None] = lambda: None
) -> T:
    """Run an action on a data frame in another thread, so that Ctrl-C can cancel it.

    Args:
        frame: The data frame.
        action: The action, e.g. ``DataFrame.collect``.
        tick: Called a few times per second meanwhile. An exception from it cancels the action.

    Raises:
        SparkError, TaskLostError: See `readable_errors`.
    """
    spark, tag = frame.sparkSession, f"tracewh-{uuid.uuid4().hex}"
    context = context_of(spark)
    # A session's tags belong to one thread, except with Spark Connect.
    mark = context.addJobTag if context else spark.addTag
    cancel = context.cancelJobsWithTag if context else spark.interruptTag

    def work() -> T:
        mark(tag)
        return action(frame)

    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    with readable_errors():
        try:
            while not wait([future], 0.2).done:
                tick()
            return future.result()
        finally:
            pool.shutdown(wait=False)
            while not wait([future], 0.2).done:
                cancel(tag)


def context_of(spark: SparkSession) -> SparkContext | None:
    """The SparkContext of this process; None with Spark Connect, where it is in another process."""
    from pyspark.errors import PySparkAttributeError

    try:
        return spark.sparkContext
    except PySparkAttributeError:
        return None


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turn Spark's errors into one-line errors.

    Raises:
        TaskLostError: A task crashed its process in every attempt.
        SparkError: The executors cannot do the work, or Spark itself ended.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if debugging():
            raise
        raise explain_error(str(error)) from None


def explain_error(text: str) -> SparkError | TaskLostError:
    """Turn the text of a Spark error into a one-line error with a remedy."""
    here = version("tracewh")
    remedy = f"run pip install 'tracewh[spark]=={here}' there, or set PYSPARK_PYTHON to a Python that has it"
    if found := re.search(f"{_MARK}: (.*)", text):
        return SparkError(found[1])
    if re.search(r"No module named 'tracewh\.", text):
        return SparkError(
            f"the executors have a different version of tracewh than the driver, which has {here}: {remedy}"
        )
    if found := re.search(r"No module named '(\w+)", text):
        return SparkError(f"the Python of the executors has no {found[1]}: {remedy}")
    if found := re.search(r"different version: (\S+?) than that in driver: (\d+\.\d+)", text):
        return SparkError(
            f"the executors run Python {found[1]}, but the driver runs Python {found[2]}: set PYSPARK_PYTHON "
            f"to a Python {found[2]} on the executors"
        )
    if found := re.search(r'Cannot run program "([^"]+)"', text):
        return SparkError(
            f"the executors have no {found[1]}: set PYSPARK_PYTHON to a Python on the executors"
        )
    if found := re.search(r"Lost task (\d+)\.\d+ in stage \S+ \(TID \d+\) \((\S+) executor", text):
        return TaskLostError(int(found[1]), found[2])
    named = re.findall(r"^\W*(?:\w+\.)*(\w+(?:Exception|Error): .*)$", text, re.MULTILINE)
    # A Python traceback names the cause last, a Java stack trace first.
    cause = named[-1 if "Traceback" in text else 0] if named else text.partition("\n")[0]
    return SparkError(f"Spark failed: {cause} (set {DEBUG}=1 for the full error)")
