"""trend over the nights of a job: a step is marked where it is, and noise is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.given import Tables

NIGHTS, STEPS = 30, 4


def history(tables: Tables, seed: int, slower_from: int | None) -> list[str]:
    """The runs that trend marks of a history with noise; from one on steps take a tenth longer."""
    random = np.random.default_rng(seed)
    for night in range(1, NIGHTS + 1):
        run = f"nightly/{night:02}"
        mean_us = 1000 * (1.1 if slower_from and night >= slower_from else 1)
        lengths = random.normal(mean_us, 20, STEPS).round(3)
        tables.con.execute(
            "INSERT INTO traces (run, worker, span, start_ns) VALUES (?, 'w', '1', ?)",
            [run, night * 10**9],
        )
        end = 0
        for step, length in enumerate(lengths):
            start, end = end, end + round(length * 1000)
            tables.con.execute(
                "INSERT INTO steps (run, worker, span, step, event_id, start_ns, end_ns,"
                " extended_start_ns, extended_end_ns, is_tail)"
                " VALUES (?, 'w', '1', $2, $2, $3, $4, $3, $4, FALSE)".replace("?", "$1"),
                [run, step, start, end],
            )
    ask = "SELECT run FROM trend_v1('step_us') WHERE is_change_point"
    tables.prepare(ask)
    return [run for (run,) in tables.con.execute(ask).fetchall()]


@pytest.mark.parametrize("seed", range(10))
def test_the_night_of_a_step_is_marked_and_no_other(tables: Tables, seed: int) -> None:
    night = (6, 15, 21, 25, 27)[seed % 5]
    assert history(tables, seed, slower_from=night) == [f"nightly/{night:02}"]


@pytest.mark.parametrize("seed", range(10))
def test_noise_is_no_step(tables: Tables, seed: int) -> None:
    assert history(tables, seed, slower_from=None) == []
