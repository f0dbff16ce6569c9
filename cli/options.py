"""The options that mean the same on every command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracewh.cli.output import Format

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
        "-o", "--output", metavar="FILE", rich_help_panel=OUTPUT, help="Write to a file, whole."
    ),
]
LimitOption = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="N",
        rich_help_panel=OUTPUT,
        help="At most N rows; 0 for all. By default all, and 40 where a table meets a terminal.",
    ),
]
SortOption = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="COLUMN",
        rich_help_panel=OUTPUT,
        help="Order by a column: numbers from the largest, texts from A to Z. "
        "COLUMN:asc and COLUMN:desc say it outright.",
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
        help="Files at a time. By default one per core, or as many as fit into 1.5 GiB of memory.",
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
        help="Of the cluster: spark://HOST:PORT and the like. By default what Spark's own settings "
        "say, else local[*].",
    ),
]

WorkerOption = Annotated[
    str | None, typer.Option("--worker", metavar="WORKER", help="Only this worker of it.")
]
SpanOption = Annotated[
    str | None, typer.Option("--span", metavar="SPAN", help="Only this recording of it.")
]
