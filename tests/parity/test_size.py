"""With every argument kept, a trace takes less room than the compressed file it came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.storage.local_store import LocalStore

if TYPE_CHECKING:
    import tracewh

#: In smaller files the schemas of nearly twenty tables weigh more than the events.
GZIP_BYTES = 125_000


def test_smaller_than_the_file(corpus: tracewh.Warehouse) -> None:
    sizes = {
        trace.origin.source_path: (trace.stored_bytes, trace.origin.source_bytes)
        for trace in LocalStore(Path(corpus.path)).traces()
        if trace.origin.source_bytes > GZIP_BYTES and trace.origin.source_path.endswith(".gz")
    }
    assert len(sizes) >= 10
    assert not {path: size for path, size in sizes.items() if size[0] >= size[1]}
