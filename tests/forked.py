"""Processes of `tracewh` that are forked when all is imported, which takes longer than a small ingest."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

#: What an ingest and a compaction import. DuckDB and Arrow start no threads before they are asked.
IMPORTED = (
    "pydantic",  # typer imports it when it reads arguments
    "tests.forked",
    "tracewh.cli.app",
    "tracewh.cli.commands.maintenance",
    "tracewh.cli.commands.ingest",
    "tracewh.cli.output.table",
    "tracewh.ingest.api",
    "tracewh.ingest.ingest_file",
    "tracewh.storage.open_store",
    "tracewh.views.database",
)

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(list(IMPORTED))


def start_forked(
    log: Path, *words: object, stdin: bytes = b"", as_anyone: bool = False
) -> ForkServerProcess:
    """Run `tracewh` in the environment of this process.

    Args:
        log: The file that it writes its output to, and what it says on stderr to one beside it; see `said`.
        *words: Its arguments.
        stdin: What it is given through a pipe, which has room for it.
        as_anyone: Whether the bits of files hold for it as for anyone, also where root starts it.
    """
    given = (log, [str(word) for word in words], dict(os.environ), stdin, as_anyone)
    process = FORKS.Process(target=_run, args=given)
    process.start()
    return process


def run_forked(log: Path, *words: object, **options: Any) -> tuple[int | None, str]:
    """Run `tracewh` to its end: its exit code, and what it says on stderr."""
    process = start_forked(log, *words, **options)
    process.join()
    return process.exitcode, said(log)


def said(log: Path) -> str:
    """What a process said on stderr."""
    return log.with_suffix(".err").read_text("utf-8")


def _run(
    log: Path, words: list[str], environ: dict[str, str], stdin: bytes, as_anyone: bool
) -> None:
    from tracewh.cli.app import main

    if as_anyone:
        _give_up_roots_rights()
    os.environ.clear()
    os.environ.update(environ)
    taken, given = os.pipe()
    os.write(given, stdin)
    os.close(given)
    os.dup2(taken, 0)
    sys.stdin = os.fdopen(0)
    with log.open("wb") as out, log.with_suffix(".err").open("wb") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
    sys.exit(main(words))


def _give_up_roots_rights() -> None:
    """Have the bits of files hold for this process, and for the threads that it starts."""
    libc, version_3 = ctypes.CDLL(None, use_errno=True), 0x20080522
    header, sets = (ctypes.c_uint32 * 2)(version_3, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for which in range(3):  # effective, permitted, inheritable
        sets[which] &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, sets) == 0, os.strerror(ctypes.get_errno())
