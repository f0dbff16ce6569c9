"""The options of `tracewh diff`. Like app.py, this module must stay cheap to import."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tracewh.cli.commands import options


def _part_of_run(side: str, part: str) -> Any:
    """Return an option that selects a worker or span of one of the two runs."""
    name = {"worker": "Worker", "span": "Recording"}[part]
    return typer.Option(
        f"--{side}-{part}", metavar=part.upper(), help=f"{name} of the {side}. By default all."
    )


def diff(
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="Run to compare against.")],
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Run to compare.")],
    baseline_worker: Annotated[str | None, _part_of_run("baseline", "worker")] = None,
    experiment_worker: Annotated[str | None, _part_of_run("experiment", "worker")] = None,
    baseline_span: Annotated[str | None, _part_of_run("baseline", "span")] = None,
    experiment_span: Annotated[str | None, _part_of_run("experiment", "span")] = None,
    block: Annotated[
        str | None,
        typer.Option(
            "--block",
            metavar="PATH",
            help="Compare only one block of the timeline, e.g. '/ProfilerStep[2]/forward'; "
            "`tracewh show diff_modules` lists them.",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with status 4 if a figure changed by more than this from the baseline, e.g. 'step_us > 5%', "
            "'peak_memory_bytes > 100MB', 'operator_host_self_us[aten::mm] > 1ms'. Repeatable.",
        ),
    ] = None,
    only_significant: Annotated[
        bool,
        typer.Option(
            "--only-significant", help="Show only significant differences, and fail only on those."
        ),
    ] = False,
    alpha: Annotated[
        str,
        typer.Option(
            "--alpha",
            metavar="LEVEL",
            help="Significance level: p-values below it are significant.",
        ),
    ] = "0.05",
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            autocompletion=lambda: ["text", "markdown", "json"],
            rich_help_panel=options.OUTPUT,
            help="text, markdown or json. json has all rows of the diff views.",
        ),
    ] = "text",
    output: options.PathOption = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Compare two runs: what became slower, and where.

    The figures come from the views diff_verdict, diff_overview, diff_steps, diff_blocks, diff_modules,
    diff_operators and diff_kernels.
    """
    from tracewh.cli.diff.run_diff import compare

    arguments = {
        "baseline": baseline,
        "experiment": experiment,
        "baseline_worker": baseline_worker,
        "experiment_worker": experiment_worker,
        "baseline_span": baseline_span,
        "experiment_span": experiment_span,
    }
    given = {name: value for name, value in arguments.items() if value is not None}
    raise typer.Exit(
        compare(warehouse, given, block, alpha, only_significant, fail_if or [], format, output)
    )
