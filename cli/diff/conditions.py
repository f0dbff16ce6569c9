"""Parse and evaluate the conditions of `tracewh diff --fail-if 'step_us > 5%'`."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.diff.comparison import Change, Row, unit_of

#: Factors of the units of a limit, by the unit of the figure.
UNITS = {
    "us": {"": 1.0, "us": 1.0, "ms": 1e3, "s": 1e6},
    "bytes": {"": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    "pct": {"": 1.0, "points": 1.0},
    "": {"": 1.0},
}  # fmt: skip
COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
WRITTEN = re.compile(
    r"\s*(?P<figure>\w+)\s*(?:\[(?P<name>.*)\])?\s*(?P<comparison>[<>]=?)\s*"
    r"(?P<number>[-+]?\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*|%)\s*"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A limit for the change of one figure.

    Attributes:
        text: The condition as the user wrote it.
        name: The operator or kernel of the figure, or None.
        limit: In the figure's own unit, or in percent of the baseline.
        relative: Whether it is in percent of the baseline.
    """

    text: str
    figure: str
    name: str | None
    comparison: str
    limit: float
    relative: bool

    @classmethod
    def parse(cls, text: str, figures: Mapping[str, bool]) -> Condition:
        """Parse a condition.

        Args:
            figures: All figures, and whether each needs the name of an operator or kernel.
        """

        def usage_error(why: str) -> NoReturn:
            diagnostics.usage_error(f"--fail-if {text!r}: {why}")

        found = WRITTEN.fullmatch(text)
        if not found:
            usage_error("write a figure, a comparison and a limit, e.g. 'step_us > 5%'")
        figure, name, unit = found["figure"], found["name"], found["unit"]
        if figure not in figures:
            hint = diagnostics.did_you_mean(figure, figures)
            usage_error(
                f"unknown figure {figure!r}{hint or '; choose one of ' + ', '.join(figures)}"
            )
        if figures[figure] and not name:
            usage_error(f"{figure} needs a name, e.g. '{figure}[NAME] > 5%'")
        if name is not None and not figures[figure]:
            usage_error(f"{figure} takes no name")
        units = UNITS[unit_of(figure)]
        if unit not in units and unit != "%":
            usage_error(f"{figure} is in {unit_of(figure) or 'calls'}; "
                   f"a limit is in {', '.join([*filter(None, units), '%'])}")  # fmt: skip
        limit = float(found["number"]) * units.get(unit, 1)
        return cls(text, figure, name, found["comparison"], limit, unit == "%")

    def refuse_unless_comparable(self, headline: Row) -> None:
        """Refuse to judge step times that the headline of the comparison does not compare."""
        if headline["delta_value"] is None:
            why = headline["text"].rstrip(".")
            raise CliError(f"--fail-if {self.text!r}: {why[0].lower()}{why[1:]}")

    def holds(self, change: Change) -> bool:
        """Whether the change exceeds the limit. A figure that cannot be compared is an error."""
        for side, value in (("baseline", change.baseline), ("experiment", change.experiment)):
            if value is None:
                raise CliError(f"--fail-if {self.text!r}: the {side} does not record it")
        changed = change.pct if self.relative else change.delta
        if changed is None:
            changed = 0.0  # 0 in both
            if change.delta:
                raise CliError(
                    f"--fail-if {self.text!r}: it is 0 in the baseline; use a limit that is not a percentage"
                )
        return bool(COMPARISONS[self.comparison](changed, self.limit))
