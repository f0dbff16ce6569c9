"""The `tracewh` command line.

Importing this module must stay cheap: whatever needs DuckDB, Arrow or the views is imported by the
command that needs it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tracewh.cli import diagnostics
from tracewh.cli.commands import options
from tracewh.cli.commands.diff import diff
from tracewh.cli.commands.engine import Cluster
from tracewh.cli.commands.help_pages import EPILOG, Command, Commands
from tracewh.cli.commands.report import report, serve
from tracewh.cli.commands.show import ViewGroup, registry
from tracewh.cli.commands.spark_sql import spark_sql
from tracewh.cli.diagnostics import memory_limit
from tracewh.cli.diagnostics.errors import OK
from tracewh.cli.output.output import Format, Output, whole_number

FILL, ASK, KEEP = "Ingest", "Analyze", "Maintain"

app = typer.Typer(
    name="tracewh",
    cls=Commands,
    help="Analyze PyTorch profiler traces with SQL.",
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(
    typer.Typer(rich_markup_mode=None),
    name="show",
    cls=ViewGroup,
    help="Run a view and print its rows. Each view has a help page: tracewh show VIEW --help",
    short_help="Run a view and print its rows: step_breakdown, operator_stats, ...",
    subcommand_metavar="VIEW [OPTIONS]",
    rich_help_panel=ASK,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"tracewh {version('tracewh')}")
        raise typer.Exit


@app.callback()
def tracewh(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Nothing of its own: the commands do the work."""


@app.command(cls=Command, rich_help_panel=FILL)
def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Trace files, run folders, or log folders of many runs; s3://BUCKET/PATH and the "
            "like; - for stdin.",
        ),
    ],
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="NAME", help="Name of the run, instead of the folder name."),
    ] = None,
    jobs: options.JobsOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Ingest files again that were ingested before.")
    ] = False,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    engine: options.EngineOption = options.DEFAULT_ENGINE,
    master: options.MasterOption = None,
) -> None:
    """Ingest trace files into a warehouse.

    Folders are searched for *.json, *.json.gz and *.json.zst at any depth. A file that was ingested
    before is skipped; a file that is not a trace is named and skipped. The table lists problems first, then
    the runs; the other formats have a row for each file.
    """
    from tracewh.cli.commands.ingest import run_ingest

    cluster = Cluster.parse(engine, master)
    if cluster and "-" in paths:
        diagnostics.refuse("- is standard input, which Spark cannot read: leave out --engine")
    if cluster and jobs is not None:
        diagnostics.refuse("--jobs applies to this machine only; for Spark set spark.cores.max")
    workers = None if jobs is None else whole_number("--jobs", jobs, least=1)
    written = Output.parse(format, output, None, None)
    written.check()
    code = run_ingest(
        paths, warehouse, run=run, jobs=workers, force=force, cluster=cluster, output=written
    )
    raise typer.Exit(code)


@app.command(cls=Command, rich_help_panel=FILL)
def watch(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="LOGDIR",
            help="Log folders, or s3://BUCKET/PATH and the like. A folder may be created later.",
        ),
    ],
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="NAME", help="Name of the run, instead of the folder names."),
    ] = None,
    jobs: options.JobsOption = None,
    interval: Annotated[
        str, typer.Option("--interval", metavar="SECONDS", help="Time between two scans.")
    ] = "5",
) -> None:
    """Ingest traces as training jobs write them, until Ctrl-C, which is exit status 0.

    A file is ingested when two scans in a row find it unchanged and it is complete. An incomplete file
    is named once and skipped until it changes.
    """
    from tracewh.cli.commands.watch import follow

    workers = None if jobs is None else whole_number("--jobs", jobs, least=1)
    seconds = whole_number("--interval", interval, least=1)
    raise typer.Exit(follow(paths, warehouse, run, workers, seconds))


@app.command(cls=Command, rich_help_panel=FILL)
def demo(
    warehouse: Annotated[
        str | None,
        typer.Option(
            "-w",
            "--warehouse",
            metavar="FOLDER",
            help="Warehouse to fill. By default in a new temporary folder.",
        ),
    ] = None,
) -> None:
    """Ingest the bundled sample traces and show some results."""
    from tracewh.cli.commands.demo import play

    raise typer.Exit(play(warehouse))


@app.command(cls=Command, rich_help_panel=KEEP)
def check(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="Check only this run.")] = None,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    limit: options.LimitOption = None,
    sort: options.SortOption = None,
    full_names: options.FullNamesOption = False,
    escape_formulas: options.EscapeOption = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Verify every byte of every trace, its rows and links, and look for leftover files.

    Prints a row per problem, with the command that repairs it, and no row where there is none.
    """
    from tracewh.cli.commands.check import verify

    raise typer.Exit(
        verify(
            warehouse, run, Output.parse(format, output, limit, sort, full_names, escape_formulas)
        )
    )


@app.command(cls=Command, rich_help_panel=KEEP)
def drop(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to remove.")],
    worker: options.WorkerOption = None,
    span: options.SpanOption = None,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask for confirmation.")] = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Remove traces from the warehouse. The trace files themselves are not deleted."""
    from tracewh.cli.commands.maintenance import remove

    remove(warehouse, run, worker, span, ask=not yes)


