"""Check the limit of the address space before a command loads any large library.

Under a limit that is too low, libraries abort the process while they load or when it exits.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from tracewh.cli.diagnostics.errors import CliError

_MIB = 1 << 20
#: Address space that a command needs: a fixed part and a part per core. Most of it is only reserved.
_READ = 1536 * _MIB, 128 * _MIB
_WRITE = 2560 * _MIB, 256 * _MIB
_WRITERS = ("ingest", "watch", "demo", "compact", "relink")
_HELP = ("--help", "--version")


def check(words: Sequence[str]) -> int:
    """Refuse a command that the limit of the address space would abort halfway.

    Args:
        words: The command line.

    Returns:
        0.

    Raises:
        CliError: The limit is too low.
    """
    limit = _limit()
    if not words or limit is None or any(word in _HELP for word in words):
        return 0
    fixed, per_core = _WRITE if words[0] in _WRITERS else _READ
    needed = fixed + per_core * (os.cpu_count() or 1)
    if limit < needed:
        raise CliError(
            f"the address space is limited to {limit // _MIB:,} MiB (ulimit -v), but {words[0]} needs"
            f" {needed // _MIB:,} MiB on this machine; raise the limit, or limit memory with a cgroup"
        )
    return 0


def exhausted() -> str:
    """Return the message for a process that ran out of memory."""
    limit = _limit()
    if limit is None:
        return "out of memory, or no more threads available"
    return f"out of memory: the address space is limited to {limit // _MIB:,} MiB (ulimit -v); raise the limit"


def _limit() -> int | None:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
