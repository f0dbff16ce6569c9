"""Figures of ours and of a peer, what differs between them, and what differences.txt says of that."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

Value = float | str | None
Row = Mapping[str, Value]

#: What sums of floating-point numbers may be apart.
NOISE = 1e-6

FILE = Path(__file__).with_name("differences.txt")


def close(figure: str, row: Row) -> float:
    """Durations to the microsecond, as peers round them; everything else exactly."""
    return 1.0 if figure.endswith("_us") else 0.0


@dataclass(frozen=True)
class Table:
    """Rows of a view and of a peer, by key."""

    view: str
    ours: Mapping[str, Row]
    theirs: Mapping[str, Row]
    #: How far two figures of a row may be apart, asked with the name of the figure and their row.
    tolerance: Callable[[str, Row], float] = close


class Difference(NamedTuple):
    view: str
    figure: str
    ours: Value
    theirs: Value
    key: str


class Listed(NamedTuple):
    """A line of the file: one difference, or the sums of several of which the keys are alike."""

    view: str
    figure: str
    rows: int
    ours: Value
    theirs: Value
    reason: str
    key: str

    def covers(self, found: Difference) -> bool:
        alike = ".*".join(re.escape(part) for part in self.key.split("*"))
        return (self.view, self.figure) == (found.view, found.figure) and bool(
            re.fullmatch(alike, found.key, re.DOTALL)
        )


@dataclass(frozen=True)
class File:
    """What differences.txt holds."""

    reasons: dict[str, str] = field(default_factory=dict)
    #: Paths in the plugin's JSON that are not compared, and why.
    not_compared: dict[str, str] = field(default_factory=dict)
    #: By peer and trace.
    listed: dict[str, list[Listed]] = field(default_factory=lambda: defaultdict(list))


def differences(tables: Iterable[Table]) -> Iterator[Difference]:
    """Every figure that one side alone has, or that is too far from the other side's.

    Where one side alone has a row that counts as one difference in 'row', of the first figures.
    """
    for table in tables:
        for key in {**table.ours, **table.theirs}:
            mine, other = table.ours.get(key), table.theirs.get(key)
            if mine is None or other is None:
                a, b = (next(iter(row.values())) if row else None for row in (mine, other))
                yield Difference(table.view, "row", a, b, key)
                continue
            for figure in {**mine, **other}:
                a, b = mine.get(figure, "no such figure"), other.get(figure, "no such figure")
                if not _is_near(a, b, table.tolerance(figure, other)):
                    yield Difference(table.view, figure, a, b, key)


def problems(peer_and_trace: str, tables: Iterable[Table]) -> list[str]:
    """Lines that differences.txt lacks (+) or that do not occur (-), as it would have them."""
    lines = listed().listed.get(peer_and_trace, [])
    covered: dict[Listed, list[Difference]] = {line: [] for line in lines}
    found = []
    for difference in differences(tables):
        line = next((line for line in lines if line.covers(difference)), None)
        if line:
            covered[line].append(difference)
        else:
            found.append(_text("+", difference, 1))
    for line, occurring in covered.items():
        total = Difference(
            line.view,
            line.figure,
            _sum([difference.ours for difference in occurring]),
            _sum([difference.theirs for difference in occurring]),
            line.key,
        )
        if (
            len(occurring) != line.rows
            or not _is_near(line.ours, total.ours, 0.001)
            or not _is_near(line.theirs, total.theirs, 0.001)
        ):
            found += [_text("-", line, line.rows), _text("+", total, len(occurring))]
    return found


@functools.cache
def listed() -> File:
    """The file, read."""
    file, lines = File(), file_lines()
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "reason":
            name, text = rest.split(maxsplit=1)
            file.reasons[name] = text
        elif word == "not_compared":
            path, text = rest.split(maxsplit=1)
            file.not_compared[path] = text
        elif not line.startswith(" "):
            of_trace = file.listed[line.strip()]
        else:
            view, figure, rows, ours, theirs, reason, key = re.split(
                r"\s{2,}", line.strip(), maxsplit=6
            )
            of_trace.append(
                Listed(view, figure, int(rows), _value(ours), _value(theirs), reason, key)
            )
    return file


def file_lines() -> list[str]:
    """Without comments and empty lines."""
    lines = FILE.read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _value(text: str) -> Value:
    if text == "NULL":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _text(sign: str, found: Difference | Listed, rows: int) -> str:
    values = ["NULL" if x is None else x for x in (found.ours, found.theirs)]
    shown = [x if isinstance(x, str) else f"{x:.3f}".rstrip("0").rstrip(".") for x in values]
    return f"{sign} {found.view}  {found.figure}  {rows}  {shown[0]}  {shown[1]}  ?  {found.key}"


def _is_near(a: Value, b: Value, tolerance: float) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= max(tolerance, NOISE)
    return a == b


def _sum(values: list[Value]) -> Value:
    """Of numbers and NULLs; of texts, which must be all the same, that text."""
    if len(values) == 1 or (len(set(values)) == 1 and isinstance(values[0], str)):
        return values[0]
    numbers = [value for value in values if isinstance(value, int | float)]
    return float(sum(numbers)) if numbers else None
