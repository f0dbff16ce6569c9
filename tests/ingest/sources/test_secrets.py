"""What must stay out of a warehouse, by source: environments, users, hosts, paths. test_nsys_secrets.py has nsys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import tracewh
from tests.ingest.sources import ascend_recording, test_mindspore, test_ncu
from tests.warehouse_text import everything


def _ncu(logs: Path) -> None:
    logs.mkdir()
    (logs / "report.csv").write_text(test_ncu.DETAILS)


#: How to write a recording, the word in what must stay out, and one that must be imported.
SOURCES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "ascend": (ascend_recording.write_recording, ascend_recording.SECRET, "aclnnMm_MatMul"),
    "ascend-mindspore": (
        lambda logs: ascend_recording.write_recording(logs, kind="ms"),
        *(ascend_recording.SECRET, "aclnnMm_MatMul"),
    ),
    "mindspore": (test_mindspore.write, "hunter2", "Conv2D-op3"),
    "ncu": (_ncu, "hunter2", "gemm<float, 2>"),
}


@pytest.mark.parametrize("source", SOURCES)
def test_secrets_stay_out(tmp_path: Path, source: str) -> None:
    write, secret, known = SOURCES[source]
    write(tmp_path / "logs")
    files = [path for path in (tmp_path / "logs").rglob("*") if path.is_file()]
    assert [path for path in files if secret.encode() in path.read_bytes()]
    [result] = tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    assert result.status == "ingested"
    found = everything(tmp_path / "warehouse")
    assert known in found
    assert secret not in found


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("rocpd/made_up_results.db", ["SECRET_TOKEN", "must-not-be-imported"]),
        ("nccl_inspector/node-a-pid4000.log", ["node-a"]),
        ("flight_recorder/ok/rank_0.json", ["thread_name"]),
        ("memory_snapshot/generated.pickle", ["metrics.py"]),
    ],
)
def test_a_refused_file_leaves_nothing(
    shared: Path, tmp_path: Path, file: str, words: list[str]
) -> None:
    """These sources are not read yet: neither the reason nor the warehouse has a word of them."""
    (tmp_path / "logs").mkdir()
    copy = tmp_path / "logs" / "recording.json"
    shutil.copyfile(shared / "data" / "sources" / file, copy)
    assert [word for word in words if word.encode() not in copy.read_bytes()] == []
    [result] = tracewh.ingest([copy], tmp_path / "warehouse")
    assert result.status == "refused"
    found = result.reason + everything(tmp_path / "warehouse")
    assert [word for word in words if word in found] == []
