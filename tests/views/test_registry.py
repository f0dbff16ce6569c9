"""What a header may say, what a call becomes, and what a person reads after getting either wrong.

The wording is the feature, so messages are compared whole.
"""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest

from tracewh.views import HeaderError, Registry, ViewError
from tracewh.views.registry import LEVEL, ArgumentError, installed
from tracewh.views.spec import Spec, parse

VIEW = """\
-- view: gaps
-- version: 1
-- since: 0.1
-- summary: Gaps between kernels.
-- distributes: trace
-- order: gap_us DESC
-- uses: spaces
--
-- What a gap is.
--
-- And why: it matters.
--
-- params
--   since_ns  BIGINT    ns    -        Start.
--   run, worker, span
--   name     type       unit  default  meaning
--   min_us   DOUBLE     us    0.5      Shortest gap; 'a' -- b.
--   devices  INTEGER[]  -     NULL     Devices to report.
-- columns
--   run, worker, span
--   name    type    unit  meaning
--   gap_us  DOUBLE  us    Its length.
CREATE MACRO gaps_v1(
    since_ns BIGINT,
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    min_us DOUBLE := 0.5,
    devices INTEGER[] := NULL
) AS TABLE
    SELECT s.run, s.worker, s.span, 1.0::DOUBLE AS gap_us -- not spaces_v9('x')
    FROM spaces('kernels') AS s;
"""
BLOCK = """\
-- block: spaces
-- since: 0.1
-- summary: Spaces.
--
-- params
--   rel  VARCHAR  -  -  Relation.
-- columns
--   run, worker, span
CREATE MACRO spaces(rel VARCHAR) AS TABLE
    SELECT r.run, r.worker, r.span FROM query_table(rel) AS r;
"""
FUNCTION = """\
-- function: double
-- since: 0.1
-- summary: Twice a number.
-- returns: BIGINT
--
-- params
--   number  BIGINT  -  -  Number.
CREATE MACRO double(number BIGINT) AS (
    2 * number -- not spaces('x')
);
"""
TABLE = """\
-- table: kernels
-- since: 0.1
-- summary: Kernels.
CREATE TABLE kernels (
    run VARCHAR,  -- The run.
    worker VARCHAR,  -- The worker.
    span VARCHAR,  -- The span.
    grid INTEGER[],  -- [grid, Grid] Blocks: in x, y and z.
    ingested_at TIMESTAMP WITH TIME ZONE  -- When.
);
"""
GAPS = "views/device/gaps_v1.sql"


def specs(view: str = VIEW, block: str = BLOCK) -> list[Spec]:
    return [
        parse(view, GAPS),
        parse(block, "sql/blocks/spaces.sql"),
        parse(TABLE, "sql/tables/kernels.sql"),
    ]


def version_2() -> Spec:
    return parse(
        VIEW.replace("version: 1", "version: 2").replace("gaps_v1", "gaps_v2"),
        GAPS.replace("v1", "v2"),
    )


