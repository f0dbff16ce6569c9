"""What the parity tests share: the traces of the corpus, and what peers say of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

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


def keys(corpus: tracewh.Warehouse, trace: str) -> dict[str, str]:
    """Run, worker and span of a trace, as arguments of views."""
    [key] = corpus.sql(
        "SELECT t.run, t.worker, t.span FROM traces AS t WHERE contains(t.source_path, ?)",
        [f"traces/{trace}.json"],
    ).fetchall()
    return dict(zip(("run", "worker", "span"), key, strict=True))
