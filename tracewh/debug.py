"""Whether errors that nobody foresaw show where they came from."""

from __future__ import annotations

import os

#: Set in the environment, it lets such an error end what it happened in, with its traceback.
DEBUG = "TRACEWH_DEBUG"


def debugging() -> bool:
    """Whether it is set."""
    return bool(os.environ.get(DEBUG))
