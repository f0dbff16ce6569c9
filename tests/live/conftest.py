"""Runs recorded here and now, once, with what torch.profiler itself says of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tracewh

HERE = Path(__file__).parent

#: Run, worker and span of each trace that record.py writes.
LOOPS = [("loop", "main", "1"), ("loop", "main", "2")]
PAIR = [("pair", "rank0", "1"), ("pair", "rank1", "1")]
TRACES = [*LOOPS, ("bare", "main", "1"), ("threads", "main", "1"), *PAIR]
Trace = tuple[str, str, str]


@dataclass(frozen=True)
class Live:
    """The recorded runs in a warehouse, and beside it the words of the profiler."""

    warehouse: tracewh.Warehouse
    folder: Path

    def said(self, trace: Trace) -> dict[str, Any]:
        """What the profiler says of a trace; record.py lists it."""
        found: dict[str, Any] = json.loads(
            (self.folder / "said" / f"{'.'.join(trace)}.json").read_text("utf-8")
        )
        return found

    def rows(self, trace: Trace, view: str, **arguments: Any) -> list[dict[str, Any]]:
        """The rows of a view for one trace."""
        keys = dict(zip(("run", "worker", "span"), trace, strict=True))
        relation = self.warehouse.view(view, **keys, **arguments)
        return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    subprocess.run([sys.executable, "record.py", folder], cwd=HERE, check=True, capture_output=True)
    tracewh.ingest([folder / "traces"], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as warehouse:
        yield Live(warehouse, folder)
