"""The commands of `tracewh` and their options.

Keep this module cheap to import: each command imports DuckDB, Arrow and the views when it runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

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
from tracewh.cli.output import Format, Output, parse_integer
from tracewh.files import printable

#: Longest time between two scans, in seconds.
LONGEST_INTERVAL = 24 * 3600
INGEST, ANALYZE, MAINTAIN = "Ingest", "Analyze", "Maintain"

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
    rich_help_panel=ANALYZE,
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
    """Define the options of `tracewh` itself; the commands do the work."""


@app.command(cls=Command, rich_help_panel=INGEST)
def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Trace files, run folders, or log folders with many runs; also URLs such as "
            "s3://BUCKET/PATH; - reads stdin.",
        ),
    ],
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
    run: options.RunNameOption = None,
    jobs: options.JobsOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Ingest files again that were ingested before.")
    ] = False,
    step_range: options.StepRangeOption = None,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    engine: options.EngineOption = options.DEFAULT_ENGINE,
    master: options.MasterOption = None,
) -> None:
    """Ingest trace files into a warehouse.

    Searches folders at any depth for traces of the PyTorch profiler (*.json, *.json.gz, *.json.zst), for files
    of Nsight Systems (*.sqlite, *.nsys-rep, folders of Parquet files), of Nsight Compute, Ascend and MindSpore,
    and for tables of pipeline operations. Skips files that were ingested before; reports and skips files that
    are not traces. The table lists problems first, then the runs; the other formats have one row per trace.
    """
    from tracewh.cli.commands.ingest import run_ingest

    cluster = Cluster.parse(engine, master)
    if cluster and "-" in paths:
        diagnostics.usage_error("Spark cannot read standard input (-); leave out --engine")
    if cluster and jobs is not None:
        diagnostics.usage_error(
            "--jobs applies to --engine local only; for Spark set spark.cores.max"
        )
    workers = None if jobs is None else parse_integer("--jobs", jobs, least=1)
    written = Output.parse(format, output, None, None)
    written.check()
    code = run_ingest(
        paths,
        warehouse,
        run=run,
        jobs=workers,
        force=force,
        step_range=step_range,
        cluster=cluster,
        output=written,
    )
    raise typer.Exit(code)


@app.command(cls=Command, rich_help_panel=INGEST)
def watch(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="LOGDIR",
            help="Log folders, or URLs such as s3://BUCKET/PATH. A folder may be created later.",
        ),
    ],
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
    run: options.RunNameOption = None,
    jobs: options.JobsOption = None,
    step_range: options.StepRangeOption = None,
    interval: Annotated[
        str, typer.Option("--interval", metavar="SECONDS", help="Time between two scans.")
    ] = "5",
) -> None:
    """Ingest traces while training jobs write them, until Ctrl-C.

    A file is ingested when it is complete and two scans in a row find it unchanged. An incomplete file
    is reported once and skipped until it changes. Ctrl-C ends the command with exit status 0.
    """
    from tracewh.cli.commands.watch import run_watch

    workers = None if jobs is None else parse_integer("--jobs", jobs, least=1)
    seconds = parse_integer("--interval", interval, least=1)
    if seconds > LONGEST_INTERVAL:
        diagnostics.usage_error(f"--interval takes at most {LONGEST_INTERVAL} seconds (a day)")
    raise typer.Exit(run_watch(paths, warehouse, run, workers, seconds, step_range))


@app.command(cls=Command, rich_help_panel=INGEST)
def demo(
    warehouse: Annotated[
        str | None,
        typer.Option(
            "-w",
            "--warehouse",
            metavar="FOLDER",
            help="Warehouse to create. By default in a new temporary folder.",
        ),
    ] = None,
) -> None:
    """Ingest the bundled sample traces and show some results."""
    from tracewh.cli.commands.demo import run_demo

    raise typer.Exit(run_demo(warehouse))


@app.command(cls=Command, rich_help_panel=MAINTAIN)
def check(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Check only this run.")] = None,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    limit: options.LimitOption = None,
    sort: options.SortOption = None,
    full_names: options.FullNamesOption = False,
    escape_formulas: options.EscapeOption = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Verify every byte, row and link of every trace, and find leftover files.

    Prints one row per problem, with the command that repairs it.
    """
    from tracewh.cli.commands.check import run_check

    raise typer.Exit(
        run_check(
            warehouse, run, Output.parse(format, output, limit, sort, full_names, escape_formulas)
        )
    )


