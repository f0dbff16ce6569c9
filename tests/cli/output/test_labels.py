"""Names are shortened where they agree, never where they differ."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import tracewh
from tracewh.cli.output.labels import distinct, shorten

CUTLASS = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_{}_tn_align8>(Params)"
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=60),
        # Texts that have much in common, wide characters and what labels are made of.
        st.lists(st.sampled_from(["void ", "at::", "64x64_", "64", "核", "…", "(1)", "<a>"]), max_size=20).map("".join),
    ),
    min_size=1, max_size=30, unique=True,
)  # fmt: skip


def test_shorten_keeps_both_ends() -> None:
    name = CUTLASS.format("64x6")
    short = shorten(name, 40)
    head, tail = short.split("…")
    assert len(short) == 40
    assert name.startswith(head) and name.endswith(tail)
    assert len(head) > len(tail) > 5
    assert shorten("short", 5) == "short"
    assert shorten("核核核核核核", 7) == "核核…核", "wide characters take two cells"


def test_the_head_says_what_it_is_and_the_middle_what_differs() -> None:
    tiles = ["64x6", "32x6", "128x3"]
    assert list(distinct([CUTLASS.format(tile) for tile in tiles], 40).values()) == [
        "void cutlass::Kernel2<cutl…64x6…(Params)",
        "void cutlass::Kernel2<cutl…32x6…(Params)",
        "void cutlass::Kernel2<cut…128x3…(Params)",
    ]


def test_names_that_differ_at_their_ends_keep_them() -> None:
    names = ["void at::native::elementwise<float>(int)", "void at::native::elementwise<half>(int)"]
    assert list(distinct(names, 24).values()) == [shorten(name, 24) for name in names]


def test_names_that_differ_in_two_places() -> None:
    names = [f"void kernel<{'a' * 30}_{x}_{'b' * 30}_{y}_{'c' * 30}>" for x in "12" for y in "34"]
    shown = list(distinct(names, 30).values())
    assert len(set(shown)) == 4
    assert all("void" in label for label in shown)


def test_where_nothing_else_fits_a_number_does() -> None:
    names = [f"{'a' * 20}{x}{'b' * 20}" for x in "0123456789xyz"]
    shown = list(distinct(names, 6).values())
    assert len(set(shown)) == 13
    assert {cell_len(label) for label in shown} <= set(range(7))


@given(TEXTS, st.integers(6, 80))
def test_texts_that_differ_look_different(texts: list[str], width: int) -> None:
    shown = distinct(texts, width)
    assert list(shown) and set(shown) == set(texts)
    assert len(set(shown.values())) == len(texts)
    assert all(cell_len(label) <= width for label in shown.values())
    assert all(shown[text] == text for text in texts if cell_len(text) <= width)


@given(TEXTS, st.integers(1, 5))
def test_a_width_is_kept_where_it_has_no_room_for_a_difference(
    texts: list[str], width: int
) -> None:
    assert all(cell_len(label) <= width + 1 for label in distinct(texts, width).values())


@pytest.mark.parametrize("width", [12, 24, 36, 48, 60])
def test_kernels_of_real_traces(corpus: tracewh.Warehouse, width: int) -> None:
    rows = corpus.sql("FROM kernels SELECT run, list(DISTINCT name) GROUP BY ALL").fetchall()
    assert sum(len(names) for _, names in rows) > 500
    numbered = 0
    for run, names in rows:
        shown = distinct(names, width)
        assert len(set(shown.values())) == len(names), run
        numbered += sum(re.search(r"…\(\d+\)$", label) is not None for label in shown.values())
    assert numbered == 0 or width < 24
