"""Views and tables as Spark data frames: in each task, DuckDB runs the view on the files of some groups."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb
from pyspark.sql.pandas.types import from_arrow_schema

from tracewh.spark import distributed
from tracewh.spark.columns import read_columns
from tracewh.spark.errors import SparkError
from tracewh.spark.share import Share, local_folder
from tracewh.spark.tasks import context_of, map_in_arrow, one_per_task
from tracewh.views import names
from tracewh.views.listing import Listing
from tracewh.views.partial_queries import KEY, partial_queries
from tracewh.views.registry import Call, UnknownViewError, did_you_mean, installed
from tracewh.views.warehouse import WarehouseError, listed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: The setting of a session that names the default warehouse.
WAREHOUSE = "spark.tracewh.warehouse"

#: Tasks per core: more than one, so that no core is idle early; few, because starting a task takes time.
TASKS_PER_CORE = 3
#: The most bytes that a task reads. With few cores there are more tasks: executors may be added later.
TASK_BYTES = 64 << 20


def view(
    spark: SparkSession,
    name: str,
    warehouse: str | os.PathLike[str] | None,
    version: int | None,
    arguments: Mapping[str, Any],
) -> DataFrame:
    """See `tracewh.spark.view`."""
    call = installed().call(name, version, **arguments)
    empty = distributed.empty_result(call)
    listing = listed(_warehouse(spark, warehouse))
    call = installed().call(name, version, **names.resolve(call.values, listing.names()))
    listing = distributed.select_traces(call, listing)
    schema = from_arrow_schema(empty.schema)
    if not listing.traces:
        return _literal_rows(spark, empty, schema)
    queries, size = partial_queries(call), call.distributes
    if not queries:
        if size == "warehouse":
            listing = distributed.first_traces(call, listing)
        read = distributed.restrict_to_tables(call.sql, listing)
        tasks = distributed.split_into_tasks(read, size, _tasks(spark, read), call)
        return one_per_task(
            spark, partial(_run_query, call.view.object_name, call.sql), tasks, schema
        )
    read = distributed.restrict_to_tables(" ".join(queries), listing)
    most = _tasks(spark, read)
    rows = one_per_task(
        spark,
        partial(_partial_rows, call),
        distributed.split_into_tasks(read, "trace", most, call),
        from_arrow_schema(distributed.partial_schema(call)),
    )
    runs = 1 if size == "warehouse" else len({trace.run for trace in listing.traces})
    grouped = rows.repartition(min(runs, most), KEY)
    return map_in_arrow(
        grouped, partial(_combine, call, distributed.files_to_combine(call, listing)), schema
    )


def table(
    spark: SparkSession,
    name: str,
    warehouse: str | os.PathLike[str] | None,
    source: Mapping[str, str | None],
) -> DataFrame:
    """See `tracewh.spark.table`."""
    known = [spec.name for spec in installed().tables()]
    if name not in known:
        hint = did_you_mean(name, known) or f"; there is {', '.join(known)}"
        raise UnknownViewError(f"no table named {name!r}{hint}")
    listing = listed(_warehouse(spark, warehouse))
    wanted = {key: value for key, value in source.items() if value is not None}
    found = {*names.resolve_names(listing.names(), wanted)[1]}
    listing = listing.only(trace for trace in listing.traces if trace.keys in found)
    with duckdb.connect() as con:
        installed().create(con, [name])
        empty = con.sql(f"FROM {name}").to_arrow_table()
    schema = from_arrow_schema(empty.schema)
    if not listing.files(name):
        return _literal_rows(spark, empty, schema)
    if (
        listing.location is None
    ):  # Spark skips the columns and row groups that a query does not need
        files = [re.sub(r"([\\*?{}\[\]])", r"\\\1", file) for file in listing.files(name)]
        reader = spark.read.schema(schema).option("basePath", f"{listing.path}/data")
        return reader.parquet(*files).selectExpr(*read_columns(empty.column_names, listing))
    sql = f"FROM {name}"
    read = distributed.restrict_to_tables(sql, listing)
    tasks = distributed.split_into_tasks(read, "trace", _tasks(spark, read))
    return one_per_task(spark, partial(_run_query, name, sql), tasks, schema)


def _run_query(name: str, sql: str, listing: Listing) -> Iterator[pa.RecordBatch]:
    with _task_settings(name) as settings:
        yield from distributed.run_query(sql, settings, listing)


def _partial_rows(call: Call, listing: Listing) -> Iterator[pa.RecordBatch]:
    with _task_settings(call.view.object_name) as settings:
        yield from distributed.partial_rows(call, settings, listing)


def _combine(
    call: Call, listing: Listing, rows: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    with _task_settings(call.view.object_name) as settings:
        yield from distributed.combine(call, settings, listing, rows)


@contextmanager
def _task_settings(name: str) -> Iterator[distributed.Settings]:
    """The settings of DuckDB in this task.

    Raises:
        WarehouseError: DuckDB failed; one line.
    """
    share, folder = Share.of_task(), local_folder()
    settings = {"threads": share.cores, "memory_limit": f"{share.memory_bytes}B"}
    try:
        yield settings | ({"temp_directory": str(folder)} if folder else {})
    except duckdb.OutOfMemoryException:
        limit = share.memory_bytes >> 20
        raise WarehouseError(f"{name} needs more than {limit} MiB here: {share.remedy}") from None
    except duckdb.Error as error:
        said = str(error).strip().splitlines()[0].removeprefix("Invalid Input Error: ")
        raise WarehouseError(f"{name}: {said}") from None


def _literal_rows(spark: SparkSession, rows: pa.Table, schema: StructType) -> DataFrame:
    """A data frame of rows that the driver already has."""
    return spark.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], schema)


def _warehouse(spark: SparkSession, warehouse: str | os.PathLike[str] | None) -> str:
    found = spark.conf.get(WAREHOUSE, None) if warehouse is None else os.fspath(warehouse)
    if not found:
        raise SparkError(f"no warehouse is named: pass warehouse=..., or set {WAREHOUSE}")
    return found


def _tasks(spark: SparkSession, listing: Listing) -> int:
    """The number of tasks that read the files of a listing."""
    read = sum(file.bytes for trace in listing.traces for file in trace.files.values())
    context = context_of(spark)
    if context is None:  # Spark Connect does not report the number of cores
        return max(int(spark.conf.get("spark.sql.shuffle.partitions") or 200), read // TASK_BYTES)
    return max(TASKS_PER_CORE * context.defaultParallelism, read // TASK_BYTES)
