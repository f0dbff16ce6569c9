"""Which engine does the work: this machine, or a Spark cluster."""

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
    """Spark shall do the work.

    Args:
        master: What --master says; None for what Spark's own settings say.
    """

    master: str | None

    @classmethod
    def parse(cls, engine: str, master: str | None) -> Cluster | None:
        """Take the words of a command line; None where this machine shall do the work."""
        if engine not in ENGINES:
            hint = (
                diagnostics.did_you_mean(engine, ENGINES) or f"; choose one of {', '.join(ENGINES)}"
            )
            diagnostics.refuse(f"--engine: unknown engine {engine!r}{hint}")
        if engine == "spark":
            return cls(master)
        if master is not None:
            diagnostics.refuse("--master is for --engine spark")
        return None

    @contextmanager
    def asked(self, warehouse: str) -> Iterator[Callable[..., duckdb.DuckDBPyRelation]]:
        """Have views worked out; what it gives is as `Warehouse.view`, rows in the order of the view."""
        import duckdb

        from tracewh import spark as face
        from tracewh.spark.distributed import in_order
        from tracewh.spark.session import session
        from tracewh.views.registry import installed

        with session(self.master) as spark, duckdb.connect() as con:
            from tracewh.spark.tasks import collect

            def ask(
                name: str, version: int | None = None, **arguments: Any
            ) -> duckdb.DuckDBPyRelation:
                frame = face.view(spark, name, warehouse, version, **arguments)
                return in_order(
                    con, installed().get(name, version), collect(frame, lambda rows: rows.toArrow())
                )

            yield ask
