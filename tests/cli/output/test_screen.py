"""Tables on a terminal: fitted to its width, whole numbers, nothing lost."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli.conftest import Command
from tracewh.cli.app import main
from tracewh.cli.output.cell_format import column
from tracewh.cli.output.screen import lines
from tracewh.views.warehouse import Warehouse

pty = pytest.importorskip("pty", reason="needs a Unix terminal")


@contextmanager
def terminal(width: int) -> Iterator[tuple[int, list[bytes]]]:
    """What to write to, and what a terminal of a width was sent in the end, with its escape sequences."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    sent: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # Linux says so when the other side is closed
            while block := os.read(ours, 65536):
                sent.append(block)

    reader = Thread(target=read)
    reader.start()
    try:
        yield theirs, sent
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


def on_terminal(width: int, *words: str, **environment: str) -> str:
    """What a command sends, in this process."""
    with pytest.MonkeyPatch.context() as patch, terminal(width) as (screen, sent):
        for name in ("COLUMNS", "NO_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", **environment}.items():
            patch.setenv(name, value)
        with open(screen, "w", encoding="utf-8", closefd=False) as stream:
            for name in ("stdout", "__stdout__", "stderr"):
                patch.setattr(sys, name, stream)
            code = main(list(words))
    assert code == 0, sent
    return decoded(sent)


def decoded(sent: list[bytes]) -> str:
    return b"".join(sent).decode().replace("\r\n", "\n")


def test_a_process_sends_the_same(warehouse: Path) -> None:
    inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    command = "from tracewh.cli.app import run; run()"
    with terminal(80) as (screen, sent):
        subprocess.run(
            [sys.executable, "-c", command, "show", "kernel_stats"],
            stdout=screen, stderr=screen, stdin=screen, env={**inherited, "TERM": "xterm"}, check=True,
        )  # fmt: skip
    assert decoded(sent) == on_terminal(80, "show", "kernel_stats")
    assert "\x1b[1m" in decoded(sent)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_line_fits_and_no_number_is_cut(warehouse: Path, width: int) -> None:
    sent = plain(on_terminal(width, "show", "kernel_stats"))
    *lines, last = sent.splitlines()
    assert max(map(len, lines)) <= width
    assert "without a value: operator, grid" in sent
    assert "mean_est_achieved_occupancy_pct" in last, "wrapped, not cut"
    assert "void cutlass" in sent and "Params)" in sent and "…" in sent
    for number in ("0.5", "0.3", "100"):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", sent)


def test_what_all_rows_share_stands_above_and_empty_columns_are_named(warehouse: Path) -> None:
    sent = plain(on_terminal(80, "show", "kernel_stats", "--run", "base"))
    first, *rest = sent.splitlines()
    assert first == "run base  worker host_1", "all spans together"
    assert "worker" not in "\n".join(rest)
    assert "without a value: operator, grid, block" in "\n".join(rest)


def test_runs_that_differ_stay_a_column(warehouse: Path) -> None:
    first, _, titles, _, base, tuned = plain(
        on_terminal(200, "show", "step_breakdown")
    ).splitlines()  # fmt: skip
    assert first == "worker host_1  span default"
    assert titles.split()[:3] == ["run", "step", "kernel_us"]
    assert (base.split()[:3], tuned.split()[:3]) == (["base", "7", "0.5"], ["tuned", "7", "0.3"])


def test_colours_only_where_they_are_wanted(warehouse: Path) -> None:
    assert "\x1b[1m" in on_terminal(80, "runs")
    assert "\x1b" not in on_terminal(80, "runs", NO_COLOR="1")
    assert "\x1b" not in on_terminal(80, "runs", TERM="dumb")


def test_a_screenful_of_many_rows(warehouse: Path) -> None:
    sent = plain(on_terminal(80, "query", "SELECT range AS i FROM range(12345)")).splitlines()
    assert sent[-1] == "tracewh: 40 of 12,345 rows; --limit 0 shows all, --limit N more"
    assert sent[-2].strip() == "39"
    assert len(on_terminal(80, "query", "FROM range(500)", "--limit", "0").splitlines()) == 502


