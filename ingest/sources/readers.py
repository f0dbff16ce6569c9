"""The readers of all sources, and which of them reads a file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tracewh.files import File
from tracewh.ingest.sources.ascend.reader import AscendReader
from tracewh.ingest.sources.files import Piped
from tracewh.ingest.sources.kineto import KinetoReader
from tracewh.ingest.sources.mindspore.reader import MindSporeReader
from tracewh.ingest.sources.ncu.reader import NcuReader
from tracewh.ingest.sources.nsys.reader import NsysReader
from tracewh.ingest.sources.pipeline.reader import PipelineReader
from tracewh.ingest.sources.reader import Claim, Reader, TableReader
from tracewh.ingest.sources.recordings import is_recording
from tracewh.ingest.sources.source import KINETO
from tracewh.ingest.sources.unsupported import is_beside_trace, why_unsupported

#: Bytes of a file that are read to recognise it.
START_BYTES = 64 << 10

#: Kineto is the last: it takes what no other reader recognises, and says what is wrong with it.
TABLE_READERS: tuple[TableReader, ...] = (
    NsysReader(),
    AscendReader(),
    MindSporeReader(),
    NcuReader(),
    PipelineReader(),
)
READERS: tuple[Reader, ...] = (*TABLE_READERS, KinetoReader())


def reader_named(name: str) -> Reader:
    """The reader with a name."""
    return {reader.name: reader for reader in READERS}[name]


def table_reader(name: str) -> TableReader:
    """The reader with a name, which is not that of Kineto."""
    return {reader.name: reader for reader in TABLE_READERS}[name]


def claim(names: Sequence[str]) -> tuple[str, Claim] | None:
    """The name of the reader for which a folder is a trace, and the files of it."""
    for reader in READERS:
        if found := reader.claim(names):
            return reader.name, found
    return None


def is_wanted(name: str) -> bool:
    """Whether a file of this name is looked at when a folder is searched."""
    return is_recording(name) or any(reader.wants(name) for reader in READERS)


def recognise(file: File, is_named: bool) -> tuple[str, str] | None:
    """Find the reader of a file.

    A file in a searched folder that only Kineto wants is not opened here: its ingest opens it anyway. Nor is a pipe,
    which can be read once: only Kineto reads it, whatever its name.

    Args:
        file: The file.
        is_named: Whether the user named it. Otherwise a folder was searched, and other files in it are ignored.

    Returns:
        The name of the reader, and why the file cannot be read or ''. None if it is to be ignored.
    """
    if isinstance(file, Piped):
        return KINETO, ""
    if not is_named and is_beside_trace(file):
        return None
    is_kineto = reader_named(KINETO).wants(file.name)
    # Opening a file of an object store takes several round trips.
    opens_all = is_named and (isinstance(file, Path) or not is_kineto)
    others = [reader for reader in TABLE_READERS if opens_all or reader.wants(file.name)]
    if not others:
        return KINETO, ""
    try:
        start = start_of(file)
    except OSError:  # its ingest reports the error
        return KINETO, ""
    for reader in others:
        if reader.recognise(file, start):
            return reader.name, ""
    if why := why_unsupported(file, start):
        return (KINETO, why) if is_named else None
    return (KINETO, "") if is_named or is_kineto else None


def start_of(file: File) -> bytes:
    """The first bytes of a file, decompressed; all that can be read of a damaged one."""
    from tracewh.ingest.read.decompress import CutError, decompress  # loads compiled libraries

    found = b""
    with suppress(CutError):
        for part in decompress(lambda: file.open("rb")):
            found += part
            if len(found) >= START_BYTES:
                break
    return found[:START_BYTES]
