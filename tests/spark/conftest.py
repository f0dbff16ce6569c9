"""A real Spark cluster on loopback: a master and two workers, each a process of its own."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOME = Path(pyspark.__file__).parent

#: For what lives a minute: one quick compiler, and one thread that collects garbage.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"


def spark_environ(folder: Path) -> dict[str, str]:
    """What all processes of the cluster have in their environment, and drivers as well."""
    return {
        "JDK_JAVA_OPTIONS": JAVA,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
    }


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: also where pytest is killed


@contextmanager
def server(log: Path, kind: str, ready: str, *words: str) -> Iterator[str]:
    """Run one of Spark's servers until the tests are done; the line that says that it is ready."""
    loopback = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    command = [str(HOME / "bin/spark-class"), f"org.apache.spark.deploy.{kind}", *loopback, *words]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            env=os.environ | spark_environ(log.parent),
            preexec_fn=_end_with_parent,  # noqa: PLW1509  # no thread runs yet
        )
    try:
        deadline = time.monotonic() + 120
        while ready not in (said := log.read_text("utf-8", "replace")):
            assert process.poll() is None and time.monotonic() < deadline, said
            time.sleep(0.05)
        yield next(line for line in said.splitlines() if ready in line)
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of the master of a cluster of two workers, of two cores each."""
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as stack:
        started = server(folder / "master", "master.Master", "Starting Spark master at ")
        url = stack.enter_context(started).split()[-1]
        for number in "12":
            words = ("--cores", "2", "--memory", "2g", "--work-dir", str(folder / number), url)
            log, ready = folder / f"worker{number}", "Successfully registered with master"
            stack.enter_context(server(log, "worker.Worker", ready, *words))
        yield url


@pytest.fixture(scope="session")
def spark(cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on the cluster, with a core on each worker. A process can have one only."""
    from tracewh.spark.session import session

    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text(
        "spark.cores.max 2\n"
        "spark.executor.cores 1\n"
        "spark.executor.memory 512m\n"
        "spark.driver.memory 512m\n"
        "spark.sql.shuffle.partitions 2\n"
        f"spark.sql.warehouse.dir {folder / 'warehouse'}\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**spark_environ(folder), "SPARK_CONF_DIR": str(folder)}.items():
            patch.setenv(name, value)
        with session(cluster) as spark:
            yield spark
