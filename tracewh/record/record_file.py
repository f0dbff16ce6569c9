"""A file of a recording: one JSON object per line, the first of which says what the file is.

Names are those of the columns of data_pipeline_batches and of the series of counter_samples.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import threading
import time
import warnings
from typing import Any

#: Version of the format; tracewh reads this one only.
VERSION = 1
#: Suffixes of the files, after the name of the worker and the time in nanoseconds.
SUFFIXES = (".dataloader.jsonl", ".cpu.jsonl")
#: Lines are written when this many seconds have passed, or when there are this many.
FLUSH_SECONDS, FLUSH_LINES = 0.5, 500


class RecordFile:
    """A new file in the folder of the traces of a process.

    Lines are kept and written together. A forked child writes none of them again.

    Args:
        folder: The folder, created if it is missing.
        kind: 'dataloader' or 'cpu'.
        worker_name: Name of the worker; None for host and process id.

    Raises:
        OSError: It cannot be created.
    """

    def __init__(
        self, folder: str | os.PathLike[str], kind: str, worker_name: str | None = None
    ) -> None:
        self._pid = os.getpid()
        worker = worker_name or f"{socket.gethostname()}_{self._pid}"
        os.makedirs(folder, exist_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND
        while True:
            self.path = os.path.join(folder, f"{worker}.{time.time_ns()}.{kind}.jsonl")
            try:
                self._file = os.open(self.path, flags, 0o666)
                break
            except FileExistsError:  # another file of the same nanosecond
                continue
        self._lines: list[object] = []
        self._written = time.monotonic()
        self._lock = threading.Lock()
        self.is_open = True
        atexit.register(self.close)
        self.add(json.dumps({"tracewh": kind, "version": VERSION, "pid": self._pid}))
        self.flush()

    def add_object(self, **fields: Any) -> None:
        """Add a line."""
        self.add(json.dumps(fields, separators=(",", ":")))

    def add(self, line: object) -> None:
        """Add a line whose text is JSON. It is asked for its text when it is written."""
        self._lines.append(line)
        if time.monotonic() - self._written > FLUSH_SECONDS or len(self._lines) >= FLUSH_LINES:
            self.flush()

    def flush(self) -> None:
        """Write the lines that were added. If that fails, the file ends here, with a warning."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            lines, self._lines = self._lines, []
            self._written = time.monotonic()
            if lines and self.is_open:
                left = "".join(f"{line}\n" for line in lines).encode()
                try:
                    while left:
                        left = left[os.write(self._file, left) :]
                except OSError as error:
                    self.is_open = False
                    os.close(self._file)
                    said = f"{self.path}: the recording ends here: {error.strerror}"
                    warnings.warn(said, RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """Write what is left and close the file."""
        if os.getpid() != self._pid:
            return
        self.flush()
        with self._lock:
            if self.is_open:
                self.is_open = False
                os.close(self._file)
        atexit.unregister(self.close)
