"""The arguments of `tracewh report` and `tracewh serve`; as app.py it must stay cheap to import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracewh.cli import diagnostics, options
from tracewh.cli.output import whole_number


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to show.")],
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="RUN", help="Run to compare it with.")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The page that is written.")
    ] = Path("report.html"),
    worker: Annotated[
        str | None, typer.Option("--worker", metavar="WORKER", help="By default the first.")
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", metavar="SPAN", help="By default the first.")
    ] = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Write an HTML page about a run, to look at and to send: one file that needs no network.

    Every picture and table names the SQL that made it. With a baseline the page begins with what differs.
    """
    from tracewh.cli.report.write import write

    write(warehouse, run, worker, span, output, baseline)


def serve(
    host: Annotated[
        str,
        typer.Option("--host", metavar="HOST", help="Address to listen on; others want a token."),
    ] = "127.0.0.1",
    port: Annotated[
        str, typer.Option("--port", metavar="N", help="Port; 0 takes one that is free.")
    ] = "8765",
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Show the report live over a whole warehouse, in a browser, until Ctrl-C.

    Choose run, worker and span, ask any view or SQL; nothing can be written.
    """
    try:
        from tracewh.cli.report.serve import serve as listen
    except ModuleNotFoundError as error:
        diagnostics.refuse(f"serve needs {error.name}: pip install 'tracewh[serve]'")
    raise typer.Exit(listen(warehouse, host, whole_number("--port", port, least=0)))
