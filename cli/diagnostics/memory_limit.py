"""Whether the system gives a process the memory that the commands need, before they load anything large.

Where it does not, libraries end the process as they are loaded, or when it ends.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from tracewh.cli.diagnostics.errors import CliError

_MIB = 1 << 20
#: The address space that commands need, and what they need more for each core. Most of it is reserved
#: and never used.
_ASK = 1536 * _MIB, 128 * _MIB
_WRITE = 2560 * _MIB, 256 * _MIB
_WRITING = ("ingest", "watch", "demo", "compact", "relink")
_HELP = ("--help", "--version")


def check(words: Sequence[str]) -> int:
    """Refuse a command that the limit of the address space would end halfway.

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
    least, per_core = _WRITE if words[0] in _WRITING else _ASK
    needed = least + per_core * (os.cpu_count() or 1)
    if limit < needed:
        raise CliError(
            f"the address space is limited to {limit // _MIB:,} MiB (ulimit -v), {words[0]} needs"
            f" {needed // _MIB:,} MiB here; raise that limit, or limit the memory of a cgroup instead"
        )
    return 0


def exhausted() -> str:
    """What to say where memory ran out all the same."""
    limit = _limit()
    if limit is None:
        return "out of memory, or the system gives no more threads"
    return f"out of memory: the address space is limited to {limit // _MIB:,} MiB (ulimit -v); raise that limit"


def _limit() -> int | None:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
