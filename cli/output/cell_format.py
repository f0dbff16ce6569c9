"""Values as a reader wants them on a screen.

The digits of a number are chosen for its whole column, so that points stand below each other, and
are never cut off: more of them where all are small, and for bandwidths, which differ by powers of
ten. A value that rounds to zero is ``0.0``, an exact zero is ``0``. NULL is None: how
it looks is the table's business.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

#: From here on an integer is easier to read in groups of three.
GROUPED_FROM = 10_000
#: From here on a number of ns is an instant since 1970, and not one since the machine was started.
INSTANT_FROM = 10**15
#: From here on it is none that a date can be made of.
INSTANT_TO = 2**63
#: How exactly an instant may be shown: characters of ``2023-06-07 14:03:12.348426851``.
EXACT_TO = (16, 19, 23, 26, 29)
#: Columns that hold sentences.
PROSE = ("message", "summary", "documentation", "comment")


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """One column of a table, ready to be laid out.

    Attributes:
        cells: One text per row, None for NULL; the cells of numbers are as wide as they need to be
            for their points to align at the right edge.
        numeric: Numbers are aligned right and never shortened.
    """

    name: str
    cells: Sequence[str | None]
    numeric: bool

    @property
    def prose(self) -> bool:
        """Sentences are wrapped where names are shortened."""
        return self.name in PROSE


def column(
    name: str, values: Sequence[Any], *, numeric: bool | None = None, dates: bool = False
) -> ColumnFormat:
    """Choose how the values of one column look.

    Args:
        numeric: Whether it holds numbers; None to see from the values, of which NULL says nothing.
        dates: Whether instants are shown as date and time, in UTC.
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
    """One line without control characters: a name in a trace may hold anything."""
    if isinstance(value, bool):
        return "true" if value else "false"
    shown = str(value)
    if shown.isprintable():
        return shown
    return "".join(_visible(char) for char in shown)


def _visible(char: str) -> str:
    if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return char
    return char.encode("unicode_escape").decode("ascii")


def _instants(values: Sequence[int | None]) -> list[str | None]:
    """Dates and times, as exact as it takes to tell those that differ apart."""
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
        most = max(most, min(1 - math.floor(math.log10(least)), 6))  # two that say something
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
