"""All of stderr, and the exit codes.

Results go to stdout and nowhere else; whatever tracewh says *about* a result comes through here.
A mistake of the caller is one line that says what was wrong and what would be right, never a
traceback. An error nobody foresaw is a bug and keeps its traceback.
"""

from __future__ import annotations

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
    WRONG_CALL,
    CliError,
    WrongCallError,
)


class Terminated(KeyboardInterrupt):
    """SIGTERM came: as SIGINT, but for the exit code."""


def note(text: str) -> None:
    """Say something about the result that is not part of it."""
    _say(text, dim=True)


def warn(text: str) -> None:
    """Say that a result is not what it seems."""
    _say(f"warning: {text}")


def line(text: str) -> None:
    """Narrate what goes on: one plain line."""
    print(text, file=sys.stderr, flush=True)


def _say(text: str, *, dim: bool = False) -> None:
    first, *rest = text.splitlines() or [""]
    shown = "\n".join([f"tracewh: {first}", *rest])
    print(f"\x1b[2m{shown}\x1b[22m" if dim and colourful(sys.stderr) else shown, file=sys.stderr)


def colourful(stream: object) -> bool:
    """Whether escape sequences belong on a stream: a terminal that wants them."""
    isatty = getattr(stream, "isatty", lambda: False)
    return bool(isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where a known word is near, else nothing."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def guarded(command: Callable[[], int]) -> int:
    """Run a command to its exit code, telling on stderr what went wrong.

    An error nobody foresaw passes through.
    """
    try:
        code = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # our reader has had enough, as in `tracewh show ... | head`
        code = OK
    except CliError as error:
        _say(str(error))
        code = error.exit_code
    except Exception as error:
        foreseen = _foreseen(error)
        if foreseen is None:
            raise
        _say(foreseen[1])
        code = foreseen[0]
    return _flushed(code)


@contextmanager
def terminable() -> Iterator[None]:
    """While it lasts, SIGTERM is as SIGINT: what writes has something to tidy up.

    Not for what asks DuckDB in the main thread, which takes it for an error of its own.
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
    """While it lasts, an interrupt ends the process even where DuckDB does not notice it.

    DuckDB looks for one between pieces of work, and one function call may take hours. The main
    thread has a second to end by itself; a second interrupt does not wait for it.

    Args:
        tidy: Removes files that would be left behind.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch() -> None:
        while came := os.read(reading, 1):
            if came[0] != signal.SIGINT:
                continue
            again, _, _ = select.select([reading], [], [], 1)
            if again and not os.read(reading, 1):  # the main thread is done
                return
            tidy()
            _say("interrupted")
            os._exit(INTERRUPTED)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        watcher.join()
        os.close(reading)


def interrupted(interrupt: KeyboardInterrupt) -> int:
    """The exit code of an interruption."""
    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


def _flushed(code: int) -> int:
    """Give the interpreter nothing left to write, or it would complain when it ends."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


#: What Python and the loader of libraries say where memory is short.
_NO_MEMORY = ("can't start new thread", "failed to map segment")


def _foreseen(error: Exception) -> tuple[int, str] | None:
    """Exit code and message of an error that the other parts raise on purpose."""
    if isinstance(error, MemoryError) or any(said in str(error) for said in _NO_MEMORY):
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
        return WRONG_CALL, str(error)
    if isinstance(error, duckdb.Error):
        return FAILED, sql_error(error)
    if isinstance(error, OSError):
        said = error.strerror or str(error)
        return FAILED, f"{error.filename}: {said}" if error.filename else said
    return None


def _usage(error: Exception) -> str:
    """A refusal of the command line parser in our voice, and where to read on."""
    message = str(error.format_message()).strip()  # type: ignore[attr-defined]
    message = message[:1].lower() + message[1:].rstrip(".")
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    return f"{message}\nTry '{context.command_path} --help'."


def sql_error(error: Exception) -> str:
    """DuckDB's message, which already says where, without the name of its class in Python."""
    text = str(error).strip()
    if is_damage(error):
        return _damage(text)
    return text


def is_damage(error: Exception) -> bool:
    """Whether DuckDB could not read a Parquet file."""
    text = str(error)
    return text.startswith(_BROKEN) or (
        re.match(r"IO Error|Invalid Input Error|File '", text) is not None and ".parquet" in text
    )


#: How messages begin that do not name the file.
_BROKEN = ("TProtocolException", "TTransportException")
_FILE = re.compile(
    r"['\"]([^'\"]*)/data/(run=[^/]+/worker=[^/]+/span=[^/]+)/([^/'\"]+\.parquet)['\"]"
)


def _damage(text: str) -> str:
    """Which trace is damaged, and the command that repairs it, as far as the message names the file."""
    from tracewh.storage import layout
    from tracewh.storage.checks import repair

    said = text.partition("\n")[0].partition(": ")[2]
    named = _FILE.search(text)
    keys = layout.keys(named[2]) if named else None
    if named is None or keys is None:
        return f"a trace is damaged ({said}); `tracewh check` says which, and what to do"
    return (
        f"the trace {'/'.join(keys)} is damaged: {named[3]} cannot be read; to repair:\n"
        f"  {repair(named[1], *keys)}"
    )


def refuse(message: str) -> NoReturn:
    """End the command: the caller has to write something else."""
    raise WrongCallError(message)