def test_a_header_is_read_whole() -> None:
    view, _, table = specs()
    assert (view.kind, view.group, view.version, view.uses) == ("view", "device", 1, ("spaces",))
    assert (view.distributes, table.distributes) == ("trace", "")
    assert view.doc == "What a gap is.\n\nAnd why: it matters."
    assert " ".join(p.name for p in view.params) == "since_ns run worker span min_us devices"
    assert view.params[1].declaration == "run VARCHAR := NULL"
    assert view.params[4].meaning == "Shortest gap; 'a' -- b."
    assert view.params[0].required
    assert [(c.name, c.unit) for c in view.columns] == [
        ("run", "key"),
        ("worker", "key"),
        ("span", "key"),
        ("gap_us", "us"),
    ]
    assert [(c.name, c.type, c.meaning) for c in table.columns[3:]] == [
        ("grid", "INTEGER[]", "Blocks: in x, y and z."),
        ("ingested_at", "TIMESTAMP WITH TIME ZONE", "When."),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-- version: 1", "-- version: one", f"{GAPS}:2: a version is a whole number from 1, not 'one'"),
        ("-- version: 1", "-- version: 0", f"{GAPS}:2: a version is a whole number from 1, not '0'"),
        ("-- since: 0.1", "-- since: banana", f"{GAPS}:3: 'since:' is a version of tracewh, e.g. 0.1, not 'banana'"),
        ("-- uses: spaces", "-- uses: spaces other", f"{GAPS}:7: 'uses:' lists names, with a comma and a space between two: 'spaces other'"),
        ("-- uses: spaces", "-- uses: spaces,other", f"{GAPS}:7: 'uses:' lists names, with a comma and a space between two: 'spaces,other'"),
        ("-- since: 0.1\n", "", f"{GAPS}:1: the header of a view has no 'since:' line"),
        ("-- distributes: trace\n", "", f"{GAPS}:1: the header of a view has no 'distributes:' line"),
        ("-- order: gap_us DESC\n", "", f"{GAPS}:1: the header of a view has no 'order:' line"),
        ("-- distributes: trace", "-- distributes: span", f"{GAPS}:5: a view distributes by trace, worker, run, warehouse, not 'span'"),
        ("-- distributes: trace", "-- distributes: trace\n-- carries: trino", f"{GAPS}:6: 'carries:' is one of spark, not 'trino'"),
        ("-- uses: ", "-- use: ", f"{GAPS}:7: unknown line 'use: spaces': it must be one of table, slice, function, block, view, version, since, summary, grain, distributes, combines, order, carries, returns, uses, needs, empty, notes, example, reading, deprecated; free text follows an empty line"),
        ("-- uses: ", "-- returns: BIGINT\n-- uses: ", f"{GAPS}:7: a function has a 'returns:' line, and nothing else has one"),
        ("-- uses: ", "-- empty: no gap\n-- uses: ", f"{GAPS}:7: 'empty:' is a sentence: it starts with a capital, ends with a period"),
        ("-- uses: ", "-- empty: No {gap}.\n-- uses: ", f"{GAPS}:7: 'empty:' names {{gap}}, which is not a parameter"),
        ("kernels.\n", "kernels\n", f"{GAPS}:4: the summary is a sentence: it starts with a capital, ends with a period"),
        ("ns    -        Start.", "ns  Start.", f"{GAPS}:14: 4 fields in a params row, expected 5 (name, type, unit, default, meaning); put two or more spaces between fields"),
        ("DOUBLE  us    Its", "DOUBLE  ns    Its", f"{GAPS}:22: column gap_us has the unit ns, which does not match its name"),
        ("--   gap_us  DOUBLE", "--   gap  DOUBLE", f"{GAPS}:22: column gap has the unit us, which does not match its name"),
        ("gaps\n-- version: 1", "gaps\n-- version: 2", f"{GAPS}:1: a file that defines gaps_v2 must be named gaps_v2.sql"),
        ("min_us DOUBLE := 0.5", "min_us DOUBLE := 5", f"{GAPS}:1: the SQL opens with\n  CREATE MACRO gaps_v1(since_ns BIGINT, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, min_us DOUBLE := 5, devices INTEGER[] := NULL) AS TABLE\nbut the header declares\n  CREATE MACRO gaps_v1(since_ns BIGINT, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, min_us DOUBLE := 0.5, devices INTEGER[] := NULL) AS TABLE"),
    ],
)  # fmt: skip
def test_a_header_that_cannot_be_trusted(old: str, new: str, message: str) -> None:
    assert VIEW.count(old) == 1
    with pytest.raises(HeaderError) as caught:
        parse(VIEW.replace(old, new), GAPS)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-- returns: BIGINT\n", "", "a function has a 'returns:' line, and nothing else has one"),
        (
            "AS (",
            "AS TABLE (",
            (
                "the SQL opens with\n  CREATE MACRO double(number BIGINT) AS TABLE\n"
                "but the header declares\n  CREATE MACRO double(number BIGINT) AS"
            ),
        ),
    ],
)
def test_a_header_of_a_function_that_cannot_be_trusted(old: str, new: str, message: str) -> None:
    with pytest.raises(HeaderError) as caught:
        parse(FUNCTION.replace(old, new), "sql/functions/double.sql")
    assert str(caught.value) == f"sql/functions/double.sql:1: {message}"


