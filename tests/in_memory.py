"""A warehouse with its tables in memory: most queries of tests take longer to plan over files than to answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import tracewh
from tracewh.storage.layout import TraceKeys
from tracewh.views.listing import Listing


class InMemory(tracewh.Warehouse):
    """The rows of a warehouse as they are now.

    Args:
        path: The warehouse.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        tables = [table.name for table in self.registry.tables()]
        self._prepare(" ".join(tables))
        self._con.execute("CREATE SCHEMA copied")
        for table in tables:
            self._con.execute(
                f"""
                CREATE TABLE copied.{table} AS FROM {table};
                CREATE OR REPLACE VIEW {table} AS FROM copied.{table}
                """
            )
        self._files = Listing.of(path)  # of which nothing is refreshed

    def _select(self, wanted: Callable[[TraceKeys], bool] | None) -> None:
        """No file is open."""
