"""Messages on stderr, errors and exit codes.

Results go to stdout; messages about a result go to stderr, through this module. A user error is a message that
says what is wrong and how to fix it, without a traceback. An unexpected error is a bug and keeps its
traceback.
"""

from __future__ import annotations

import atexit
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import NoReturn

from tracewh.cli.diagnostics import memory_limit
from tracewh.cli.diagnostics.errors import (
    FAILED,
    INTERRUPTED,
    OK,
    TERMINATED,
    USAGE_ERROR,
    CliError,
    UsageError,
)
from tracewh.files import visible

__all__ = [
    "CliError",
    "Terminated",
    "UsageError",
    "did_you_mean",
    "interrupted",
    "is_damage",
    "killable",
    "line",
    "note",
    "run_command",
    "run_process",
    "sql_error",
    "supports_color",
    "terminable",
    "usage_error",
    "warn",
]


#: Control characters that SQL in a message may have. Names of files may have any others, which are escaped.
KEPT = "\n\t"
#: Whether the process ends after the command, so that nothing has to be freed.
process_ends = False


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM: like SIGINT, with another exit code."""


def note(text: str) -> None:
    """Print information about a result, dimmed on a terminal."""
    _print(text, dim=True)


def warn(text: str) -> None:
    """Print a warning about a result."""
    _print(f"warning: {text}")


def line(text: str) -> None:
    """Print one plain line, e.g. of progress."""
    print(visible(text, KEPT), file=sys.stderr, flush=True)


def _print(text: str, *, dim: bool = False) -> None:
    first, *rest = visible(text.replace("\r\n", "\n"), KEPT).splitlines() or [""]
    shown = "\n".join([f"tracewh: {first}", *rest])
    print(
        f"\x1b[2m{shown}\x1b[22m" if dim and supports_color(sys.stderr) else shown, file=sys.stderr
    )


def supports_color(stream: object) -> bool:
    """Whether a stream is a terminal that wants escape sequences."""
    isatty = getattr(stream, "isatty", lambda: False)
    return bool(isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` if a known word is similar, else an empty text."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def run_command(command: Callable[[], int]) -> int:
    """Run a command, print its errors to stderr, and return its exit code.

    Unexpected errors pass through.
    """
    try:
        code = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _print("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe, as in `tracewh show ... | head`
        code = OK
    except CliError as error:
        _print(str(error))
        code = error.exit_code
    except Exception as error:
        if isinstance(error, RuntimeError) and str(error) == _DUCKDB_INTERRUPT:
            _print("interrupted")
            return INTERRUPTED
        expected = _expected(error)
        if expected is None:
            raise
        code, message = expected
        _print(message)
    return _flushed(code)


def run_process(main: Callable[[], int]) -> NoReturn:
    """Run a process that does nothing else, and end it with the exit code.

    Nothing is freed: Python and DuckDB would take a tenth of the time of a command for it.
    """
    global process_ends
    process_ends = True
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it is closed, as by `>&-`
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    code = main()
    atexit._run_exitfuncs()
    if threading.active_count() > 1:  # another thread ends what it does
        sys.exit(code)
    sys.stderr.flush()
    os._exit(code)


@contextmanager
def terminable() -> Iterator[None]:
    """Handle SIGTERM like SIGINT within this context, so that a writer can clean up.

    Do not use it around DuckDB queries in the main thread: DuckDB reports the exception as an error of
    its own.
    """

    def terminate(*_: object) -> NoReturn:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def killable(tidy: Callable[[], None]) -> Iterator[None]:
    """End the process on an interrupt within this context, even if DuckDB does not notice it.

    DuckDB checks for interrupts between pieces of work, and one function call may take hours. The main
    thread has a second to end by itself; a second interrupt and SIGTERM end the process at once.

    Args:
        tidy: Removes temporary files before the process ends.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    terminates = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if terminates:  # the watcher learns only of signals that have a handler
        signal.signal(signal.SIGTERM, lambda *_: None)

    def watch() -> None:
        while received := os.read(reading, 1):
            if terminates and received[0] == signal.SIGTERM:
                tidy()
                os._exit(TERMINATED)
            if received[0] != signal.SIGINT:
                continue
            again, _, _ = select.select([reading], [], [], 1)
            if again and not os.read(reading, 1):  # the main thread has left the context
                return
            tidy()
            _print("interrupted")
            os._exit(INTERRUPTED)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        if terminates:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.set_wakeup_fd(before)
        os.close(writing)
        watcher.join()
        os.close(reading)