@app.command(cls=Command, rich_help_panel=KEEP)
def compact(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to compact.")],
    force: Annotated[
        bool, typer.Option("--force", help="Merge again what was merged before.")
    ] = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Merge a run's small Parquet files so that queries open fewer files.

    Useful for runs of hundreds of traces, above all in an object store. The traces themselves do not
    change. Traces that you ingest later are read beside the merged files until you compact again.
    """
    from tracewh.cli.commands.maintenance import compact as copy

    copy(warehouse, run, force=force)


@app.command(cls=Command, rich_help_panel=KEEP)
def relink(warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE) -> None:
    """Rewrite tracewh.duckdb after you moved the warehouse or upgraded tracewh."""
    from tracewh.cli.commands.maintenance import relink as write

    write(warehouse)


app.command(cls=Command, rich_help_panel=ASK)(diff)
app.command(cls=Command, rich_help_panel=ASK)(report)
app.command(cls=Command, rich_help_panel=ASK)(serve)


#: What fits into a line of a terminal: when it was recorded, how long its steps are, how large it is.
RUNS_COLUMNS = ("run", "first_ns", "workers", "gpus", "steps", "mean_step_us", "source_bytes")


@app.command(cls=Command, rich_help_panel=ASK)
def runs(
    all_columns: Annotated[
        bool,
        typer.Option(
            "--all-columns",
            rich_help_panel=options.OUTPUT,
            help="Show all columns in a table on a terminal.",
        ),
    ] = False,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    limit: options.LimitOption = None,
    sort: options.SortOption = None,
    full_names: options.FullNamesOption = False,
    escape_formulas: options.EscapeOption = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """List the runs in the warehouse, the latest first."""
    from tracewh.cli.commands.show import show

    written = Output.parse(format, output, limit, sort, full_names, escape_formulas)
    only = () if all_columns else RUNS_COLUMNS
    show(registry().get("runs"), {}, warehouse, written, only=only)


@app.command(cls=Command, rich_help_panel=ASK)
def views(
    name: Annotated[
        str | None, typer.Argument(metavar="[VIEW]", help="Describe only this view.")
    ] = None,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the SQL that defines the view.")
    ] = False,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    limit: options.LimitOption = None,
    sort: options.SortOption = None,
    full_names: options.FullNamesOption = False,
    escape_formulas: options.EscapeOption = False,
) -> None:
    """List the views, or describe one of them."""
    from tracewh.cli.commands.views import list_views

    list_views(
        name, sql=sql, output=Output.parse(format, output, limit, sort, full_names, escape_formulas)
    )


@app.command(cls=Command, rich_help_panel=ASK)
def query(
    sql: Annotated[
        str,
        typer.Argument(metavar="SQL", help="One statement that only reads; - reads it from stdin."),
    ],
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    limit: options.LimitOption = None,
    sort: options.SortOption = None,
    full_names: options.FullNamesOption = False,
    escape_formulas: options.EscapeOption = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Run an SQL query: views are table functions, events are tables.

    \b
    tracewh query "SELECT name, calls FROM operator_stats() WHERE calls > 100"
    tracewh query "FROM kernels SELECT name, sum(duration_ns) GROUP BY ALL"
    tracewh query "DESCRIBE host_events"
    """
    from tracewh.cli.commands.query import ask

    ask(sql, warehouse, Output.parse(format, output, limit, sort, full_names, escape_formulas))


@app.command(cls=Command, rich_help_panel=ASK)
def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to export a trace of.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="File to write: .json or .json.gz."),
    ],
    worker: options.WorkerOption = None,
    span: options.SpanOption = None,
    critical_path: Annotated[
        str | None,
        typer.Option(
            "--critical-path",
            metavar="STEP",
            help="Mark the critical path of this step, or of all steps: all.",
        ),
    ] = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Write a trace as a file for Perfetto or chrome://tracing.

    Events on a critical path get an argument critical of 1, and arrows named critical_path lead from
    one thread or stream to another.

    \b
    tracewh export resnet -o resnet.json.gz
    tracewh export ddp --worker rank0 --critical-path 12 -o step12.json
    """
    from tracewh.cli.commands.export import export as write

    write(warehouse, run, worker, span, critical_path, output)


@app.command(cls=Command, rich_help_panel=ASK)
def shell(warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE) -> None:
    """Open the DuckDB shell on the warehouse, read-only."""
    from tracewh.cli.commands.shell import start

    raise typer.Exit(start(warehouse))


app.command("spark-sql", cls=Command, rich_help_panel=ASK)(spark_sql)


def main(argv: list[str] | None = None) -> int:
    """Run one command line and give its exit code."""
    # NumPy brings linear algebra, which nothing here uses: one thread a core, and each spins for a while.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "_TRACEWH_COMPLETE" in os.environ:  # the shell asks what could follow
        app(prog_name="tracewh")
    words = sys.argv[1:] if argv is None else argv
    return diagnostics.guarded(lambda: memory_limit.check(words) or _run(words))


def _run(argv: list[str]) -> int:
    """Parse and run. Typer's own `app()` would print errors and pick exit codes itself."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("tracewh", argv) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    return OK
