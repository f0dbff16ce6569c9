"""`tracewh ingest`: what the caller sees of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import FAILED, OK, SOME_REFUSED, CliError
from tracewh.cli.output.output import Format, Output
from tracewh.cli.output.progress import Display, display, size

if TYPE_CHECKING:
    from tracewh.cli.commands.engine import Cluster
    from tracewh.ingest.result import FileResult

#: So many problems are listed on a terminal.
MOST_PROBLEMS = 40
#: So many runs are listed.
MOST_RUNS = 20


def run_ingest(
    paths: Iterable[str],
    warehouse: str,
    *,
    run: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    cluster: Cluster | None = None,
    output: Output | None = None,
) -> int:
    """Ingest with a display, summarize it, and give the exit code."""
    from tracewh.ingest.sources.discover import discover
    from tracewh.storage.open_store import open_store
    from tracewh.views.database import ensure_database, preparing
    from tracewh.views.warehouse import WarehouseError

    started = time.monotonic()
    with preparing(warehouse) as prepared:
        try:
            with display() as shown, diagnostics.terminable(), ExitStack() as stack:
                store, sources = open_store(warehouse), discover(paths, run)
                ingest = _engine(cluster, jobs, stack, shown)
                outcomes = ingest(
                    sources,
                    store,
                    force=force,
                    on_progress=shown.advance,
                    on_result=shown.finished,
                )
        except KeyboardInterrupt as interrupt:
            diagnostics.note(
                "interrupted; ingested traces are kept; run the command again to continue"
            )
            return diagnostics.interrupted(interrupt)
        summarize(outcomes, time.monotonic() - started, output)
        try:
            ensure_database(warehouse, prepared)
        except WarehouseError as error:  # the traces are in: what is said of them comes first
            raise CliError(str(error)) from None
    refused = sum(outcome.status == "refused" for outcome in outcomes)
    if refused == len(outcomes):
        return FAILED
    return SOME_REFUSED if refused else OK


def _engine(
    cluster: Cluster | None, jobs: int | None, stack: ExitStack, shown: Display
) -> Callable[..., list[FileResult]]:
    """What takes in files, on this machine or with a session on the cluster."""
    if cluster is None:
        from tracewh.ingest.api import ingest_sources

        return partial(ingest_sources, jobs=jobs)
    from tracewh.spark.session import session

    spark = stack.enter_context(session(cluster.master))
    from tracewh.spark import ingest_tasks as engine

    def wait() -> None:
        shown.remark(
            f"tracewh: no executor has begun to work in {engine.WAIT_SECONDS} s: the cluster may be full, "
            "or have no workers; still waiting"
        )

    return partial(engine.ingest_sources, spark, on_wait=wait)


def summarize(outcomes: list[FileResult], seconds: float, output: Output | None = None) -> None:
    """Print the problems, a row per run, and the totals; in other formats than a table, a row per file."""
    output = output or Output()
    if output.format is not Format.TABLE or output.path is not None:
        _write(outcomes, output)
    else:
        tables = [table for table in (_problems(outcomes), _by_run(outcomes)) if table]
        print("\n\n".join("\n".join(table) for table in tables), flush=True)
    counts = {status: 0 for status in ("ingested", "unchanged", "refused")}
    for outcome in outcomes:
        counts[outcome.status] += 1
    said = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
    new = [outcome for outcome in outcomes if outcome.status == "ingested"]
    if new:
        events = sum(outcome.events for outcome in new)
        source, stored = (sum(getattr(o, f"{w}_bytes") for o in new) for w in ("source", "stored"))
        said += f"; {events:,} events in {seconds:.1f} s ({events / max(seconds, 1e-3):,.0f}/s), "
        said += f"{size(source)} stored as {size(stored)}"
    diagnostics.note(said)


def _problems(outcomes: list[FileResult]) -> list[str]:
    """A row for each file that was refused, then for each that was repaired or lost events."""
    files = _below_common_folder([str(outcome.source) for outcome in outcomes])
    found = [(file, _problem(each)) for file, each in zip(files, outcomes, strict=True)]
    found = [(file, problem) for file, problem in found if problem]
    found.sort(key=lambda row: not row[1].startswith("refused"))
    shown = found[:MOST_PROBLEMS] if sys.stdout.isatty() else found
    if not shown:
        return []
    lines = _table({"file": [row[0] for row in shown], "message": [row[1] for row in shown]})
    more = len(found) - len(shown)
    return lines + [f"and {more:,} more; --format json lists every file"] * (more > 0)


def _problem(outcome: FileResult) -> str:
    if outcome.status == "refused":
        return f"refused: {outcome.reason}"
    words = []
    if skipped := outcome.skipped_events:
        words.append(f"skipped {skipped:,} event{'' if skipped == 1 else 's'}")
    if outcome.repairs:
        causes = (
            f"{count:,} {cause.replace('_', ' ')}" for cause, count in outcome.repairs.items()
        )
        words.append(f"repaired or left out: {', '.join(causes)}")
    return "; ".join(words)


def _by_run(outcomes: list[FileResult]) -> list[str]:
    """A row for each run; nothing where there are many, which `tracewh runs` lists."""
    runs: dict[str, list[FileResult]] = {}
    for outcome in outcomes:
        if outcome.run is not None:
            runs.setdefault(outcome.run, []).append(outcome)
    if not runs or len(runs) > MOST_RUNS:
        return []
    return _table(
        {
            "run": list(runs),
            "traces": [len(each) for each in runs.values()],
            "ingested": [sum(o.status == "ingested" for o in each) for each in runs.values()],
            "events": [sum(o.events for o in each) for each in runs.values()],
            "source_mb": [sum(o.source_bytes for o in each) / 1e6 for each in runs.values()],
            "stored_mb": [sum(o.stored_bytes for o in each) / 1e6 for each in runs.values()],
        }
    )


def _table(columns: dict[str, list[Any]]) -> list[str]:
    from tracewh.cli.output import cell_format, screen

    shown = [cell_format.column(name, values) for name, values in columns.items()]
    # A single run or file is a row of its own here, and not a line above the table.
    return screen.lines(shown, on_screen=sys.stdout.isatty(), share=False)


def _write(outcomes: list[FileResult], output: Output) -> None:
    """Write a row per file."""
    import json

    import duckdb
    import pyarrow

    names = ("run", "worker", "span", "status", "reason", "events", "skipped_events")
    columns: dict[str, list[Any]] = {"file": [str(outcome.source) for outcome in outcomes]}
    columns |= {name: [getattr(outcome, name) for outcome in outcomes] for name in names}
    columns["repairs"] = [json.dumps(dict(outcome.repairs)) for outcome in outcomes]
    for name in ("source_bytes", "stored_bytes", "seconds"):
        columns[name] = [getattr(outcome, name) for outcome in outcomes]
    columns["reason"] = [outcome.reason or None for outcome in outcomes]
    with duckdb.connect() as con:
        table = pyarrow.table({name: pyarrow.array(each) for name, each in columns.items()})
        output.write(con.from_arrow(table).project("* REPLACE (CAST(repairs AS JSON) AS repairs)"))


def _below_common_folder(files: list[str]) -> list[str]:
    """The part of each path or URL that tells the files apart, with the file's name at least."""
    folders = [_folder(file) for file in files]
    common = _folder(os.path.commonprefix(folders))
    return [file[len(common) :] for file in files]


def _folder(path: str) -> str:
    return path[: max(path.rfind("/"), path.rfind(os.sep)) + 1]
