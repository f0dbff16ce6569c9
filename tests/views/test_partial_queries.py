"""What the header of a view says that it combines, as a query with the values of a call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracewh.views.partial_queries import combined_names, partial_queries, partial_sql
from tracewh.views.registry import installed


def test_arguments_take_the_place_of_parameters() -> None:
    """Columns, words in a text, and the parameters of what is called keep their names."""
    call = installed().call("trend", figure="step_us", name="it's", runs=None)
    view = replace(
        call.view,
        combines=("trend_values(figure, name := name, runs := ['runs', runs]) WHERE x.name",),
    )
    assert partial_sql(replace(call, view=view)) == (
        "SELECT '' AS key UNION ALL BY NAME SELECT '' AS key, r AS part_0 FROM (FROM "
        "trend_values('step_us', name := 'it''s', runs := ['runs', NULL]) WHERE x.name) AS r"
    )


def test_defaults_are_those_of_the_header() -> None:
    sql = partial_sql(installed().call("diff_kernels", baseline="a", experiment="b"))
    assert "kernel_stats_v1(group_by := 'name', per_span := TRUE) WHERE NULL IS NULL" in sql


@pytest.mark.parametrize(("block", "count"), [(None, 3), ("/", 0)])
def test_one_block_of_two_traces_is_compared_as_a_whole(block: str | None, count: int) -> None:
    call = installed().call("diff_kernels", baseline="a", experiment="b", block=block)
    assert len(partial_queries(call)) == count


def test_what_is_combined_is_named() -> None:
    assert combined_names(installed().call("diff_kernels", baseline="a", experiment="b")) == [
        "kernel_stats_v1",
        "kernel_steps",
        "steps",
    ]
