"""`tracewh summary`: the verdict of one trace on one screen of a terminal."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tracewh.cli.commands.options import DEFAULT_WAREHOUSE
from tracewh.cli.output import Format, Output
from tracewh.cli.output.step_categories import STEP_CATEGORIES
from tracewh.cli.output.text_page import Page

if TYPE_CHECKING:
    from tracewh.cli.report.report_trace import ReportTrace

#: From this width on, costs and sentences of findings are next to each other.
BESIDE = 72
#: With less room beside its value, what to know about a card is below it.
LEAST_DETAIL = 24
Row = dict[str, Any]


def summarize(
    warehouse: str, run: str | None, worker: str | None, span: str | None, output: Output
) -> None:
    """Write the verdict of one trace: of the newest run, its lowest rank and its first recording by default."""
    from tracewh.cli.report.best_replay import best_replay
    from tracewh.cli.report.report_trace import choose_trace, newest_run, select_traces
    from tracewh.views.queries import query_rows

    output.check()
    with output.open_warehouse(warehouse) as opened:
        run = newest_run(opened) if run is None else run
        select_traces(opened, run, None)
        trace = choose_trace(opened, run, worker, span, None)
        of_trace: dict[str, Any] = {"run": trace.run, "worker": trace.worker, "span": trace.span}
        with opened.held_view("verdict", **of_trace) as verdict:
            if output.format is not Format.TABLE:
                output.write(verdict)
                return
            rows = [dict(zip(verdict.columns, row, strict=True)) for row in verdict.fetchall()]
        parts = query_rows(opened, "mean_step", **of_trace)
        if (best := best_replay(opened, trace)) is not None:
            rows = [row for row in rows if row["part"] != "gain"]
            rows.append({"part": "gain", "text": best})
        traces = [names for names in opened.names() if names[0] == trace.run]
        late = query_rows(opened, "workers_to_compare", **of_trace) if _is_about_waits(rows) else []
    options = _options(trace, traces, warehouse)
    lines = page_lines(Page.of(output), trace, rows, parts, options, late)
    with output.sink() as sink:
        sink.write("".join(f"{line}\n" for line in lines).encode())


def page_lines(
    page: Page,
    trace: ReportTrace,
    rows: Sequence[Row],
    parts: Sequence[tuple[str, float, str]],
    options: tuple[str, str],
    late: Sequence[tuple[str, str]],
) -> Iterator[str]:
    """Yield the lines of the page.

    Args:
        page: How to write.
        trace: The trace that it is about.
        rows: The rows of the view verdict.
        parts: The categories of the mean step, their time in us and their time as text.
        options: Options of commands: those that choose the trace of the run, and the warehouse.
        late: A worker that waits for a straggler, and the straggler, if the headline is about that.
    """
    by_part: dict[str, list[Row]] = {}
    for row in rows:
        by_part.setdefault(row["part"], []).append(row)
    [headline] = by_part["headline"]
    cards, findings = by_part.get("card", []), by_part.get("finding", [])
    yield from _about(page, trace, headline["detail"])
    yield ""
    yield from page.wrap(headline["text"], code="1")
    for gain in by_part.get("gain", []):
        yield from page.wrap(gain["text"])
    if cards:
        yield ""
        yield from _cards(page, cards)
    if parts:
        yield ""
        # The time of a serving step leaves out waits for work that is not in the trace; its parts do not.
        what = {"Step time": "Average step, {}", "Recording": "Whole recording, {}"}.get(
            cards[0]["title"], "Average step, with all waits"
        )
        yield page.style("1", what.format(cards[0]["text"]))
        yield from _bar(page, parts)
    if findings:
        yield ""
        yield page.style("1", "What costs most")
        yield from _findings(page, findings, trace, options)
    yield ""
    yield page.style("1", "Next")
    for waiting, straggler in late:
        yield _comparison(trace, waiting, straggler, options)
    yield from _commands(trace, headline["view"], *options)


def _about(page: Page, trace: ReportTrace, detail: str | None) -> Iterator[str]:
    """Yield which trace this is, and how many more there are."""
    facts = [f"run {trace.run}", f"worker {trace.worker}", f"span {trace.span}"]
    if trace.date:
        facts.append(trace.date)
    yield from page.wrap("  ".join([*facts, *([detail] if detail else [])]), code="2")
    if trace.others:
        more = f"{trace.others} more trace{'s' * (trace.others > 1)} in this run"
        yield from page.wrap(f"{more}: choose with --worker and --span", code="2")


def _cards(page: Page, cards: Sequence[Row]) -> Iterator[str]:
    """Yield one line per card: its title, its value, and what to know besides."""
    titles = max(len(card["title"]) for card in cards)
    values = [card["text"] or "-" for card in cards]
    width = max(map(len, values))
    indent = titles + width + 4
    for card, value in zip(cards, values, strict=True):
        line = f"{card['title']:<{titles}}  " + page.style("1", f"{value:>{width}}")
        detail = card["detail"] or ""
        if page.width - indent >= LEAST_DETAIL:
            yield from page.wrap(detail, indent=indent, first=f"{line}  ")
        else:
            yield line
            if detail:
                yield from page.wrap(detail, indent=2, first="  ")


def _bar(page: Page, parts: Sequence[tuple[str, float, str]]) -> Iterator[str]:
    """Yield the mean step as one bar, and below it what each color or letter means."""
    whole = sum(part[1] for part in parts)
    bar, legend = "", []
    done, ends = 0.0, 0
    for category, us, text in parts:
        known = STEP_CATEGORIES[category]
        name, letter, color = known.word, known.letter, known.terminal_color
        done += us
        cells = round(page.width * done / whole) - ends
        ends += cells
        bar += page.style(f"38;5;{color}", "█" * cells) if page.styled else letter * cells
        mark = page.style(f"38;5;{color}", "■") if page.styled else letter
        legend.append((f"{mark} {name} {text}", len(name) + len(text) + 3))
    yield bar
    line, used = "", 0
    for entry, cells in legend:
        if used and used + 3 + cells > page.width:
            yield line
            line, used = "", 0
        line += ("   " if used else "") + entry
        used += (3 if used else 0) + cells
    yield line


def _findings(
    page: Page, findings: Sequence[Row], trace: ReportTrace, options: tuple[str, str]
) -> Iterator[str]:
    """Yield each finding: its cost, what is wrong, what to change, and the command that proves it."""
    beside = page.width >= BESIDE
    width = max(len(finding["title"]) for finding in findings)
    indent = width + 2 if beside else 2
    for finding in findings:
        cost = page.style("1", f"{finding['title']:<{width}}")
        if not beside:
            yield cost.rstrip()
        first = f"{cost}  " if beside else "  "
        yield from page.wrap(finding["text"], indent=indent, first=first)
        yield from page.wrap(finding["remedy"], indent=indent, first=" " * indent)
        yield " " * indent + page.style("2", f"see: {_show(finding['view'], trace, *options)}")


def _options(
    trace: ReportTrace, names: Sequence[tuple[str, str, str]], warehouse: str
) -> tuple[str, str]:
    """Return the options of commands: worker and span where the run has several, and the warehouse."""
    one = ""
    if len({worker for _, worker, _ in names}) > 1:
        one += f" --worker {shlex.quote(trace.worker)}"
    if len({span for _, _, span in names}) > 1:
        one += f" --span {shlex.quote(trace.span)}"
    is_default = warehouse == os.environ.get("TRACEWH_WAREHOUSE", DEFAULT_WAREHOUSE)
    return one, "" if is_default else f" -w {shlex.quote(warehouse)}"


def _is_about_waits(rows: Sequence[Row]) -> bool:
    """Return whether the headline is about workers that wait for each other."""
    return any(row["part"] == "headline" and row["view"] == "comm_wait" for row in rows)


def _comparison(trace: ReportTrace, waiting: str, straggler: str, options: tuple[str, str]) -> str:
    """Return the command that says what a straggler does longer than a worker that waits for it."""
    one, where = options
    run, span = shlex.quote(trace.run), shlex.quote(trace.span)
    sides = (("baseline", waiting), ("experiment", straggler))
    chosen = "".join(f" --{side}-worker {shlex.quote(worker)}" for side, worker in sides)
    if " --span " in one:
        chosen += "".join(f" --{side}-span {span}" for side, _ in sides)
    return f"  tracewh diff {run} {run}{chosen}{where}"


def _show(view: str, trace: ReportTrace, one: str, where: str) -> str:
    """Return the command that prints what a view says about the trace."""
    return f"tracewh show {view} --run {shlex.quote(trace.run)}{one}{where}"


def _commands(trace: ReportTrace, view: str, one: str, where: str) -> Iterator[str]:
    """Yield commands to type next: the evidence, all advice, and the report."""
    from tracewh.cli.report.report_trace import OTHER

    run = shlex.quote(trace.run)
    yield f"  {_show(view, trace, one, where)}"
    if trace.source == OTHER:  # no rule knows its events
        yield f"  {_show('flamegraph', trace, one, where)}"
    else:
        yield f"  tracewh show recommendations --run {run}{where}"
    yield f"  tracewh report {run}{one}{where} -o report.html"
