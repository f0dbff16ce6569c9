"""The differences between two runs: the rows of the diff views."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tracewh.cli.diagnostics.errors import CliError
from tracewh.views.registry import installed

if TYPE_CHECKING:
    from tracewh.views import Spec
    from tracewh.views.warehouse import Warehouse

#: Views whose rows have a name, by the prefix of their figures.
NAMED = {"operator": "diff_operators", "kernel": "diff_kernels"}
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of two runs, and its difference.

    Attributes:
        pct: Difference as a percentage of the baseline; None if that is 0 or not recorded.
        tested: Whether a significance test applies to the figure.
        significant: Result of the test; None if there is no test, or if there are too few steps.
        per_step: What was tested, for a figure of the whole recording: the difference of its medians per step.
    """

    baseline: float | None
    experiment: float | None
    delta: float | None
    pct: float | None
    tested: bool
    p_value: float | None
    significant: bool | None
    per_step: float | None = None

    @property
    def is_reversed(self) -> bool:
        """Whether a significant change per step has the other sign: one run has more steps."""
        return bool(self.significant) and (self.per_step or 0) * (self.delta or 0) < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two runs: the rows of the diff views.

    Attributes:
        names: The baseline and the experiment, each with the worker and the span that were chosen.
        verdict: The sentence on the two runs, and the figures behind it.
        block: Path of the block that is compared; None for the whole trace.
        blocks: That block or the whole trace, then the blocks in it by name, from one trace of each run.
    """

    baseline: str
    experiment: str
    names: tuple[str, str]
    alpha: float
    block: str | None
    verdict: list[Row]
    overview: Row
    steps: list[Row]
    operators: list[Row]
    kernels: list[Row]
    blocks: list[Row]

    @classmethod
    def query(
        cls, warehouse: Warehouse, arguments: dict[str, Any], alpha: float, block: str | None
    ) -> Comparison:
        """Run the diff views."""
        within: dict[str, Any] = {} if block is None else {"block": block}

        def rows(view: str, **more: Any) -> list[Row]:
            return _rows(warehouse, view, {**arguments, "alpha": alpha, **more})

        def name(side: str) -> str:
            parts = (arguments.get(key) for key in (side, f"{side}_worker", f"{side}_span"))
            return " ".join(part for part in parts if part is not None)

        nothing = {column.name: None for column in installed().get("diff_overview").columns}
        overview = (rows("diff_overview") or [nothing])[0]
        return cls(
            arguments["baseline"],
            arguments["experiment"],
            (name("baseline"), name("experiment")),
            alpha,
            block,
            rows("diff_verdict"),
            overview,
            steps=rows("diff_steps"),
            operators=rows(NAMED["operator"], **within),
            kernels=rows(NAMED["kernel"], **within),
            blocks=_rows(warehouse, "diff_blocks", {**arguments, **within}),
        )

    @property
    def headline(self) -> Row:
        """The row of the verdict that says how the two runs compare."""
        [row] = [row for row in self.verdict if row["part"] == "headline"]
        return row

    @property
    def has_steps(self) -> bool:
        """Whether the step time compares steps of both runs, not recordings as a whole."""
        titles = [row["title"] for row in self.verdict if row["part"] == "figure"]
        return self.headline["delta_value"] is not None and titles[0] == "Step time"

    def is_of_steps(self, figure: str) -> bool:
        """Whether a figure of `figures` is the step time or a category of it."""
        return figure == "step_us" or figure in _categories()

    def change(self, figure: str, name: str | None = None) -> Change:
        """Return the change of one of `figures`; with a name, of that operator or kernel."""
        kind, _, part = figure.partition("_")
        if name is not None:
            rows = self.operators if kind == "operator" else self.kernels
            found = [row for row in rows if row["name"] == name]
            if not found:
                raise CliError(f"neither run has a {kind} named {name!r}")
            return self.part(found[0], part)
        if f"delta_{figure}" in self.overview:
            tested = "step_{}" if figure == "step_us" else ""
            return self._change(self.overview, figure, tested.format("p_value"), "step_significant")
        category = figure.removesuffix("_us")
        [row] = [row for row in self.steps if row["category"] == category]
        return self._change(row, "mean_us", "p_value", "significant")

    def part(self, row: Row, figure: str) -> Change:
        """Return one figure of an operator or kernel; within a block there is no significance test."""
        tested = figure.removesuffix("_us")
        p_value = f"{tested}_p_value" if self.block is None else ""
        change = self._change(row, figure, p_value, "significant")
        baseline, experiment = (
            row.get(f"{side}_{tested}_step_median_us") for side in ("baseline", "experiment")
        )
        if baseline is None or experiment is None:
            return change
        return replace(change, per_step=experiment - baseline)

    def block_change(self, row: Row) -> Change:
        """Return the time of a block; one trace per run allows no significance test."""
        return self._change(row, "us", "", "")

    def _change(self, row: Row, figure: str, p_value: str, significant: str) -> Change:
        p = row.get(p_value)
        # A row is significant if any of its figures is, so compare the figure's own p-value.
        is_significant = None if p is None or row[significant] is None else p < self.alpha
        return Change(
            row[f"baseline_{figure}"],
            row[f"experiment_{figure}"],
            row[f"delta_{figure}"],
            row[f"delta_{figure}_pct"],
            p_value in row,
            p,
            is_significant,
        )


def _rows(warehouse: Warehouse, view: str, arguments: dict[str, Any]) -> list[Row]:
    with warehouse.held_view(view, **arguments) as rows:
        return [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]


def figures() -> dict[str, bool]:
    """The figures of the diff views, and whether each is of something with a name."""
    found = dict.fromkeys(_compared(installed().get("diff_overview")), False)
    found |= dict.fromkeys(_categories(), False)
    for kind, view in NAMED.items():
        found |= {f"{kind}_{figure}": True for figure in _compared(installed().get(view))}
    return found


def _categories() -> list[str]:
    """Return the times of a step by category."""
    names = [column.name for column in installed().get("step_breakdown").columns]
    return [name for name in names if name.endswith("_us") and name != "total_us"]


def _compared(view: Spec) -> list[str]:
    names = [column.name for column in view.columns]
    return [
        name.removeprefix("delta_")
        for name in names
        if name.startswith("delta_") and f"{name}_pct" in names
    ]


def unit_of(figure: str) -> str:
    """Return the unit at the end of a figure's name: ``us``, ``bytes``, ``pct`` or an empty text."""
    end = figure.rpartition("_")[2]
    return end if end in ("us", "bytes", "pct") else ""
