"""Text is padded and wrapped by the cells that a terminal gives it."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tracewh.cli.output.cells import pad, wrap


def test_wide_characters_take_two_cells() -> None:
    assert pad("核a", 5) == "核a  "
    assert wrap("核核 核核 ab", 7) == ["核核", "核核 ab"]
    assert wrap("a 核核核核", 5) == ["a 核", "核核", "核"]
    assert wrap("核核", 1) == ["核", "核"], "a line has at least one character"
    assert wrap("核核核核 a", 5, break_long_words=False) == ["核核核核", "a"]


@given(st.text(alphabet="ab -\n", max_size=60), st.integers(1, 20), st.booleans())
def test_other_text_is_wrapped_as_python_does(text: str, width: int, is_broken: bool) -> None:
    expected = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=is_broken)
    lines = wrap(text, width, break_long_words=is_broken)
    # Python leaves a blank before a word that it breaks at the start of the next line.
    assert [line.strip() for line in lines] == [line.strip() for line in expected if line.strip()]


@given(st.text(alphabet="a核é\u0301 ", max_size=60), st.integers(2, 20))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert max(map(cell_len, lines), default=0) <= width
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("width", [1, 3])
def test_no_text(width: int) -> None:
    assert wrap("", width) == wrap("  ", width) == []
