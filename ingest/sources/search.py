"""Find files in folders and object stores."""

from __future__ import annotations

import errno
import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.errors import IngestError, StoreError
from tracewh.files import File
from tracewh.ingest.sources.files import ON_A_DISK, Piped, RemoteFile, TraceFolder
from tracewh.ingest.sources.reader import Claim
from tracewh.storage.layout import CAPTURES
from tracewh.storage.remote import Location, is_url, locate, readable_errors

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

#: The database at the top of a warehouse.
_DATABASE = "tracewh.duckdb"
#: The folders of a log folder in which JAX and TensorFlow put a folder for each recording, named after its time.
_OF_XLA = ("plugins", "profile")


@dataclass(frozen=True, slots=True)
class LogFolder:
    """A folder of log files.

    Attributes:
        run: The name of its run.
        files: The wanted files in it.
        names: The names of all its files.
        above: The name that the run of the folder above it has; '' if there is none.
        is_named: Whether the user named the only file, so that it is tried whatever it is.
    """

    run: str
    files: Sequence[File]
    names: tuple[str, ...]
    above: str = ""
    is_named: bool = False


class Search:
    """Finds files below paths. Lists each folder once.

    Args:
        wanted: Filter for the names of files.
        claim: Returns the name of a reader and the files of a folder that are a trace together, by the names
            of its files.

    Attributes:
        links: Links to folders that were found in folders. They are not followed: logs/latest would be a run twice.
    """

    def __init__(
        self,
        wanted: Callable[[str], bool],
        claim: Callable[[Sequence[str]], tuple[str, Claim] | None] = lambda _: None,
    ) -> None:
        self._wanted = wanted
        self._claim = claim
        self._names = cache(_names)
        self._beside: dict[str, tuple[str, ...]] = {}
        self._pipes: dict[Path, Piped] = {}
        self.links: list[Path] = []

    def folders(self, given: str | os.PathLike[str]) -> Iterator[LogFolder]:
        """Yield the folder of a file, or a folder and all folders below it except hidden ones.

        Raises:
            IngestError: The path does not exist, or the store cannot be read.
        """
        if is_url(given):
            try:
                yield from self._remote(os.fspath(given))
            except OSError as error:
                known = IngestError if isinstance(error, FileNotFoundError) else StoreError
                raise known(f"{error.filename}: {error.strerror}") from None
            return
        kind = _kind(given)
        if stat.S_ISFIFO(kind):
            pipe = Path(os.path.abspath(given))
            piped = self._pipes.setdefault(pipe, Piped(pipe))
            yield LogFolder(pipe.parent.name, [piped], ())
            return
        path = Path(os.path.realpath(given))
        if stat.S_ISREG(kind):
            parts = path.parent.parts
            beside = self._names(path.parent)
            yield LogFolder(_run_name(parts), [path], beside, _above(parts), is_named=True)
        else:
            for folder, folders, names in _walk(path):
                self.links += [folder / name for name in folders if (folder / name).is_symlink()]
                relative = "" if folder == path else folder.relative_to(path).as_posix()
                run, above = _run_name(path.parts, relative), _above(path.parts, relative)
                if claimed := self._claim(names):
                    reader, claim = claimed
                    trace = TraceFolder(folder, tuple(sorted(claim.members)), reader)
                    yield LogFolder(above if claim.is_whole else run, [trace], ())
                    if claim.is_whole:
                        folders.clear()
                        continue
                    names = [name for name in names if name not in claim.members]
                files = [folder / name for name in names if self._wanted(name)]
                files = [file for file in files if not _is_special(file)]
                yield LogFolder(run, files, tuple(names), above)

    def _remote(self, url: str) -> Iterator[LogFolder]:
        location = locate(url)
        with readable_errors(location.url):
            info = location.filesystem.get_file_info(location.key)
            if info.is_file:
                parent = location.key.rpartition("/")[0]
                beside = location.url_of(parent)
                if beside not in self._beside:
                    self._beside[beside] = tuple(_listed(location, parent, recursive=False)[""])
                parts = parent.split("/")
                file = _remote_file(location, info)
                yield LogFolder(
                    _run_name(parts), [file], self._beside[beside], _above(parts), is_named=True
                )
                return
            found = _searched(_listed(location, location.key, recursive=True))
        if not found and info.type.name == "NotFound":
            raise FileNotFoundError(errno.ENOENT, "no such file or folder", location.url)
        top = location.key.split("/")
        for folder, names in sorted(found.items()):
            if (claimed := self._claim(list(names))) and claimed[1].is_whole:
                url = f"{location.url.rstrip('/')}/{folder}".rstrip("/")
                remote = TraceFolder(url, (), claimed[0], ON_A_DISK)
                yield LogFolder(folder.rpartition("/")[0] or top[-1], [remote], ())
                continue
            files = [
                _remote_file(location, names[name]) for name in sorted(names) if self._wanted(name)
            ]
            yield LogFolder(_run_name(top, folder), files, tuple(names), _above(top, folder))