def test_a_function_is_created_before_what_calls_it() -> None:
    function = parse(FUNCTION, "sql/functions/double.sql")
    assert (function.kind, function.returns) == ("function", "BIGINT")
    assert function.body == "(\n    2 * number \n);"
    view = VIEW.replace("uses: spaces", "uses: double, spaces").replace("1.0::DOUBLE", "double(1)")
    registry = Registry.of([*specs(view=view), function])
    order = registry.needs("FROM gaps_v1()")
    assert order.index("double") < order.index("gaps_v1")
    with duckdb.connect() as con:
        registry.create(con, registry.needs("SELECT double(4)"))
        assert con.execute("SELECT double(4)").fetchone() == (8,)
        comment = "SELECT comment FROM duckdb_functions() WHERE function_name = 'double'"
        assert con.execute(comment).fetchone() == ("Twice a number.",)


def test_a_folder_that_is_no_group() -> None:
    with pytest.raises(HeaderError, match="a view must be in one of views/overview/, "):
        parse(VIEW, "views/gaps_v1.sql")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"view": VIEW.replace("-- uses: spaces\n", "")}, f"{GAPS} calls spaces but its 'uses:' line has nothing"),
        ({"view": VIEW.replace("uses: spaces", "uses: spaces, other")}, f"{GAPS} calls spaces but its 'uses:' line has other, spaces"),
        ({"view": VIEW.replace("1.0::DOUBLE", "double(1)")}, f"{GAPS} calls double, spaces but its 'uses:' line has spaces"),
        ({"block": BLOCK.replace("query_table(rel)", "gaps()")}, "sql/blocks/spaces.sql calls gaps(), which changes; pin a version of it"),
    ],
)  # fmt: skip
def test_what_a_file_calls_is_what_it_says_it_uses(change: dict[str, str], message: str) -> None:
    with pytest.raises(ViewError) as caught:
        Registry.of([*specs(**change), parse(FUNCTION, "sql/functions/double.sql")]).needs()
    assert str(caught.value) == message


def test_two_files_that_define_the_same() -> None:
    copy = parse(VIEW, "views/memory/gaps_v1.sql")
    with pytest.raises(ViewError, match="views/memory/gaps_v1.sql and .* both define gaps_v1"):
        Registry.of([*specs(), copy])


def test_what_sql_needs_comes_before_it() -> None:
    registry = Registry.of(specs())
    order = registry.needs("FROM gaps(since_ns := 1)")
    assert sorted(order) == ["gaps", "gaps_v1", "kernels", "spaces"]
    # kernels comes from the text that gaps_v1 gives to its block.
    assert order.index("kernels") < order.index("gaps_v1") < order.index("gaps")
    assert order.index("spaces") < order.index("gaps_v1")
    assert registry.needs("SELECT 1 AS gaps -- FROM gaps()") == []
    assert registry.needs('FROM "Gaps_V1" (since_ns := 1)') == registry.needs("FROM gaps_v1()")
    assert set(registry.needs()) == {"kernels", "spaces", "gaps_v1", "gaps", "views"}


def test_the_unversioned_name_is_the_newest_version() -> None:
    registry = Registry.of([*specs(), version_2()])
    con = duckdb.connect()
    registry.create(con, registry.needs())
    listed = con.execute("SELECT object_name, latest FROM views()").fetchall()
    assert listed == [("gaps_v1", False), ("gaps_v2", True)]
    assert registry.get("gaps").version == 2
    assert registry.get("gaps_v1").version == 1
    comment = con.execute("SELECT comment FROM duckdb_functions() WHERE function_name = 'gaps'")
    assert comment.fetchone() == ("Gaps between kernels. (alias of gaps_v2)",)


def test_sql_that_duckdb_refuses_names_its_file() -> None:
    registry = Registry.of(specs(view=VIEW.replace("s.worker", "s.wroker")))
    with pytest.raises(ViewError, match=rf"^{GAPS}: Binder Error: .*wroker"):
        registry.create(duckdb.connect(), registry.needs())


