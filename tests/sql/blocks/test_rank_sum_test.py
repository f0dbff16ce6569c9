"""The block rank_sum_test against scipy's test of Mann and Whitney."""

from __future__ import annotations

from math import comb

import numpy as np
import pyarrow as pa
import pytest

from tests.given import Tables


@pytest.mark.parametrize("decimals", [0, 9], ids=["ties", "no_ties"])
def test_p_values_are_those_of_scipy(tables: Tables, decimals: int) -> None:
    # Slow to import, and every process of a test run collects this file.
    from scipy.stats import mannwhitneyu

    random = np.random.default_rng(2021)
    samples = {}
    for key in range(300):
        size, other = random.integers(1, 30, 2)
        shift = random.random() * 2
        samples[key] = [
            random.normal(0, 1, size).round(decimals),
            random.normal(shift, 1, other).round(decimals),
        ]
    drawn = [
        {"key": key, "is_experiment": side == 1, "value": value}
        for key, sides in samples.items()
        for side in (0, 1)
        for value in sides[side]
    ]
    tables.con.register("drawn", pa.Table.from_pylist(drawn))
    tables.con.execute("CREATE TABLE samples AS FROM drawn")
    tables.con.unregister("drawn")
    ask = "FROM rank_sum_test('samples')"
    tables.prepare(ask)
    found = tables.con.execute(ask).fetchall()
    assert len(found) == len(samples)
    held_back = 0
    for key, count, other_count, wins, p_value, least in found:
        baseline, experiment = samples[key]
        said = mannwhitneyu(baseline, experiment)
        assert (count, other_count, wins) == (len(baseline), len(experiment), said.statistic)
        assert least == pytest.approx(2 / comb(count + other_count, count))
        # scipy has nan where all values are equal.
        theirs = 1.0 if len({*baseline, *experiment}) == 1 else float(said.pvalue)
        held_back += theirs < least - 1e-9
        assert p_value == pytest.approx(max(theirs, least), abs=1e-6)
    # No arrangement can be clearer than the clearest; only the normal distribution thinks so.
    assert (held_back > 0) == (decimals == 0)
