"""Where a line of text may end."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tracewh.cli.output.text_page import Page


@pytest.mark.parametrize("width", range(12, 40))
def test_a_number_stays_with_its_unit_and_a_value_with_its_name(width: int) -> None:
    lines = Page(width, styled=False).wrap("166 ms to 142 ms per step, 12 steps, p = 0.03")
    text = "\n".join(lines)
    assert all(part in text for part in ("166 ms", "142 ms", "12 steps", "p = 0.03"))
    assert max(map(len, lines)) <= width


def test_wide_characters_take_two_cells() -> None:
    lines = Page(20, styled=False).wrap("核核核 against 核核核核, 12 steps, 核核核核核核核 " * 2)
    assert max(map(cell_len, lines)) <= 20
