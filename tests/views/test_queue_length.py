"""When a queue is full: more than a drawing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.given import Tables


@pytest.mark.parametrize(("kernels", "full_us"), [(1024, 3.0), (1023, 0.0)])
def test_a_queue_is_full_at_1024(tables: Tables, kernels: int, full_us: float) -> None:
    """A graph launched at 1 us, the first kernel of which starts at 4 us and the others at 5 us."""
    tables.con.execute(
        "INSERT INTO host_events BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " 1 AS event_id, 'cuda_runtime' AS category, 'cudaGraphLaunch' AS name, 1000 AS start_ns,"
        " 100 AS duration_ns"
    )
    tables.con.execute(
        "INSERT INTO device_events BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " 10 + i AS event_id, 'compute' AS kind, 0 AS device_id, 7 AS stream_id, 1 AS launch_id,"
        " CASE WHEN i = 0 THEN 4000 ELSE 5000 END AS start_ns, 0 AS duration_ns"
        " FROM range(?) AS n (i)",
        [kernels],
    )
    query = "SELECT max_length, full_us, full_pct FROM queue_length_summary_v1()"
    tables.prepare(query)
    assert tables.con.execute(query).fetchall() == [(kernels, full_us, 25 * full_us)]
