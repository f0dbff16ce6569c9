"""The TensorBoard plugin's figures for a trace, which remember what of them was read."""

from __future__ import annotations

import json
import re
from _collections_abc import dict_items, dict_values
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Said(dict[str, Any]):
    """A JSON object that remembers which of its values were read."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)

    def items(self) -> dict_items[str, Any]:
        self.read.update(self)
        return super().items()

    def values(self) -> dict_values[str, Any]:
        self.read.update(self)
        return super().values()


def load(path: Path) -> Said:
    """A file of figures."""
    said: Said = json.loads(path.read_text("utf-8"), object_pairs_hook=Said)
    return said


def unread(value: Any, path: str = "") -> Iterator[str]:
    """Paths, without the places in lists, of what nobody read."""
    if isinstance(value, Said):
        for name in value:
            if name in value.read:
                yield from unread(dict.__getitem__(value, name), f"{path}.{name}")
            else:
                yield f"{path}.{name}"
    elif isinstance(value, list):
        for each in value:
            yield from unread(each, f"{path}[]")


def paths(value: Any, path: str = "") -> Iterator[str]:
    """All paths there are, read or not."""
    if isinstance(value, Said):
        for name in value:
            yield f"{path}.{name}"
            yield from paths(dict.__getitem__(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from paths(each, f"{path}[]")


def is_path(path: str, pattern: str) -> bool:
    """Whether a path is meant, * standing for any names."""
    return bool(re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), path))
