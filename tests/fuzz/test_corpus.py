"""Every file that the fuzzers start from, or that once broke something."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.ingest.conftest import canonical
from tracewh.ingest.api import ingest
from tracewh.ingest.rebuild import events
from tracewh.ingest.store import Store

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
REFUSED = {"not a Kineto trace", "the gzip data ends early", "damaged gzip data"}


def test_each_is_ingested_whole_or_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for file in CORPUS:  # the first byte tells the coverage-guided fuzzer the size of blocks
        (folder / f"{file.name}.json").write_bytes(file.read_bytes()[1:])
    store = Store(tmp_path / "warehouse")
    outcomes = ingest([folder], store.path)
    assert len(outcomes) == len(CORPUS) > 50
    traces = {Path(trace.source_path).stem: trace for trace in store.traces()}
    assert not list((store.path / ".staging").iterdir())
    for outcome in outcomes:
        trace = traces.pop(outcome.source.stem, None)
        if outcome.status == "refused":
            assert trace is None
            assert any(outcome.reason.startswith(start) for start in REFUSED), outcome
            continue
        assert trace, outcome
        rebuilt = [canonical(text) for text in events(trace.folder)]
        [row] = pq.read_table(trace.folder / "traces.parquet").to_pylist()
        assert len(rebuilt) == outcome.events == row["events"]
        assert outcome.skipped_events == row["skipped_events"]
    assert not traces
