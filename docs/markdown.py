"""Markdown helpers for the generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Escape a text for a cell of a table."""
    return text.replace("|", "\\|")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are not escaped."""
    lines = [header, ["---" for _ in header], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def sentence(text: str) -> str:
    """Return a phrase of a header as a sentence."""
    return f"{text[0].upper()}{text[1:]}."
