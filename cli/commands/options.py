"""The options that mean the same on every command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracewh.cli.output.output import Format

OUTPUT = "Output"

WarehouseOption = Annotated[
    str,  # a Path would make one slash of the two in s3://
    typer.Option(
        "-w",
        "--warehouse",
        metavar="FOLDER",
        envvar="TRACEWH_WAREHOUSE",
        help="The warehouse: a folder, or s3://BUCKET/PATH and the like.",
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
        help="Print at most N rows; 0 prints all. By default all, or 40 in a table on a terminal.",
    ),
]
EscapeOption = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        rich_help_panel=OUTPUT,
        help="CSV only: an apostrophe before each text that a spreadsheet would run as a formula, as =1+2.",
    ),
]
SortOption = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="COLUMN",
        rich_help_panel=OUTPUT,
        help="Order by a column: numbers descending, texts ascending. "
        "COLUMN:asc or COLUMN:desc sets the direction.",
    ),
]

FullNamesOption = Annotated[
    bool,
    typer.Option(
        "--full-names",
        rich_help_panel=OUTPUT,
        help="Show whole names in a table, even where its lines are longer than the terminal is wide.",
    ),
]

JobsOption = Annotated[
    str | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Number of files to read at the same time. By default one per core, or as many as fit into 1.5 GiB of memory.",
    ),
]

EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        autocompletion=lambda: ["local", "spark"],
        help="local, or spark for a cluster.",
    ),
]
DEFAULT_ENGINE = "local"
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="URL of the cluster: spark://HOST:PORT and the like. By default the one in Spark's own "
        "settings, else local[*].",
    ),
]

WorkerOption = Annotated[
    str | None, typer.Option("--worker", metavar="WORKER", help="Only this worker of the run.")
]
SpanOption = Annotated[
    str | None, typer.Option("--span", metavar="SPAN", help="Only this recording of the run.")
]
