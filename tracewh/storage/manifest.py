"""The manifest of a stored trace: its source file, and the size, rows and hash of each Parquet file."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from io import BufferedIOBase, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tracewh.files import File
from tracewh.storage.layout import LAYOUT_VERSION, MANIFEST, UPDATE, Attempt, parse_name

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_PLAIN = Attempt(0)
#: Hashes of files without rows. Those of a table are all alike, and half of a small trace.
_EMPTY = set[str]()


@dataclass(frozen=True, slots=True)
class Origin:
    """The source file of a trace. The table `traces` has the same columns."""

    source_path: str
    source_bytes: int
    source_mtime_ns: int
    content_hash: str
    events: int


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file: number of rows, size in bytes, and hash of the bytes."""

    rows: int
    bytes: int
    blake2b: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The source of a stored trace and its files by name."""

    origin: Origin
    files: dict[str, Part]


def write(folder: Path, attempt: Attempt = _PLAIN) -> Origin:
    """Write the manifest of a folder of Parquet files.

    Args:
        folder: The folder, with files by their plain names.
        attempt: The manifest names the files as this attempt does.
    """
    origin = origin_of(folder / "traces.parquet")
    files = {attempt.name(path.name): part(path) for path in sorted(folder.glob("*.parquet"))}
    _dump(folder / MANIFEST, Manifest(origin, files))
    return origin


def read(folder: Path) -> Manifest | None:
    """The manifest of a stored trace; None if there is none.

    Raises:
        ValueError: It is damaged.
    """
    try:
        text = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    return parse(text)


def use_plain_names(path: Path) -> None:
    """Rewrite the manifest of a trace that was copied from a store so that it uses plain file names.

    Raises:
        ValueError: It is damaged.
    """
    manifest = parse(path.read_bytes())
    plain = {(parse_name(name) or (name,))[0]: part for name, part in manifest.files.items()}
    part = path.with_name(f"{path.name}.part")
    _dump(part, Manifest(manifest.origin, plain))
    part.rename(path)


def parse(text: bytes) -> Manifest:
    """Parse the bytes of a manifest.

    Raises:
        ValueError: The bytes are not a manifest.
    """
    try:
        content: Any = json.loads(text)
        return Manifest(Origin(**_checked(Origin, content["origin"])), parts(content))
    except RecursionError:
        raise ValueError("not a manifest: it is nested too deeply") from None
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a manifest: {error}") from None


def parts(content: Any) -> dict[str, Part]:
    """The files in a parsed manifest, also in that of merged files.

    Raises:
        AttributeError, KeyError, TypeError: It is not a manifest.
    """
    return {name: Part(**_checked(Part, part)) for name, part in content["files"].items()}


def _checked(kind: type[Origin | Part], values: Any) -> Any:
    """Return parsed JSON, if each of its values has the type of its field."""
    for field in fields(kind):
        if type(value := values[field.name]).__name__ != field.type:
            raise TypeError(f"{field.name} is {json.dumps(value)}")
    return values


def _dump(path: Path, manifest: Manifest) -> None:
    path.write_text(json.dumps(asdict(manifest), indent=1), "utf-8")


def origin_of(traces: Path | str, filesystem: FileSystem | None = None) -> Origin:
    """Read the source of a trace from its traces.parquet, a local file or one in a file system.

    Raises:
        OSError, pyarrow.ArrowException: The file cannot be read.
    """
    columns = list(Origin.__dataclass_fields__)
    with pq.ParquetFile(traces, filesystem=filesystem) as file:
        return Origin(**file.read(columns=columns).to_pylist()[0])


def newer_layout(traces: Path | str, filesystem: FileSystem | None = None) -> str:
    """Say that a newer version of tracewh wrote a trace, in a layout that this one does not read; '' if not so.

    Args:
        traces: Its traces.parquet, a local file or one in a file system.
        filesystem: The file system.
    """
    try:
        with pq.ParquetFile(traces, filesystem=filesystem) as file:
            [found] = file.read(columns=["layout_version"])["layout_version"].to_pylist()
    except (OSError, KeyError, ValueError, pa.ArrowException):  # damaged, or not written by tracewh
        return ""
    if not isinstance(found, int) or found <= LAYOUT_VERSION:
        return ""
    return (
        f"was written by a newer version of tracewh, with layout {found}; this version reads layout {LAYOUT_VERSION}. "
        f"Update it: {UPDATE}"
    )


def part(path: Path) -> Part:
    """The manifest entry of a Parquet file."""
    with path.open("rb", buffering=0) as file:  # a buffer would need more system calls
        blake2b = stream_hash(file)
        size = os.fstat(file.fileno()).st_size
    count = 0 if blake2b in _EMPTY else rows(path)
    if not count:
        _EMPTY.add(blake2b)
    return Part(count, size, blake2b)


def rows(path: Path) -> int:
    """Number of rows according to the footer of a Parquet file."""
    return int(pq.read_metadata(path).num_rows)


def content_hash(path: File) -> str:
    """BLAKE2b of a file's bytes, 32 bytes long, in hexadecimal."""
    with path.open("rb") as file:
        return stream_hash(file)


def stream_hash(file: BufferedIOBase | RawIOBase) -> str:
    """The same hash as `content_hash`, of an open file."""
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()
