"""What can go wrong with a trace file or a call, in one line each."""

from __future__ import annotations


class IngestError(Exception):
    """A call that cannot start: a path that does not exist, nothing to ingest, no room to write."""


class RefusedError(Exception):
    """A file that cannot be taken in. The message says why and, where there is one, the remedy."""
