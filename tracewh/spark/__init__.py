"""Apache Spark as the engine: `pip install 'tracewh[spark]'`, and Java 17 or later.

    tracewh.spark.ingest(spark, "s3://bucket/logdir", "s3://bucket/warehouse")

Importing it is cheap: PySpark is loaded by the first call that needs it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tracewh.spark.errors import SparkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import SparkSession

    from tracewh.ingest.outcome import Outcome, Progress

__all__ = ["SparkError", "ingest"]


def ingest(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    warehouse: str | os.PathLike[str],
    *,
    run: str | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_outcome: Callable[[Outcome], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[Outcome]:
    """As `tracewh.ingest`, one trace a task of a Spark cluster.

    Args:
        spark: The session. Its executors need this version of tracewh, and see the paths and the
            warehouse as this machine does: in a store, or in a folder that all machines share.
        paths: Trace files, and folders to search for them; one or many.
        warehouse: Folder or URL of the warehouse.
        run: Name of the run, instead of the one that each path gives.
        force: Take a file in again although its contents are in already.
        on_progress: Called as files are settled.
        on_outcome: Called for each file when it is done.
        on_wait: Called once where no executor begins to work for 20 seconds.

    Returns:
        What became of each file, refused ones included.

    Raises:
        IngestError: Nothing could be started: a path does not exist, or no trace is there.
        SparkError: The cluster cannot do the work. Traces that are in by then stay in.
    """
    from tracewh.ingest import spark as engine
    from tracewh.ingest.discover import discover
    from tracewh.ingest.objects import store_of
    from tracewh.views.database import ensure_database

    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    store = store_of(warehouse)
    sources = discover(paths, run)
    outcomes = engine.ingest_sources(spark, sources, store, force, on_progress, on_outcome, on_wait)
    ensure_database(warehouse)
    return outcomes