@app.command(cls=Command, rich_help_panel=MAINTAIN)
def drop(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to remove.")],
    worker: options.WorkerOption = None,
    span: options.SpanOption = None,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask for confirmation.")] = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Remove traces from the warehouse. The trace files themselves are not deleted."""
    from tracewh.cli.commands.maintenance import drop_traces

    drop_traces(warehouse, run, worker, span, ask=not yes)


@app.command(cls=Command, rich_help_panel=MAINTAIN)
def compact(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to compact.")],
    force: Annotated[
        bool, typer.Option("--force", help="Merge files again that were merged before.")
    ] = False,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Merge a run's small Parquet files so that queries open fewer files.

    Useful for runs with hundreds of traces, especially in an object store. The traces do not change.
    Traces that you ingest later are read separately until you compact the run again.
    """
    from tracewh.cli.commands.maintenance import compact_run

    compact_run(warehouse, run, force=force)


@app.command(name="link-captures", cls=Command, rich_help_panel=MAINTAIN)
def link_captures(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run that replays the graphs.")],
    capture_run: Annotated[
        str, typer.Argument(metavar="CAPTURE_RUN", help="The run in which they were captured.")
    ],
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Make the traces of a run known as graph captures of another run.

    Kernels that a CUDA or HIP graph replays then have the operators that were captured. Captures in the
    folder capture_traces of a run need no link.
    """
    from tracewh.cli.commands.maintenance import link_capture_run

    link_capture_run(warehouse, run, capture_run)


@app.command(cls=Command, rich_help_panel=MAINTAIN)
def relink(warehouse: options.WarehouseFolderOption = options.DEFAULT_WAREHOUSE) -> None:
    """Rewrite tracewh.duckdb after you moved the warehouse or upgraded tracewh."""
    from tracewh.cli.commands.maintenance import relink_warehouse

    relink_warehouse(warehouse)


app.command(cls=Command, rich_help_panel=ANALYZE)(diff)
app.command(cls=Command, rich_help_panel=ANALYZE)(report)
app.command(cls=Command, rich_help_panel=ANALYZE)(serve)


#: Columns that fit on one line of a terminal: name, time of recording, step time and size of a run.
RUNS_COLUMNS = ("run", "first_ns", "workers", "gpus", "steps", "mean_step_us", "source_bytes")


@app.command(cls=Command, rich_help_panel=ANALYZE)
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


@app.command(cls=Command, rich_help_panel=ANALYZE)
def summary(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="The run to summarize. By default the newest."),
    ] = None,
    worker: Annotated[
        str | None,
        typer.Option("--worker", metavar="WORKER", help="Worker to show. By default the first."),
    ] = None,
    span: Annotated[
        str | None,
        typer.Option("--span", metavar="SPAN", help="Recording to show. By default the first."),
    ] = None,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Sum up a run on one screen: speed, key figures, what costs most.

    The table format is a page to read. The other formats have the rows of the view verdict.
    """
    from tracewh.cli.commands.summary import summarize

    summarize(warehouse, run, worker, span, Output.parse(format, output, None, None))


@app.command("what-if", cls=Command, rich_help_panel=ANALYZE)
def what_if(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to replay.")],
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="CHANGE",
            help="What changes and how much: 'loader free', 'kernels LIKE \"%gemm%\" x0.5', ...",
        ),
    ],
    worker: Annotated[
        str | None,
        typer.Option("--worker", metavar="WORKER", help="Worker to replay. By default the first."),
    ] = None,
    span: Annotated[
        str | None,
        typer.Option("--span", metavar="SPAN", help="Recording to replay. By default the first."),
    ] = None,
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Replay a run with something faster or slower: what would a step take?

    A change ends with free, or with x and a factor. Several changes are made together, and each alone.

    \b
    tracewh what-if resnet 'loader free'
    tracewh what-if resnet 'kernels LIKE "%gemm%" x0.5' 'launches free'
    tracewh what-if resnet 'collectives free' 'device x0.8' 'host x0.5'
    tracewh what-if resnet 'module /encoder x0.8' 'line train.py:44 free'
    tracewh what-if resnet 'operators LIKE "aten::conv%" x0.5'

    The table format is a page to read. The other formats have the rows of the view what_if.
    """
    from tracewh.cli.commands.what_if import predict

    predict(warehouse, run, worker, span, changes, Output.parse(format, output, None, None))


@app.command(cls=Command, rich_help_panel=ANALYZE)
def views(
    name: Annotated[
        str | None, typer.Argument(metavar="VIEW", help="Describe only this view.")
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


@app.command(cls=Command, rich_help_panel=ANALYZE)
def query(
    sql: Annotated[
        str,
        typer.Argument(metavar="SQL", help="One read-only statement; - reads it from stdin."),
    ],
    format: options.FormatOption = Format.TABLE.value,
    output: options.PathOption = None,
    limit: options.LimitOption = None,
    sort: options.SortOption = None,
    full_names: options.FullNamesOption = False,
    escape_formulas: options.EscapeOption = False,
    memory_limit: options.MemoryOption = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Run a SQL query. Views are table functions, events are tables.

    \b
    tracewh query "SELECT name, calls FROM operator_stats() WHERE calls > 100"
    tracewh query "FROM kernels SELECT name, sum(duration_ns) GROUP BY ALL"
    tracewh query "DESCRIBE host_events"
    """
    from tracewh.cli.commands.query import run_query

    run_query(
        sql,
        warehouse,
        Output.parse(format, output, limit, sort, full_names, escape_formulas),
        options.parse_memory(memory_limit),
    )


@app.command(cls=Command, rich_help_panel=ANALYZE)
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
            help="Mark the critical path of one step, given by its number, or of all steps: all.",
        ),
    ] = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Write a trace as a file for Perfetto or chrome://tracing.

    Events on a critical path get the argument critical: 1. Arrows named critical_path connect them
    where the path changes its thread or stream.

    \b
    tracewh export resnet -o resnet.json.gz
    tracewh export ddp --worker rank0 --critical-path 12 -o step12.json
    """
    from tracewh.cli.commands.export import export_trace

    export_trace(warehouse, run, worker, span, critical_path, output)


@app.command(cls=Command, rich_help_panel=ANALYZE)
def shell(warehouse: options.WarehouseFolderOption = options.DEFAULT_WAREHOUSE) -> None:
    """Open the DuckDB shell on the warehouse, read-only."""
    from tracewh.cli.commands.shell import open_shell

    raise typer.Exit(open_shell(warehouse))


app.command("spark-sql", cls=Command, rich_help_panel=ANALYZE)(spark_sql)


def run() -> NoReturn:
    """Run the command line of this process, and end the process."""
    diagnostics.run_process(main)


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    # NumPy loads OpenBLAS, which starts one spinning thread per core. Nothing here uses it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "_TRACEWH_COMPLETE" in os.environ:  # the shell asks for completions
        app(prog_name="tracewh")
    words = sys.argv[1:] if argv is None else argv
    return diagnostics.run_command(lambda: memory_limit.check(words) or _run(words))


def _run(argv: list[str]) -> int:
    """Parse and run a command. Typer's own `app()` would print errors and choose exit codes itself."""
    for word in argv:
        if word != printable(word):
            diagnostics.usage_error(f"an argument is not UTF-8: {printable(word)}")
    command = typer.main.get_command(app)
    try:
        with command.make_context("tracewh", argv) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    return OK
