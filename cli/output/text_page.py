"""Sentences and their styles, as wide as the terminal."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass

from tracewh.cli import diagnostics
from tracewh.cli.output import Output
from tracewh.cli.output.cell_format import text as plain
from tracewh.cli.output.cells import wrap

#: Width of the page: no narrower than this, no wider than that.
NARROWEST, WIDEST = 40, 110
#: The blank between a number and its unit, where a line must not end.
BEFORE_UNIT = re.compile(r"(?<=[0-9]) (?=%|[mu]?s\b|[KMGT]?i?B\b|steps?\b|ranks\b|GPUs\b)")


@dataclass(frozen=True, slots=True)
class Page:
    """How to write: the width, and whether the terminal wants escape sequences."""

    width: int
    styled: bool

    @classmethod
    def of(cls, output: Output) -> Page:
        """Return the page for a terminal or a file."""
        columns = shutil.get_terminal_size().columns
        styled = output.path is None and diagnostics.supports_color(sys.stdout)
        return cls(min(max(columns, NARROWEST), WIDEST), styled)

    def style(self, code: str, text: str) -> str:
        """Return text with an escape sequence around it, e.g. 1 for bold and 2 for faint."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.styled and text else text

    def wrap(self, text: str, indent: int = 0, first: str = "", code: str = "") -> list[str]:
        """Return the lines of a text.

        Args:
            text: The text.
            indent: Number of spaces before each line but the first.
            first: What is before the first line, as wide as the indent.
            code: Style of the text.
        """
        room = max(self.width - indent, 1)
        kept = BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", plain(text))
        kept = kept.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        lines = wrap(kept, room, break_long_words=False) or [""]
        lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
        heads = [first, *[" " * indent] * (len(lines) - 1)]
        return [
            head + self.style(code, line) if code else head + line
            for head, line in zip(heads, lines, strict=True)
        ]
