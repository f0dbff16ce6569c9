"""Exit codes, and the errors that a command raises for a person to read."""

from __future__ import annotations

import signal

OK, FAILED, WRONG_CALL, SOME_REFUSED, LIMIT_EXCEEDED = 0, 1, 2, 3, 4
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

#: What `tracewh --help` says about them.
EXIT_CODES = (
    (OK, "success; ingest: all files were ingested"),
    (FAILED, "failure; ingest: no file was ingested; check: there are problems"),
    (WRONG_CALL, "wrong usage: an unknown name, option or value"),
    (SOME_REFUSED, "ingest: some files were ingested, others refused"),
    (LIMIT_EXCEEDED, "diff: a --fail-if condition holds"),
    (INTERRUPTED, "interrupted"),
    (TERMINATED, "terminated (SIGTERM)"),
)


class CliError(Exception):
    """A command cannot do what was asked. The message is meant for a person."""

    exit_code = FAILED


class WrongCallError(CliError):
    """What was asked makes no sense: the caller has to write something else."""

    exit_code = WRONG_CALL
