"""What changed between two runs, as the diff views say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracewh.cli.diagnostics.errors import CliError
from tracewh.views.registry import installed

if TYPE_CHECKING:
    import duckdb

    from tracewh.views import Spec
    from tracewh.views.warehouse import Warehouse

#: Views of things with a name, by the word that their figures begin with.
NAMED = {"operator": "diff_operators", "kernel": "diff_kernels"}
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of two runs.

    Attributes:
        pct: Difference as a share of the baseline; None where that is 0 or not recorded.
        tested: Whether a test asks if it is more than chance.
        significant: What it says; None where it is not tested, or steps are too few to tell.
    """

    baseline: float | None
    experiment: float | None
    delta: float | None
    pct: float | None
    tested: bool
    p_value: float | None
    significant: bool | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, and the rows of the diff views.

    Attributes:
        block: Path of the block that operators and kernels are of; None for all.
        blocks: That block or the whole trace, then what is in it, by name; of one trace of each run.
    """

    baseline: str
    experiment: str
    alpha: float
    block: str | None
    overview: Row
    steps: list[Row]
    operators: list[Row]
    kernels: list[Row]
    blocks: list[Row]

    @classmethod
    def ask(
        cls, warehouse: Warehouse, arguments: dict[str, Any], alpha: float, block: str | None
    ) -> Comparison:
        """Ask the views."""
        within: dict[str, Any] = {} if block is None else {"block": block}

        def rows(view: str, **more: Any) -> list[Row]:
            return _rows(warehouse.view(view, **arguments, alpha=alpha, **more))

        [overview] = rows("diff_overview")
        return cls(
            arguments["baseline"],
            arguments["experiment"],
            alpha,
            block,
            overview,
            steps=rows("diff_steps"),
            operators=rows(NAMED["operator"], **within),
            kernels=rows(NAMED["kernel"], **within),
            blocks=_rows(warehouse.view("diff_blocks", **arguments, **within)),
        )

    def change(self, figure: str, name: str | None = None) -> Change:
        """What became of one of `figures`, which may be that of an operator or kernel."""
        kind, _, part = figure.partition("_")
        if name is not None:
            rows = self.operators if kind == "operator" else self.kernels
            found = [row for row in rows if row["name"] == name]
            if not found:
                raise CliError(f"neither run has the {kind} {name!r}")
            return self.part(found[0], part)
        if f"delta_{figure}" in self.overview:
            tested = "step_{}" if figure == "step_us" else ""
            return self._change(self.overview, figure, tested.format("p_value"), "step_significant")
        category = figure.removesuffix("_us")
        [row] = [row for row in self.steps if row["category"] == category]
        return self._change(row, "mean_us", "p_value", "significant")

    def part(self, row: Row, figure: str) -> Change:
        """One figure of an operator or kernel; within a block no test can tell chance."""
        p_value = f"{figure.removesuffix('_us')}_p_value" if self.block is None else ""
        return self._change(row, figure, p_value, "significant")

    def block_change(self, row: Row) -> Change:
        """The time of a block; of one trace a side no test can tell chance."""
        return self._change(row, "us", "", "")

    def _change(self, row: Row, figure: str, p_value: str, significant: str) -> Change:
        p = row.get(p_value)
        # A row is significant where any figure of it is.
        told = None if p is None or row[significant] is None else p < self.alpha
        return Change(
            row[f"baseline_{figure}"],
            row[f"experiment_{figure}"],
            row[f"delta_{figure}"],
            row[f"delta_{figure}_pct"],
            p_value in row,
            p,
            told,
        )


def _rows(relation: duckdb.DuckDBPyRelation) -> list[Row]:
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def figures() -> dict[str, bool]:
    """The figures of the diff views, and whether each is of something with a name."""
    categories = [column.name for column in installed().get("step_breakdown").columns]
    found = dict.fromkeys(_compared(installed().get("diff_overview")), False)
    found |= {name: False for name in categories if name.endswith("_us") and name != "total_us"}
    for kind, view in NAMED.items():
        found |= {f"{kind}_{figure}": True for figure in _compared(installed().get(view))}
    return found


def _compared(view: Spec) -> list[str]:
    names = [column.name for column in view.columns]
    return [
        name.removeprefix("delta_")
        for name in names
        if name.startswith("delta_") and f"{name}_pct" in names
    ]


def unit_of(figure: str) -> str:
    """``us``, ``bytes``, ``pct`` or nothing: how the name of a figure ends."""
    end = figure.rpartition("_")[2]
    return end if end in ("us", "bytes", "pct") else ""
