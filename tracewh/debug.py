"""The debug mode: unexpected errors are raised with their traceback."""

from __future__ import annotations

import os

#: The environment variable that turns the debug mode on.
DEBUG = "TRACEWH_DEBUG"


def debugging() -> bool:
    """Whether the debug mode is on."""
    return bool(os.environ.get(DEBUG))
