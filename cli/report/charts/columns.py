"""The rows of a chart, by column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "us": ((1e6, "s"), (1e3, "ms"), (1, "µs")),
    "ms": ((1e3, "s"), (1, "ms")),
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")),
    "bytes": ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")),
    "pct": ((1, "%"),),
}


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """A column of the rows of a chart."""

    name: str
    unit: str
    values: Sequence[Any]

    @property
    def title(self) -> str:
        """The name in words; the unit is at the axis."""
        name = self.name
        if self.unit in SCALES:
            name = name.removesuffix(f"_{self.unit}")
        return name.replace("_", " ")

    @property
    def numbers(self) -> list[float]:
        """The values as numbers; 0 for what is missing and for what no chart can show."""
        return [_number(value) for value in self.values]

    @property
    def scale(self) -> tuple[float, str]:
        """Size and name of the unit that suits the largest value."""
        return scale_of(self.unit, self.numbers)


def _number(value: Any) -> float:
    found = float(value or 0)
    return found if math.isfinite(found) else 0.0


def scale_of(unit: str, numbers: Iterable[float]) -> tuple[float, str]:
    """Return size and name of the unit that suits the largest of the numbers."""
    scales = SCALES.get(unit, ((1, ""),))
    largest = max(map(abs, numbers), default=0.0)
    return next((scale for scale in scales if largest >= scale[0]), scales[-1])


def columns_of(found: Mapping[str, Any]) -> dict[str, ChartColumn]:
    """Return the columns of rows by name."""
    return {
        column["name"]: ChartColumn(column["name"], column["unit"], values)
        for column, values in zip(found["columns"], found["values"], strict=True)
    }


def filled(columns: Mapping[str, ChartColumn], names: Sequence[str]) -> list[ChartColumn]:
    """Return those of the columns that have any value."""
    return [columns[name] for name in names if name in columns and any(columns[name].numbers)]
