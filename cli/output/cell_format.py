"""Format values as text for a table.

The number of decimals is chosen per column, so that decimal points align and digits are never cut off:
columns of small values have more decimals, and so do bandwidths, which differ by powers of ten. A value
that rounds to zero is ``0.0``, an exact zero is ``0``. NULL stays None; the table chooses its text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tracewh.files import visible

#: Integers from this size on get thousands separators.
GROUPED_FROM = 10_000
#: Times in ns from this size on count from 1970, and are in 2001 or later; smaller ones count from the start of
#: the machine.
INSTANT_FROM = 10**18
#: Times in ns from this size on cannot be converted to a date.
INSTANT_TO = 2**63
#: Precisions of a date and time: characters of ``2023-06-07 14:03:12.348426851``.
EXACT_TO = (16, 19, 23, 26, 29)
#: Columns that contain sentences.
PROSE = ("message", "summary", "documentation", "comment")


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """One formatted column of a table.

    Attributes:
        cells: One text per row, None for NULL. Numbers have the same number of decimals, so that their
            decimal points align at the right edge.
        numeric: Whether the column holds numbers, which are aligned right and never shortened.
    """

    name: str
    cells: Sequence[str | None]
    numeric: bool

    @property
    def prose(self) -> bool:
        """Whether the column holds sentences, which are wrapped, while names are shortened."""
        return self.name in PROSE


def column(
    name: str, values: Sequence[Any], *, numeric: bool | None = None, dates: bool = False
) -> ColumnFormat:
    """Format the values of one column.

    Args:
        numeric: Whether a column with only NULL holds numbers; other columns show it by their values.
        dates: Whether to show times since 1970 as date and time, in UTC.
    """
    known = [value for value in values if value is not None]
    if not known:
        return ColumnFormat(name, values, numeric=bool(numeric))
    if all(isinstance(value, int) and not isinstance(value, bool) for value in known):
        if dates and name.endswith("_ns") and max(known) >= INSTANT_FROM:
            return ColumnFormat(name, _instants(values), numeric=True)
        return ColumnFormat(name, _integers(name, values), numeric=True)
    if all(isinstance(value, float | Decimal) for value in known):
        return ColumnFormat(name, _floats(name, values), numeric=True)
    return ColumnFormat(name, [None if v is None else text(v) for v in values], numeric=False)


def text(value: Any) -> str:
    """Return a value as one line, with control characters escaped: names in a trace may have any."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(str(value))


def _instants(values: Sequence[int | None]) -> list[str | None]:
    """Return dates and times, only as precise as needed to distinguish different values."""
    texts = [None if value is None else _instant(value) for value in values]
    different = len(set(texts))
    cut = ([text[:end] if text and "." in text else text for text in texts] for end in EXACT_TO)
    return next(some for some in cut if len(set(some)) == different)


def is_dated(column: ColumnFormat) -> bool:
    """Whether a column holds dates and times."""
    known = [cell for cell in column.cells if cell]
    return column.name.endswith("_ns") and bool(known) and all("-" in cell[1:] for cell in known)


def _instant(value: int) -> str:
    if not INSTANT_FROM <= value < INSTANT_TO:
        return str(value)
    seconds, ns = divmod(value, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{ns:09}"


def _integers(name: str, values: Sequence[int | None]) -> list[str | None]:
    largest = max(abs(value) for value in values if value is not None)
    identifier = name.endswith("_id") or name in ("pid", "tid", "address")
    group = GROUPED_FROM <= largest < INSTANT_FROM and not identifier
    return [None if v is None else f"{v:,}" if group else str(v) for v in values]


def _floats(name: str, values: Sequence[float | Decimal | None]) -> list[str | None]:
    numbers = [None if value is None else float(value) for value in values]
    finite = [abs(number) for number in numbers if number is not None and math.isfinite(number)]
    largest = max(finite, default=0.0)
    if 0 < largest < 0.01 or largest >= 1e15:
        return [None if number is None else f"{number:.4g}" for number in numbers]
    most = 1 if largest >= GROUPED_FROM else 2 if largest >= 100 or name.endswith("_pct") else 3
    if finite and (0 < largest < 1 and not name.endswith("_pct") or name.endswith("_gbps")):
        least = min((number for number in finite if number), default=1.0)
        most = max(most, min(1 - math.floor(math.log10(least)), 6))  # two significant digits
    digits = next(
        (d for d in range(most) if all(abs(n - round(n, d)) < 1e-9 * max(n, 1) for n in finite)),
        most,
    )
    return [None if number is None else _float(number, digits) for number in numbers]


def _float(number: float, digits: int) -> str:
    if not math.isfinite(number):
        return str(number)
    if number == 0 and digits:
        return "0" + " " * (digits + 1)
    return f"{number:,.{digits}f}"
