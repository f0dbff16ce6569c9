"""The options of `tracewh report` and `tracewh serve`. Like app.py, it must stay cheap to import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracewh.cli import diagnostics
from tracewh.cli.commands import options
from tracewh.cli.output import parse_integer


def report(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="The run to show. By default the newest."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="RUN", help="Run to compare against.")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="HTML file to write.")
    ] = Path("report.html"),
    worker: Annotated[
        str | None,
        typer.Option("--worker", metavar="WORKER", help="Worker to show. By default the first."),
    ] = None,
    span: Annotated[
        str | None,
        typer.Option("--span", metavar="SPAN", help="Recording to show. By default the first."),
    ] = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Write an HTML report about a run: one file that needs no network.

    Every chart and table shows its SQL. With --baseline, the report begins with the differences.
    """
    from tracewh.cli.report.write import write_report

    write_report(warehouse, run, worker, span, output, baseline)


def serve(
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="HOST",
            help="Address to listen on. An address that is not a loopback address requires a token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        str, typer.Option("--port", metavar="N", help="Port to listen on; 0 picks a free one.")
    ] = "8765",
    time_limit: Annotated[
        str, typer.Option("--time-limit", metavar="SECONDS", help="Time limit of a query.")
    ] = "10",
    memory_limit: Annotated[
        str,
        typer.Option(
            "--memory-limit", metavar="MB", help="Memory limit of a query; up to 4 run at a time."
        ),
    ] = "1000",
    perfetto: Annotated[
        str,
        typer.Option(
            "--perfetto", metavar="URL", help="Perfetto that 'Open in Perfetto' hands traces to."
        ),
    ] = "https://ui.perfetto.dev",
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Serve the report of every run in a browser, until Ctrl-C.

    Choose a run, worker and span, and run any view or SQL query. Access is read-only.
    """
    seconds = parse_integer("--time-limit", time_limit, least=1)
    memory_mb = parse_integer("--memory-limit", memory_limit, least=100)
    try:
        from tracewh.cli.report.serve import run_server
    except ModuleNotFoundError as error:
        diagnostics.usage_error(f"serve needs {error.name}: pip install 'tracewh[serve]'")
    number = parse_integer("--port", port, least=0)
    raise typer.Exit(run_server(warehouse, host, number, seconds, memory_mb, perfetto))
