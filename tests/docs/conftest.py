"""Pages and notebooks show all samples."""

from __future__ import annotations

import pytest

import tracewh


@pytest.fixture(scope="session")
def samples(all_samples: tracewh.Warehouse) -> tracewh.Warehouse:
    return all_samples
