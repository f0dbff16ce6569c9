"""What can go wrong with Spark itself, in one line each."""

from __future__ import annotations


class SparkError(Exception):
    """Spark is not installed, does not start, cannot be reached, or its executors cannot work."""
