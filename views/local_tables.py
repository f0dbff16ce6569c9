"""The tables of a warehouse in a folder: over the files that match a glob, or over the traces that were listed."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.quoting import quote_literal
from tracewh.schema import later_tables
from tracewh.storage import compacted_runs, layout
from tracewh.storage.compacted_runs import CompactedRun
from tracewh.storage.layout import MANIFEST, Object, TraceKeys
from tracewh.views.listing import MergedFiles, Part, create_view, read, read_compacted

if TYPE_CHECKING:
    import duckdb

    from tracewh.views.spec import Spec

#: The DuckDB variable with the folders of the traces that a query reads. If each table listed the traces itself,
#: a trace that is ingested in between would be in one table and not in another. A compacted table has its own
#: variable, with the traces that are not in merged files.
_PRESENT = "tracewh_present"


class Pattern:
    """A folder whose tables match their files with a glob in each query.

    Args:
        path: Absolute path of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def create_view(self, con: duckdb.DuckDBPyConnection, table: Spec) -> None:
        """Create a table's view."""
        is_empty = table.name in self.without_files()
        create_view(con, table, None if is_empty else read(self.files(table.name)), [])

    def without_files(self) -> list[str]:
        """Return the tables of which no trace has a file."""
        data = self.path / "data"
        return [
            name
            for name in later_tables()
            if not any(data.glob(f"{layout.TRACE_FOLDERS}/{name}.parquet"))
        ]

    def files(self, table: str) -> str:
        """Return a glob for the files of a table, as a SQL literal."""
        data = f"{glob.escape(str(self.path))}/data"
        return quote_literal(f"{data}/{layout.TRACE_FOLDERS}/{table}.parquet")


class LocalTables:
    """A folder whose tables contain the traces that `refresh` listed.

    Args:
        path: Absolute path of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pattern = Pattern(path)
        self._folders: list[str] = []
        #: Filter for the traces, by run, worker and span; None for all.
        self._selected: Callable[[TraceKeys], bool] | None = None
        #: The traces that match the filter, if they are known: then no others are listed.
        self._named: frozenset[TraceKeys] | None = None
        #: For each compacted table, the folders of the traces that are not merged, and the merged files.
        self._divided: dict[str, tuple[list[str], list[Part]]] = {}
        #: The folders of traces that have a file, for each table of which a trace may have none.
        self._with_file: dict[str, set[str]] = {name: set() for name in later_tables()}
        #: Contents of the manifests of merged files by path; a manifest never changes.
        self._manifests: dict[str, tuple[CompactedRun, ...]] = {}

    def names(self, runs: Iterable[str] | None = None) -> list[TraceKeys]:
        """Return run, worker and span of each trace.

        Args:
            runs: If all of these have traces, list only theirs; None for all runs.
        """
        data = self.path / "data"
        each = [_traces(data, [layout.run_folder(run)])[0] for run in dict.fromkeys(runs or ())]
        found = [*chain(*each)] if each and all(each) else _traces(data)[0]
        paths = (os.path.relpath(trace.folder, data) for trace in found)
        return [
            keys for path in paths if (keys := layout.parse_trace_folder(path.replace(os.sep, "/")))
        ]

    def versions(self, is_wanted: Callable[[str], bool] | None = None) -> dict[TraceKeys, str]:
        """Return the version of each trace, which changes when the trace is replaced.

        Args:
            is_wanted: Whether to list the traces of a run; None for all runs.
        """
        data, runs = self.path / "data", None
        if is_wanted is not None:
            names = compacted_runs.names(str(data))
            runs = [name for name in names if is_wanted(layout.partition_name(name))]
        found, _ = _traces(data, runs, selected=lambda _: True)
        return {trace.keys: trace.version for trace in found}

    def refresh(self, with_merged: bool = True, tables: Iterable[str] | None = None) -> set[str]:
        """List the traces and merged files again, and return the tables whose views must be recreated.

        Args:
            with_merged: Whether to use merged files.
            tables: The tables that will be read; None for all.
        """
        before, self._divided = self._divided, {}
        found, runs = _traces(self.path / "data", selected=self._selected, named=self._named)
        self._folders = [trace.folder for trace in found]
        if with_merged and runs:
            self._divide(found, self._compacted(runs))
        for table in self._with_file if tables is None else self._with_file.keys() & set(tables):
            own, parts = self._divided.get(table, (self._folders, []))
            kept = self._only_with_file(table, own)
            if len(kept) < len(own):
                self._divided[table] = kept, parts
        return {
            table
            for table in before.keys() | self._divided.keys()
            if _shape(before.get(table)) != _shape(self._divided.get(table))
        }

    def _only_with_file(self, table: str, folders: list[str]) -> list[str]:
        """Return the folders of traces that have a file of a table."""
        known = self._with_file[table]
        known.update(
            each
            for each in folders
            if each not in known and os.path.exists(f"{each}/{table}.parquet")
        )
        return [each for each in folders if each in known]

    def _divide(self, found: list[_FoundTrace], compacted: list[CompactedRun]) -> None:
        merged = MergedFiles(compacted, {trace.keys: trace.version for trace in found})
        own: dict[frozenset[str], list[str]] = {}
        for table in {table for each in compacted for table in each.files}:
            if parts := merged.of(table):
                runs = frozenset(each.run for each in compacted if table in each.files)
                if runs not in own:  # most tables are merged in all of them
                    merged_traces = merged.traces(table)
                    own[runs] = [trace.folder for trace in found if trace.keys not in merged_traces]
                self._divided[table] = own[runs], parts

    def select(
        self, selected: Callable[[TraceKeys], bool] | None, named: frozenset[TraceKeys] | None
    ) -> None:
        """From the next `refresh` on, find only the traces that match a filter.

        Args:
            selected: The filter; None for all traces.
            named: All traces that match it, if they are known.
        """
        self._selected, self._named = selected, named

    def put_first(self, first: Callable[[TraceKeys], bool]) -> None:
        """Put some traces first, until the next `refresh`: DuckDB opens the first file when it binds a query."""
        data = f"{self.path}/data/"

        def is_later(folder: str) -> bool:
            keys = layout.parse_trace_folder(folder.removeprefix(data))
            return not (keys and first(keys))

        self._folders.sort(key=is_later)
        for own, _ in self._divided.values():
            own.sort(key=is_later)

    def set_variables(self, con: duckdb.DuckDBPyConnection, most: int | None = None) -> None:
        """Set the variables that the views read: all listed traces, or the first of them."""
        lists = {_PRESENT: self._folders}
        lists |= {_variable(table): own for table, (own, _) in self._divided.items()}
        path, escaped = str(self.path), glob.escape(str(self.path))
        for name, folders in lists.items():
            plain = [escaped + folder.removeprefix(path) for folder in folders[:most]]
            con.execute(f"SET VARIABLE {name} = ?::VARCHAR[]", [plain or None])

    def clear_variables(self, con: duckdb.DuckDBPyConnection) -> None:
        """Make each use of a table list the traces itself; call `refresh` without merged files before."""
        con.execute(f"RESET VARIABLE {_PRESENT}")

    def create_view(self, con: duckdb.DuckDBPyConnection, table: Spec) -> None:
        """Create a table's view."""
        own, parts = self._divided.get(table.name, (self._folders, []))
        known = _variable(table.name) if table.name in self._divided else _PRESENT
        files = f"[t || '/{table.name}.parquet' FOR t IN getvariable('{known}')::VARCHAR[]]"
        files = files if parts else f"coalesce({files}, [{self._pattern.files(table.name)}])"
        is_read = own or not (parts or table.name in self._divided)
        create_view(con, table, read(files) if is_read else None, parts)

    def _compacted(self, runs: list[str]) -> list[CompactedRun]:
        """Return the merged files of some runs, given by their folders."""
        read = {}
        for each in compacted_runs.list_merged(self.path / "data", runs):
            if each.whole:
                path = each.newest[MANIFEST].key
                read[path] = self._manifests.get(path) or read_compacted([each])
        self._manifests = read
        return [each for known in read.values() for each in known]