def _run_name(given: Sequence[str], relative: str = "") -> str:
    """Return the run of a folder: its path below the given folder, or the name of that one.

    Graph captures of a run lie in its folder `capture_traces`, and only the name of the run tells whose they
    are. So it stands in front, also where the run itself is given, or its captures alone. JAX names a recording
    after its time, which a recording of another job may have, too. So the log folder stands in front, as in
    TensorBoard.

    Args:
        given: The parts of the path of the given folder.
        relative: The path below it; empty for itself.
    """
    if given[-1] == CAPTURES:
        given, relative = given[:-1], f"{CAPTURES}/{relative}".rstrip("/")
    if relative.split("/")[0] == CAPTURES:
        return "/".join([*(name for name in given[-1:] if name.strip("/")), relative])
    below = relative.split("/") if relative else []
    *logs, plugins, profile, time = ["", "", "", *given, *below]
    if (plugins, profile) == _OF_XLA:
        return "/".join([*(below[:-3] or (name for name in logs[-1:] if name.strip("/"))), time])
    return relative or given[-1]


def _above(given: Sequence[str], relative: str = "") -> str:
    """Return the run of the folder above a folder; see `_run_name`."""
    if relative:
        return relative.rpartition("/")[0] or given[-1]
    return next((name for name in given[-2:-1] if name.strip("/")), "")


def _kind(given: str | os.PathLike[str]) -> int:
    """The type of a file, folder or pipe.

    Raises:
        IngestError: It does not exist, has another type, or cannot be read.
    """
    try:
        kind = os.stat(given).st_mode
        if stat.S_ISDIR(kind):
            os.scandir(given).close()
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(given):
            target = os.readlink(given)
            raise IngestError(f"{given} is a link to {target}, which does not exist") from None
        raise IngestError(f"no such file or folder: {given}") from None
    except (OSError, ValueError) as error:
        why = (
            "a link that leads to itself" if _is_loop(error) else getattr(error, "strerror", error)
        )
        raise IngestError(f"cannot read {given}: {why}") from None
    if stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISFIFO(kind):
        return kind
    what = "socket" if stat.S_ISSOCK(kind) else "device"
    raise IngestError(f"{given} is a {what}; give a trace file, a folder or a pipe")


def _is_loop(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.ELOOP


def _is_special(file: Path) -> bool:
    """Whether a file is a pipe, socket or device. These are only read if the user names them."""
    try:
        return not stat.S_ISREG(file.stat().st_mode)
    except OSError:  # its ingest reports the error
        return False


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(os.listdir(folder))


def _walk(top: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield each folder with the names of the folders and files in it; folders taken out are not walked."""
    for root, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # A warehouse contains no trace files. But the given folder may be both log folder and warehouse.
        if _DATABASE in names:
            folders[:] = [name for name in folders if name != "data"]
            if Path(root) != top:
                folders.clear()
                continue
        yield Path(root), folders, sorted(names)


def _listed(location: Location, key: str, recursive: bool) -> dict[str, dict[str, FileInfo]]:
    """List the files below a folder, by folder and name, with one request per thousand files or so."""
    from pyarrow.fs import FileSelector

    found: dict[str, dict[str, FileInfo]] = defaultdict(dict)
    selector = FileSelector(key, allow_not_found=True, recursive=recursive)
    for info in location.filesystem.get_file_info(selector):
        if info.is_file:
            path = info.path.strip("/").removeprefix(key.strip("/")).strip("/")
            folder, _, name = path.rpartition("/")
            found[folder][name] = info
    return found


def _searched(found: Mapping[str, dict[str, FileInfo]]) -> dict[str, dict[str, FileInfo]]:
    """Leave out hidden folders and warehouses, as `_walk` does."""
    warehouses = [folder for folder, names in found.items() if _DATABASE in names]
    hidden = [f"{folder}/" if folder else "data/" for folder in warehouses]
    return {
        folder: names
        for folder, names in found.items()
        if not any(part.startswith(".") for part in folder.split("/"))
        and not any(f"{folder}/".startswith(start) for start in hidden)
    }


def _remote_file(location: Location, info: FileInfo) -> RemoteFile:
    key = f"/{info.path.strip('/')}" if location.key.startswith("/") else info.path
    return RemoteFile(
        location.url_of(key), info.base_name, info.size or 0, info.mtime_ns or 0, key, location
    )
