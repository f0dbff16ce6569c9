"""What can go wrong with a trace file or a call, in one line each."""

from __future__ import annotations


class IngestError(Exception):
    """A call that cannot start: a path that does not exist, nothing to ingest, no room to write."""


class StoreError(IngestError):
    """A store that cannot be asked: out of reach, without access, or by a URL that says nothing."""


class RefusedError(Exception):
    """A file that cannot be taken in. The message says why and, where there is one, the remedy."""


class CutError(Exception):
    """Compressed data that ends early or is damaged. All good data before it was given first.

    Args:
        stored_byte: Position in the stored file from which nothing could be used.
        reason: What is wrong there: 'the gzip data ends early'.
    """

    def __init__(self, stored_byte: int, reason: str) -> None:
        super().__init__(f"{reason}, at byte {stored_byte}")
        self.stored_byte = stored_byte
        self.reason = reason
