"""Convert a warehouse that was copied from an object store to a folder."""

from __future__ import annotations

import os
from pathlib import Path

from tracewh.storage import layout, manifest
from tracewh.storage.layout import MANIFEST


def make_local(warehouse: Path) -> None:
    """Rename the files of each trace's newest attempt to their plain names and remove all others.

    Traces that already have plain names stay unchanged. After an interruption, call it again.

    Raises:
        OSError: A file cannot be renamed.
    """
    data = warehouse / "data"
    for folder in sorted(data.glob("*/*/*")):
        if layout.parse_trace_folder(folder.relative_to(data).as_posix()) is None:
            continue
        names = os.listdir(folder)
        newest = layout.newest(names)
        if newest is None or not newest.generation:
            continue
        manifest_path = folder / newest.name(MANIFEST)
        manifest.use_plain_names(manifest_path)
        renames: dict[str, str] = {}
        for name in names:
            plain, attempt = layout.parse_name(name) or (name, layout.Attempt(0))
            if attempt == newest:
                renames[name] = plain
            elif attempt.generation:
                (folder / name).unlink()
        for name, plain in sorted(renames.items(), key=lambda each: each[1] == MANIFEST):
            (folder / name).rename(folder / plain)