@pytest.mark.parametrize(
    ("name", "version", "arguments", "message"),
    [
        ("gasp", None, {}, "no view named 'gasp'; did you mean 'gaps'?"),
        ("nothing_like_it", None, {}, "no view named 'nothing_like_it'; `tracewh views` lists the views"),
        ("gaps", 9, {}, "gaps has no v9; there is v1"),
        ("gaps_v9", None, {}, "gaps has no v9; there is v1"),
        ("gaps", "1", {}, "gaps has no version '1'; there is v1"),
        ("gaps", None, {}, "gaps_v1 needs since_ns: Start."),
        ("gaps", None, {"devcies": 0}, "gaps_v1 has no parameter 'devcies'; did you mean 'devices'?"),
        ("gaps", None, {"colour": 0}, "gaps_v1 has no parameter 'colour'; it takes since_ns, run, worker, span, min_us, devices"),
        ("gaps", None, {"since_ns": "first"}, "gaps_v1: since_ns takes a whole number (BIGINT), got 'first'"),
        ("gaps", None, {"since_ns": "2.7"}, "gaps_v1: since_ns takes a whole number (BIGINT), got '2.7'"),
        ("gaps", None, {"since_ns": 2.7}, "gaps_v1: since_ns takes a whole number (BIGINT), got 2.7"),
        ("gaps", None, {"since_ns": True}, "gaps_v1: since_ns takes a whole number (BIGINT), got True"),
        ("gaps", None, {"since_ns": np.bool_(True)}, "gaps_v1: since_ns takes a whole number (BIGINT), got np.True_"),
        ("gaps", None, {"since_ns": np.float32(2.5)}, "gaps_v1: since_ns takes a whole number (BIGINT), got np.float32(2.5)"),
        ("gaps", None, {"since_ns": 2**63}, "gaps_v1: since_ns takes a whole number (BIGINT), got 9223372036854775808"),
        ("gaps", None, {"since_ns": 1, "devices": "cuda"}, "gaps_v1: devices takes INTEGER[], got 'cuda'"),
        ("gaps", None, {"since_ns": 1, "run": ["a"]}, "gaps_v1: run takes a text (VARCHAR), got ['a']"),
    ],
)  # fmt: skip
def test_message(name: str, version: int | None, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ViewError) as caught:
        Registry.of(specs()).call(name, version, **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [0, 1, -0.5, "2", "nan"])
def test_a_level_of_significance_is_a_probability(value: object) -> None:
    views = [view.name for view in installed().newest() if LEVEL in {p.name for p in view.params}]
    assert views
    for name in views:
        required = {p.name: "x" for p in installed().get(name).params if p.required}
        with pytest.raises(ArgumentError) as caught:
            installed().call(name, **required, alpha=value)
        assert str(caught.value) == f"{name}_v1: alpha lies between 0 and 1, got {value!r}"


@pytest.mark.parametrize(
    ("arguments", "values", "inside"),
    [
        ({"since_ns": "3"}, {"since_ns": 3}, "since_ns := 3"),
        # Too long for a float: a comparison by way of one would refuse it.
        ({"since_ns": 1712199514123456789}, {"since_ns": 1712199514123456789}, "since_ns := 1712199514123456789"),
        ({"since_ns": 3.0}, {"since_ns": 3}, "since_ns := 3"),
        ({"since_ns": np.int64(2**53 + 1)}, {"since_ns": 2**53 + 1}, "since_ns := 9007199254740993"),
        ({"since_ns": 1, "run": np.uint8(7)}, {"since_ns": 1, "run": "7"}, "since_ns := 1, run := '7'"),
        ({"since_ns": 1, "min_us": np.int32(2)}, {"since_ns": 1, "min_us": 2.0}, "since_ns := 1, min_us := CAST('2.0' AS DOUBLE)"),
        ({"since_ns": None}, {"since_ns": None}, "since_ns := NULL"),
        ({"since_ns": 1, "min_us": 1}, {"since_ns": 1, "min_us": 1.0}, "since_ns := 1, min_us := CAST('1.0' AS DOUBLE)"),
        ({"since_ns": 1, "devices": "[1, 2]"}, {"since_ns": 1, "devices": [1, 2]}, "since_ns := 1, devices := [1, 2]"),
        ({"since_ns": 1, "devices": []}, {"since_ns": 1, "devices": []}, "since_ns := 1, devices := []"),
        ({"since_ns": 1, "run": 7}, {"since_ns": 1, "run": "7"}, "since_ns := 1, run := '7'"),
        ({"since_ns": 1, "run": "x'); --"}, {"since_ns": 1, "run": "x'); --"}, "since_ns := 1, run := 'x''); --'"),
    ],
)  # fmt: skip
def test_values_become_literals_of_their_type(
    arguments: dict[str, Any], values: dict[str, Any], inside: str
) -> None:
    registry = Registry.of(specs())
    call = registry.call("gaps", **arguments)
    assert (call.sql, call.values) == (f"FROM gaps_v1({inside})", values)
    con = duckdb.connect()
    registry.create(con, registry.needs())
    assert con.execute(call.sql).fetchall() == []