@dataclass(frozen=True, slots=True)
class _FoundTrace:
    """A trace that `refresh` found; it has keys and version only if its run has merged files."""

    folder: str
    keys: TraceKeys = ("", "", "")
    version: str = ""


def _variable(table: str) -> str:
    return f"{_PRESENT}_{table}"


def _shape(divided: tuple[list[str], list[Part]] | None) -> tuple[bool, list[Part]] | None:
    """Return what the view of a table depends on, other than the traces in the variable."""
    return divided and (bool(divided[0]), divided[1])


def _traces(
    data: Path,
    runs: Iterable[str] | None = None,
    selected: Callable[[TraceKeys], bool] | None = None,
    named: frozenset[TraceKeys] | None = None,
) -> tuple[list[_FoundTrace], list[str]]:
    """Return the traces in order, and the folders of runs that have merged files.

    Args:
        runs: Folders of the runs to list; None for all.
        selected: Filter for the traces; None for all.
        named: All traces that match the filter, if they are known: no other folder is then read.
    """
    found, compact = [], []
    listed = _partitions("run", str(data)) if runs is None else runs
    if named is not None:
        of_named = {run for run, _, _ in named}
        listed = [run for run in listed if layout.partition_name(run) in of_named]
    for run in listed:
        names = compacted_runs.names(f"{data}/{run}")
        has_merged = any(layout.parse_merged_folder(f"{run}/{name}") for name in names)
        if has_merged:
            compact.append(run)
        for path in _trace_folders(data, run, names, named):
            file = f"{data}/{path}/traces.parquet"
            keys = layout.parse_trace_folder(path) if has_merged or selected else None
            if selected and not (keys and selected(keys)):
                continue
            try:
                stat = os.stat(file)
            except (FileNotFoundError, NotADirectoryError):  # no trace
                continue
            if keys:
                traces = Object(file, stat.st_size, stat.st_mtime_ns)
                found.append(_FoundTrace(f"{data}/{path}", keys, compacted_runs.version(traces)))
            else:
                found.append(_FoundTrace(f"{data}/{path}"))
    return found, compact


def _trace_folders(
    data: Path, run: str, names: list[str], named: frozenset[TraceKeys] | None
) -> Iterator[str]:
    """Yield the folders of a run's traces, given the names in its folder; of workers of some traces, if those are known."""
    workers = None if named is None else {worker for _, worker, _ in named}
    for name in names:
        if not name.startswith("worker="):  # merged, or not written by tracewh
            continue
        if workers is None or layout.partition_name(name) in workers:
            for span in _partitions("span", f"{data}/{run}/{name}"):
                yield f"{run}/{name}/{span}"


def _partitions(key: str, folder: str) -> list[str]:
    """Return the names of the form `key=name` in a folder; others were not written by tracewh."""
    return [name for name in compacted_runs.names(folder) if name.startswith(f"{key}=")]
