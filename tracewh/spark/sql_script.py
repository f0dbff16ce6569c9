"""A warehouse's tables and views in Spark SQL: `SELECT * FROM kernel_stats(run => 'resnet')`.

Each view that can be translated becomes a table function, generated from the view's DuckDB SQL. sqlglot
does the translation, but it translates anything that it can parse, and much of that fails or gives other
results. So the `carries:` line of a view's header says whether it is translated, and a test compares all
such views with DuckDB row by row.

Of graphs, Spark SQL knows only the launches: no function attributes work that they replayed to operators. The
comments of such functions say so.

All created objects are temporary: they belong to a session, and nothing is written to disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import sqlglot
from sqlglot import exp

from tracewh.spark.columns import read_columns
from tracewh.spark.inline_macros import inline_macros
from tracewh.spark.to_spark_sql import to_spark_sql
from tracewh.storage import layout
from tracewh.views.listing import Listing
from tracewh.views.registry import Registry, ViewError
from tracewh.views.spec import Column, Param, Spec

#: What the comment of a function says whose view attributes replayed work to operators or modules.
NO_REPLAYS = (
    "Without the operators of replayed graphs: for those use `tracewh show {} --engine spark`."
)


def select_views(registry: Registry, names: Iterable[str] = ()) -> dict[str, Spec]:
    """The views to translate, by function name.

    Args:
        registry: The registry of views.
        names: Views. A name with a version, such as kernel_stats_v1, gives a function of that name. Empty
            for all views whose newest version can be translated.

    Raises:
        ViewError: The view does not exist, or it cannot be translated.
    """
    if not names:
        return {view.name: view for view in registry.newest() if view.carries == "spark"}
    views = {name: registry.get(name) for name in names}
    for name, view in views.items():
        if view.carries != "spark":
            raise ViewError(
                f"the SQL of {name} cannot be translated to Spark SQL; to run it on Spark, use "
                f"tracewh.spark.view or `tracewh show {view.name} --engine spark`"
            )
    return views


def script(registry: Registry, listing: Listing, views: Mapping[str, Spec]) -> Iterator[str]:
    """The statements that create tables, slices and functions, in order.

    Args:
        registry: Of the views.
        listing: The warehouse. Spark reads its files itself, so it must have access to them.
        views: The result of `select_views`.
    """
    for table in registry.tables():
        yield from _table(table, listing)
    yield from functions(registry, views)


def functions(registry: Registry, views: Mapping[str, Spec]) -> Iterator[str]:
    """The statements that create slices and functions over existing tables."""
    for part in registry.slices():
        query = _translated(inline_macros(registry, part, {}))
        yield (
            f"CREATE OR REPLACE TEMPORARY VIEW {part.name}\nCOMMENT {_text(part.summary)}\nAS {query}"
        )
    for name, view in views.items():
        params = ", ".join(map(_parameter, view.params))
        columns = ",\n  ".join(f"{_name(c)} {_type(c.type)} {_comment(c)}" for c in view.columns)
        leaves_out = f" {NO_REPLAYS.format(view.name)}" if "replay_notes" in view.notes else ""
        # Qualified with the function's name, Spark does not mistake parameters for columns.
        passed = {param.name: exp.column(param.name, name) for param in view.params}
        yield (
            f"CREATE OR REPLACE TEMPORARY FUNCTION {name}({params})\n"
            f"RETURNS TABLE (\n  {columns}\n)\nCOMMENT {_text(view.summary + leaves_out)}\n"
            f"RETURN {_translated(inline_macros(registry, view, passed))}"
        )


def _parameter(param: Param) -> str:
    """The declaration of a parameter in Spark SQL. A parameter without a default is required."""
    text = f"{param.name} {_type(param.type)}"
    if not param.required:
        text += f" DEFAULT {sqlglot.transpile(param.default, read='duckdb', write='spark')[0]}"
    return f"{text} {_comment(param)}"


def _table(table: Spec, listing: Listing) -> Iterator[str]:
    """Views over the Parquet files of a table. In an object store, each attempt has its own file name.

    Traces that were copied there from a folder have the plain name. Where such a trace was replaced, its old files
    stay for a day beside the new ones.
    """
    plain = f"{table.name}{layout.PARQUET}"
    files = {
        trace.keys: trace.files[table.name].key.rpartition("/")[2]
        for trace in listing.traces
        if table.name in trace.files
    }
    newer = [keys for keys, name in files.items() if name != plain]
    sources = {f"{table.name}_files": sorted({*files.values()}) or [plain]}  # no trace has one
    if newer and plain in files.values():
        sources[f"{table.name}_files"].remove(plain)
        sources[f"{table.name}_copied_files"] = [plain]
    columns = ", ".join(f"{_name(column)} {_type(column.type)}" for column in table.columns)
    folder = "".join(f"\\{letter}" if letter in "\\*?{}[]" else letter for letter in _url(listing))
    for name, files_of in sources.items():
        pattern = files_of[0] if len(files_of) == 1 else f"{{{','.join(files_of)}}}"
        yield (
            f"CREATE OR REPLACE TEMPORARY VIEW {name} ({columns})\nUSING parquet "
            f"OPTIONS (path {_text(f'{folder}/data')}, pathGlobFilter {_text(pattern)})"
        )
    header = ", ".join(f"{_name(column)} {_comment(column)}" for column in table.columns)
    # Spark puts partition columns last.
    read = ", ".join(read_columns((column.name for column in table.columns), listing))
    query, *copied = (f"SELECT {read} FROM {name}" for name in sources)
    for each in copied:
        replaced = ", ".join(f"({', '.join(map(_text, keys))})" for keys in newer)
        query += f" UNION ALL SELECT * FROM ({each}) WHERE (run, worker, span) NOT IN ({replaced})"
    yield (
        f"CREATE OR REPLACE TEMPORARY VIEW {table.name} ({header})\nCOMMENT {_text(table.summary)}\n"
        f"AS {query}"
    )


def _url(listing: Listing) -> str:
    """The warehouse's location as Hadoop, and so Spark, writes it."""
    path = str(listing.path)
    return f"s3a{path.removeprefix('s3')}" if path.startswith("s3://") else path


def _translated(query: exp.Query) -> str:
    return to_spark_sql(query).sql("spark", pretty=True)


def _type(duckdb_type: str) -> str:
    if duckdb_type == "JSON":
        return "STRING"
    return exp.DataType.build(duckdb_type, dialect="duckdb").sql("spark")


def _name(column: Column) -> str:
    return f"`{column.name}`"


def _comment(item: Column | Param) -> str:
    return f"COMMENT {_text(item.meaning)}"


def _text(text: str) -> str:
    return exp.Literal.string(text).sql("spark")
