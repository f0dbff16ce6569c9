"""`tracewh ingest`: ingest files, show progress and print a summary."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics
from tracewh.cli.commands.options import DEFAULT_WAREHOUSE
from tracewh.cli.diagnostics.errors import FAILED, OK, SOME_REFUSED, CliError
from tracewh.cli.output import Format, Output
from tracewh.cli.output.progress import Display, display, format_bytes

if TYPE_CHECKING:
    from tracewh.cli.commands.engine import Cluster
    from tracewh.ingest.result import FileResult

#: Most problems that are listed on a terminal.
MOST_PROBLEMS = 40
#: Most runs that are listed.
MOST_RUNS = 20
#: From this many traces on, merged files make the queries of a run clearly faster: see bench/README.md.
MANY_TRACES = 100


def run_ingest(
    paths: Iterable[str],
    warehouse: str,
    *,
    run: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    step_range: str | None = None,
    cluster: Cluster | None = None,
    output: Output | None = None,
) -> int:
    """Ingest trace files, show progress, print a summary and return the exit code."""
    from tracewh.ingest.sources.discover import discover
    from tracewh.storage.open_store import open_store
    from tracewh.views.database import ensure_database, prepare_in_background
    from tracewh.views.warehouse import WarehouseError

    started = time.monotonic()
    with prepare_in_background(warehouse) as prepared:
        try:
            with display() as shown, diagnostics.terminable(), ExitStack() as stack:
                store, sources = open_store(warehouse), discover(paths, run, step_range)
                ingest = _engine(cluster, jobs, stack, shown)
                results = ingest(
                    sources,
                    store,
                    force=force,
                    on_progress=shown.advance,
                    on_result=shown.finished,
                )
        except KeyboardInterrupt as interrupt:
            diagnostics.note(
                "interrupted; ingested traces are kept, run the command again to continue"
            )
            return diagnostics.interrupted(interrupt)
        summarize(results, time.monotonic() - started, output)
        if step_range is not None and any(result.status == "unchanged" for result in results):
            diagnostics.note(
                "traces that were ingested before keep their steps; --force ingests them again, with --step-range"
            )
        _advise_compact(results, warehouse)
        try:
            ensure_database(warehouse, prepared)
        except WarehouseError as error:  # the traces are stored: print the summary before the error
            raise CliError(str(error)) from None
    refused = sum(result.status == "refused" for result in results)
    if refused == len(results):
        return FAILED
    return SOME_REFUSED if refused else OK


def _engine(
    cluster: Cluster | None, jobs: int | None, stack: ExitStack, shown: Display
) -> Callable[..., list[FileResult]]:
    """Return the function that ingests files, on this machine or on the Spark cluster."""
    if cluster is None:
        from tracewh.ingest.api import ingest_sources

        return partial(ingest_sources, jobs=jobs)
    from tracewh.spark.session import session

    spark = stack.enter_context(session(cluster.master))
    from tracewh.spark import ingest_tasks as engine

    def wait() -> None:
        shown.remark(
            f"tracewh: no executor started within {engine.WAIT_SECONDS} s: the cluster may be full or "
            "have no workers; still waiting"
        )

    return partial(engine.ingest_sources, spark, on_wait=wait)


def summarize(results: list[FileResult], seconds: float, output: Output | None = None) -> None:
    """Print the problems, a row per run and the totals; in formats other than a table, a row per trace."""
    output = output or Output()
    if output.format is not Format.TABLE or output.path is not None:
        _write(results, output)
    else:
        tables = [table for table in (_problems(results), _by_run(results)) if table]
        print("\n\n".join("\n".join(table) for table in tables), flush=True)
    counts = {status: 0 for status in ("ingested", "unchanged", "refused")}
    for result in results:
        counts[result.status] += 1
    summary = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
    new = [result for result in results if result.status == "ingested"]
    if new:
        events = sum(result.events for result in new)
        stored = sum(result.stored_bytes for result in new)
        summary += (
            f"; {events:,} events in {seconds:.1f} s ({events / max(seconds, 1e-3):,.0f}/s), "
        )
        summary += f"{format_bytes(_source_bytes(new))} stored as {format_bytes(stored)}"
    diagnostics.note(summary)


def _advise_compact(results: list[FileResult], warehouse: str) -> None:
    """Say how to make the queries of a run faster that has many new traces."""
    new = Counter(result.run for result in results if result.status == "ingested")
    where = "" if warehouse == DEFAULT_WAREHOUSE else f" -w {shlex.quote(warehouse)}"
    for run, traces in new.items():
        if run is not None and traces >= MANY_TRACES:
            diagnostics.note(
                f"{traces:,} new traces in run {run}; to make its queries faster: "
                f"tracewh compact {shlex.quote(run)}{where}"
            )


def _problems(results: list[FileResult]) -> list[str]:
    """Return a row per refused file, then per file that was repaired or lost events."""
    files = _below_common_folder([str(result.source) for result in results])
    found = [(file, _problem(each)) for file, each in zip(files, results, strict=True)]
    found = [(file, problem) for file, problem in found if problem]
    found.sort(key=lambda row: not row[1].startswith("refused"))
    shown = found[:MOST_PROBLEMS] if sys.stdout.isatty() else found
    if not shown:
        return []
    lines = _table({"file": [row[0] for row in shown], "message": [row[1] for row in shown]})
    more = len(found) - len(shown)
    return lines + [f"and {more:,} more; --format json lists every file"] * (more > 0)


#: Causes that say how the profiler writes its files, and not that one is damaged; trace_quality reports them.
NO_DAMAGE = ("no_times", "no_epoch", "lost_frame_ends", "recordings_of_other_times")


def _problem(result: FileResult) -> str:
    if result.status == "refused":
        return f"refused: {result.reason}"
    words = []
    if skipped := result.skipped_events:
        words.append(f"skipped {skipped:,} event{'' if skipped == 1 else 's'}")
    repairs = {cause: count for cause, count in result.repairs.items() if cause not in NO_DAMAGE}
    if repairs:
        causes = (f"{cause.replace('_', ' ')} ({count:,})" for cause, count in repairs.items())
        words.append(f"repaired or left out: {', '.join(causes)}")
    return "; ".join(words)


def _by_run(results: list[FileResult]) -> list[str]:
    """Return a row per run, or, if there are many, the command that lists them."""
    # A copy of a file that was ingested before is the same trace.
    traces: dict[object, FileResult] = {}
    for result in results:
        trace = result.run, result.worker, result.span
        if result.status == "ingested" or trace not in traces:
            traces[trace] = result
    runs: dict[str, list[FileResult]] = {}
    for result in traces.values():
        if result.run is not None:
            runs.setdefault(result.run, []).append(result)
    if not runs:
        return []
    if len(runs) > MOST_RUNS:
        return [f"{len(runs):,} runs; `tracewh runs` lists them"]
    return _table(
        {
            "run": list(runs),
            "traces": [len(each) for each in runs.values()],
            "ingested": [sum(o.status == "ingested" for o in each) for each in runs.values()],
            "events": [sum(o.events for o in each) for each in runs.values()],
            "source_mb": [_source_bytes(each) / 1e6 for each in runs.values()],
            "stored_mb": [sum(o.stored_bytes for o in each) / 1e6 for each in runs.values()],
        }
    )


def _source_bytes(results: list[FileResult]) -> int:
    """Return the size of the files; one with several processes is a trace for each of them."""
    return sum({str(result.source): result.source_bytes for result in results}.values())


def _table(columns: dict[str, list[Any]]) -> list[str]:
    from tracewh.cli.output import cell_format, screen

    shown = [cell_format.column(name, values) for name, values in columns.items()]
    # share=False: a single run or file stays a column instead of a line above the table.
    return [*screen.lines(shown, on_screen=sys.stdout.isatty(), share=False)]


def _write(results: list[FileResult], output: Output) -> None:
    """Write one row per trace or refused file."""
    import json

    import duckdb
    import pyarrow

    names = ("run", "worker", "span", "status", "reason", "events", "skipped_events")
    columns: dict[str, list[Any]] = {"file": [str(result.source) for result in results]}
    columns |= {name: [getattr(result, name) for result in results] for name in names}
    columns["repairs"] = [json.dumps(dict(result.repairs)) for result in results]
    for name in ("source_bytes", "stored_bytes", "seconds"):
        columns[name] = [getattr(result, name) for result in results]
    columns["reason"] = [result.reason or None for result in results]
    with duckdb.connect() as con:
        arrays = {name: pyarrow.array(each) for name, each in columns.items()}  # noqa: TID251, some are None
        table = pyarrow.table(arrays)
        output.write(con.from_arrow(table).project("* REPLACE (CAST(repairs AS JSON) AS repairs)"))


def _below_common_folder(files: list[str]) -> list[str]:
    """Return each path or URL without the folders that all share, down to the file name at most."""
    folders = [_folder(file) for file in files]
    common = _folder(os.path.commonprefix(folders))
    return [file[len(common) :] for file in files]


def _folder(path: str) -> str:
    return path[: max(path.rfind("/"), path.rfind(os.sep)) + 1]
