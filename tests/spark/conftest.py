"""A real Spark cluster on loopback: a master and two workers, each a process of its own."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.storage.remote.conftest import Store, s3_server

__all__ = ["s3_server"]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Found and not imported: every process of a test run collects this file.
FOUND = find_spec("pyspark")
assert FOUND is not None and FOUND.origin is not None
HOME = Path(FOUND.origin).parent

#: For what lives a minute: one quick compiler, with room for all that it compiles, and one thread that collects
#: garbage. With a larger table of symbols, and classes that are not verified, a start takes a fourth less.
JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -XX:-UsePerfData"
    " -XX:+UnlockExperimentalVMOptions -XX:SymbolTableSize=524288"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)

#: A core on each worker, so that two drivers can be there at once.
DEFAULTS = """
spark.cores.max 2
spark.executor.cores 1
spark.executor.memory 512m
spark.driver.memory 512m
spark.task.maxFailures 2
spark.sql.shuffle.partitions 2
spark.sql.catalogImplementation in-memory
"""


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
def server(log: Path, kind: str, ready: str, *words: str) -> Iterator[Server]:
    """Run one of Spark's servers until the tests are done."""
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
        yield Server(process.pid, next(line for line in said.splitlines() if ready in line))
    finally:
        process.terminate()
        process.wait(30)


@dataclass(frozen=True, slots=True)
class Server:
    """One of Spark's servers: its process, and the line that said that it is ready."""

    pid: int
    said: str


class Cluster:
    """A master, and workers of two cores each; `environ` is what drivers need to know."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder = stack, folder
        self.environ = {**spark_environ(folder), "SPARK_CONF_DIR": str(folder)}
        (folder / "spark-defaults.conf").write_text(DEFAULTS)
        started = server(folder / "master", "master.Master", "Starting Spark master at ")
        self.url = stack.enter_context(started).said.split()[-1]
        self.workers: list[int] = []
        for _ in range(2):
            self.add_worker()

    def add_worker(self) -> None:
        """Have one more."""
        folder = self._folder / f"worker{len(self.workers)}"
        words = ("--cores", "2", "--memory", "2g", "--work-dir", str(folder), self.url)
        ready = "Successfully registered with master"
        started = server(folder.with_suffix(".log"), "worker.Worker", ready, *words)
        self.workers.append(self._stack.enter_context(started).pid)

    def lose_worker(self) -> None:
        """Kill the newest, and all that runs on its machine."""
        for pid in reversed(descendants(self.workers[-1])):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def processes(self) -> list[int]:
        """All that runs on the machines of the workers."""
        return [pid for worker in self.workers for pid in descendants(worker)]


def descendants(pid: int) -> list[int]:
    """A process and those that it started, and those that these did."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            for task in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two workers."""
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="session")
def spark(cluster: Cluster, s3_server: Store) -> Iterator[SparkSession]:
    """A session on the cluster, whose executors know the S3 server.

    A process can have one session only.
    """
    from tracewh.spark.session import session

    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (cluster.environ | dict(s3_server.environ)).items():
                patch.setenv(name, value)
            spark = stack.enter_context(session(cluster.url))
        yield spark


@pytest.fixture
def bucket(s3_server: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The S3 server, which this process knows as well."""
    for name, value in s3_server.environ.items():
        monkeypatch.setenv(name, value)
    return s3_server
