"""Views as table functions of Spark SQL: those that say so have the rows that DuckDB gives, in order.

Everything runs in one `spark-sql` process, on the script that `tracewh spark-sql` prints; it writes the
answers to Parquet files, which keep types. Sums of fractions are added up in another order there, so a
DOUBLE may differ by 1e-9 of its value; all else is equal.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh
from tests.spark.conftest import HOME, spark_environ
from tests.views.test_every_view import A100, COUNTERS, PAIR
from tracewh.cli.app import main
from tracewh.quoting import quote_literal
from tracewh.spark.sql_script import script
from tracewh.storage.layout import Attempt, Object
from tracewh.views import Spec
from tracewh.views.listing import Listing
from tracewh.views.registry import installed

VIEWS = [view for view in installed() if view.carries]

#: Names that Spark would take for other types, or misread.
RUNS = {"two_ranks_nccl_2023": "007", "h100_bert_2025": "größe 1"}

#: What is asked besides the view without arguments.
ALSO: dict[str, dict[str, Any]] = {
    "kernel_stats": {"run": "007", "group_by": "launch", "step": 551},
    "operator_stats": {"run": "größe 1", "group_by": "input_shape"},
    "step_breakdown": {"worker": "rank1", "step": 4},
}
CALLS: list[tuple[Spec, dict[str, Any]]] = [(view, {}) for view in VIEWS] + [
    (view, ALSO[view.name]) for view in VIEWS if view.name in ALSO
]


def call(view: Spec, arguments: dict[str, Any]) -> str:
    given = (
        f"{key} => {quote_literal(value) if isinstance(value, str) else value}"
        for key, value in arguments.items()
    )
    return f"SELECT * FROM {view.name}({', '.join(given)})"


@pytest.fixture(scope="module")
def warehouse(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tracewh.Warehouse]:
    """A rank on a GPU, a trace with memory and stacks, a gloo pair, counters."""
    folder = tmp_path_factory.mktemp("carries")
    for name, run in RUNS.items():
        (first, *_) = sorted((shared / "traces" / name).glob("*.gz"))
        tracewh.ingest([first], folder / "it's {a} ware[house]", run=run)
    tracewh.ingest([PAIR], folder / "it's {a} ware[house]")
    counted = folder / "counted.pt.trace.json"
    counted.write_text(json.dumps({"deviceProperties": [A100], "traceEvents": COUNTERS}))
    tracewh.ingest([counted], folder / "it's {a} ware[house]", run="counted")
    with tracewh.open(folder / "it's {a} ware[house]") as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def answers(warehouse: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Spark answers: a folder for each call, by its number, of Parquet files."""
    folder = tmp_path_factory.mktemp("answers")
    with (folder / "all.sql").open("w") as out, contextlib.redirect_stdout(out):
        stored = written_twice(warehouse, folder / "store")
        assert main(["spark-sql", "-w", str(warehouse.path)]) == 0
        for number, (view, arguments) in enumerate(CALLS):
            path = f"{folder}/{number}"
            print(f"INSERT OVERWRITE DIRECTORY '{path}' USING parquet {call(view, arguments)};")
        print(*script(installed(), stored, {"runs_v1": installed().get("runs")}), sep=";\n")
        print(
            f";INSERT OVERWRITE DIRECTORY '{folder}/store/runs' USING parquet SELECT * FROM runs_v1();"
        )
    settings = {
        "spark.driver.extraJavaOptions": "-Xmn400m",  # collects garbage half as often
        "spark.ui.enabled": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.constraintPropagation.enabled": "false",
        "spark.sql.files.minPartitionNum": "1",
        "spark.sql.files.openCostInBytes": "1",
        "spark.sql.lightweightPlanChangeValidation": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder),
    }
    done = subprocess.run(
        [
            *(HOME / "bin/spark-sql", "--master", "local[2]", "-f", folder / "all.sql"),
            *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
        ],
        env=os.environ | spark_environ(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, re.findall(r"^.*\[[A-Z_.]+\] .*", done.stderr, re.MULTILINE)
    return folder


def written_twice(warehouse: tracewh.Warehouse, folder: Path) -> Listing:
    """A copy of the warehouse as an object store has it where each trace but the first was written a second time.

    The first two were copied from a folder, with plain names.
    """
    listing = Listing.of(str(warehouse.path))
    traces = []
    for number, trace in enumerate(listing.traces):
        files = {}
        for table, found in trace.files.items():
            path = folder / Path(found.key).relative_to(warehouse.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            for generation in ((0,), (0, 2), (1, 2))[min(number, 2)]:
                attempt = Attempt(generation, f"{number:08x}")
                shutil.copyfile(found.key, written := path.with_name(attempt.name(path.name)))
            files[table] = Object(str(written), 0, 0)
        traces.append(replace(trace, files=files))
    return Listing(folder, tuple(traces))


def rows(folder: Path) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
    """Names, types and rows of an answer, in order."""
    with duckdb.connect() as con:
        files = sorted(map(str, folder.glob("*.parquet")))
        found = con.read_parquet(files)
        return list(zip(found.columns, map(str, found.types), strict=True)), found.fetchall()


def equal(value: Any, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, float):
        return math.isclose(value, other, rel_tol=1e-9)
    return type(value) is type(other) and value == other


@pytest.mark.parametrize(
    "number",
    range(len(CALLS)),
    ids=[f"{view.object_name}{'-also' if given else ''}" for view, given in CALLS],
)
def test_a_view_that_carries_over_has_the_same_rows_in_spark(
    answers: Path, warehouse: tracewh.Warehouse, number: int
) -> None:
    view, arguments = CALLS[number]
    columns, found = rows(answers / str(number))
    assert columns == [(c.name, c.type.replace("JSON", "VARCHAR")) for c in view.columns]
    expected = warehouse.view(view.name, view.version, **arguments).fetchall()
    assert len(found) == len(expected) > 0
    for row, other in zip(found, expected, strict=True):
        assert all(map(equal, row, other)), f"{row}\n{other}"


def test_of_a_trace_that_was_written_twice_spark_reads_the_newest(
    answers: Path, warehouse: tracewh.Warehouse
) -> None:
    assert rows(answers / "store" / "runs")[1] == warehouse.view("runs").fetchall()
