"""A warehouse is written in a store as it is in a folder, and read by its manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tracewh
from tracewh.views import Registry

ROOT = Path(__file__).parents[2]
#: Small ones, of two workers and of a GPU.
SAMPLES = [ROOT / "samples" / "ddp_gloo", ROOT / "samples" / "resnet_workers_0"]


def test_the_tables_are_those_of_a_folder(store: Any, tmp_path: Path) -> None:
    url = f"{store.url}/equal"
    outcomes = tracewh.ingest(SAMPLES, url)
    assert {one.status for one in outcomes} == {"ingested"}
    local = tracewh.ingest(SAMPLES, tmp_path / "wh")
    told = [(one.run, one.worker, one.span, one.events, one.stored_bytes) for one in outcomes]
    assert [row[:4] for row in told] == [(o.run, o.worker, o.span, o.events) for o in local]
    with tracewh.open(tmp_path / "wh") as here, tracewh.open(url) as there:
        for spec in Registry.load().tables():
            left_out = " EXCLUDE (ingested_at)" if spec.name == "traces" else ""
            sql = f"FROM {spec.name} SELECT CAST(COLUMNS(*{left_out}) AS VARCHAR) ORDER BY ALL"
            assert there.sql(sql).fetchall() == here.sql(sql).fetchall(), spec.name
    again = tracewh.ingest(SAMPLES, url)
    assert {one.status for one in again} == {"unchanged"}
    assert [(o.run, o.worker, o.span, o.events, o.stored_bytes) for o in again] == told
