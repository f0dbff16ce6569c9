"""A SQL warehouse for PyTorch profiler traces.

    tracewh.ingest("logdir", "tracewh-warehouse")
    with tracewh.open("tracewh-warehouse") as warehouse:
        warehouse.step_breakdown(run="resnet").show()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracewh.views.warehouse import Warehouse

__all__ = ["Warehouse", "open"]
