"""A trace: what the TensorBoard plugin says of it, and our views of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.views.test_every_view import TAKEN_TOGETHER

if TYPE_CHECKING:
    import tracewh
    from tests.parity.plugin.said import Said


@dataclass(frozen=True)
class Trace:
    """One trace of the corpus."""

    name: str
    warehouse: tracewh.Warehouse
    keys: dict[str, str]
    #: The plugin's figures.
    said: Said

    def rows(self, view: str, **arguments: Any) -> list[dict[str, Any]]:
        """What a view of ours returns for the trace, out of what it returns for all: that is asked once.

        tests/views/test_every_view.py sees to it that both are the same.
        """
        spec = self.warehouse.registry.get(view)
        names = {param.name for param in spec.params}
        if not names >= self.keys.keys() or spec.object_name in TAKEN_TOGETHER:
            return rows(getattr(self.warehouse, view)(**self.keys, **arguments))
        apart = {"per_span": True} if "per_span" in names else {}
        every = of_all(self.warehouse, view, **apart, **arguments)
        return every.get(tuple(self.keys.values()), [])

    def sql(self, query: str) -> list[dict[str, Any]]:
        """What a query returns; $run, $worker and $span are those of the trace."""
        return rows(self.warehouse.sql(query, self.keys))

    def us(self, time_ns: int | None) -> float | None:
        """An instant as the file has it."""
        return None if time_ns is None else (time_ns - self._zero) / 1000

    @functools.cached_property
    def _zero(self) -> int:
        [row] = self.sql(f"SELECT coalesce(t.base_time_ns, 0) AS ns FROM traces AS t {OF_TRACE}")
        return int(row["ns"])

    @property
    def has_coarse_times(self) -> bool:
        """Whether a float64 holds its times in steps of 0.25 us only, which add up in peers."""
        return self.name.startswith("v100_absolute_ns_2024")


#: Of the table t, the rows of the trace.
OF_TRACE = "WHERE t.run = $run AND t.worker = $worker AND t.span = $span"


@functools.cache
def of_all(
    warehouse: tracewh.Warehouse, view: str, **arguments: Any
) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """What a view returns, by run, worker and span."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows(getattr(warehouse, view)(**arguments)):
        found.setdefault((row["run"], row["worker"], row["span"]), []).append(row)
    return found


def rows(relation: Any) -> list[dict[str, Any]]:
    """What a relation holds, by the names of its columns."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
