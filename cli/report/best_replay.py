"""What a trace gains most from in a replay, for the top of a page and of a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracewh.views.queries import query_rows

if TYPE_CHECKING:
    from tracewh.cli.report.report_trace import ReportTrace
    from tracewh.views.warehouse import Warehouse


def best_replay(warehouse: Warehouse, trace: ReportTrace) -> str | None:
    """Return the sentence on the best what-if; None without steps, or where nothing gains much.

    A replay knows what limits the step next. The gain of the verdict only takes the time away.
    """
    given = {"run": trace.run, "worker": trace.worker, "span": trace.span}
    if not query_rows(warehouse, "recorded_steps", **given):
        return None
    best = query_rows(warehouse, "best_replay", **given)
    return best[0][0] if best else None
