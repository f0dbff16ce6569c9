"""`tracewh diff`: print the comparison of two runs and return an exit code for CI."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import LIMIT_EXCEEDED, OK


def compare(
    warehouse: str,
    arguments: dict[str, Any],
    block: str | None,
    alpha: str,
    only_significant: bool,
    fail_if: Sequence[str],
    format: str,
    path: Path | None,
) -> int:
    """Write the comparison and return the exit code.

    Args:
        arguments: Runs, workers and spans: the arguments of the diff views.
        block: Path of a block of diff_modules, to compare only that block.
        only_significant: Ignore differences that are within run-to-run noise.
        fail_if: Conditions, e.g. ``step_us > 5%``.
    """
    import duckdb

    from tracewh.cli.diff import page
    from tracewh.cli.diff.comparison import Comparison, figures, unit_of
    from tracewh.cli.diff.conditions import Condition
    from tracewh.cli.output import Output
    from tracewh.cli.output.text_page import Page

    if format not in page.FORMATS:
        known = list(page.FORMATS)
        hint = diagnostics.did_you_mean(format, known) or f"; choose one of {', '.join(known)}"
        diagnostics.usage_error(f"--format: unknown format {format!r}{hint}")
    try:
        level = float(alpha)
    except ValueError:
        level = 0
    if not 0 < level < 1:
        diagnostics.usage_error(f"--alpha takes a number between 0 and 1, not {alpha!r}")
    conditions = [Condition.parse(text, figures()) for text in fail_if]
    output = Output(path=path)
    output.check()
    with output.open_warehouse(warehouse) as opened:
        arguments = opened.resolve(arguments)
        opened.select_traces(None, arguments)
        try:
            comparison = Comparison.query(opened, arguments, level, block)
        except duckdb.InvalidInputException as error:  # e.g. the block does not exist
            if diagnostics.is_damage(error):
                raise
            diagnostics.usage_error(str(error).removeprefix("Invalid Input Error: "))
    failed = []
    for condition in conditions:
        if comparison.is_of_steps(condition.figure):
            condition.refuse_unless_comparable(comparison.headline)
        change = comparison.change(condition.figure, condition.name)
        is_noise = change.tested and (not change.significant or change.is_reversed)
        if condition.holds(change) and not (only_significant and is_noise):
            values = page.describe(change, unit_of(condition.figure), condition.relative)
            if condition.name is not None:  # a figure of the whole recording
                values += page.counts(comparison)
            failed.append(f"{condition.text}: {values}")
    write = page.FORMATS[format]
    if format == "text" and path is None and sys.stdout.isatty():
        write = partial(page.text, screen=Page.of(output))
    with output.sink() as sink:
        sink.write(write(comparison, only_significant, failed).encode())
    for line in failed:
        diagnostics.note(line)
    return LIMIT_EXCEEDED if failed else OK
