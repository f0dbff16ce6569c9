"""topology of a job, against its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tracewh


def test_ranks_and_processes_of_a_job_are_those_of_the_files(corpus: tracewh.Warehouse) -> None:
    # The plugin's own page is empty for this run: it leaves out workers without deviceProperties.
    rows = corpus.topology(run="two_ranks_nccl_2023").fetchall()
    assert rows == [
        ("two_ranks_nccl_2023", None, "sampled_rank-0", 4037, 0, 128, 0, None),
        ("two_ranks_nccl_2023", None, "sampled_rank-1", 4045, 1, 128, 1, None),
    ]
