"""The bytes of every format, on the tiny warehouse."""

from __future__ import annotations

import errno
import io
import json
from pathlib import Path
from stat import S_IMODE

import duckdb
import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.cli.conftest import Command
from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.output import Output

ODD = """
SELECT * FROM (VALUES
    (1, 'plain', 0.5::DOUBLE, [1.5, 'nan'::DOUBLE], {'k': 1}, '{"a": [1, null]}'::JSON),
    (2, 'a,"b"|c' || chr(10) || 'd', 'inf'::DOUBLE, NULL, NULL, NULL),
    (3, '', NULL, [], {'k': NULL}, '"NaN"'::JSON)
) AS t(id, name, x_us, list, struct, doc)
"""


def test_csv_is_rfc_4180(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("query", ODD, "--format", "csv")
    assert done.out == (
        "id,name,x_us,list,struct,doc\n"
        '1,plain,0.5,"[1.5, nan]",{\'k\': 1},"{""a"": [1, null]}"\n'
        '2,"a,""b""|c\nd",inf,,,\n'
        '3,"",,[],{\'k\': NULL},"""NaN"""\n'
    )
    assert pyarrow.csv.read_csv(
        io.BytesIO(done.out.encode()),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
    )["name"].to_pylist() == ["plain", 'a,"b"|c\nd', ""]


def test_json_nests_and_has_null_for_what_json_cannot_say(
    tracewh: Command, warehouse: Path
) -> None:
    done = tracewh("query", ODD, "--format", "json")
    assert done.out == (
        '[\n{"id":1,"name":"plain","x_us":0.5,"list":[1.5,null],"struct":{"k":1},"doc":{"a":[1,null]}},\n'
        '{"id":2,"name":"a,\\"b\\"|c\\nd","x_us":null,"list":null,"struct":null,"doc":null},\n'
        '{"id":3,"name":"","x_us":null,"list":[],"struct":{"k":null},"doc":"NaN"}\n]\n'
    )


def test_markdown_escapes_pipes_and_aligns_numbers(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("query", ODD, "--format", "markdown")
    assert done.out == (
        "| id | name | x_us | list | struct | doc |\n"
        "| ---: | --- | ---: | --- | --- | --- |\n"
        "| 1 | plain | 0.5 | [1.5, nan] | {'k': 1} | {\"a\": [1, null]} |\n"
        '| 2 | a,"b"\\|c<br>d | inf |  |  |  |\n'
        "| 3 |  |  | [] | {'k': NULL} | \"NaN\" |\n"
    )


def test_json_keeps_the_digits_beside_what_it_cannot_say(tracewh: Command, warehouse: Path) -> None:
    """Only the number is replaced, and not a text that looks like it."""
    query = """
    SELECT
        1234567890123456789.123456789::DECIMAL(38, 9) AS amount,
        '-inf'::DOUBLE AS x_us,
        ['nan'::DOUBLE, 2] AS list,
        'NaN "\\' AS name,
        ' Infinity, "' AS "a NaN"
    """
    assert tracewh("query", query, "--format", "json").out == (
        '[\n{"amount":1234567890123456789.123456789,"x_us":null,"list":[null,2.0],'
        '"name":"NaN \\"\\\\","a NaN":" Infinity, \\""}\n]\n'
    )


def test_a_heading_of_markdown_is_one_line(tracewh: Command, warehouse: Path) -> None:
    query = ("query", 'SELECT 1 AS "a\n|b"', "--format", "markdown")
    assert tracewh(*query).out == "| a<br>\\|b |\n| ---: |\n| 1 |\n"


def test_a_piped_table_is_whole(tracewh: Command, warehouse: Path, kernel_name: str) -> None:
    done = tracewh("show", "kernel_stats", "--run", "base")
    assert kernel_name in done.out
    assert done.out.split()[:4] == ["run", "worker", "span", "name"]
    done = tracewh("query", "SELECT name, duration_ns, NULL AS nothing FROM kernels ORDER BY run")
    rule = "─"
    assert done.out == (
        f"name{' ' * 133}  duration_ns  nothing\n"
        f"{rule * 137}  {rule * 11}  {rule * 7}\n"
        f"{kernel_name}          500  -\n"
        f"{kernel_name}          300  -\n"
    )


def test_parquet_keeps_types(tracewh: Command, warehouse: Path, tmp_path: Path) -> None:
    file = tmp_path / "steps.parquet"
    assert tracewh("show", "step_breakdown", "--format", "parquet", "-o", file).code == 0
    table = pyarrow.parquet.read_table(file)
    assert table.column_names[:5] == ["run", "worker", "span", "step", "kernel_us"]
    assert table["kernel_us"].to_pylist() == [0.5, 0.3]
    assert str(table.schema.field("step").type) == "int64"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        # Arrow would write -1 for the largest UHUGEINT, and the bytes of BIGNUM and BIT as DuckDB has them.
        (f"[{2**128 - 1}::UHUGEINT]", "integer like UHUGEINT"),
        (f"{{'n': {2**128 - 1}::BIGNUM}}", "integer like BIGNUM"),
        ("'0101'::BIT", "type like BIT"),
        # It would leave out the zone: 10:00 at +01 is 9:00 at +00.
        ("[TIMETZ '10:00:00+01']::TIMETZ[1]", "type like TIME WITH TIME ZONE"),
        # It would refuse these in words of its own.
        ("MAP {'a': INTERVAL 1 DAY}", "type like INTERVAL"),
        ("union_value(n := 1)", "type like UNION"),
    ],
)
def test_types_that_parquet_cannot_hold_are_refused(
    tracewh: Command, warehouse: Path, tmp_path: Path, value: str, said: str
) -> None:
    query = f"SELECT 1 AS one, {value} AS found"
    done = tracewh("query", query, "--format", "parquet", "-o", tmp_path / "out.parquet")
    assert (done.code, done.err) == (
        1,
        f"tracewh: column found: Parquet has no {said}; cast that column to VARCHAR\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_names_of_types_are_no_types(tracewh: Command, warehouse: Path, tmp_path: Path) -> None:
    query = "SELECT {'BIGNUM': 1} AS fields, 'UNION'::ENUM('UNION') AS value"
    file = tmp_path / "out.parquet"
    assert tracewh("query", query, "--format", "parquet", "-o", file).code == 0
    assert pyarrow.parquet.read_table(file).to_pylist() == [
        {"fields": {"BIGNUM": 1}, "value": "UNION"}
    ]


def test_parquet_to_a_pipe_is_the_same_file(
    capsysbinary: pytest.CaptureFixture[bytes], warehouse: Path
) -> None:
    from tracewh.cli.app import main

    assert main(["query", "SELECT 42 AS answer", "--format", "parquet"]) == 0
    assert pyarrow.parquet.read_table(io.BytesIO(capsysbinary.readouterr().out)).to_pylist() == [
        {"answer": 42}
    ]


@pytest.mark.parametrize("format", ["table", "csv", "json", "markdown"])
def test_a_file_gets_the_bytes_that_stdout_gets(
    tracewh: Command, warehouse: Path, tmp_path: Path, format: str
) -> None:
    file = tmp_path / "out"
    printed = tracewh("show", "step_breakdown", "--format", format)
    done = tracewh("show", "step_breakdown", "--format", format, "-o", file)
    assert (done.code, done.out) == (0, "")
    assert file.read_text("utf-8") == printed.out
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing is left beside it"


@pytest.mark.parametrize(
    "words",
    [
        ("query", "EXPLAIN SELECT 1"),
        ("views", "--sql"),
        ("views", "verdict", "--sql"),
        ("views", "verdict"),
        ("views",),
    ],
)
def test_a_text_is_written_to_a_file(
    tracewh: Command, warehouse: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / "out.txt"
    printed = tracewh(*words)
    done = tracewh(*words, "-o", file)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert file.read_text("utf-8") == printed.out != ""
    done = tracewh(*words, "-o", tmp_path)
    assert (done.code, done.err) == (1, f"tracewh: {tmp_path} is a folder; -o takes a file\n")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("query", "EXPLAIN SELECT 1"), "a plan"),
        (("views", "--sql"), "SQL"),
        (("views", "verdict", "--sql"), "SQL"),
    ],
)
def test_a_text_has_no_other_format(
    tracewh: Command, warehouse: Path, words: tuple[str, ...], what: str
) -> None:
    done = tracewh(*words, "--format", "json")
    said = f"tracewh: {what} is plain text; leave out --format json\n"
    assert (done.code, done.out, done.err) == (2, "", said)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_that_is_replaced_stays_as_private_as_it_was(
    tracewh: Command, warehouse: Path, tmp_path: Path, mode: int
) -> None:
    (file := tmp_path / "steps.csv").touch()
    file.chmod(mode)
    assert tracewh("query", "SELECT 1 AS one", "--format", "csv", "-o", file).code == 0
    assert (file.read_text("utf-8"), S_IMODE(file.stat().st_mode)) == ("one\n1\n", mode)


