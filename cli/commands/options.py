"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tracewh.cli import diagnostics
from tracewh.cli.output import Format, parse_integer

OUTPUT = "Output"


def _named(path: str) -> str:
    """Refuse an empty name: it would stand for the current folder, as `-w "$UNSET"` does not mean."""
    if not path:
        diagnostics.usage_error("--warehouse is empty; name a folder")
    return path


def _warehouse(meaning: str) -> Any:
    """Return the option that names the warehouse."""
    return typer.Option(
        "-w",
        "--warehouse",
        metavar="FOLDER",
        envvar="TRACEWH_WAREHOUSE",
        callback=_named,
        help=meaning,
    )


WarehouseOption = Annotated[
    str,  # a Path would drop one of the two slashes in s3://
    _warehouse("The warehouse: a folder, or a URL such as s3://BUCKET/PATH."),
]
#: Of commands that need tracewh.duckdb, which a warehouse in an object store does not have.
WarehouseFolderOption = Annotated[
    str, _warehouse("The warehouse: a folder. One in an object store has no tracewh.duckdb.")
]
StepRangeOption = Annotated[
    str | None,
    typer.Option(
        "--step-range",
        metavar="REGEX",
        help="Ranges whose whole name matches are steps, in traces of profilers that record ranges but no steps: "
        "'batch [0-9]+'. By default names such as 'iteration 12' and 'step 12'.",
    ),
]
DEFAULT_WAREHOUSE = "tracewh-warehouse"

FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        autocompletion=lambda: [known.value for known in Format],
        rich_help_panel=OUTPUT,
        help="table, csv, json, markdown, parquet or xlsx. Only a table on a terminal is shortened.",
    ),
]
PathOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Write the whole result to a file.",
    ),
]
LimitOption = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="N",
        rich_help_panel=OUTPUT,
        help="Print at most N rows; 0 prints all. By default all; in a table on a terminal at most 40, and fewer if it "
        "is wide.",
    ),
]
EscapeOption = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        rich_help_panel=OUTPUT,
        help="CSV only: put an apostrophe before each text that a spreadsheet would run as a formula, e.g. =1+2.",
    ),
]
SortOption = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="COLUMN",
        rich_help_panel=OUTPUT,
        help="Sort by a column: numbers descending, texts ascending. "
        "COLUMN:asc or COLUMN:desc sets the direction.",
    ),
]

FullNamesOption = Annotated[
    bool,
    typer.Option(
        "--full-names",
        rich_help_panel=OUTPUT,
        help="Do not shorten names in a table, even if its lines become wider than the terminal.",
    ),
]

RunNameOption = Annotated[
    str | None,
    typer.Option("--run", metavar="NAME", help="Name of the run. By default the folder name."),
]

JobsOption = Annotated[
    str | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Number of files to read at the same time. By default one per core, but no more than fit into 1.5 GiB of memory, or into what the machine or its container has.",
    ),
]

MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="MB",
        help="Memory limit of the query, which spills to disk beyond it. By default that of TRACEWH_MEMORY_LIMIT, or 80 % of the memory of the machine or its container.",
    ),
]

EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        autocompletion=lambda: ["local", "spark"],
        help="local, or spark to run on a Spark cluster.",
    ),
]
DEFAULT_ENGINE = "local"
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="URL of the Spark cluster, e.g. spark://HOST:PORT. By default the one in Spark's own "
        "settings, else local[*].",
    ),
]

WorkerOption = Annotated[
    str | None, typer.Option("--worker", metavar="WORKER", help="Only this worker of the run.")
]
SpanOption = Annotated[
    str | None, typer.Option("--span", metavar="SPAN", help="Only this recording of the run.")
]


def parse_memory(text: str | None) -> int | None:
    """Parse --memory-limit."""
    return None if text is None else parse_integer("--memory-limit", text, least=100)
