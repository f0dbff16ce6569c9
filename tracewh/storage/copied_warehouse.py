"""A warehouse that was copied from a store to a folder, made one of a folder."""

from __future__ import annotations

import os
from pathlib import Path

from tracewh.storage import layout, manifest
from tracewh.storage.layout import MANIFEST


def make_local(warehouse: Path) -> None:
    """Give the files of each trace's newest attempt their plain names, and remove those of others.

    It can be repeated where it was interrupted. What lies as in a folder already stays as it is.

    Raises:
        OSError: A file cannot be renamed.
    """
    data = warehouse / "data"
    for folder in sorted(data.glob("*/*/*")):
        if layout.keys(folder.relative_to(data).as_posix()) is None:
            continue
        names = os.listdir(folder)
        newest = layout.newest(names)
        if newest is None or not newest.generation:
            continue
        record = folder / newest.name(MANIFEST)
        manifest.use_plain_names(record)
        mine: dict[str, str] = {}
        for name in names:
            plain, attempt = layout.parse_name(name) or (name, layout.Attempt(0))
            if attempt == newest:
                mine[name] = plain
            elif attempt.generation:
                (folder / name).unlink()
        for name, plain in sorted(mine.items(), key=lambda each: each[1] == MANIFEST):
            (folder / name).rename(folder / plain)
