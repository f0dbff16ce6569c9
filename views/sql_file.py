"""The .sql files that define objects. The path of a file says what it defines, and its header all the rest.

Parsing the headers of all files takes a sixth of the time of a short command, which needs a tenth of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from tracewh.views.spec import GROUPS, HeaderError, Kind, Spec, parse

#: The folders of these files, and what a file in them defines. sql/derive/ contains statements that ingest runs.
FOLDERS: dict[str, Kind] = {
    "sql/tables": "table",
    "sql/slices": "slice",
    "sql/functions": "function",
    "sql/blocks": "block",
    "views": "view",
}


class SqlFile:
    """A file that defines an object. It is parsed when its `spec` is needed.

    Args:
        kind: What the file defines.
        path: Its path from the root of the package, with forward slashes.
        read: Returns what it contains.

    Raises:
        HeaderError: A file that defines a view is not named NAME_vVERSION.sql, or not in the folder of a group.

    Attributes:
        kind: What the file defines.
        path: Its path from the root of the package.
        object_name: The name of the object in DuckDB.
        name: The name without the version of a view.
        version: The version of a view, otherwise 0.
        group: The group of a view, otherwise ``''``.
    """

    def __init__(self, kind: Kind, path: str, read: Callable[[], Spec]) -> None:
        self.kind, self.path, self._read = kind, path, read
        *_, self.group, file = path.split("/")
        self.object_name = self.name = file.removesuffix(".sql")
        self.version = 0
        if kind != "view":
            self.group = ""
            return
        found = re.fullmatch(r"(\w+)_v([1-9][0-9]*)", self.name)
        if found is None or self.group not in GROUPS:
            self._parse()  # says what is wrong
            return
        self.name, self.version = found[1], int(found[2])

    @classmethod
    def of(cls, spec: Spec) -> SqlFile:
        """The file that a spec was parsed from."""
        return cls(spec.kind, spec.path, lambda: spec)

    @cached_property
    def spec(self) -> Spec:
        """What the file contains.

        Raises:
            HeaderError: The header is incomplete, or does not match the SQL, the name or the folder of the file.
        """
        return self._parse()

    @property
    def is_parsed(self) -> bool:
        """Whether its `spec` was needed."""
        return "spec" in vars(self)

    def _parse(self) -> Spec:
        spec = self._read()
        if spec.kind != self.kind:
            raise HeaderError(f"{self.path}:1: a {spec.kind} is in the folder of {self.kind}s")
        return spec


def sql_files(package: Path) -> list[SqlFile]:
    """Return the files of a package folder."""
    return [
        _at(kind, package, path)
        for folder, kind in FOLDERS.items()
        for path in (package / folder).rglob("*.sql")
    ]


def _at(kind: Kind, package: Path, path: Path) -> SqlFile:
    inside = path.relative_to(package).as_posix()
    return SqlFile(kind, inside, lambda: parse(path.read_text("utf-8"), inside))
