"""One database serves trace after trace, and none finds anything of another."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import duckdb
import pytest

from tracewh.ingest.database_pool import Database, DatabasePool, Limits
from tracewh.ingest.parse.sql_parser import read_unpadded
from tracewh.sql_files import derive
from tracewh.storage.staging import Session, scratch

LIMITS = Limits(1, 64 << 20)
ALL = """
    SELECT t.table_name FROM duckdb_tables() AS t
    UNION ALL SELECT v.view_name FROM duckdb_views() AS v WHERE NOT v.internal
    UNION ALL SELECT f.function_name FROM duckdb_functions() AS f WHERE NOT f.internal
"""
#: What an event of `read_unpadded` has in another way.
NANOSECONDS = "SELECT nanoseconds('123.5')"


@pytest.fixture
def session() -> Iterator[Session]:
    with scratch() as made:
        yield made


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[duckdb.DuckDBPyConnection]:
    """The databases that were opened, as it goes."""
    made = []
    connect = duckdb.connect

    def watch(*arguments: object, **options: object) -> duckdb.DuckDBPyConnection:
        made.append(connect(*arguments, **options))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(duckdb, "connect", watch)
    return made


def is_closed(con: duckdb.DuckDBPyConnection) -> bool:
    try:
        con.execute("SELECT 1")
    except duckdb.ConnectionException:
        return True
    return False


def test_what_a_trace_made_is_gone(
    session: Session, opened: list[duckdb.DuckDBPyConnection]
) -> None:
    with DatabasePool(session, LIMITS) as databases:
        with databases.empty() as database:
            first = sorted(database.con.execute(ALL).fetchall())
            assert ("raw_host",) in first and ("nanoseconds",) in first and ("step_roles",) in first
            [padded] = database.con.execute(NANOSECONDS).fetchall()
        for _ in range(3):
            with databases.empty() as database, database.con.cursor() as cursor:
                con = database.con
                assert sorted(con.execute(ALL).fetchall()) == first
                assert sorted(cursor.execute(ALL).fetchall()) == first
                assert con.execute("FROM raw_host").fetchall() == []
                assert con.execute(NANOSECONDS).fetchall() == [padded]
                read_unpadded(con)
                derive(con, "flows")
                assert con.execute(NANOSECONDS).fetchall() != [padded]
                left = con.cursor()  # with a transaction that nobody ends
                left.execute("BEGIN; INSERT INTO raw_host (event_id) VALUES (1)")
                assert len(cursor.execute(ALL).fetchall()) > len(first)
        assert len(opened) == 1
        assert opened[0].execute(
            "SELECT count(*) FROM duckdb_databases() WHERE NOT internal"
        ).fetchall() == [(1,)]
    assert is_closed(opened[0])


def test_each_that_is_at_work_has_its_own(
    session: Session, opened: list[duckdb.DuckDBPyConnection]
) -> None:
    with DatabasePool(session, LIMITS) as databases:
        with databases.empty() as one, databases.empty() as other:
            one.con.execute("CREATE TABLE t AS SELECT 1 AS a")
            other.con.execute("CREATE TABLE t AS SELECT 2 AS a")
            assert one.con.execute("FROM t").fetchall() == [(1,)]
        with databases.empty(), databases.empty():
            assert len(opened) == 2


def test_none_is_used_again_after_an_error(
    session: Session, opened: list[duckdb.DuckDBPyConnection]
) -> None:
    with DatabasePool(session, LIMITS) as databases:
        with pytest.raises(duckdb.CatalogException), databases.empty() as database:
            database.con.execute("FROM nothing")
        assert is_closed(opened[0])
        with databases.empty():
            assert len(opened) == 2


def test_one_that_spilled_gives_its_room_on_disk_back(
    session: Session, opened: list[duckdb.DuckDBPyConnection]
) -> None:
    with DatabasePool(session, Limits(1, 16 << 20)) as databases:
        with databases.empty() as database:
            database.con.execute("CREATE TABLE t AS SELECT hash(range) AS a FROM range(6_000_000)")
            assert any(path.stat().st_size for path in session.path.glob("*-spill/*"))
        assert not [*session.path.glob("*-spill")]
        assert is_closed(opened[0])
        with databases.empty():
            assert len(opened) == 2


def limit(database: Database) -> str:
    [(size,)] = database.con.execute("SELECT current_setting('memory_limit')").fetchall()
    return str(size)


def test_only_one_that_needs_no_more_than_its_share_may_use_more(
    session: Session, opened: list[duckdb.DuckDBPyConnection]
) -> None:
    with DatabasePool(session, LIMITS) as databases:
        with databases.empty() as database:
            database.expect(63 << 20)
            assert limit(database) == "102.0 MiB"
            database.con.execute("CREATE TABLE t AS SELECT hash(range) AS a FROM range(300_000)")
            database.expect(63 << 20)
            assert limit(database) == "64.0 MiB"
            database.expect(0)
            assert limit(database) == "64.0 MiB"
        assert is_closed(opened[0])
        with databases.empty() as database:
            assert limit(database) == "102.0 MiB"


def test_it_can_be_interrupted(session: Session) -> None:
    with DatabasePool(session, LIMITS) as databases:
        with databases.empty():
            pass
        with pytest.raises(duckdb.InterruptException), databases.empty() as database:
            threading.Timer(0.2, session.interrupt).start()
            database.con.execute("SELECT count(*) FROM range(30_000_000_000)").fetchall()