def test_a_query_that_fails_leaves_the_old_file_alone(
    tracewh: Command, warehouse: Path, tmp_path: Path
) -> None:
    file = tmp_path / "out.csv"
    file.write_text("old")
    done = tracewh("query", "SELECT error('broken') FROM kernels", "--format", "csv", "-o", file)
    assert done.code == 1
    assert "broken" in done.err
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_file_system_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    for method in ("open", "unlink"):  # of a file that does not exist, too
        monkeypatch.setattr(Path, method, refuse)
    file = tmp_path / "out.csv"
    with pytest.raises(CliError) as caught, Output(path=file).sink():
        pass
    assert str(caught.value) == f"{file}: Read-only file system"


def test_no_rows_are_still_valid_in_every_format(tracewh: Command, warehouse: Path) -> None:
    none = ("query", "SELECT 1 AS a WHERE false", "--format")
    assert tracewh(*none, "csv").out == "a\n"
    assert tracewh(*none, "json").out == "[]\n"
    assert tracewh(*none, "markdown").out == "| a |\n| ---: |\n"
    assert tracewh(*none, "table").out == ""
    assert tracewh(*none, "table").err == "tracewh: no rows\n"


def test_many_batches_are_one_document(tracewh: Command, warehouse: Path) -> None:
    """More rows than a batch, so that commas and line ends between batches are seen."""
    query = "SELECT range AS i, IF(range = 30000, 'nan'::DOUBLE, 1.5) AS x FROM range(50001)"
    rows = tracewh("query", query, "--format", "json").json
    assert [row["i"] for row in rows] == list(range(50001))
    assert [row["i"] for row in rows if row["x"] is None] == [30000]
    lines = tracewh("query", query, "--format", "csv").out.splitlines()
    assert (len(lines), lines[1], lines[-1]) == (50002, "0,1.5", "50000,1.5")


