"""Run tracewh on Apache Spark. Needs `pip install 'tracewh[spark]'` and Java 17 or later.

    tracewh.spark.ingest(spark, "s3://bucket/logdir", "s3://bucket/warehouse")
    spark.conf.set("spark.tracewh.warehouse", "s3://bucket/warehouse")
    tracewh.spark.view(spark, "kernel_stats", run="resnet").show()

Importing this package is cheap: the first call that needs PySpark loads it.
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
    step_range: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[FileResult], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[FileResult]:
    """Ingest trace files on a Spark cluster; see `tracewh.ingest`. A task takes a large trace, or up to 64 small ones.

    Args:
        spark: The session. Its executors need this version of tracewh. Paths and warehouse must be in an
            object store, or in a folder that all machines share under the same path.
        paths: Trace files, and folders to search for them; one or many.
        warehouse: Folder or URL of the warehouse.
        run: Name of the run, instead of the name of its folder.
        force: Ingest files again that were ingested before.
        step_range: See `tracewh.ingest`.
        on_progress: Called as files are finished.
        on_result: Called once per result, when its task is finished.
        on_wait: Called once if no executor starts work within 20 seconds.

    Returns:
        One result per trace, and per refused file.

    Raises:
        IngestError: The call cannot start: a path does not exist, or it contains no trace.
        SparkError: The cluster cannot do the work. Traces ingested by then stay.
        WarehouseError: The traces are ingested, but tracewh.duckdb cannot be written.
    """
    from tracewh.ingest.sources.discover import discover
    from tracewh.spark import ingest_tasks as engine
    from tracewh.storage.open_store import open_store
    from tracewh.views.database import ensure_database

    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    store = open_store(warehouse)
    sources = discover(paths, run, step_range)
    results = engine.ingest_sources(spark, sources, store, force, on_progress, on_result, on_wait)
    ensure_database(warehouse)
    return results


def view(
    spark: SparkSession,
    name: str,
    /,
    warehouse: str | os.PathLike[str] | None = None,
    version: int | None = None,
    **parameters: Any,
) -> DataFrame:
    """Run a view and return its rows as a data frame. DuckDB runs the view's SQL inside the tasks.

    The data frame is lazy: files are read when an action needs rows. Each task reads only the traces that
    the parameters select and the tables that the view needs. The call lists the traces; traces that are
    ingested later are not included.

    Args:
        spark: The session. Its executors need this version of tracewh. The warehouse must be in an object
            store, or in a folder that all machines share under the same path.
        name: Name of the view.
        warehouse: Folder or URL of the warehouse; None for the session's setting
            spark.tracewh.warehouse.
        version: A version to pin; None for the newest.
        **parameters: The view's parameters. Omitted ones have the default of the view's header.

    Returns:
        The columns and rows of the view; JSON is text. The rows of each group of traces have the view's
        order, one group after the other. The page of each view names the order over all rows.

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
    """Return a table of a warehouse as a data frame.

    For a warehouse in a folder, Spark reads the Parquet files itself and skips what a query does not need.
    For a warehouse in an object store, Arrow reads all columns inside the tasks, which needs no connector.

    Args:
        spark: The session, as for `view`.
        name: Name of the table.
        warehouse: Folder or URL of the warehouse; None for the session's setting
            spark.tracewh.warehouse.
        run: Name of a run, or a part of the name that matches only one run; None for all.
        worker: The same for a worker; None for all.
        span: The same for a span; None for all.

    Raises:
        ViewError: The table, run, worker or span does not exist, or a name matches several.
        WarehouseError: There is no warehouse, or it holds no traces.
        SparkError: No warehouse is named.
    """
    from tracewh.spark import view_tasks as engine

    return engine.table(spark, name, warehouse, {"run": run, "worker": worker, "span": span})
