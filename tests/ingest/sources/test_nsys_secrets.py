"""Nothing of an export reaches a warehouse but the columns in schema.py: no environment, user, host or path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.nsys_exports import Tables, process, thread, tiny, write_parquet, write_sqlite
from tests.warehouse_text import everything

#: What is planted, a different number each time. No part of it is a word of anything else.
SECRET = "hunter2secret"


def planted() -> Tables:
    """The tiny export with secrets in every table and column that must stay out."""
    count = iter(range(1000))

    def secret() -> str:
        return f"/home/{SECRET}{next(count)}/x"

    tables: dict[str, Any] = {name: list(rows) for name, rows in tiny().items()}
    strings = tables["StringIds"]
    strings.append({"id": 900, "value": secret()})  # nobody refers to it
    for name in ("EXPORT_HOST", "EXPORT_USER", "EXPORT_PARAM_INPUT_PATH_ABS", "EXPORT_TIME"):
        tables["META_DATA_EXPORT"].append({"name": name, "value": secret()})
    tables["META_DATA_CAPTURE"] = [{"name": "ENVIRONMENT", "value": secret()}]
    tables["TARGET_INFO_SYSTEM_ENV"] = [
        {"name": secret(), "value": secret(), "devStateName": secret()}
    ]
    tables["ANALYSIS_FILE"] = [{"filename": secret(), "content": secret()}]
    tables["ProcessStreams"] = [{"globalPid": process(7), "filenameId": 900, "contentId": 900}]
    # Other people's processes and threads on a shared node; they have no rows of CUDA or NVTX.
    tables["PROCESSES"].append({"globalPid": process(99), "pid": 99, "name": secret()})
    tables["PROCESSES"][0]["name"] = f"{secret()}/python3"
    tables["ThreadNames"].append({"nameId": 900, "globalTid": thread(99, 99)})
    tables["TARGET_INFO_GPU"][0] |= {
        "uuid": secret(),
        "busLocation": secret(),
        "ctrlDevPath": secret(),
    }
    tables["TARGET_INFO_CUDA_DEVICE"] = [{"gpuId": 0, "cudaId": 0, "pid": 7, "uuid": secret()}]
    tables["DIAGNOSTIC_EVENT"] = [{"timestamp": 1, "text": secret()}]
    tables["TARGET_INFO_NIC_INFO"] = [{"GUID": 1, "name": secret()}]
    tables["CUPTI_ACTIVITY_KIND_RUNTIME"][0]["hostname"] = secret()
    for rows in (tables["NVTX_EVENTS"], tables["OSRT_API"]):
        rows[0] |= {"binaryData": secret(), "callchainId": 5}
    tables["OSRT_CALLCHAINS"] = [{"id": 5, "symbol": secret(), "module": secret()}]
    return tables


@pytest.mark.parametrize("write", [write_sqlite, write_parquet])
def test_what_is_planted_is_not_found(tmp_path: Path, write: Any) -> None:
    (tmp_path / "job").mkdir()
    export = write(
        tmp_path / "job" / ("r.sqlite" if write is write_sqlite else "r_pqtdir"), planted()
    )
    raw = "".join(
        path.read_bytes().decode("latin-1")
        for path in ([export] if export.is_file() else export.iterdir())
    )
    assert raw.count(SECRET) > 10
    [result] = tracewh.ingest([tmp_path / "job"], tmp_path / "warehouse")
    assert result.status == "ingested"
    found = everything(tmp_path / "warehouse")
    assert "python3" in found and "aten::mm" in found  # what is looked through is the trace
    assert SECRET not in found


def test_a_shared_node(shared: Path, tmp_path: Path) -> None:
    """A real export of 2024: host and user of the export, 1,769 other processes, the environment."""
    folder = shared / "traces" / "other_tools" / "nsys"
    tracewh.ingest([folder], tmp_path / "warehouse")
    found = everything(tmp_path / "warehouse")
    for word in ("thomasli", "jufangs", "login03", "ocankur", "/global/u2", "Downloads", "systemd"):
        assert word not in found
