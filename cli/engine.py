"""Which engine does the work: this machine, or a Spark cluster."""

from __future__ import annotations

from dataclasses import dataclass

from tracewh.cli import diagnostics

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
            hint = diagnostics.did_you_mean(engine, ENGINES) or f"; there is {', '.join(ENGINES)}"
            diagnostics.refuse(f"--engine: there is no {engine!r}{hint}")
        if engine == "spark":
            return cls(master)
        if master is not None:
            diagnostics.refuse("--master is for --engine spark")
        return None
