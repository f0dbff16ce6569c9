"""Convert a warehouse that was copied from an object store to a folder."""

from __future__ import annotations

import os
from pathlib import Path

from tracewh.storage import layout, manifest
from tracewh.storage.layout import MANIFEST


def make_local(warehouse: Path) -> list[Path]:
    """Rename the files of each trace's newest attempt to their plain names and remove all others.

    Traces that already have plain names stay unchanged. After an interruption, call it again.

    Returns:
        The manifests that are damaged; the other files of their traces are renamed.

    Raises:
        OSError: A file cannot be renamed.
    """
    data, damaged = warehouse / "data", []
    for folder in sorted(data.glob("*/*/*/")):
        if layout.parse_trace_folder(folder.relative_to(data).as_posix()) is None:
            continue
        names = os.listdir(folder)
        # An empty manifest does not count, as in a store: Azure lists an object before its contents are written.
        newest = layout.newest(name for name in names if (folder / name).stat().st_size)
        if newest is None or not newest.generation:
            continue
        try:
            manifest.use_plain_names(folder / newest.name(MANIFEST))
        except ValueError:
            damaged.append(folder / MANIFEST)
        renames: dict[str, str] = {}
        for name in names:
            plain, attempt = layout.parse_name(name) or (name, layout.Attempt(0))
            if attempt == newest:
                renames[name] = plain
            elif attempt.generation:
                (folder / name).unlink()
        for name, plain in sorted(renames.items(), key=lambda each: each[1] == MANIFEST):
            (folder / name).rename(folder / plain)
    return damaged
