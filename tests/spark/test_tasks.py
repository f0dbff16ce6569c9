"""One call of a function a task, on the cluster's executors; and what keeps them from it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from operator import methodcaller
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

import pytest
from pyarrow import RecordBatch

from tests.storage.remote.conftest import Store
from tracewh.spark import SparkError
from tracewh.spark import tasks as ours
from tracewh.spark.errors import TaskLostError
from tracewh.spark.tasks import collect, explain_error, one_per_task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def upper(word: str) -> Iterator[RecordBatch]:
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    columns = {"word": [word.upper()], "task": [task.partitionId()], "parent": [os.getppid()]}
    yield RecordBatch.from_pydict(columns)


def fail(word: str) -> Iterator[RecordBatch]:
    raise ValueError(f"{word}\nof more than a line")


def test_each_argument_has_a_task_of_its_own(spark: SparkSession) -> None:
    words = ["a", "b", "c", "d", "e", "f"]
    found = one_per_task(spark, upper, words, "word string, task long, parent long").toArrow()
    assert found["word"].to_pylist() == ["A", "B", "C", "D", "E", "F"]
    assert found["task"].to_pylist() == [0, 1, 2, 3, 4, 5]
    assert len(set(found["parent"].to_pylist())) == 2  # an executor on each worker


def refusal(spark: SparkSession) -> str:
    with pytest.raises(SparkError) as raised:
        frame = one_per_task(spark, upper, ["a"], "word string, task long, parent long")
        collect(frame, methodcaller("collect"))
    return str(raised.value)


def test_executors_that_cannot_work(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = version("tracewh")
    with monkeypatch.context() as patch:
        patch.setattr(ours, "version", lambda name: "99.0")
        assert refusal(spark) == (
            f"{gethostname()} has tracewh {here}, but the driver has 99.0: "
            "run pip install 'tracewh[spark]==99.0' there"
        )
    context = spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", "python-of-nobody")
    assert refusal(spark) == (
        "the executors have no python-of-nobody: set PYSPARK_PYTHON to a Python on the executors"
    )
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    monkeypatch.setattr(context, "pythonExec", str(tmp_path / "bare/bin/python"))
    assert refusal(spark) == (
        "the Python of the executors has no pyarrow: "
        f"run pip install 'tracewh[spark]=={here}' there, or set PYSPARK_PYTHON to a Python that has it"
    )


def test_an_error_that_nobody_foresaw_is_one_line(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SparkError) as raised:
        collect(one_per_task(spark, fail, ["a word"], "word string"), methodcaller("collect"))
    assert (
        str(raised.value)
        == "Spark failed: ValueError: a word (set TRACEWH_DEBUG=1 for the full error)"
    )


def test_what_spark_says_of_what_no_machine_here_has() -> None:
    from pyspark.errors import PySparkRuntimeError

    mismatch = PySparkRuntimeError(
        errorClass="PYTHON_VERSION_MISMATCH",
        messageParameters={"worker_version": "3.12", "driver_version": "3.11"},
    )
    assert str(explain_error(str(mismatch))) == (
        "the executors run Python 3.12, but the driver runs Python 3.11: set PYSPARK_PYTHON to a "
        "Python 3.11 on the executors"
    )
    older = explain_error("ModuleNotFoundError: No module named 'tracewh.spark'")
    assert str(older).startswith(
        "the executors have a different version of tracewh than the driver, "
    )
    lost = explain_error(
        "Job aborted due to stage failure: Task 3 in stage 5.0 failed 4 times, most recent failure: Lost "
        "task 3.3 in stage 5.0 (TID 17) (10.0.0.7 executor 2): ExecutorLostFailure (executor 2 exited)"
    )
    assert isinstance(lost, TaskLostError)
    assert (lost.number, lost.host) == (3, "10.0.0.7")


def test_secrets_of_stores_are_in_no_page_and_no_list_of_processes(
    spark: SparkSession, s3_server: Store
) -> None:
    context = spark.sparkContext
    assert context.getConf().get("spark.executorEnv.AWS_SECRET_ACCESS_KEY") == "secret"
    shown = {row.key: row.value for row in spark.sql("SET").collect()}
    assert shown["spark.app.name"] == "tracewh"
    hidden = [f"spark.executorEnv.{name}" for name in s3_server.environ]
    assert {shown[key] for key in hidden} == {"*********(redacted)"}
    assert context._gateway
    arguments = Path(f"/proc/{context._gateway.proc.pid}/cmdline").read_bytes()
    assert b"org.apache.spark.deploy.SparkSubmit" in arguments
    assert b"AWS" not in arguments
