"""Servers for tests: in this process, and in a process of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from starlette.testclient import TestClient

import tracewh
from tracewh.cli.report import serve
from tracewh.cli.report.worker_pool import Pool, Worker

TOKEN = "a-token"
HERE = Path(__file__).parent


#: A query that ends only when it is stopped, one that computes all the while, and a function call of minutes in which
#: DuckDB notices no interrupt. DuckDB 2.0.1 notices one in levenshtein.
ENDLESS = "SELECT sleep_ms(1000000000)"
BUSY = "SELECT sum(hash(a.range * b.range)) FROM range(10000000) a, range(10000000) b"
DEAF = "SELECT jaro_similarity(repeat('a', 8000000), repeat('b', 8000000))"


class _NotStarted(Worker):
    """Stands in a pool for a process until there is a task for it."""

    is_alive = False

    def __init__(self) -> None:
        """Start nothing."""

    def kill(self) -> None:
        """There is nothing to kill."""

    def reap(self) -> str:
        return "not started"


class LatePool(Pool):
    """Starts each process when there is a task for it: a start takes a third of a second of CPU time."""

    def _start(self) -> Worker:
        return super()._start() if hasattr(self, "_idle") else _NotStarted()


@contextmanager
def visitor(
    samples: tracewh.Warehouse, token: str | None = None, **limits: float
) -> Iterator[TestClient]:
    """A visitor of a server of its own."""
    hosts = [*serve.LOOPBACK] if token is None else ["*"]
    with patch.object(serve, "Pool", LatePool):
        app = serve.application(str(samples.path), hosts, token, **limits)  # type: ignore[arg-type]
    with closing(app.state.site):
        yield TestClient(app, base_url="http://127.0.0.1:8765")


def started(
    samples: tracewh.Warehouse,
    *options: str,
    panels: Sequence[str] | None = None,
    has_verdict: bool = True,
) -> tuple[subprocess.Popen[str], str]:
    """A server of its own process, and where it listens; its pages may have these panels only."""
    environment = dict(os.environ)
    if panels is not None:
        # Python imports the sitecustomize of the first folder that has one. The server hands its path on to the child
        # processes that write its pages.
        path = (HERE / "few_panels", HERE.parents[2], environment.get("PYTHONPATH", ""))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, map(str, path)))
        environment["PANELS"] = json.dumps([*panels])
        environment |= {"VERDICT": "yes"} if has_verdict else {}
    code = "from tracewh.cli.app import run; run()"
    server = subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--port", "0", "-w", str(samples.path), *options],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    found = re.match(
        r"(http://127\.0\.0\.1:\d+/)  \(press Ctrl-C to stop\)", server.stderr.readline()
    )
    assert found is not None
    return server, found[1]


def sent(address: str, sql: str) -> HTTPConnection:
    """A client that has sent a query and waits for its answer."""
    place = urlsplit(address)
    assert place.hostname is not None
    client = HTTPConnection(place.hostname, place.port)
    head = {"Content-Type": "application/json"}
    client.request("POST", "/api/sql", json.dumps({"sql": sql}), head)
    return client


def answer_of(client: HTTPConnection) -> Any:
    with closing(client):
        return json.loads(client.getresponse().read())


def stop(server: subprocess.Popen[str]) -> None:
    """End a server as Ctrl-C does, and see that it said nothing."""
    server.send_signal(signal.SIGINT)
    assert server.stderr is not None
    with server.stderr:
        assert server.wait() == 0
        assert server.stderr.read() == ""
