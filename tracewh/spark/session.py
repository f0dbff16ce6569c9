"""The SparkSession of the command line: quiet, and with the settings that stores need.

Whatever the user has set for Spark itself wins: spark-defaults.conf in SPARK_CONF_DIR, and
PYSPARK_SUBMIT_ARGS.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from tracewh.debug import debugging
from tracewh.spark.errors import SparkError
from tracewh.storage.remote import SETTINGS

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

#: How long a master may take to answer.
ANSWER_SECONDS = 10

#: What Spark hides in its logs and pages by itself.
_REDACTED = "(?i)secret|password|token|access[.]?key"


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """A SparkSession, stopped afterwards.

    Args:
        master: As spark-submit's --master; None for what Spark's own settings say, else local[*].

    Raises:
        SparkError: PySpark or Java are missing, or the master cannot be reached.
    """
    if not logging.root.handlers:
        logging.root.addHandler(logging.NullHandler())  # py4j tells it of every interruption
    _check_java()
    if master:
        _check_master(master)
    with tempfile.TemporaryFile() as log:
        spark = _started(master, log)
        try:
            yield spark
        finally:
            spark.stop()


def _started(master: str | None, log: IO[bytes]) -> SparkSession:
    """Start it on another thread: on this one, Spark would take Ctrl-C for itself."""
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(_start, master, log)
        try:
            return starting.result()
        except KeyboardInterrupt:
            from pyspark import SparkContext

            while not wait([starting], 0.1).done:
                if SparkContext._gateway is not None:
                    SparkContext._gateway.proc.kill()
            raise


def _start(master: str | None, log: IO[bytes]) -> SparkSession:
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise SparkError("--engine spark needs PySpark: pip install 'tracewh[spark]'") from None
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    quiet = {} if debugging() else {"stdout": log, "stderr": log}
    try:
        # Before any settings are known: they would be arguments of the process, secrets included.
        if SparkContext._gateway is None:
            SparkContext._gateway = launch_gateway(popen_kwargs=quiet)  # type: ignore[no-untyped-call]
            SparkContext._jvm = SparkContext._gateway.jvm
        conf = _conf(master)
        _check_master(conf.get("spark.master") or "")
        return SparkSession(SparkContext(conf=conf))
    except (PySparkException, Py4JError) as error:
        raise SparkError(f"Spark does not start: {_cause(log) or error}") from None


def _conf(master: str | None) -> SparkConf:
    """The settings; those of the user are in it from the start."""
    from pyspark import SparkConf

    conf = SparkConf()
    if master:
        conf.setMaster(master)
    if conf.get("spark.app.name") in (None, "pyspark-shell"):  # nobody chose one
        conf.setAppName("tracewh")
    conf.setIfMissing("spark.ui.enabled", "false")
    conf.set("spark.ui.showConsoleProgress", "false")
    for name, value in os.environ.items():
        if name.startswith(SETTINGS):
            conf.setIfMissing(f"spark.executorEnv.{name}", value)
    hidden = conf.get("spark.redaction.regex") or _REDACTED
    conf.set("spark.redaction.regex", f"{hidden}|spark[.]executorEnv[.]")
    local = (conf.get("spark.master") or "").startswith("local")
    python = conf.get("spark.pyspark.python") or (sys.executable if local else "python3")
    os.environ.setdefault("PYSPARK_PYTHON", python)
    return conf


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which(os.path.join(home, "bin", "java") if home else "java") is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "there is no java in PATH"
        raise SparkError(
            f"Spark needs Java 17 or later, and {where}: install a JDK, or set JAVA_HOME"
        )


def _check_master(master: str) -> None:
    """Ask a standalone master, which Spark would try for a minute, whether it is there."""
    if not master.startswith("spark://"):
        return
    reasons = []
    for each in master.removeprefix("spark://").split(","):
        try:
            split = urlsplit(f"spark://{each}")
            where = split.hostname or "", split.port or 7077
            socket.create_connection(where, ANSWER_SECONDS).close()
        except (OSError, ValueError) as error:
            reasons.append(getattr(error, "strerror", None) or str(error))
        else:
            return
    raise SparkError(
        f"no Spark master answers at {master} ({reasons[-1].lower()}): check --master, and that it runs"
    )


def _cause(log: IO[bytes]) -> str:
    """What the log of Spark's process says last of why it ended, in one line."""
    log.seek(0)
    text = log.read().decode("utf-8", "replace")
    if "UnsupportedClassVersionError" in text:
        return "it needs Java 17 or later; install a JDK, or set JAVA_HOME"
    causes = re.findall(
        r"^(?:Caused by: |Exception in thread \S+ )?(?:\w+\.)+\w+: (.*)$", text, re.MULTILINE
    )
    lines = causes or [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
