"""The SparkSession of the command line, without log output and with the settings for object stores.

The user's own Spark settings take precedence: spark-defaults.conf in SPARK_CONF_DIR, and
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

#: Timeout for connecting to a master.
ANSWER_SECONDS = 10

#: Settings that Spark hides in its logs and web pages by default.
_REDACTED = "(?i)secret|password|token|access[.]?key"


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """Start a SparkSession and stop it afterwards.

    Args:
        master: As --master of spark-submit; None for Spark's own settings, or else local[*].

    Raises:
        SparkError: PySpark or Java are missing, or the master cannot be reached.
    """
    if not logging.root.handlers:
        logging.root.addHandler(logging.NullHandler())  # py4j logs every interruption
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
    """Start Spark in another thread. In the main thread it would install its own handler for Ctrl-C."""
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
        # Start the JVM before the settings exist: they would become process arguments, secrets included.
        if SparkContext._gateway is None:
            SparkContext._gateway = launch_gateway(popen_kwargs=quiet)  # type: ignore[no-untyped-call]
            SparkContext._jvm = SparkContext._gateway.jvm
        conf = _conf(master)
        _check_master(conf.get("spark.master") or "")
        return SparkSession(SparkContext(conf=conf))
    except (PySparkException, Py4JError) as error:
        raise SparkError(f"cannot start Spark: {_cause(log) or error}") from None


def _conf(master: str | None) -> SparkConf:
    """The settings. SparkConf contains those of the user from the start."""
    from pyspark import SparkConf

    conf = SparkConf()
    if master:
        conf.setMaster(master)
    if conf.get("spark.app.name") in (None, "pyspark-shell"):  # the user set none
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
        where = f"JAVA_HOME={home} has no bin/java" if home else "java is not in PATH"
        raise SparkError(
            f"Spark needs Java 17 or later, and {where}: install a JDK, or set JAVA_HOME"
        )


def _check_master(master: str) -> None:
    """Check that a standalone master accepts connections. Spark itself would retry for a minute."""
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
        f"cannot reach a Spark master at {master} ({reasons[-1].lower()}): check --master, and that it runs"
    )


def _cause(log: IO[bytes]) -> str:
    """The last error in the log of Spark's process, in one line."""
    log.seek(0)
    text = log.read().decode("utf-8", "replace")
    if "UnsupportedClassVersionError" in text:
        return "it needs Java 17 or later; install a JDK, or set JAVA_HOME"
    causes = re.findall(
        r"^(?:Caused by: |Exception in thread \S+ )?(?:\w+\.)+\w+: (.*)$", text, re.MULTILINE
    )
    lines = causes or [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
