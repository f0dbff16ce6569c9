"""A SQL warehouse for PyTorch profiler traces.

    tracewh.ingest("logdir", "tracewh-warehouse")
    with tracewh.open("tracewh-warehouse") as warehouse:
        warehouse.step_breakdown(run="resnet").show()

Importing it is cheap: DuckDB and Arrow are loaded by the first call that needs them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# `ingest` is both a subpackage and the function below. Importing the subpackage binds its name here, but only the
# first time. So import it now: a later `import tracewh.ingest.api` does not replace the function.
import tracewh.ingest  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tracewh.errors import IngestError
    from tracewh.ingest.progress import Progress
    from tracewh.ingest.result import FileResult
    from tracewh.views.registry import ViewError
    from tracewh.views.warehouse import Warehouse, WarehouseError

    __version__: str

__all__ = [
    "FileResult",
    "IngestError",
    "Progress",
    "ViewError",
    "Warehouse",
    "WarehouseError",
    "ingest",
    "open",
]

#: The module to load for a name when it is first used.
_ELSEWHERE = {
    "IngestError": "tracewh.ingest.api",
    "FileResult": "tracewh.ingest.api",
    "Progress": "tracewh.ingest.api",
    "ViewError": "tracewh.views.registry",
    "Warehouse": "tracewh.views.warehouse",
    "WarehouseError": "tracewh.views.warehouse",
}


def open(path: str | os.PathLike[str]) -> Warehouse:
    """Open a warehouse to query it; see `Warehouse`.

    Args:
        path: Folder of the warehouse, or its URL in a store.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """
    from tracewh.views.warehouse import Warehouse

    return Warehouse(path)


def ingest(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    warehouse: str | os.PathLike[str],
    *,
    run: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    step_range: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[FileResult], None] | None = None,
) -> list[FileResult]:
    """Ingest traces into a warehouse, and write its tracewh.duckdb if that is missing or outdated.

    Args:
        paths: Trace files, and folders to search for them; one or many.
        warehouse: Folder of the warehouse, created if it is missing, or its URL in an object store.
        run: Name of the run, instead of the name of its folder.
        jobs: Number of files to read at the same time; None for one per core, or as many as fit into 1.5 GiB.
        force: Ingest files again that were ingested before.
        step_range: Regular expression for the names of ranges that are steps, in traces of profilers that record
            ranges and no steps: 'batch [0-9]+'. By default names such as 'iteration 12' and 'step 12'.
        on_progress: Called often, from any thread, one call at a time.
        on_result: Called once per result, as soon as it is known.

    Returns:
        One result per trace, and per refused file.

    Raises:
        IngestError: The ingest cannot start: a path does not exist, or has no trace files.
        WarehouseError: The traces are ingested, but tracewh.duckdb cannot be written.
    """
    from tracewh.ingest import api
    from tracewh.views.database import ensure_database

    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    results = api.ingest(
        paths,
        warehouse,
        run=run,
        jobs=jobs,
        force=force,
        step_range=step_range,
        on_progress=on_progress,
        on_result=on_result,
    )
    ensure_database(warehouse)
    return results


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("tracewh")
    if module := _ELSEWHERE.get(name):
        from importlib import import_module

        return getattr(import_module(module), name)
    raise AttributeError(f"module 'tracewh' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
