"""Tables of pipeline operations: Parquet and CSV, the facts beside them, and tables that are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh
from tracewh.ingest.sources.readers import recognise

HEADER = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc"
#: Two data-parallel ranks of one stage: rows 1 to 3 and 4 to 6.
ROWS = [
    "0,0,0,5,forward-compute,0,0.25,0,0,0,0",
    "0,0,0,5,backward-compute,0.25,0.5,0,0,0,0",
    "0,0,0,5,optimizer,0.75,0.125,0,-1,-1,-1",
    "1,0,1,5,forward-compute,0,0.375,0,0,0,0",
    "1,0,1,5,backward-compute,0.375,0.5,0,0,0,0",
    "1,0,1,5,optimizer,0.875,0.125,0,,,",
]
COLUMNS = "dp_rank, stage, rank, step, optype, start_ts, duration, seq_id, mc, mb_id, gmc"
DIFFER = "leave out steps that differ: all must have the same operations"
WHOLE = "leave out steps that were not recorded whole"


def write(path: Path, rows: list[str] = ROWS, header: str = HEADER) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("\n".join([header, *rows, ""]))
    return path


def as_parquet(path: Path, table: Path) -> Path:
    """The rows of a CSV file as 32-bit floats and small integers, like the published data."""
    duckdb.execute(
        f"COPY (SELECT * REPLACE (start_ts::FLOAT AS start_ts, duration::FLOAT AS duration,"
        f" stage::TINYINT AS stage) FROM read_csv('{table}')) TO '{path}' (FORMAT parquet)"
    )
    return path


def refusal(path: Path) -> str:
    [result] = tracewh.ingest([path], path.parent / "wh")
    assert result.status == "refused"
    assert "\n" not in result.reason
    return result.reason


def stored(warehouse: Path, sql: str) -> list[tuple[Any, ...]]:
    with tracewh.open(warehouse) as opened:
        return opened.sql(sql).fetchall()


@pytest.fixture(params=["csv", "csv.gz", "parquet"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    path = write(tmp_path / "jobs" / "trace-J.csv")
    if request.param == "parquet":
        found = as_parquet(tmp_path / "jobs" / "trace-J.parquet", path)
        path.unlink()
        yield found
    elif request.param == "csv.gz":
        import gzip

        packed = path.with_suffix(".csv.gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
        yield packed
    else:
        yield path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_whose_name_is_a_pattern_for_another(tmp_path: Path, suffix: str) -> None:
    """The file trace-1.csv beside trace-[1].csv has one rank in place of two. The folder is no column."""
    folder = tmp_path / "step=9"
    table = write(folder / "trace-[1].csv")
    other = write(folder / "trace-1.csv", ROWS[:3])
    if suffix == "parquet":
        other = as_parquet(other.with_suffix(".parquet"), other)
        table = as_parquet(folder / "trace-[1].parquet", write(tmp_path / "two.csv"))
    [result] = tracewh.ingest([table], tmp_path / "wh")
    assert (result.status, result.events) == ("ingested", 6)
    with tracewh.open(tmp_path / "wh") as warehouse:
        assert warehouse.sql("SELECT DISTINCT step FROM pipeline_operations").fetchall() == [(5,)]


def test_a_folder_with_a_table(table: Path, tmp_path: Path) -> None:
    (table.parent / "meta-J.yaml").write_text("trial_name: J  # a job\ndsp_size: 2\n")
    [result] = tracewh.ingest([table.parent], tmp_path / "wh")
    assert (result.status, result.run, result.worker, result.events) == (
        *("ingested", "jobs", "trace-J"),
        6,
    )
    found = stored(tmp_path / "wh", f"SELECT {COLUMNS} FROM pipeline_operations")
    assert found == [
        (0, 0, 0, 5, "forward-compute", 0.0, 0.25, 0, 0, 0, 0),
        (0, 0, 0, 5, "backward-compute", 0.25, 0.5, 0, 0, 0, 0),
        (0, 0, 0, 5, "optimizer", 0.75, 0.125, 0, -1, -1, -1),
        (1, 0, 1, 5, "forward-compute", 0.0, 0.375, 0, 0, 0, 0),
        (1, 0, 1, 5, "backward-compute", 0.375, 0.5, 0, 0, 0, 0),
        (1, 0, 1, 5, "optimizer", 0.875, 0.125, 0, -1, -1, -1),
    ]
    [(source, facts)] = stored(tmp_path / "wh", "SELECT source, metadata FROM traces")
    assert source == "pipeline"
    assert json.loads(facts) == {"trial_name": "J", "dsp_size": 2}


def test_a_table_without_facts(table: Path, tmp_path: Path) -> None:
    tracewh.ingest([table], tmp_path / "wh")
    assert stored(tmp_path / "wh", "SELECT metadata FROM traces") == [("{}",)]


def test_a_fact_of_5000_digits_is_a_text(tmp_path: Path) -> None:
    path = write(tmp_path / "trace-J.csv")
    (tmp_path / "meta-J.yaml").write_text(f"seed: {'9' * 5000}")
    tracewh.ingest([path], tmp_path / "wh")
    [(facts,)] = stored(tmp_path / "wh", "SELECT metadata FROM traces")
    assert json.loads(facts) == {"seed": "9" * 5000}


def test_other_tables_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "jobs" / "notes.csv", ["1,2"], "a,b")
    assert recognise(path, False) is None
    assert recognise(as_other(path.with_suffix(".parquet")), False) is None
    damaged = path.with_name("damaged.parquet")
    damaged.write_bytes(b"PAR1 and no footer")
    assert recognise(damaged, False) is None


def as_other(path: Path) -> Path:
    duckdb.execute(f"COPY (SELECT 1 AS a) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("dsp_size: two", "meta-J.yaml, line 1: dsp_size is two; write a whole number from 1"),
        ("\ndsp_size: 0", "meta-J.yaml, line 2: dsp_size is 0; write a whole number from 1"),
        ("a: 1\nb", "meta-J.yaml, line 2: it is not 'name: value'; write one fact per line"),
    ],
)
def test_facts_that_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path / "trace-J.csv")
    (tmp_path / "meta-J.yaml").write_text(text)
    assert refusal(path) == reason


def changed(row: int, old: str, new: str) -> list[str]:
    rows = list(ROWS)
    assert old in rows[row - 1]
    rows[row - 1] = rows[row - 1].replace(old, new, 1)
    return rows


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "it has no rows; write the operations of whole steps"),
        (changed(2, "0.25,", "nan,"), f"row 2: start_ts is NaN; {WHOLE}"),
        (changed(2, "0.5,", "inf,"), f"row 2: duration is infinite; {WHOLE}"),
        (
            changed(5, "0.5,", "-0.5,"),
            f"row 5: duration is -0.5, which is less than 0; {WHOLE}",
        ),
        (
            changed(1, "0.25,", "x,"),
            f"row 1: duration is missing or is not a number; {WHOLE}",
        ),
        (
            changed(4, "1,0,1", "1.5,0,1"),
            f"row 4: dp_rank is 1.5, which is not a whole number; {WHOLE}",
        ),
        (
            changed(4, ",5,", ",1e19,"),
            f"row 4: step is missing, is too large or is not a number; {WHOLE}",
        ),
        (
            changed(3, "optimizer", "optimiser"),
            (
                "row 3: optype optimiser is not known; use forward-compute, backward-compute, forward-send, "
                "forward-recv, backward-send, backward-recv, params-all-gather, grads-reduce-scatter, "
                "separate-grads-all-reduce, gc, layernorm-grads-all-reduce, embedding-grads-all-reduce, "
                "optimizer-clip-main-grad or optimizer"
            ),
        ),
        (
            changed(4, "0.375,0,0,0,0", "0.375,0,-1,0,0"),
            (
                "row 4: forward-compute has no model chunk (mc -1, gmc 0); give each computation its chunk: "
                "mc within the stage, and gmc = mc * stages + stage"
            ),
        ),
        (
            [*ROWS, ROWS[1]],
            (
                "row 7: it repeats row 2: backward-compute 0 of step 5, dp_rank 0, stage 0; number the "
                "operations of a type, step and rank in seq_id"
            ),
        ),
        (
            changed(5, "1,0,1", "1,0,2"),
            (
                "row 5: rank 2 and rank 1 both have dp_rank 1 and stage 0; keep one rank of each "
                "tensor-parallel group"
            ),
        ),
        (
            [row.replace(",0,", ",1,", 1) for row in ROWS],
            (
                "row 1: the highest stage is 1, and the number of stages is 1; write the operations of all stages, "
                "numbered from 0"
            ),
        ),
        (
            [*ROWS, "1,0,1,5,gc,0.9,0,0,-1,0,-1"],
            (
                "row 7: step 5 of dp_rank 1 has gc 0 on stage 0, and the first step of the first dp_rank has "
                f"not; {DIFFER}"
            ),
        ),
        (
            [*ROWS[:4], ROWS[5]],
            (
                "row 2: step 5 of dp_rank 1 has no backward-compute 0 on stage 0, which this row of the first "
                f"step and dp_rank is; {DIFFER}"
            ),
        ),
        (
            [*ROWS, *(row.replace(",5,", ",6,", 1) for row in ROWS[:3])],
            f"row 7: step 6 has no operation of dp_rank 1, and other steps have; {DIFFER}",
        ),
        (
            [row for row in ROWS if "optimizer" not in row],
            (
                "row 4: no row up to this last one is an optimizer; write the operations up to the end of the "
                "step, which is that of the optimizer"
            ),
        ),
        (
            changed(5, "1,0,1", "1,0,0"),
            (
                "row 5: rank 0 and rank 1 both have dp_rank 1 and stage 0; keep one rank of each "
                "tensor-parallel group"
            ),
        ),
        (
            [row.replace("1,0,1", "1,0,0") for row in ROWS],
            (
                "row 4: rank 0 has dp_rank 1 and stage 0, and before dp_rank 0 and stage 0; give each "
                "data-parallel rank and stage a rank of its own"
            ),
        ),
        (
            [row.replace("0,0,0,0", "0,1,0,0") for row in ROWS],
            (
                "row 1: gmc is 0, and mc * stages + stage is 1; number the model chunks of all stages in "
                "gmc"
            ),
        ),
        (
            [row.replace(",0,0,0,0", ",1,0,0,0") for row in ROWS],
            (
                "row 1: seq_id is 1, and 0 operations of its type, step and rank start before it; number the "
                "operations of a type, step and rank in order of start, from 0"
            ),
        ),
    ],
)
def test_rows_that_are_refused(tmp_path: Path, rows: list[str], reason: str) -> None:
    assert refusal(write(tmp_path / "table.csv", rows)) == reason


def test_a_csv_file_that_is_damaged(tmp_path: Path) -> None:
    said = refusal(write(tmp_path / "table.csv", [ROWS[0], "0,0"]))
    assert said == "table.csv, line 3: it has fewer columns than the header; write the table again"


@pytest.mark.parametrize(
    ("header", "row"),
    [
        pytest.param(f",{HEADER}", "7,{}", id="the index of pandas"),
        pytest.param(f"{HEADER},STEP,Step", "{},7,8", id="names that differ by case"),
        pytest.param(f",a,column 0,{HEADER},A,a,A 14,", "1,2,3,{},4,5,6,7", id="given numbers"),
    ],
)
def test_other_columns_of_a_csv_file(tmp_path: Path, header: str, row: str) -> None:
    """Whatever they are called, they are left out."""
    path = write(tmp_path / "table.csv", [row.format(given) for given in ROWS], header)
    [result] = tracewh.ingest([path], tmp_path / "wh")
    assert (result.status, result.reason) == ("ingested", "")
    found = stored(tmp_path / "wh", "SELECT step, duration, gmc FROM pipeline_operations")
    durations = [0.25, 0.5, 0.125, 0.375, 0.5, 0.125]
    assert found == [(5, each, -1 if each == 0.125 else 0) for each in durations]


def test_nan_in_parquet(tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv", changed(2, "0.25,", "nan,"))
    assert refusal(as_parquet(tmp_path / "t.parquet", path)) == f"row 2: start_ts is NaN; {WHOLE}"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_missing_columns(tmp_path: Path, kind: str) -> None:
    path = write(
        tmp_path / "table.csv",
        [row.rsplit(",", 2)[0] for row in ROWS],
        HEADER.removesuffix(",mb_id,gmc"),
    )
    if kind == "parquet":
        path = as_parquet(tmp_path / "t.parquet", path)
    assert refusal(path) == (
        f"the header has no columns mb_id, gmc; a table of pipeline operations has {COLUMNS}"
    )


def test_the_published_tables(shared: Path, tmp_path: Path) -> None:
    """Every value of both tables, in the order of the file, and the facts beside them."""
    folder = shared / "data" / "stragglers"
    tracewh.ingest(sorted(folder.glob("trace-*.parquet")), tmp_path / "wh")
    for name, ranks in (("ST", 2), ("AR", 4)):
        given = duckdb.execute(f"SELECT {COLUMNS} FROM '{folder}/trace-{name}.parquet'").fetchall()
        where = f"WHERE worker = 'trace-{name}'"
        sql = f"SELECT {COLUMNS} FROM pipeline_operations {where}"
        assert stored(tmp_path / "wh", sql) == given
        [(facts,)] = stored(tmp_path / "wh", f"SELECT metadata FROM traces {where}")
        assert json.loads(facts)["dp_size"] == ranks
