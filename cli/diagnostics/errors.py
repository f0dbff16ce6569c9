"""Exit codes, and the errors whose message is meant for the user."""

from __future__ import annotations

import signal

OK, FAILED, USAGE_ERROR, SOME_REFUSED, LIMIT_EXCEEDED = 0, 1, 2, 3, 4
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

#: Descriptions of the exit codes in `tracewh --help`.
EXIT_CODES = (
    (OK, "success; ingest: all files were ingested"),
    (FAILED, "failure; ingest: no file was ingested; check: there are problems"),
    (USAGE_ERROR, "wrong usage: an unknown name, option or value"),
    (SOME_REFUSED, "ingest: some files were ingested, others refused"),
    (LIMIT_EXCEEDED, "diff: a --fail-if condition holds"),
    (INTERRUPTED, "interrupted"),
    (TERMINATED, "terminated (SIGTERM)"),
)


class CliError(Exception):
    """A command failed. The message is meant for the user."""

    exit_code = FAILED


class UsageError(CliError):
    """The command line is wrong: an unknown name, option or value."""

    exit_code = USAGE_ERROR
