"""--format xlsx, read back by openpyxl."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.cli.conftest import Command
from tracewh.cli.app import main
from tracewh.cli.output import excel

ODD = """
SELECT * FROM (VALUES
    (1, '=1+1', 0.5::DOUBLE, true, 1795181048997802950, 1.5::DECIMAL(5, 2), [1, 2]),
    (2, 'a' || chr(10) || chr(1) || 'b', 'inf'::DOUBLE, NULL, 12, NULL, NULL),
    (3, '', NULL, false, -999999999999999, 0, [])
) AS t(id, name, x_us, is_tail, start_ns, amount, list)
"""


def rows(source: Path | io.BytesIO) -> list[tuple[Any, ...]]:
    sheet = openpyxl.load_workbook(source).active
    return [tuple(cell.value for cell in row) for row in sheet.iter_rows()]


def test_cells_are_numbers_texts_and_booleans(
    tracewh: Command, warehouse: Path, tmp_path: Path
) -> None:
    file = tmp_path / "odd.xlsx"
    assert tracewh("query", ODD, "--format", "xlsx", "-o", file).code == 0
    assert rows(file) == [
        ("id", "name", "x_us", "is_tail", "start_ns", "amount", "list"),
        # A formula would come back as one; Excel would make ...3000 of the last digits.
        (1, "=1+1", 0.5, True, "1795181048997802950", 1.5, "[1, 2]"),
        (2, "a\n_x0001_b", "inf", None, 12, None, None),  # as OOXML has control characters
        (3, "", None, False, -999999999999999, 0, "[]"),
    ]
    sheet = openpyxl.load_workbook(file).active
    assert sheet["B2"].data_type == "s"
    assert (sheet.freeze_panes, sheet.auto_filter.ref, sheet["A1"].font.b) == ("A2", "A1:G4", True)


def test_numbers_with_more_digits_than_excel_keeps_are_texts(
    tracewh: Command, warehouse: Path, tmp_path: Path
) -> None:
    file = tmp_path / "digits.xlsx"
    query = """
    SELECT * FROM (VALUES
        (123456789.123456789::DECIMAL(18, 9), 340282366920938463463374607431768211455::UHUGEINT),
        (123456789.123456::DECIMAL(18, 9), 7)
    ) AS t(amount, hash)
    """
    assert tracewh("query", query, "--format", "xlsx", "-o", file).code == 0
    assert rows(file) == [
        ("amount", "hash"),
        ("123456789.123456789", "340282366920938463463374607431768211455"),
        (123456789.123456, "7"),  # a column of 128 bits without a sign is text
    ]


def test_a_text_that_looks_like_the_markup_of_a_cell_stays_text(
    tracewh: Command, warehouse: Path, tmp_path: Path
) -> None:
    file = tmp_path / "markup.xlsx"
    text = "<r></r></is></c><c r='A9'><f>1 & 1</f></c><c><is><r></r>"
    assert (
        tracewh("query", f'SELECT $${text}$$ AS "<r></r>"', "--format", "xlsx", "-o", file).code
        == 0
    )
    assert rows(file) == [("<r></r>",), (text,)]


def test_a_column_is_no_wider_than_excel_allows(
    tracewh: Command, warehouse: Path, tmp_path: Path
) -> None:
    file = tmp_path / "wide.xlsx"
    assert (
        tracewh("query", f"SELECT {'+'.join('1' * 200)}", "--format", "xlsx", "-o", file).code == 0
    )
    # A file says the width with the edges of the cell.
    assert openpyxl.load_workbook(file).active.column_dimensions["A"].width < 256


def test_a_view(tracewh: Command, warehouse: Path, tmp_path: Path) -> None:
    file = tmp_path / "steps.xlsx"
    tracewh("show", "step_breakdown", "--format", "xlsx", "-o", file)
    names, *found = rows(file)
    assert names[:5] == ("run", "worker", "span", "step", "kernel_us")
    assert [row[:5] for row in found] == [
        ("base", "host_1", "default", 7, 0.5),
        ("tuned", "host_1", "default", 7, 0.3),
    ]


def test_names_that_differ_only_in_case(tracewh: Command, warehouse: Path, tmp_path: Path) -> None:
    file = tmp_path / "case.xlsx"
    tracewh("query", "SELECT 1 AS a, 'x' AS \"A\"", "--format", "xlsx", "-o", file)
    assert rows(file) == [("a", "A"), (1, "x")]


def test_no_rows_and_a_pipe(capsysbinary: pytest.CaptureFixture[bytes], warehouse: Path) -> None:
    assert main(["query", "SELECT 1 AS a WHERE false", "--format", "xlsx"]) == 0
    assert rows(io.BytesIO(capsysbinary.readouterr().out)) == [("a",)]


def test_many_batches(tracewh: Command, warehouse: Path, tmp_path: Path) -> None:
    file = tmp_path / "many.xlsx"
    tracewh("query", "SELECT range AS i FROM range(20001)", "--format", "xlsx", "-o", file)
    assert zipfile.ZipFile(file).read("xl/worksheets/sheet1.xml").count(b"<row ") == 20002


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT repeat('x', 32768) AS name",
            (
                "row 1, column name: the text has 32,768 characters, and an Excel cell holds 32,767; "
                "use --format csv or parquet"
            ),
        ),
        (
            "SELECT repeat(chr(128512), 16384) AS name",  # an emoji, for which Excel counts two
            (
                "row 1, column name: the text has 32,768 characters, and an Excel cell holds 32,767; "
                "use --format csv or parquet"
            ),
        ),
        (
            "SELECT 1 AS a FROM range(6)",
            (
                "the result has more than 5 rows, the limit of an Excel sheet; "
                "reduce it with --limit, or use --format csv or parquet"
            ),
        ),
        (
            "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d",
            (
                "the result has 4 columns, and an Excel sheet holds 3; "
                "select fewer, or use --format csv or parquet"
            ),
        ),
    ],
)
def test_what_excel_cannot_hold_is_refused(
    tracewh: Command,
    warehouse: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    message: str,
) -> None:
    monkeypatch.setattr(excel, "ROWS", 6)
    monkeypatch.setattr(excel, "COLUMNS", 3)
    done = tracewh("query", query, "--format", "xlsx", "-o", tmp_path / "out.xlsx")
    assert (done.code, done.err) == (1, f"tracewh: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_without_the_library_the_remedy_is_named(
    tracewh: Command, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    done = tracewh("runs", "--format", "xlsx", "-o", tmp_path / "out.xlsx")
    assert (done.code, done.err) == (
        1,
        "tracewh: --format xlsx needs XlsxWriter: pip install 'tracewh[excel]'\n",
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_a_full_disk_is_one_line(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("runs", "--format", "xlsx", "-o", "/dev/full")
    assert (done.code, done.err) == (1, "tracewh: /dev/full: No space left on device\n")
