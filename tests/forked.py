"""Processes of `tracewh` that are forked when all is imported, which takes longer than a small ingest."""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path

#: What an ingest and a compaction import. DuckDB and Arrow start no threads before they are asked.
IMPORTED = (
    "tests.forked",
    "tracewh.cli.app",
    "tracewh.cli.commands.maintenance",
    "tracewh.cli.commands.ingest",
    "tracewh.ingest.ingest_file",
    "tracewh.storage.open_store",
    "tracewh.views.database",
)

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(list(IMPORTED))


def start_forked(log: Path, *words: object) -> ForkServerProcess:
    """Run `tracewh` in the environment of this process.

    Args:
        log: The file that it writes its output to.
        *words: Its arguments.
    """
    given = (log, [str(word) for word in words], dict(os.environ))
    process = FORKS.Process(target=_run, args=given)
    process.start()
    return process


def _run(log: Path, words: list[str], environ: dict[str, str]) -> None:
    from tracewh.cli.app import main

    os.environ.clear()
    os.environ.update(environ)
    with log.open("wb") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    sys.exit(main(words))
