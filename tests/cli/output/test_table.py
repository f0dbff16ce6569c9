"""Tables: fitted to a width, or whole; no number is cut and no column is lost."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import duckdb
from rich.cells import cell_len

from tracewh.cli.output.cell_format import ColumnFormat, column
from tracewh.cli.output.screen import write_table
from tracewh.cli.output.table import TableStyle, render

NAME = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"
)


def test_names_that_differ_look_different_in_every_part_of_a_table() -> None:
    names = [NAME.replace("<4,", f"<{n},") for n in range(2, 10)]
    columns = [texts("name", *names)]
    columns += [column(f"value_{n}_us", [123456.7] * 8) for n in range(9)]
    for block in "\n".join(render(columns, TableStyle(width=80))).split("\n\n"):
        labels = [line.split("  ")[0].strip() for line in block.splitlines()[-8:]]
        assert len(set(labels)) == 8
    few = render(
        [texts("name", *names[:3]), *(column(c.name, [1.5] * 3) for c in columns[1:])],
        TableStyle(width=90),
    )
    assert len({*re.split(" {2,}", few[0])[1:]}) == 3, "standing up"


def texts(name: str, *cells: str | None) -> ColumnFormat:
    return ColumnFormat(name, cells, numeric=False)


def test_titles_break_at_underscores_before_texts_are_shortened() -> None:
    columns = [texts("name", "n" * 20), column("est_achieved_occupancy_pct", [12.5])]
    assert render(columns, TableStyle(width=40)) == [
        "                            est_",
        "                       achieved_",
        "                      occupancy_",
        "name                         pct",
        "────────────────────  ──────────",
        "nnnnnnnnnnnnnnnnnnnn        12.5",
    ]


def test_few_rows_stand_up() -> None:
    columns = [column(f"some_quite_long_title_{n}_us", [n * 1000.5, None]) for n in range(9)]
    lines = render(columns, TableStyle(width=50))
    assert lines[0] == "some_quite_long_title_0_us        0  -"
    assert lines[-1] == "some_quite_long_title_8_us    8,004  -"
    assert len(lines) == 9


def test_many_columns_continue_below() -> None:
    columns = [
        texts("run", *(f"run{n}" for n in range(8))),
        texts("name", *[NAME] * 8),
        *[column(f"value_{n}_us", [123456.7] * 8) for n in range(6)],
    ]
    lines = render(columns, TableStyle(width=60), keys=["run", "name"])
    assert max(map(len, lines)) <= 60
    blocks = "\n".join(lines).split("\n\n")
    assert len(blocks) > 2
    for block in blocks:
        title, *rows = [line for line in block.splitlines() if line.strip()][-10:]
        assert title.split()[:2] == ["run", "name"]
        assert [row.split()[0] for row in rows[1:]] == [f"run{n}" for n in range(8)]
    words = " ".join(re.sub(r"_\s*\n", "_", "\n".join(lines)).split())
    assert words.count("123,456.7") == 6 * 8
    assert [f"run{n}" in words for n in range(8)] == [True] * 8


def test_keys_that_are_alike_get_a_number() -> None:
    columns = [texts("name", *[NAME] * 8), *(column(f"v_{n}_us", [123456.7] * 8) for n in range(9))]
    blocks = "\n".join(render(columns, TableStyle(width=60))).split("\n\n")
    assert len(blocks) > 1
    for block in blocks:
        assert [line.split()[0] for line in block.splitlines()[-8:]] == list("12345678")


def test_keys_that_have_no_room_are_shown_once() -> None:
    keys = [texts(f"key_{n}", *(f"{'k' * 40}{n * row % 5}" for row in range(8))) for n in range(5)]
    columns = [*keys, *(column(f"value_{n}_us", [123456.7] * 8) for n in range(9))]
    lines = render(columns, TableStyle(width=80), keys=[key.name for key in keys])
    assert max(map(len, lines)) <= 80
    blocks = "\n".join(lines).split("\n\n")
    assert all("#" in block.split() for block in blocks)
    assert sum("key_0" in block for block in blocks) == 1, "it is the same in all rows"


def test_a_long_name_leaves_room_for_the_columns_of_its_first_block() -> None:
    columns = [ColumnFormat("name", [NAME] * 7, False)]
    columns += [ColumnFormat(f"total_{n}_us", ["1,234.5"] * 7, True) for n in range(9)]
    lines = render(columns, TableStyle(width=80))
    assert max(map(len, lines)) <= 80
    assert len(lines[0].split()) == 4


def test_names_are_cut_more_where_a_number_needs_the_room() -> None:
    """A run and a time since 1970 on a terminal of 40 columns."""
    columns = [texts("run", *(f"{NAME[:40]}{n}" for n in range(8)))]
    columns += [column("first_ns", [1_795_772_303_011_356_631] * 8), column("steps", [1] * 8)]
    lines = render(columns, TableStyle(width=40))
    assert max(map(len, lines)) <= 40
    assert lines[1].split() == ["─" * 19, "─" * 19]
    assert len({line[:19] for line in lines[2:10]}) == 8


def test_prose_wraps() -> None:
    columns = [
        texts("check", "no_stacks"),
        texts("message", "Operators without source lines. " * 4),
    ]
    lines = render(columns, TableStyle(width=60))
    assert max(map(len, lines)) <= 60
    assert (
        " ".join(line[11:].strip() for line in lines[2:]).split()
        == ("Operators without source lines. " * 4).split()
    )
    assert len(lines) > 4
    assert render([texts("message", "", "a")], TableStyle()) == ["message", "───────", "", "a"]


def test_wide_characters_of_prose_take_two_cells() -> None:
    columns = [texts("check", "no_stacks"), texts("message", "核核核核 核核核 " * 9)]
    lines = render(columns, TableStyle(width=60))
    assert max(map(cell_len, lines)) <= 60


def test_the_lines_of_a_file_are_never_in_memory_together(tmp_path: Path) -> None:
    query = "SELECT CASE range WHEN 0 THEN repeat('x', 1000) ELSE 'y' END AS name, range FROM range(10000)"
    file = tmp_path / "table.txt"
    with duckdb.connect() as con, file.open("wb") as sink:
        rows = con.sql(query)
        tracemalloc.start()
        try:
            assert write_table(rows, sink, None) == 10_000
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert [len(line) for line in file.read_text().splitlines()[1:]] == [1007] * 10_001
    assert peak < file.stat().st_size // 2