def interrupted(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code of an interrupt."""
    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


def _flushed(code: int) -> int:
    """Flush stdout, or discard it if the pipe is closed: the interpreter would print an error at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


#: DuckDB raises this in the place of KeyboardInterrupt if a query runs.
_DUCKDB_INTERRUPT = "Query interrupted"
#: Messages of Python and of the dynamic loader when memory runs out.
_NO_MEMORY = ("can't start new thread", "failed to map segment")


def _expected(error: Exception) -> tuple[int, str] | None:
    """Return exit code and message of an expected error, or None for any other."""
    if isinstance(error, MemoryError) or any(text in str(error) for text in _NO_MEMORY):
        return FAILED, memory_limit.exhausted()
    from typer.exceptions import TyperException

    if isinstance(error, TyperException):
        return error.exit_code, _usage(error)

    import duckdb

    from tracewh.errors import IngestError
    from tracewh.spark.errors import SparkError
    from tracewh.views import ViewError
    from tracewh.views.warehouse import WarehouseError

    if isinstance(error, WarehouseError | IngestError | SparkError):
        return FAILED, str(error)
    if isinstance(error, ViewError):
        return USAGE_ERROR, str(error)
    if isinstance(error, duckdb.Error):
        return FAILED, sql_error(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        if error.filename is None and not _has_current_folder():
            reason = "the current folder does not exist any more; change to another one"
        return FAILED, f"{error.filename}: {reason}" if error.filename else reason
    return None


def _has_current_folder() -> bool:
    try:
        return bool(os.getcwd())
    except FileNotFoundError:
        return False


def _usage(error: Exception) -> str:
    """Return an error of the argument parser in the style of our messages, with a hint at --help."""
    message = str(error.format_message()).strip()  # type: ignore[attr-defined]
    message = message[:1].lower() + message[1:].rstrip(".")
    argument = getattr(getattr(error, "param", None), "metavar", None)
    if message.startswith("missing argument") and argument in ("RUN", "BASELINE", "EXPERIMENT"):
        message += "; `tracewh runs` lists the runs"
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    given = getattr(error, "option_name", "")
    commands = getattr(context.command, "commands", {}).values()
    if given in [name for command in commands for param in command.params for name in param.opts]:
        message += f"; options follow the command: {context.command_path} COMMAND {given} ..."
    option = given.lstrip("-").upper()
    arguments = [p.metavar for p in context.command.params if p.param_type_name == "argument"]
    if option in arguments:
        message += f"; it is an argument: {' '.join([context.command_path, *arguments])}"
    if unknown := re.match("no such command '(.+?)'", message):
        from tracewh.views.registry import installed

        if unknown[1] in [view.name for view in installed()]:
            message = f"{unknown[0]}; it is a view: {context.command_path} show {unknown[1]}"
    return f"{message}\nTry '{context.command_path} --help'."


def sql_error(error: Exception) -> str:
    """Return DuckDB's message, or the name of the damaged trace if a file cannot be read."""
    text = str(error).strip()
    if is_damage(error):
        return _damage(text)
    from tracewh.errors import is_disk_full

    if is_disk_full(error):
        import tempfile

        return (
            f"the query does not fit into memory, and the temporary folder {tempfile.gettempdir()} is full; free some "
            "space, name another folder in TMPDIR, or name a run and a worker"
        )
    if full := re.search(r"Out of Memory Error: .*/(.+) used\)", text):
        return (
            f"the query needs more memory than its limit of {full[1]}; raise it with --memory-limit MB or "
            "TRACEWH_MEMORY_LIMIT=MB, or name a run and a worker"
        )
    return text


def is_damage(error: Exception) -> bool:
    """Whether DuckDB failed to read a Parquet file."""
    text = str(error)
    return text.startswith(_BROKEN) or (
        re.match(r"IO Error|Invalid Input Error|Footer length error|File '", text) is not None
        and ".parquet" in text
    )


#: Starts of messages about Parquet files that do not name the file.
_BROKEN = ("TProtocolException", "TTransportException")
#: A path in such a message. The folder of the warehouse may have quotes and newlines in its name, too.
_FILE = re.compile(
    r"['\"](/.*?)/data/(run=[^/]+/worker=[^/]+/span=[^/]+)/([^/'\"]+\.parquet)['\"]", re.DOTALL
)


#: What DuckDB says of a file that lacks a column.
_LACKING = re.compile(r'schema mismatch in glob: column "(.+?)"')


def _damage(text: str) -> str:
    """Return which trace is damaged, or of another version, and how to repair it; less if the message does not name the file."""
    from tracewh.storage import layout
    from tracewh.storage.checks import repair

    reason = text.partition("\n")[0].partition(": ")[2]
    file = _FILE.search(text)
    if file and file[2] == layout.TRACE_FOLDERS:  # not one trace has such a file
        from tracewh.views.warehouse import WarehouseError, find

        try:
            find(file[1])
        except WarehouseError as error:  # the traces were removed
            return str(error)
        file = None
    keys = layout.parse_trace_folder(file[2]) if file else None
    if file is None or keys is None:
        return (
            f"a trace is damaged ({reason}); `tracewh check` shows which one and how to repair it"
        )
    from pathlib import Path

    from tracewh.storage.manifest import newer_layout

    name = f"the trace {'/'.join(keys)}"
    if said := newer_layout(Path(file[1], "data", file[2], "traces.parquet")):
        return f"{name} {said}"
    if lacks := _LACKING.search(text):
        return (
            f"{name} was written by another version of tracewh: {file[3]} has no column {lacks[1]}; ingest it again:\n"
            f"  {repair(file[1], *keys)}"
        )
    return f"{name} is damaged: {file[3]} cannot be read; to repair:\n  {repair(file[1], *keys)}"


def usage_error(message: str) -> NoReturn:
    """End the command with a usage error."""
    raise UsageError(message)
