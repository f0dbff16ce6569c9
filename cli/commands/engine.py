"""The --engine option: run on this machine or on a Spark cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    import duckdb

ENGINES = ("local", "spark")


@dataclass(frozen=True, slots=True)
class Cluster:
    """The Spark cluster that runs a command.

    Args:
        master: Value of --master; None to use Spark's own settings.
    """

    master: str | None

    @classmethod
    def parse(cls, engine: str, master: str | None) -> Cluster | None:
        """Parse --engine and --master; return None for this machine."""
        if engine not in ENGINES:
            hint = (
                diagnostics.did_you_mean(engine, ENGINES) or f"; choose one of {', '.join(ENGINES)}"
            )
            diagnostics.usage_error(f"--engine: unknown engine {engine!r}{hint}")
        if engine == "spark":
            return cls(master)
        if master is not None:
            diagnostics.usage_error("--master needs --engine spark")
        return None

    @contextmanager
    def views(self, warehouse: str) -> Iterator[Callable[..., duckdb.DuckDBPyRelation]]:
        """Start Spark and yield a function like `Warehouse.view`, with rows in the view's order."""
        import duckdb

        from tracewh import spark as tracewh_spark
        from tracewh.spark.distributed import sort_rows
        from tracewh.spark.session import session
        from tracewh.views.registry import installed

        with session(self.master) as spark, duckdb.connect() as con:
            from tracewh.spark.tasks import collect

            def run_view(
                name: str, version: int | None = None, **arguments: Any
            ) -> duckdb.DuckDBPyRelation:
                frame = tracewh_spark.view(spark, name, warehouse, version, **arguments)
                return sort_rows(
                    con, installed().get(name, version), collect(frame, lambda rows: rows.toArrow())
                )

            yield run_view
