"""What the header of a view says that it combines, as a query with the values of a call."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tracewh.views import Spec
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


@pytest.mark.parametrize(
    "view",
    # With a block, a view compares that of two traces as a whole.
    [v for v in installed() if v.combines and "block" not in {param.name for param in v.params}],
    ids=lambda view: view.object_name,
)
def test_no_table_is_read_beside_what_is_combined(view: Spec) -> None:
    """A table that is not among the partial queries, or behind one of them, has no rows when they are combined."""
    registry = installed()
    tables = {table.name for table in registry.tables()}
    combined = {re.split(r"\W", query, maxsplit=1)[0] for query in view.combines}
    left, seen, read = [view.object_name], set(combined), set()
    while left:
        spec = registry.named(left.pop())
        if spec.object_name not in seen:
            seen.add(spec.object_name)
            left += spec.uses
            named = re.findall(r"\b(?:FROM|JOIN)\s+(\w+)\s+AS\b", spec.sql)
            read |= {(name, spec.object_name) for name in named if name in tables - combined}
    assert read == set()
