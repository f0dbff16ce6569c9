"""Every file that the fuzzers start from, or that once broke something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.test_damage import read
from tests.ingest.whole import LEFT_OUT, whole

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
#: Through all of ingest; tests/ingest/read/test_repairs.py has the others, which were written by hand.
FOUND = [file for file in CORPUS if file.name.startswith("found_")]
REFUSED = ("not a Kineto trace: ", "the gzip data ends early, at byte ", "damaged gzip data (")


def test_each_is_read_or_refused(tmp_path: Path) -> None:
    assert len(CORPUS) > 70
    for file in CORPUS:
        path = tmp_path / file.name
        # For the fuzzer that is guided by coverage, the first byte says how large blocks are.
        path.write_bytes(file.read_bytes()[1:])
        found = read(path)
        if isinstance(found, str):
            assert found.startswith(REFUSED), file.name
        else:
            assert found.skipped == sum(found.reasons.get(cause, 0) for cause in LEFT_OUT)


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.name)
def test_what_was_found(tmp_path: Path, file: Path) -> None:
    found = whole(tmp_path, file.read_bytes()[1:])
    assert not isinstance(found, str) or found.startswith(REFUSED)
