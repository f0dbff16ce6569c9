"""Apache Spark as the engine: `pip install 'tracewh[spark]'`, and Java 17 or later.

    tracewh.spark.ingest(spark, "s3://bucket/logdir", "s3://bucket/warehouse")
    spark.conf.set("spark.tracewh.warehouse", "s3://bucket/warehouse")
    tracewh.spark.view(spark, "kernel_stats", run="resnet").show()

Importing it is cheap: PySpark is loaded by the first call that needs it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tracewh.spark.errors import SparkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import DataFrame, SparkSession

    from tracewh.ingest.progress import Progress
    from tracewh.ingest.result import FileResult

__all__ = ["SparkError", "ingest", "table", "view"]


def ingest(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    warehouse: str | os.PathLike[str],
    *,
    run: str | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[FileResult], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[FileResult]:
    """As `tracewh.ingest`, one trace a task of a Spark cluster.

    Args:
        spark: The session. Its executors need this version of tracewh, and see the paths and the
            warehouse as this machine does: in a store, or in a folder that all machines share.
        paths: Trace files, and folders to search for them; one or many.
        warehouse: Folder or URL of the warehouse.
        run: Name of the run, instead of the one that each path gives.
        force: Ingest files again that were ingested before.
        on_progress: Called as files are done.
        on_result: Called for each file when it is done.
        on_wait: Called once where no executor begins to work for 20 seconds.

    Returns:
        One result per file, refused files included.

    Raises:
        IngestError: Nothing could be started: a path does not exist, or no trace is there.
        SparkError: The cluster cannot do the work. Traces that are in by then stay in.
    """
    from tracewh.ingest.sources.discover import discover
    from tracewh.spark import ingest_tasks as engine
    from tracewh.storage.open_store import open_store
    from tracewh.views.database import ensure_database

    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    store = open_store(warehouse)
    sources = discover(paths, run)
    outcomes = engine.ingest_sources(spark, sources, store, force, on_progress, on_result, on_wait)
    ensure_database(warehouse)
    return outcomes


def view(
    spark: SparkSession,
    name: str,
    /,
    warehouse: str | os.PathLike[str] | None = None,
    version: int | None = None,
    **parameters: Any,
) -> DataFrame:
    """A view as a data frame. DuckDB computes it in the tasks, with the same SQL as on one machine.

    Nothing is read before an action asks for rows. Each task reads only files of traces that the
    parameters leave, and only of tables that the view needs. The traces are those that are there now.

    Args:
        spark: The session. Its executors need this version of tracewh, and see the warehouse as this
            machine does: in a store, or in a folder that all machines share.
        name: Name of the view.
        warehouse: Folder or URL of the warehouse; None for what the session's setting
            spark.tracewh.warehouse says.
        version: A version to pin; None for the newest.
        **parameters: The view's parameters. What is left out has the default of the header.

    Returns:
        The rows of the view, with its columns; JSON is text. Whole groups of traces come in the order of
        the view, one after the other; the page of each view says by what it is ordered in all.

    Raises:
        ViewError: The name, the version or a parameter is wrong.
        WarehouseError: There is no warehouse, or it holds no traces.
        SparkError: No warehouse is named.
    """
    from tracewh.spark import view_tasks as engine

    return engine.view(spark, name, warehouse, version, parameters)


def table(
    spark: SparkSession,
    name: str,
    /,
    warehouse: str | os.PathLike[str] | None = None,
    *,
    run: str | None = None,
    worker: str | None = None,
    span: str | None = None,
) -> DataFrame:
    """A table of a warehouse.

    Of a warehouse in a folder Spark reads the Parquet files itself, and skips what no query asks for.
    Of one in a store Arrow reads them in the tasks, which needs no connector, and reads all columns.

    Args:
        spark: The session, as for `view`.
        name: Name of the table.
        warehouse: Folder or URL of the warehouse; None for what the session's setting
            spark.tracewh.warehouse says.
        run: Name of one run, or a part that only one has; None for all.
        worker: Name of one worker, as well; None for all.
        span: Name of one recording, as well; None for all.

    Raises:
        ViewError: There is no such table, run, worker or span, or several match a name.
        WarehouseError: There is no warehouse, or it holds no traces.
        SparkError: No warehouse is named.
    """
    from tracewh.spark import view_tasks as engine

    return engine.table(spark, name, warehouse, {"run": run, "worker": worker, "span": span})