def test_names_that_come_twice_are_numbered(tracewh: Command, warehouse: Path) -> None:
    assert tracewh("query", "SELECT 1 AS a, 2 AS a", "--format", "json").json == [
        {"a": 1, "a_1": 2}
    ]


@pytest.mark.parametrize(
    ("sort", "steps"),
    [
        ("kernel_us", ["base", "tuned"]),
        ("kernel_us:asc", ["tuned", "base"]),
        ("run", ["base", "tuned"]),
        ("run:desc", ["tuned", "base"]),
    ],
)
def test_sort(tracewh: Command, warehouse: Path, sort: str, steps: list[str]) -> None:
    rows = tracewh("show", "step_breakdown", "--sort", sort, "--format", "json").json
    assert [row["run"] for row in rows] == steps


def test_what_is_null_comes_last_either_way(tracewh: Command, warehouse: Path) -> None:
    query = ("query", "SELECT unnest([1, NULL, 2]) AS a", "--format", "json", "--sort")
    assert [row["a"] for row in tracewh(*query, "a").json] == [2, 1, None]
    assert [row["a"] for row in tracewh(*query, "a:asc").json] == [1, 2, None]


def test_names_that_differ_only_in_case(tracewh: Command, warehouse: Path) -> None:
    sql = "SELECT 2 - a AS kernel, a AS Kernel FROM range(3) AS t(a)"
    query = ("query", sql, "--format", "csv")
    assert tracewh(*query, "--sort", "Kernel:asc").out == "kernel,Kernel\n2,0\n1,1\n0,2\n"
    assert tracewh(*query, "--sort", "kernel").out == "kernel,Kernel\n2,0\n1,1\n0,2\n"
    assert tracewh(*query, "--limit", "1").out == "kernel,Kernel\n2,0\n"
    assert tracewh("query", sql, "--sort", "Kernel").out.splitlines()[2].split() == ["0", "2"]