def test_a_screenful_is_fewer_rows_where_columns_continue_below(warehouse: Path) -> None:
    wide = ", ".join(f"range + 123456 AS quite_a_long_name_{n}" for n in range(30))
    query = f"SELECT {wide} FROM range(100)"
    *lines, last = plain(on_terminal(80, "query", query)).splitlines()
    said = re.fullmatch(r"tracewh: (\d+) of 100 rows; .*", last)
    assert said and 10 <= int(said[1]) < 40
    shown = {number for line in lines for number in re.findall(r"\d+,\d+", line)}
    assert shown == {f"{123456 + row:,}" for row in range(int(said[1]))}
    asked = plain(on_terminal(80, "query", query, "--limit", "40"))
    assert "tracewh: 40 of 100 rows" in asked, "an explicit limit is kept"


def test_full_names(warehouse: Path, kernel_name: str) -> None:
    sent = plain(on_terminal(80, "show", "kernel_stats", "--full-names"))
    assert sent.count(kernel_name) == 2
    assert "…" not in sent
    rows = plain(on_terminal(80, "show", "kernel_stats")).splitlines()
    assert kernel_name not in "".join(rows)


def test_parquet_is_not_for_a_terminal(warehouse: Path) -> None:
    with pytest.raises(
        AssertionError,
        match="parquet cannot be printed on a terminal; write it to a file with -o FILE",
    ):
        on_terminal(80, "runs", "--format", "parquet")
    with pytest.raises(AssertionError, match="parquet cannot be printed on a terminal"):
        on_terminal(80, "views", "verdict", "--format", "parquet")


def test_csv_is_whole_on_a_terminal_too(warehouse: Path, kernel_name: str) -> None:
    assert kernel_name in on_terminal(40, "show", "kernel_stats", "--format", "csv")


def test_every_part_of_a_wide_view_has_its_keys(samples: Warehouse) -> None:
    """Those of its header: by shape, operator_stats has a row for each name and its shapes."""
    words = ("--group-by", "input_shape", "--run", "workers_0", "--span", "1", "--limit", "9")
    sent = plain(on_terminal(60, "show", "operator_stats", *words, "-w", str(samples.path)))
    parts = [part for part in sent.split("\n\n") if "─" in part]
    assert len(parts) > 1
    for part in parts:
        assert re.search(r"^name +input_dims ", part, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "values", "cells"),
    [
        ("x_us", [0.0, 1.5, 0.25], ["0   ", "1.50", "0.25"]),
        ("x_us", [1234567.891, 0.004], ["1,234,567.9", "0.0"]),
        ("x_us", [3.0, 12.0], ["3", "12"]),
        ("x_us", [1.0005, None, float("nan")], ["1.000", None, "nan"]),
        ("x_pct", [33.33333, 100.0], ["33.33", "100.00"]),
        ("x", [1e-7], ["1e-07"]),
        ("x", [0.5, 0.00031, 0.0], ["0.50000", "0.00031", "0      "]),
        ("x", [0.5, 3e-9], ["0.500000", "0.000000"]),
        ("x_us", [0.5, 0.001], ["0.500", "0.001"]),
        ("x_pct", [0.5, 0.0012], ["0.50", "0.00"]),
        ("x_gbps", [12.5, 0.0052], ["12.5000", "0.0052"]),
        ("x_gbps", [1234.5678, 2.25], ["1,234.57", "2.25"]),
        ("calls", [9999, 5], ["9999", "5"]),
        ("calls", [10000, 5], ["10,000", "5"]),
        ("start_ns", [1700000000000000400], ["1700000000000000400"]),
        ("event_id", [1234567], ["1234567"]),
        ("is_tail", [True, False], ["true", "false"]),
        ("name", ["a\nb\x1b[31mc", "é核"], ["a\\nb\\x1b[31mc", "é核"]),
    ],
)
def test_digits_suit_the_column(name: str, values: list[Any], cells: list[str | None]) -> None:
    assert list(column(name, values).cells) == cells


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([1623142623460072000, 1716423322416788066], ["2021-06-08 08:57", "2024-05-23 00:15"]),
        ([1623142623460072000, 1623142624460072000], ["2021-06-08 08:57:03", "2021-06-08 08:57:04"]),
        ([1623142623460072001, None], ["2021-06-08 08:57", None]),
        (
            [1623142623460072001, 1623142623460072002],
            ["2021-06-08 08:57:03.460072001", "2021-06-08 08:57:03.460072002"],
        ),
        ([4173780405233, 1623142623460072000], ["4173780405233", "2021-06-08 08:57"]),
        ([4173780405233], ["4,173,780,405,233"]),  # since the machine was started
        ([10**30], [str(10**30)]),
    ],
)  # fmt: skip
def test_instants_are_dates_on_a_screen(values: list[Any], cells: list[str | None]) -> None:
    assert list(column("start_ns", values, dates=True).cells) == cells
    numbers = column("start_ns", values).cells
    assert [cell and cell.replace(",", "") for cell in numbers] == [v and str(v) for v in values]
    assert list(column("steps", values, dates=True).cells) == list(column("steps", values).cells)


