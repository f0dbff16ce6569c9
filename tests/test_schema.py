"""sql/tables is read once, for ingest and for views, and refuses a line that it cannot read."""

from __future__ import annotations

import duckdb
import pytest

from tracewh.schema import PARTITION_KEYS, SQL, Column, ColumnError, table_columns, tables
from tracewh.views import HeaderError, Registry
from tracewh.views.spec import parse

TEXT = """\
-- table: things
-- since: 0.1
-- summary: Things.
CREATE TABLE things (
    run VARCHAR,  -- Name of the run.
    ranks INTEGER[],  -- [Ranks as text] Ranks of the group.
    size_bytes BIGINT,  -- [Bytes, bytes] Size.
    raw JSON  -- The rest.
);
"""


def test_a_column_is_its_line() -> None:
    assert table_columns(TEXT) == (
        Column("run", "VARCHAR", "key", "Name of the run."),
        Column("ranks", "INTEGER[]", "-", "Ranks of the group.", ("Ranks",), as_text=True),
        Column("size_bytes", "BIGINT", "bytes", "Size.", ("Bytes", "bytes")),
        Column("raw", "JSON", "-", "The rest."),
    )


@pytest.mark.parametrize(
    "wrong", ["size_bytes BIGINT,", "size_bytes BIGINT, -- Size.", "bigint size_bytes,  -- Size."]
)
def test_a_line_that_is_no_column_is_named(wrong: str) -> None:
    text = TEXT.replace("size_bytes BIGINT,  -- [Bytes, bytes] Size.", wrong)
    message = f"{wrong!r} is not 'name TYPE,  -- Meaning.'"
    with pytest.raises(ColumnError) as error:
        table_columns(text)
    assert (error.value.line, str(error.value)) == (7, message)
    with pytest.raises(HeaderError) as refused:
        parse(text, "sql/tables/things.sql")
    assert str(refused.value) == f"sql/tables/things.sql:7: {message}"


def test_the_columns_are_those_that_duckdb_creates() -> None:
    """Views and ingest hold the same ones."""
    specs = {spec.name: spec.columns for spec in Registry.load().tables()}
    assert specs.keys() == tables().keys()
    with duckdb.connect() as con:
        for name, columns in specs.items():
            con.execute((SQL / "tables" / f"{name}.sql").read_text("utf-8"))
            rows = con.execute(f"DESCRIBE {name}").fetchall()
            assert [row[:2] for row in rows] == [(c.name, c.type) for c in columns]
            kept = [column for column in columns if column.name not in PARTITION_KEYS]
            assert [*tables()[name].columns] == kept
