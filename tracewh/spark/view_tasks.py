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
from tracewh.spark.errors import SparkError
from tracewh.spark.share import Share, local_folder
from tracewh.spark.tasks import context_of, map_in_arrow, one_per_task
from tracewh.views import names
from tracewh.views.listing import Listing
from tracewh.views.registry import Call, UnknownViewError, did_you_mean, installed
from tracewh.views.warehouse import WarehouseError, listed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: The setting of a session that names the warehouse where the caller does not.
WAREHOUSE = "spark.tracewh.warehouse"

#: More tasks than cores, so that no core is idle early, but few, because each start of a task costs time.
TASKS_A_CORE = 3
#: Nor does a task read more than this, however few cores there are: executors may still come.
TASK_BYTES = 64 << 20


def view(
    spark: SparkSession,
    name: str,
    warehouse: str | os.PathLike[str] | None,
    version: int | None,
    arguments: Mapping[str, Any],
) -> DataFrame:
    """As `tracewh.spark.view`."""
    call = installed().call(name, version, **arguments)
    nothing = distributed.without_traces(call)
    listing = listed(_named(spark, warehouse))
    call = installed().call(name, version, **names.resolve(call.values, listing.names()))
    listing = distributed.touched(call, listing)
    schema = from_arrow_schema(nothing.schema)
    if not listing.traces:
        return _here(spark, nothing, schema)
    combines, size = distributed.combines(call), call.view.distributes
    if not combines:
        if size == "warehouse":
            listing = distributed.first_traces(call, listing)
        read = distributed.read_by(call.sql, listing)
        tasks = distributed.packed(read, size, _tasks(spark, read))
        return one_per_task(spark, partial(_answer, call.view.object_name, call.sql), tasks, schema)
    read = distributed.read_by(" ".join(combines), listing)
    most = _tasks(spark, read)
    parts = one_per_task(
        spark,
        partial(_parts, call),
        distributed.packed(read, "trace", most),
        from_arrow_schema(distributed.parts_schema(call)),
    )
    runs = 1 if size == "warehouse" else len({trace.run for trace in listing.traces})
    together = parts.repartition(min(runs, most), distributed.KEY)
    return map_in_arrow(together, partial(_combined, call, distributed.rest(call, listing)), schema)


def table(
    spark: SparkSession,
    name: str,
    warehouse: str | os.PathLike[str] | None,
    source: Mapping[str, str | None],
) -> DataFrame:
    """As `tracewh.spark.table`."""
    known = [spec.name for spec in installed().tables()]
    if name not in known:
        hint = did_you_mean(name, known) or f"; there is {', '.join(known)}"
        raise UnknownViewError(f"no table named {name!r}{hint}")
    listing = listed(_named(spark, warehouse))
    wanted = {key: value for key, value in source.items() if value is not None}
    found = {*names.resolve_names(listing.names(), wanted)[1]}
    listing = listing.only(trace for trace in listing.traces if trace.keys in found)
    with duckdb.connect() as con:
        installed().create(con, [name])
        nothing = con.sql(f"FROM {name}").to_arrow_table()
    schema = from_arrow_schema(nothing.schema)
    if not listing.traces:
        return _here(spark, nothing, schema)
    if listing.location is None:  # Spark reads no column and no row group that nobody asks for
        files = [re.sub(r"([\\*?{}\[\]])", r"\\\1", file) for file in listing.files(name)]
        reader = spark.read.schema(schema).option("basePath", f"{listing.path}/data")
        return reader.parquet(*files).select(*nothing.column_names)
    sql = f"FROM {name}"
    read = distributed.read_by(sql, listing)
    tasks = distributed.packed(read, "trace", _tasks(spark, read))
    return one_per_task(spark, partial(_answer, name, sql), tasks, schema)


def _answer(name: str, sql: str, listing: Listing) -> Iterator[pa.RecordBatch]:
    with _share(name) as share:
        yield from distributed.answer(sql, share, listing)


def _parts(call: Call, listing: Listing) -> Iterator[pa.RecordBatch]:
    with _share(call.view.object_name) as share:
        yield from distributed.parts(call, share, listing)


def _combined(
    call: Call, listing: Listing, rows: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    with _share(call.view.object_name) as share:
        yield from distributed.combined(call, share, listing, rows)


@contextmanager
def _share(name: str) -> Iterator[distributed.Share]:
    """The limits of DuckDB in this task.

    Raises:
        WarehouseError: It cannot compute the view or table; one line.
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


def _here(spark: SparkSession, rows: pa.Table, schema: StructType) -> DataFrame:
    """A few rows that nobody has to work out."""
    return spark.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], schema)


def _named(spark: SparkSession, warehouse: str | os.PathLike[str] | None) -> str:
    found = spark.conf.get(WAREHOUSE, None) if warehouse is None else os.fspath(warehouse)
    if not found:
        raise SparkError(f"no warehouse is named: say warehouse=..., or set {WAREHOUSE}")
    return found


def _tasks(spark: SparkSession, listing: Listing) -> int:
    """How many tasks shall read the files of a listing."""
    read = sum(file.bytes for trace in listing.traces for file in trace.files.values())
    context = context_of(spark)
    if context is None:  # Spark Connect does not tell how many cores there are
        return max(int(spark.conf.get("spark.sql.shuffle.partitions") or 200), read // TASK_BYTES)
    return max(TASKS_A_CORE * context.defaultParallelism, read // TASK_BYTES)
