"""sql/queries: each is one statement, and gets its values as literals."""

from pathlib import Path

import duckdb
import pytest

from tracewh.schema import SQL
from tracewh.views import queries

NAMES = sorted(path.stem for path in (SQL / "queries").glob("*.sql"))


@pytest.fixture
def query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A query in a folder of its own."""
    (tmp_path / "queries").mkdir()
    text = "-- Not $this.\nSELECT\n    $run AS run,\n    '$run' AS text,\n    $step AS step;\n"
    (tmp_path / "queries" / "drawn.sql").write_text(text)
    monkeypatch.setattr(queries, "SQL", tmp_path)
    return "drawn"


def test_values_are_literals(query: str) -> None:
    text = queries.query_text(query, run="it's; DROP TABLE x", step=7)
    assert text == "SELECT\n    'it''s; DROP TABLE x' AS run,\n    '$run' AS text,\n    7 AS step"
    assert duckdb.execute(text).fetchall() == [("it's; DROP TABLE x", "$run", 7)]


def test_null(query: str) -> None:
    assert duckdb.execute(queries.query_text(query, run=None, step=None)).fetchall() == [
        (None, "$run", None)
    ]


def test_a_parameter_without_a_value(query: str) -> None:
    with pytest.raises(KeyError, match="step"):
        queries.query_text(query, run="a")


@pytest.mark.parametrize("name", NAMES)
def test_one_statement(name: str) -> None:
    text = (SQL / "queries" / f"{name}.sql").read_text("utf-8")
    [statement] = duckdb.extract_statements(text)
    assert statement.type.name == "SELECT"


def test_the_first_rows_of_a_join_are_in_order() -> None:
    """DuckDB keeps the order of a view in a join of few rows. Of 512 workers it returned any 400."""
    for path in (SQL / "queries" / "report").glob("*.sql"):
        text = path.read_text("utf-8")
        assert "LIMIT" not in text or "JOIN" not in text or "ORDER BY" in text, path.name
