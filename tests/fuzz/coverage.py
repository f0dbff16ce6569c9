"""Fuzzes the reader, guided by coverage: bytes in, and nothing but whole events or a refusal out.

    pip install atheris && python tests/fuzz/coverage.py -max_total_time=600 tests/fuzz/corpus

What it finds that is new goes to the first folder named; a crash is written to the working folder.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris
import duckdb

with atheris.instrument_imports(include=["tracewh.ingest"]):
    from tracewh.errors import RefusedError
    from tracewh.ingest.read import chunks, json_repair, reader, resync

#: One connection for all files: opening one takes longer than reading one.
_CON = duckdb.connect()


def no_number(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


def fuzz(data: bytes) -> None:
    """Read one file, in blocks whose size is told by its first byte."""
    duckdb.connect = _CON.cursor  # type: ignore[assignment]
    reader.BLOCK_BYTES = 1 + 37 * (data[0] if data else 0)
    resync.EVENT_BYTES = chunks.EVENT_BYTES = 20_000  # type: ignore[attr-defined]
    FILE.write_bytes(data[1:])
    opened = reader.TraceReader(FILE)
    try:
        texts = [text for block in opened.blocks() for text in block.texts.to_pylist()]
    except RefusedError:
        return
    assert opened.events == len(texts)
    assert opened.skipped_events == sum(
        opened.reasons[cause] for cause in ("unreadable_event", "not_an_object")
    )
    for text in texts:
        # DuckDB takes a comma too many; the scanner does not.
        content = json_repair.Scanner(text.encode(), 0).read().text
        event = json.loads(content, parse_constant=no_number, parse_int=str)
        assert isinstance(event, dict), text
        assert _CON.execute("SELECT json_valid(?)", [text]).fetchone() == (True,), text
    json.dumps(opened.metadata).encode()


if __name__ == "__main__":
    FILE = Path(tempfile.mkdtemp()) / "trace.json"
    reader.FIRST_BYTES = 1
    atheris.Setup(sys.argv, fuzz)
    atheris.Fuzz()
