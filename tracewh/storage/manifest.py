"""The record of a stored trace: what it was made from, and what each of its files must hold."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from tracewh.files import File
from tracewh.storage.layout import MANIFEST, Attempt, parse_name

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_PLAIN = Attempt(0)


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a trace was made from, as `traces` has it too."""

    source_path: str
    source_bytes: int
    source_mtime_ns: int
    content_hash: str
    events: int


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file: its rows, its size in bytes, and the hash of its bytes."""

    rows: int
    bytes: int
    blake2b: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was recorded when a trace was stored; files by their names."""

    origin: Origin
    files: dict[str, Part]


def write(folder: Path, attempt: Attempt = _PLAIN) -> Origin:
    """Record what a folder of Parquet files holds, as the last file of it.

    Args:
        folder: Where they lie, by their plain names.
        attempt: Gives them the names by which they are recorded.
    """
    origin = origin_of(folder / "traces.parquet")
    files = {attempt.name(path.name): part(path) for path in sorted(folder.glob("*.parquet"))}
    _dump(folder / MANIFEST, Manifest(origin, files))
    return origin


def read(folder: Path) -> Manifest | None:
    """The record of a stored trace; None where there is none.

    Raises:
        ValueError: It is damaged.
    """
    try:
        text = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    return parse(text)


def use_plain_names(path: Path) -> None:
    """Let the record of a trace that came from a store name its files as they are called here.

    Raises:
        ValueError: It is damaged.
    """
    record = parse(path.read_bytes())
    plain = {(parse_name(name) or (name,))[0]: part for name, part in record.files.items()}
    part = path.with_name(f"{path.name}.part")
    _dump(part, Manifest(record.origin, plain))
    part.rename(path)


def parse(text: bytes) -> Manifest:
    """The record that a manifest's bytes are.

    Raises:
        ValueError: They are damaged.
    """
    found: Any = json.loads(text)
    try:
        files = {name: Part(**part) for name, part in found["files"].items()}
        return Manifest(Origin(**found["origin"]), files)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a manifest: {error}") from None


def _dump(path: Path, record: Manifest) -> None:
    path.write_text(json.dumps(asdict(record), indent=1), "utf-8")


def origin_of(traces: Path | str, filesystem: FileSystem | None = None) -> Origin:
    """What traces.parquet, here or in a file system, says of the file it was made from.

    Raises:
        OSError, pyarrow.ArrowException: It cannot be read.
    """
    columns = list(Origin.__dataclass_fields__)
    with pq.ParquetFile(traces, filesystem=filesystem) as file:
        return Origin(**file.read(columns=columns).to_pylist()[0])


def part(path: Path) -> Part:
    """What a Parquet file holds."""
    return Part(rows(path), path.stat().st_size, content_hash(path))


def rows(path: Path) -> int:
    """Number of rows that the footer of a Parquet file names."""
    return int(pq.read_metadata(path).num_rows)


def content_hash(path: File) -> str:
    """BLAKE2b of a file's bytes, 32 bytes long, in hexadecimal."""
    with path.open("rb") as file:
        return stream_hash(file)


def stream_hash(file: BufferedIOBase) -> str:
    """As `content_hash`, of what is open."""
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()