def test_limit_counts_rows_and_zero_is_all(tracewh: Command, warehouse: Path) -> None:
    for limit, rows in (("1", 1), ("0", 2), ("5", 2)):
        done = tracewh("show", "step_breakdown", "--limit", limit, "--format", "json")
        assert len(done.json) == rows
        assert done.err == ""
    done = tracewh("show", "step_breakdown", "--limit", "1")
    assert done.err == "tracewh: 1 of 2 rows; --limit 0 shows all, --limit N more\n"


def test_long_integers_and_instants_are_exact(tracewh: Command, warehouse: Path) -> None:
    query = (
        "SELECT 123456789012345678901234567890::HUGEINT AS h, now() AS t, 1.10::DECIMAL(4, 2) AS d"
    )
    row = json.loads(tracewh("query", query, "--format", "json").out)[0]
    assert row["h"] == 123456789012345678901234567890
    assert tracewh("query", query).code == 0


def test_nothing_but_the_result_is_on_stdout(
    tracewh: Command, warehouse: Path, tmp_path: Path
) -> None:
    path = Path(tmp_path / "x.csv")
    tracewh("show", "step_breakdown", "--limit", "1", "-o", path, "--format", "csv")
    assert duckdb.execute(f"SELECT count(*) FROM '{path}'").fetchall() == [(1,)]


def test_formulas_are_escaped_where_that_is_asked_for(tracewh: Command, warehouse: Path) -> None:
    """Numbers stay numbers, and NULL and an empty text stay apart."""
    cells = {
        "=1+2": "'=1+2",
        "+x": "'+x",
        "-5": "-5",
        "-1e3": "-1e3",
        "-5 us": "'-5 us",
        "@SUM(A1)": "'@SUM(A1)",
        "\t=1": "'\t=1",
        "\r=1": '"\'\r=1"',
        '=q, "1"': '"\'=q, ""1"""',
        "a=b": "a=b",
        "": '""',
        None: "",
    }
    rows = ", ".join("(NULL)" if cell is None else f"('{cell}')" for cell in cells)
    sql = f'SELECT c AS "=name", -5 AS n FROM (VALUES {rows}) AS t(c)'
    words = ["query", sql, "-w", warehouse, "--format", "csv"]
    escaped = tracewh(*words, "--escape-formulas").out
    assert escaped == "'=name,n\n" + "".join(f"{cell},-5\n" for cell in cells.values())
    assert tracewh(*words).out == escaped.replace("'", "")
    done = tracewh("runs", "-w", warehouse, "--escape-formulas")
    assert (done.code, done.err) == (2, "tracewh: --escape-formulas needs --format csv\n")
