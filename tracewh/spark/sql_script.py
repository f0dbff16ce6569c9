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
    """A view over the Parquet files of a table. In an object store, each attempt has its own file name.

    Spark puts partition columns last, and decodes the %C3%BC of a ü in a path as two letters.
    """
    files = sorted({path.rpartition("/")[2] for path in listing.files(table.name)})
    files = files or [f"{table.name}.parquet"]  # no trace has one
    names = files[0] if len(files) == 1 else f"{{{','.join(files)}}}"
    folder = "".join(f"\\{letter}" if letter in "\\*?{}[]" else letter for letter in _url(listing))
    columns = ", ".join(f"{_name(column)} {_type(column.type)}" for column in table.columns)
    yield (
        f"CREATE OR REPLACE TEMPORARY VIEW {table.name}_files ({columns})\nUSING parquet "
        f"OPTIONS (path {_text(f'{folder}/data')}, pathGlobFilter {_text(names)})"
    )
    ascii_only = all(getattr(t, key).isascii() for t in listing.traces for key in layout.KEYS)
    read = [
        _name(column)
        if ascii_only or column.name not in layout.KEYS
        else f"DECODE(ENCODE({_name(column)}, 'ISO-8859-1'), 'UTF-8')"
        for column in table.columns
    ]
    header = ", ".join(f"{_name(column)} {_comment(column)}" for column in table.columns)
    yield (
        f"CREATE OR REPLACE TEMPORARY VIEW {table.name} ({header})\nCOMMENT {_text(table.summary)}\n"
        f"AS SELECT {', '.join(read)} FROM {table.name}_files"
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
