"""Blocks and files, as the compiled reader takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests.ingest.conftest import rows
from tests.ingest.parse.plain_events import DEVICE, FLOW, HOST, LAST, MEMORY, PLAIN, block, database
from tracewh.ingest.api import ingest
from tracewh.ingest.parse import fast_parser
from tracewh.ingest.parse.fast_parser import FastParser
from tracewh.ingest.read import decompress
from tracewh.ingest.read import reader as trace_reader
from tracewh.schema import tables as written_tables

SAMPLES = Path(fast_parser.__file__).parents[2] / "samples"

pytestmark = pytest.mark.skipif(
    not fast_parser.is_available(), reason="ingest/native was not compiled"
)


def test_more_events_after_what_was_read_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two profilers wrote into one file; the second list is sought in what was read beside the first."""
    monkeypatch.setattr(decompress, "READ_BYTES", 50)
    monkeypatch.setattr(trace_reader, "FIRST_BYTES", 1)
    monkeypatch.setattr(trace_reader, "BLOCK_BYTES", 200)
    between = {f"key {number}": number for number in range(1000)}
    first = json.dumps({"traceEvents": [HOST, DEVICE]})
    second = json.dumps(between | {"traceEvents": [MEMORY, FLOW]})
    file = tmp_path / "twice.json"
    file.write_text(f"{first[:-1]}, {second[1:]}")
    opened = trace_reader.TraceReader(file, splitter=FastParser(database()[0]))
    assert sum(found.events for found in opened.blocks()) == opened.events == 4
    assert opened.metadata == between


def test_without_a_compiler_the_tables_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([SAMPLES], tmp_path / "compiled")
    monkeypatch.setattr(fast_parser, "_events", None)
    ingest([SAMPLES], tmp_path / "not")
    for table in written_tables():
        found = rows(tmp_path / "compiled", table)
        assert rows(tmp_path / "not", table) == found


def test_the_event_before_the_bracket_is_plain() -> None:
    cut = FastParser(database()[0]).split(bytearray(json.dumps([LAST, HOST]).encode()[1:]), True)
    assert not cut.block.plain  # a text is no event, and what stands behind it is read the slow way
    cut = FastParser(database()[0]).split(bytearray(json.dumps([{}, HOST]).encode()[1:]), True)
    assert (cut.ended, cut.block.plain["host"].num_rows) == (True, 1)


def test_nothing_of_a_block_is_left_for_the_next() -> None:
    parser = FastParser(database()[0])
    bare = {key: value for key, value in HOST.items() if key != "args"}
    block([json.dumps(HOST | {"args": HOST["args"] | {"Call stack": "x" * 1000}})] * 8, parser)
    found = block([json.dumps(HOST), json.dumps(bare)], parser).plain["host"]
    found.validate(full=True)
    first, second = found.to_pylist()
    assert (first["call_stack"], second["call_stack"], second["input_types"]) == (
        "a; b",
        None,
        None,
    )


def test_the_batch_of_a_block_is_sound() -> None:
    """Arrow's own check of offsets, views and UTF-8; as many rows as the reader has room for."""
    parser = FastParser(database()[0])
    for count in (1, 1024, 9, 2048):
        texts = [json.dumps(event, indent=1) for event in PLAIN.values()] * count
        for kind, batch in block(texts, parser).plain.items():
            batch.validate(full=True)
            assert isinstance(batch, pa.RecordBatch)
            [first, *others] = batch.drop_columns("event_id").to_pylist()
            assert others == [first] * (count - 1), kind


def test_ingest_does_not_load_pandas() -> None:
    """Where it is installed it would take longer than a small trace."""
    import subprocess
    import sys

    code = """
import sys, tempfile, tracewh
from pathlib import Path
from tracewh.ingest.api import ingest
samples = Path(tracewh.__file__).parent / 'samples'
with tempfile.TemporaryDirectory() as folder:
    (outcome, *_) = ingest([samples], folder)
assert outcome.status == 'ingested', outcome
assert 'pandas' not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