def test_no_epoch_nanoseconds_on_a_screen(warehouse: Path) -> None:
    for words in (
        "runs",
        "runs --all-columns",
        "show trend --figure step_us",
        "query 'FROM steps'",
    ):
        assert not re.search(r"\d{16}", on_terminal(100, *shlex.split(words))), words


def test_instants_of_one_day_name_it_once(warehouse: Path) -> None:
    query = "SELECT 1623142623460072000 + i AS start_ns, i FROM range(3) AS r(i)"
    lines = plain(on_terminal(80, "query", query)).splitlines()
    assert lines[0] == "date 2021-06-08 UTC"
    assert [line.split()[0] for line in lines[-3:]] == [f"08:57:03.46007200{n}" for n in range(3)]
    piped = subprocess.run(
        [sys.executable, "-c", "from tracewh.cli.app import run; run()",
         "query", query], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "1623142623460072000" in piped.stdout


@pytest.mark.parametrize("width", [80, 100, 140])
def test_runs_has_one_line_for_each(samples: Warehouse, width: int) -> None:
    sent = plain(on_terminal(width, "runs", "-w", str(samples.path)))
    lines = sent[: sent.index("tracewh: ")].splitlines()
    rule = next(at for at, line in enumerate(lines) if line.startswith("─"))
    titles = "".join(lines[:rule])
    for name in ("run", "first_", "workers", "steps", "mean_", "source_"):
        assert name in titles
    rows, below = lines[rule + 1 : rule + 4], lines[rule + 4 :]
    assert below == ["", "without a value: gpus"]
    assert all(re.match(r"[dr]\S+ +20\d\d-\d\d-\d\d \d\d:\d\d", row) for row in rows)
    assert "--all-columns also shows spans, traces, events, last_ns" in sent
    assert max(map(len, sent.splitlines())) <= width
    whole = plain(on_terminal(width, "runs", "--all-columns", "-w", str(samples.path)))
    assert "world_" in whole and "--all-columns" not in whole


def test_runs_has_all_columns_in_other_formats(tracewh: Command, warehouse: Path) -> None:
    from tracewh.views.registry import installed

    names = [column.name for column in installed().get("runs").columns]
    assert list(tracewh("runs", "--format", "json").json[0]) == names
    assert tracewh("runs", "--format", "csv").out.splitlines()[0].split(",") == names
    assert tracewh("runs").out.splitlines()[0].split() == names


def test_columns_of_replays_are_left_out_where_nothing_was_replayed() -> None:
    name = column("name", ["aten::mm", "aten::add"])
    drawn = [
        "\n".join(lines([name, column("replayed_us", us)], on_screen=True))
        for us in ([0.0, None], [0.0, 2.5])
    ]
    assert ["replayed_us" in table for table in drawn] == [False, True]
