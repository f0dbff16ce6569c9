"""What the parity tests share: the traces of the corpus, and what peers say of one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import SHARED
from tests.parity.plugin.said import Said, load

if TYPE_CHECKING:
    from pathlib import Path

    import tracewh

#: Every file of the plugin's figures, by its path without suffix: of traces, of folders of several
#: workers or spans, and of two runs.
FILES = sorted(
    str(path.relative_to(SHARED / "expected")).removesuffix(".tb.json")
    for path in (SHARED / "expected").rglob("*.tb.json")
)
FOLDERS = [file for file in FILES if file.endswith("/RUNDIR")]
DIFFS = [file for file in FILES if "/diff__" in file]

#: The peers' figures for it are of another file, with 105167 events where the corpus has 34.
ANOTHER_FILE = "diff_small_2022/test/test"
TRACES = [file for file in FILES if file not in [*FOLDERS, *DIFFS, ANOTHER_FILE]]

#: Of a trace, by its path without suffix: what the plugin says, and run, worker and span.
Peer = Callable[[str], tuple[Said, dict[str, str]]]


@pytest.fixture(scope="session")
def plugin(shared: Path, corpus: tracewh.Warehouse) -> Peer:
    """Figures of the TensorBoard plugin for one trace."""

    def figures(trace: str) -> tuple[Said, dict[str, str]]:
        said = load(shared / "expected" / f"{trace}.tb.json")
        return said["workers"][0], keys(corpus, trace)

    return figures


def keys(corpus: tracewh.Warehouse, trace: str) -> dict[str, Any]:
    """Run, worker and span of a trace, as arguments of views."""
    [key] = corpus.sql(
        "SELECT t.run, t.worker, t.span FROM traces AS t WHERE contains(t.source_path, ?)",
        [f"traces/{trace}.json"],
    ).fetchall()
    return dict(zip(("run", "worker", "span"), key, strict=True))


#: Categories whose arguments are large, and are not looked at.
_HOST = ("cpu_op", "operator", "python_function")


@pytest.fixture(scope="session")
def raw(corpus: tracewh.Warehouse) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Complete events of every .gz of the corpus, by run, worker and span: category, name, thread, start and
    length in exact us, and arguments but of operators and frames."""
    files = {}
    rows = corpus.sql("SELECT run, worker, span, source_path FROM traces").fetchall()
    for run, worker, span, path in rows:
        if not path.endswith(".gz"):
            continue  # another tool's list of events
        with gzip.open(path) as file:
            events = json.load(file, parse_float=Decimal)["traceEvents"]
        files[run, worker, span] = [
            {key: event[key] for key in ("cat", "name", "pid", "tid", "ts", "dur")}
            | ({} if event["cat"].lower() in _HOST else {"args": event.get("args", {})})
            for event in events
            if event.get("ph") == "X" and event["cat"] != "Trace"
        ]
    assert len(files) > 20
    return files
