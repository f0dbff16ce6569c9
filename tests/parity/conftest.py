"""What the parity tests share: a peer's figures for a trace, and where that trace is in the corpus."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

#: Of a trace, by its path without suffixes: the peer's JSON, and run, worker and span as arguments.
Peer = Callable[[str], tuple[dict[str, Any], dict[str, str]]]


@pytest.fixture(scope="session")
def plugin(shared: Path, corpus: tracewh.Warehouse) -> Peer:
    """Figures of the TensorBoard plugin for one trace."""

    def figures(trace: str) -> tuple[dict[str, Any], dict[str, str]]:
        said = json.loads((shared / "expected" / f"{trace}.tb.json").read_text("utf-8"))
        [key] = corpus.sql(
            "SELECT t.run, t.worker, t.span FROM traces AS t WHERE contains(t.source_path, ?)",
            [f"traces/{trace}.json"],
        ).fetchall()
        return said["workers"][0], dict(zip(("run", "worker", "span"), key, strict=True))

    return figures
