"""Hundreds of small warehouses, of which nobody opens the database for a shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tracewh.views import database


@pytest.fixture(scope="module", autouse=True)
def without_database() -> Iterator[None]:
    """Ingest without tracewh.duckdb: writing it takes longer than most of these traces.

    What all tests share gets it.
    """
    write = database.ensure_database

    def ensure(path: Any, *prepared: Any) -> bool:
        return (Path(path).parent / ".made").exists() and write(path, *prepared)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "ensure_database", ensure)
        yield
