"""`tracewh export`: write a trace of the warehouse as a file for Perfetto or chrome://tracing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tracewh.cli import diagnostics
from tracewh.cli.output import Output, atomic_write, empty_result
from tracewh.cli.output.trace_file import gzipped, write_trace
from tracewh.storage.layout import KEYS

if TYPE_CHECKING:
    import pyarrow

    from tracewh.storage.layout import TraceKeys
    from tracewh.views.warehouse import Warehouse


def export_trace(
    warehouse: str,
    run: str,
    worker: str | None,
    span: str | None,
    critical_path: str | None,
    path: Path,
) -> None:
    """Write a trace to a file. The file appears when all of it is written, or not at all."""
    from tracewh.ingest.api import names
    from tracewh.ingest.reconstruct import source_of
    from tracewh.storage.open_store import open_store
    from tracewh.storage.remote import is_url
    from tracewh.views.warehouse import find

    if not path.name.endswith((".json", ".json.gz")):
        diagnostics.usage_error(f"-o: the name must end in .json or .json.gz, not {path.name!r}")
    output = Output(path=path)
    output.check()
    if not is_url(warehouse):
        find(warehouse)
    trace = _pick_trace(names(warehouse), run, worker, span)
    traces = open_store(warehouse).traces(trace[0], trace[1])
    [stored] = (each for each in traces if each.span == trace[2])
    with stored.local_folder() as folder:
        origin = source_of(folder)
        critical = None
        if critical_path is not None:
            with output.open_warehouse(warehouse) as opened:
                critical = _critical_events(opened, trace, critical_path)
        with (
            diagnostics.killable(output.discard),
            atomic_write(path) as part,
            part.open("wb") as file,
            _compressed(path, file) as sink,
        ):
            counts = write_trace(sink, folder, "/".join(trace), critical)
    text = f"wrote {path}: {counts[0]:,} events of worker {trace[1]}, span {trace[2]}"
    if critical is not None:
        marked = len(critical.column("event_id").unique())
        arrow_count = counts[1] // 2
        plural = "" if arrow_count == 1 else "s"
        text += f"; {marked:,} critical events, {arrow_count:,} arrow{plural} between them"
    diagnostics.line(text)
    if origin != "kineto":
        diagnostics.note(
            f"it was recorded with {origin}: the file has its events as a Chrome trace, and {origin} cannot open it"
        )


def _pick_trace(
    traces: list[TraceKeys], run: str, worker: str | None, span: str | None
) -> TraceKeys:
    from tracewh.views.names import resolve_names

    wanted = {"run": run, "worker": worker, "span": span}
    found = resolve_names(traces, {key: name for key, name in wanted.items() if name is not None})[
        1
    ]
    if len(found) > 1:
        places = {"worker": 1, "span": 2}
        differ = [name for name, at in places.items() if len({trace[at] for trace in found}) > 1]
        choices = [
            " ".join(f"--{name} {trace[places[name]]}" for name in differ)
            for trace in sorted(found)
        ]
        diagnostics.usage_error(
            f"a file holds one trace, but run {found[0][0]!r} has {len(found)}: choose the"
            f" {' and '.join(differ)} ({empty_result.abbreviate(choices)})"
        )
    return found[0]


def _critical_events(warehouse: Warehouse, trace: TraceKeys, wanted: str) -> pyarrow.Table:
    from tracewh.views.queries import query_rows, run_query

    if wanted != "all" and not wanted.isdecimal():
        diagnostics.usage_error(
            f"--critical-path takes the number of a step, or all, not {wanted!r}"
        )
    step = None if wanted == "all" else int(wanted)
    keys = dict(zip(KEYS, trace, strict=True))
    rows = query_rows(warehouse, "recorded_steps", **keys)
    steps = [number for (number,) in rows]
    if step not in (None, *steps):
        known = (
            f"steps: {empty_result.abbreviate([str(n) for n in steps])}"
            if steps
            else "it has no steps"
        )
        diagnostics.usage_error(
            f"--critical-path: the trace has no step {step}; {known}; or use all"
        )
    return run_query(warehouse, "critical_events", **keys, step=step).to_arrow_table()


def _compressed(path: Path, file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return gzipped(file) if path.suffix == ".gz" else nullcontext(file)
