"""Blocks that a Warehouse leaves out of a query where they have no rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import tracewh
from tracewh.views.empty_blocks import RARE


@pytest.fixture(scope="module")
def con(all_samples: tracewh.Warehouse) -> duckdb.DuckDBPyConnection:
    """The database of the bundled samples, where all blocks have their rows."""
    return duckdb.connect(Path(all_samples.path) / "tracewh.duckdb", read_only=True)


@pytest.mark.parametrize("blocks", RARE, ids=lambda blocks: blocks[0])
def test_they_have_rows_only_where_the_query_finds_something(
    blocks: tuple[str, ...], con: duckdb.DuckDBPyConnection
) -> None:
    found = {run for (run,) in con.execute(f"SELECT DISTINCT run {RARE[blocks]}").fetchall()}
    for block in blocks:
        rows = con.execute(f"SELECT DISTINCT run FROM {block}()").fetchall()
        assert {run for (run,) in rows} <= found, block
