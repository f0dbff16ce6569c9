"""Work for a Spark cluster: a call of a function in each task, on executors that have tracewh too."""

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

#: Stands before what a task has to say to a person.
_SAYS = "TRACEWH SAYS"


def one_per_task(
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
    numbers = spark.range(0, len(arguments), 1, len(arguments))
    return map_in_arrow(numbers, partial(_each, function, list(arguments)), schema)


def map_in_arrow(
    frame: DataFrame,
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """What a function gives for the rows of each partition of a data frame.

    Args:
        frame: The rows. Executors of its session must have this version of tracewh.
        function: A function of a module, which executors import; or a `partial` of one.
        schema: Of the record batches that it gives.
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
    """What a task does, where it can."""
    found, host = version("tracewh"), socket.gethostname()
    if found != wanted:
        raise RuntimeError(
            f"{_SAYS}: tracewh {found} is installed on {host}, and {wanted} here: "
            f"pip install 'tracewh[spark]=={wanted}' there"
        )
    try:
        yield from pickle.loads(pickled)(batches)
    except Exception as error:
        if type(error).__module__.startswith("tracewh."):  # its message is for a person
            raise RuntimeError(f"{_SAYS}: on {host}: {error}") from None
        raise


def collect(
    frame: DataFrame, action: Callable[[DataFrame], T], tick: Callable[[], None] = lambda: None
) -> T:
    """What an action gives of a data frame, computed aside so that Ctrl-C is heard and ends it.

    Args:
        frame: What to compute.
        action: What to do with it, e.g. ``DataFrame.collect``.
        tick: Called a few times a second meanwhile. What it raises ends the work.

    Raises:
        SparkError, TaskLostError: As `readable_errors` says.
    """
    spark, tag = frame.sparkSession, f"tracewh-{uuid.uuid4().hex}"
    context = context_of(spark)
    # Tags of a session are known to one thread only, but those of Spark Connect.
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
    """Spark's own context in this process; None with Spark Connect, which has it elsewhere."""
    from pyspark.errors import PySparkAttributeError

    try:
        return spark.sparkContext
    except PySparkAttributeError:
        return None


@contextmanager
def readable_errors() -> Iterator[None]:
    """Say in one line what Spark means when it gives up.

    Raises:
        TaskLostError: A task ended its process at every attempt.
        SparkError: The executors cannot do the work, or Spark itself ended.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if debugging():
            raise
        raise meaning(str(error)) from None


def meaning(text: str) -> SparkError | TaskLostError:
    """What an error of Spark says, in one line with the remedy."""
    here = version("tracewh")
    remedy = (
        f"pip install 'tracewh[spark]=={here}' there, or set PYSPARK_PYTHON to a Python that has it"
    )
    if found := re.search(f"{_SAYS}: (.*)", text):
        return SparkError(found[1])
    if re.search(r"No module named 'tracewh\.", text):
        return SparkError(
            f"the executors have another tracewh than {here}, which is here: {remedy}"
        )
    if found := re.search(r"No module named '(\w+)", text):
        return SparkError(f"the Python of the executors has no {found[1]}: {remedy}")
    if found := re.search(r"different version: (\S+?) than that in driver: (\d+\.\d+)", text):
        return SparkError(
            f"the executors run Python {found[1]}, and Python {found[2]} runs here: set PYSPARK_PYTHON to "
            f"a Python {found[2]} of theirs"
        )
    if found := re.search(r'Cannot run program "([^"]+)"', text):
        return SparkError(
            f"the executors have no {found[1]}: set PYSPARK_PYTHON to a Python of theirs"
        )
    if found := re.search(r"Lost task (\d+)\.\d+ in stage \S+ \(TID \d+\) \((\S+) executor", text):
        return TaskLostError(int(found[1]), found[2])
    named = re.findall(r"^\W*(?:\w+\.)*(\w+(?:Exception|Error): .*)$", text, re.MULTILINE)
    # The last of a traceback in Python is what it is about, and the first in Java.
    said = named[-1 if "Traceback" in text else 0] if named else text.partition("\n")[0]
    return SparkError(f"Spark gave up: {said} ({DEBUG}=1 shows where)")
