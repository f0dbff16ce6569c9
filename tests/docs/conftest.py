"""What makes the command lines on pages quick; and pages and notebooks show all samples."""

from __future__ import annotations

import pytest

import tracewh
from tests.cli.conftest import made_command

__all__ = ["made_command"]


@pytest.fixture(scope="session")
def samples(all_samples: tracewh.Warehouse) -> tracewh.Warehouse:
    return all_samples
