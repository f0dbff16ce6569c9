"""`tracewh what-if`: a trace replayed with something faster or slower, on one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics
from tracewh.cli.output import Format, Output
from tracewh.cli.output.text_page import Page

if TYPE_CHECKING:
    from tracewh.cli.report.report_trace import ReportTrace

#: Steps on the page; the other formats have all.
MOST_STEPS = 20
#: Share of the step, in percent, from which on what nothing explains makes an answer weak.
WEAK_FROM = 5
#: From this width on, the table of steps has the times of the host, too.
BESIDE = 76
#: Width of a change in a narrow table, where its middle is left out.
SHORTEST = 14
#: Views that list the names that a change takes.
NAMES_IN = {
    "kernels": "kernel_stats",
    "operators": "operator_stats",
    "module": "module_stats",
    "line": "source_lines",
}
#: Columns of the query and their titles, per table.
ALONE = {
    "changed": "change",
    "new_drained": "step",
    "change_text": "effect",
    "unexplained": "unexplained",
    "limited_by": "limited_by",
}
STEPS = {
    "step": "step",
    "host": "host",
    "new_host": "new_host",
    "drained": "drained",
    "new_drained": "new_drained",
    "change_text": "change",
    "unexplained": "unexplained",
    "limited_by": "limited_by",
}
FEWER = ("step", "drained", "new_drained", "change_text", "unexplained", "limited_by")
DRAINED = (
    "drained: time until the work of the step is done, on its thread and on the device, from when that of the "
    "step before was."
)
Row = dict[str, Any]


def predict(
    warehouse: str,
    run: str,
    worker: str | None,
    span: str | None,
    changes: Sequence[str],
    output: Output,
) -> None:
    """Write what steps of a trace would take: of its lowest rank and its first recording by default."""
    import duckdb

    from tracewh.cli.output.empty_result import explain
    from tracewh.cli.report.report_trace import choose_trace, select_traces
    from tracewh.views.queries import query_text

    output.check()
    with output.open_warehouse(warehouse) as opened:
        select_traces(opened, run, None)
        trace = choose_trace(opened, run, worker, span, None)
        given: dict[str, Any] = {"run": trace.run, "worker": trace.worker, "span": trace.span}
        try:
            # All of a result may be late: csv would begin, and then fail.
            opened.sql("FROM parsed_changes(?)", params=[list(changes)]).fetchall()
            if output.format is not Format.TABLE:
                view = opened.registry.get("what_if")
                result = opened.view("what_if", **given, changes=list(changes))
                if not output.write(result, view.keys):
                    explain(opened.view, opened.names(), view, given)
                return
            query = query_text("what_if", **given, changes=list(changes))
            with opened.held(query, "what_if_rows") as held:
                rows = [dict(zip(held.columns, row, strict=True)) for row in held.fetchall()]
        except duckdb.InvalidInputException as error:  # a change cannot be read
            if diagnostics.is_damage(error):
                raise
            diagnostics.usage_error(str(error).removeprefix("Invalid Input Error: "))
        if not rows:
            explain(opened.view, opened.names(), opened.registry.get("what_if"), given)
            return
    for row in rows:
        if row["is_mean"] and row["named"] == 0 and (row["number"] or len(changes) == 1):
            diagnostics.warn(
                f"'{row['changed']}' names nothing in this trace{_hint(row['changed'])}"
            )
    with output.sink() as sink:
        lines = page_lines(Page.of(output), trace, rows)
        sink.write("".join(f"{line}\n" for line in lines).encode())


def _hint(change: str) -> str:
    """Return what helps if a change names nothing."""
    kind, *given = change.split()
    if kind == "collectives":
        return "; those on the host are not replayed"
    if kind in NAMES_IN and len(given) > 1:  # a name and a factor
        return f"; `tracewh show {NAMES_IN[kind]}` lists the names"
    return ""


def page_lines(page: Page, trace: ReportTrace, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the page: the answer, each change alone, each step."""
    means = [row for row in rows if row["is_mean"]]
    steps = [row for row in rows if not row["is_mean"] and row["number"] == 0]
    mean, *alone = means
    facts = [f"run {trace.run}", f"worker {trace.worker}", f"span {trace.span}"]
    yield from page.wrap("  ".join(facts), code="2")
    if trace.others:
        more = f"{trace.others} more trace{'s' * (trace.others > 1)} in this run"
        yield from page.wrap(f"{more}: choose with --worker and --span", code="2")
    yield ""
    yield from page.wrap(_answer(mean, len(alone), bool(steps)), code="1")
    yield from page.wrap(_reservation(mean, steps))
    if alone:
        yield ""
        yield page.style("1", "Each change alone")
        yield from _table(page, [*alone, {**mean, "changed": "all together"}], ALONE)
    if steps:
        yield ""
        yield page.style("1", "Steps")
        shown = [{**row, "step": str(row["step"])} for row in steps[:MOST_STEPS]]
        columns = STEPS if page.width >= BESIDE else {n: t for n, t in STEPS.items() if n in FEWER}
        yield from _table(page, [*shown, {**mean, "step": "mean"}], columns)
        if rest := max(len(steps) - MOST_STEPS, 0):
            left_out = f"{rest:,} more step{'s' * (rest > 1)}; --format csv prints every step"
            yield from page.wrap(left_out, code="2")
        yield ""
        told = (
            DRAINED if page.width < BESIDE else f"host: length of the step on its thread. {DRAINED}"
        )
        yield from page.wrap(told, code="2")


def _answer(mean: Row, others: int, has_steps: bool) -> str:
    """Return the sentence that the page starts with."""
    every = "both" if others == 2 else f"all {others}"
    what = f"{every} changes" if others else f"'{mean['changed']}'"
    subject = "a step" if has_steps else "the recording"
    if mean["change_text"] == "0 %":
        return f"With {what} {subject} takes {mean['drained']}, as recorded."
    text = f"With {what} {subject} takes {mean['new_drained']} instead of {mean['drained']}"
    limit = f", limited by {_words(mean['limited_by'])}" if mean["limited_by"] else ""
    return f"{text} ({mean['change_text']}){limit}."


def _words(limit: str) -> str:
    return {
        "host": "the host",
        "device": "the device",
        "unexplained": "delays that nothing explains",
    }.get(limit, limit)


def _reservation(mean: Row, steps: Sequence[Row]) -> str:
    """Return how much of the step the trace does not explain."""
    if mean["unexplained"] == "0":
        late = sum(step["unexplained"] != "0" for step in steps)
        if late:
            some = "one step" if late == 1 else f"{late} steps"
            return (
                f"The trace does not explain all of {some}; this is kept as recorded. Without it the mean step "
                "would take as long."
            )
        whole = "step" if steps else "recording"
        return f"The trace explains all of the {whole}: nothing unexplained was kept."
    share = f"{mean['unexplained']} of it ({mean['unexplained_share']})"
    weak = " That is much: the answer is weak." if mean["unexplained_pct"] >= WEAK_FROM else ""
    return f"The trace does not explain {share}; this is kept as recorded.{weak}"


def _table(page: Page, rows: Sequence[Row], columns: dict[str, str]) -> Iterator[str]:
    from tracewh.cli.output import table
    from tracewh.cli.output.cell_format import ColumnFormat

    drawn = [
        ColumnFormat(title, [row[name] for row in rows], name not in ("changed", "limited_by"))
        for name, title in columns.items()
    ]
    style = table.TableStyle(
        width=page.width, faint=lambda text: page.style("2", text), shortest=SHORTEST
    )
    yield from table.render(drawn, style)
