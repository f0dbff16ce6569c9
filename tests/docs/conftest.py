"""What makes the command lines on pages quick."""

from __future__ import annotations

from tests.cli.conftest import made_command

__all__ = ["made_command"]
