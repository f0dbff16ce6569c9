"""The SQL page of `tracewh serve`: queries, their history, export and picture, beside the views and tables."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Route, expect
from starlette.testclient import TestClient

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.servers import ENDLESS, TOKEN, answer_of, sent, visitor


def export(client: TestClient, sql: str, kind: str) -> bytes:
    """The file that a query is exported to."""
    answer = client.post("/api/export", json={"sql": sql, "format": kind})
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.headers["content-disposition"] == f'attachment; filename="tracewh.{kind}"'
    return answer.content


def refusal(client: TestClient, sql: str, kind: str = "csv") -> str:
    """The error of an export."""
    answer = client.post("/api/export", json={"sql": sql, "format": kind})
    assert answer.status_code == 400
    return str(answer.json()["error"])


def files_of(client: TestClient) -> list[Path]:
    """The files of exports that the server keeps."""
    folder: Path = client.app.state.site._exports.path  # type: ignore[attr-defined]
    return [path for path in folder.iterdir() if path.name != "lock"]


def test_an_export_has_all_rows(client: TestClient) -> None:
    sql = "SELECT range AS n, 'a,b' AS text, [1, 2] AS list FROM range(5000)"
    lines = export(client, sql, "csv").decode().splitlines()
    assert (lines[0], lines[1], lines[-1], len(lines)) == (
        "n,text,list",
        '0,"a,b","[1, 2]"',
        '4999,"a,b","[1, 2]"',
        5001,
    )
    table = pq.read_table(io.BytesIO(export(client, sql, "parquet")))
    assert table.num_rows == 5000
    assert table.to_pylist()[7] == {"n": 7, "text": "a,b", "list": [1, 2]}
    assert files_of(client) == []


def test_an_error_names_the_line_of_the_query(client: TestClient) -> None:
    """DuckDB runs a part of a larger query, in which the line is the tenth. It has one digit less."""
    sql = "SELECT\n" + "1,\n" * 6 + "'x'::INT"
    said = "Could not convert string 'x' to INT32\n\nLINE 8: 'x'::INT\n           ^^^^^"
    assert refusal(client, sql).endswith(said)
    assert client.post("/api/sql", json={"sql": sql}).json()["error"].endswith(said)


def test_an_export_only_reads_the_warehouse(client: TestClient) -> None:
    assert refusal(client, "COPY traces TO 'x.csv'").startswith("COPY is not allowed")
    assert "disabled by configuration" in refusal(client, "FROM read_text('/etc/passwd')")
    assert refusal(client, "EXPLAIN SELECT 1") == "a plan is not exported; export the query itself"
    assert refusal(client, "SELECT 1", "xlsx") == "the format must be csv or parquet"
    for kind in (["csv"], None, 1):
        answer = client.post("/api/export", json={"sql": "SELECT 1", "format": kind})
        found = answer.status_code, answer.json()["error"]
        assert found == (400, "the format must be csv or parquet")
    assert client.post("/api/export", content=b'{"sql": "SELECT 1"}').status_code == 415
    assert files_of(client) == []


def test_an_export_has_limits(samples: tracewh.Warehouse) -> None:
    with visitor(samples, seconds=60, memory_mb=100) as client:
        limit = "the query needed more than 100 MB of memory and was stopped; "
        assert refusal(client, "SELECT list(range) FROM range(200000000)").startswith(limit)
        assert files_of(client) == []
    with visitor(samples, seconds=60) as client:
        client.app.state.site.most_bytes = 10**7  # type: ignore[attr-defined]
        assert refusal(client, "SELECT repeat('x', 100) FROM range(110000)") == (
            "the file would be larger than 10 MB; `tracewh query` has no limit, and "
            "`tracewh serve --memory-limit MB` raises this one"
        )
        client.app.state.site.queries._seconds = 0.5  # type: ignore[attr-defined]
        assert refusal(client, ENDLESS).startswith("the query took more than ")
        assert files_of(client) == []


def test_the_page_needs_the_token(samples: tracewh.Warehouse) -> None:
    with visitor(samples, TOKEN) as guest:
        assert guest.get("/sql").status_code == 403
        assert (
            guest.post("/api/export", json={"sql": "SELECT 1", "format": "csv"}).status_code == 403
        )


def test_every_example_runs(visit: Visit, address: str, samples: tracewh.Warehouse) -> None:
    page = visit.page
    page.goto(f"{address}sql")
    for name in ("operator_stats", "trend", "diff_steps", "traces", "kernels"):
        page.locator(f'#names [data-name="{name}"]').click()
        expect(page.locator("#ask textarea")).to_have_value(
            re.compile(rf"^FROM {name}\b.* LIMIT 100$")
        )
        samples.sql(page.locator("#ask textarea").input_value()).fetchall()
    page.keyboard.press("Control+z")  # what was in the box is not lost
    expect(page.locator("#ask textarea")).to_have_value(re.compile("^FROM traces"))
    page.goto(f"{address}sql?run=resnet_workers_0&worker=worker0&span=1")
    page.locator('#names [data-name="step_breakdown"]').click()
    expect(page.locator("#ask textarea")).to_have_value(
        "FROM step_breakdown(run := 'resnet_workers_0', worker := 'worker0', span := '1') LIMIT 100"
    )


def test_names_and_columns_are_found(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(f"{address}sql")
    page.get_by_label("Search names and columns").fill("overlap_pct")
    names = page.locator("#names .name:visible")
    assert "comm_overlap" in names.all_inner_texts()
    assert "operator_stats" not in names.all_inner_texts()
    page.locator("#ask textarea").fill("SELECT ")
    page.locator("#names .column:visible", has_text="overlap_pct").first.click()
    expect(page.locator("#ask textarea")).to_have_value("SELECT overlap_pct")


def test_the_history_stays(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(f"{address}sql")
    for sql in ("SELECT 1 AS one", "SELECT 2 AS two", "SELECT 1 AS one"):
        page.locator("#ask textarea").fill(sql)
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.locator("#ask > .controls > .said")).to_have_text("1 row.")
    page.reload()
    page.locator("#history summary").click()
    rows = page.locator("#history li")
    expect(rows).to_have_text(["SELECT 1 AS one", "SELECT 2 AS two"])
    rows.nth(1).get_by_role("button").click()
    expect(page.locator("#ask textarea")).to_have_value("SELECT 2 AS two")
    page.locator("#history").get_by_role("button", name="Clear").click()
    expect(rows).to_have_count(0)


def test_a_browser_that_stores_nothing(visit: Visit, address: str) -> None:
    page = visit.page
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } })"
    )
    page.goto(f"{address}sql")
    page.locator("#ask textarea").fill("SELECT 6 * 7 AS answer")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask .content")).to_contain_text("42")
    page.locator("#history summary").click()
    expect(page.locator("#history li")).to_have_text(["SELECT 6 * 7 AS answer"])
    expect(page.locator("#history > .said")).to_have_text(
        "The browser stores nothing for this page: the history ends with it."
    )


def test_an_answer_is_saved(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(f"{address}sql")
    page.locator("#ask textarea").fill("SELECT range AS n FROM range(3000)")
    for name, ending in (("CSV", "csv"), ("Parquet", "parquet")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name, exact=True).click()
        assert saved.value.suggested_filename == f"tracewh.{ending}"
        path = saved.value.path()
        found = duckdb.sql(f"SELECT count(*), max(n) FROM read_{ending}('{path}')")
        assert found is not None
        assert found.fetchall() == [(3000, 2999)]
        expect(page.locator("#ask > .controls > .said")).to_contain_text(
            f"Saved as tracewh.{ending}"
        )


def test_an_export_is_cancelled(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(f"{address}sql")
    page.locator("#ask textarea").fill(ENDLESS)
    page.get_by_role("button", name="CSV").click()
    expect(page.locator("#ask > .controls > .said")).to_have_text("Exporting as CSV…")
    page.locator("#ask textarea").press("Escape")
    expect(page.locator("#ask > .controls > .said")).to_have_text("Cancelled.")
    assert answer_of(sent(address, "SELECT 42"))["values"] == [[42]]


def test_an_answer_has_a_picture(visit: Visit, address: str) -> None:
    """With the keyboard only; the choosers set the columns."""
    page = visit.page
    page.goto(f"{address}sql")
    picture = page.get_by_role("button", name="Picture")
    expect(picture).to_be_disabled()
    page.locator("#ask textarea").focus()
    page.keyboard.type(
        "SELECT 'name ' || range AS name, range AS n, range * 1000 AS time_us, range % 3 AS worker"
        " FROM range(60)"
    )
    page.keyboard.press("Control+Enter")
    expect(picture).to_be_enabled()
    picture.press("Enter")
    drawn = page.locator(".picture .chart")
    bars, lines, points = (
        drawn.locator(f".role-mark.mark-{mark} path") for mark in ("rect", "line", "symbol")
    )
    expect(drawn).to_have_attribute("aria-label", "time by name, the first 40 of 60 rows")
    expect(bars).to_have_count(40)
    expect(drawn).to_contain_text("name 39")
    choose = page.locator(".picture").get_by_label
    expect(drawn).to_contain_text("time, ms")
    choose("Y", exact=True).select_option("n")
    expect(drawn).to_have_attribute("aria-label", "n by name, the first 40 of 60 rows")
    choose("Y", exact=True).select_option("time_us")
    choose("X", exact=True).select_option("n")
    choose("Picture", exact=True).select_option("Line")
    expect(lines).to_have_count(1)
    expect(drawn).to_have_attribute("aria-label", "time by n")
    choose("Color", exact=True).select_option("worker")
    expect(lines).to_have_count(3)
    choose("Picture", exact=True).select_option("Scatter")
    expect(lines).to_have_count(0)
    expect(points).to_have_count(60)
    page.locator("#ask textarea").fill(
        "SELECT unnest([1700000000000000000, 1700000001000000000, NULL]) AS start_ns, 5 AS n"
    )
    page.keyboard.press("Control+Enter")
    expect(points).to_have_count(2)  # no time is not 1970
    page.locator("#ask textarea").fill("SELECT 'a' AS text")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".picture")).to_contain_text("The answer has no column of numbers.")
    assert all(request.startswith(address) for request in visit.requests)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_fits_a_phone(visit: Visit, address: str, theme: str) -> None:
    page = visit.page
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{address}sql")
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    page.locator("#ask textarea").fill("FROM operator_stats() LIMIT 50")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Picture").click()
    expect(page.locator(".picture svg")).to_be_visible()
    page.locator("#names > summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_query_and_its_plan(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(f"{address}sql#SELECT%206%20*%207%20AS%20answer")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#ask .content")).to_contain_text("42")
    page.locator("#ask textarea").fill("EXPLAIN SELECT 6 * 7 AS answer")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#ask pre")).to_contain_text("Projection")
    page.get_by_role("link", name="tracewh").click()
    page.wait_for_url(address)
    page.goto(f"{address}sql#SELECT 7 % 4")  # a link that somebody wrote by hand
    expect(page.locator("#ask textarea")).to_have_value("SELECT 7 % 4")


def test_an_error_takes_the_rows_of_the_query_before_away(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(f"{address}sql")
    page.locator("#ask textarea").fill("SELECT 6 * 7 AS answer")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask tbody td")).to_have_text("42")
    page.locator("#ask textarea").fill("SELEC 1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask > .controls > .said")).to_contain_text("Parser Error")
    expect(page.locator("#ask tbody td")).to_have_count(0)
    assert len(visit.complaints) == 1  # the browser's own line about the status 400
    # A server that was stopped, and a proxy that waited too long for it.
    answers: dict[str, Callable[[Route], None]] = {
        "The server does not answer.": lambda route: route.abort(),
        "The answer is not from tracewh: HTTP status 504.": lambda route: route.fulfill(
            status=504, body="<h1>Gateway Time-out</h1>"
        ),
    }
    for message, answer in answers.items():
        page.route("**/api/*", answer)
        for name in ("Run", "CSV", "operator_stats"):
            page.get_by_role("button", name=name, exact=True).click()
            expect(page.locator("#ask > .controls > .said")).to_have_text(message)
            page.evaluate("message.textContent = ''")
    visit.complaints.clear()


def test_a_query_is_cancelled_from_its_page(visit: Visit, address: str) -> None:
    """By the button, by Escape, by a new query and by leaving; each time its process is free again."""
    page = visit.page
    page.goto(f"{address}sql")
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    for _ in range(2):
        for how in ("button", "key", "query", "leave"):
            expect(cancel).to_be_hidden()
            page.locator("#ask textarea").fill(ENDLESS)
            page.get_by_role("button", name="Run", exact=True).click()
            expect(cancel).to_be_visible()
            expect(page.locator("#ask > .controls > .said")).to_have_text("Running…")
            if how == "button":
                cancel.click()
            elif how == "key":
                page.locator("#ask textarea").press("Escape")
            elif how == "query":
                page.locator("#ask textarea").fill("SELECT 42 AS answer")
                page.locator("#ask textarea").press("Control+Enter")
                expect(page.locator("#ask tbody td")).to_have_text("42")
            else:
                page.goto(f"{address}sql")
            if how in ("button", "key"):
                expect(page.locator("#ask > .controls > .said")).to_have_text("Cancelled.")
            expect(cancel).to_be_hidden()
    assert answer_of(sent(address, "SELECT 42"))["values"] == [[42]]


def test_large_integers_keep_their_digits_in_a_browser(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(f"{address}sql")
    page.locator("#ask textarea").fill(
        "SELECT *, \"d.x\" * 1000 AS half_ms, NULL AS gone FROM (VALUES (9007199254740993, 1700000000123456789, 1.50, 'b'),"
        " (170141183460469231731687303715884105727, 1700000000123456788, 0.25, '12345'),"
        " (7, 5, 10, 'a')) AS t(n, start_ns, \"d.x\", text)"
    )
    page.get_by_role("button", name="Run", exact=True).click()

    def cells(field: str) -> list[str]:
        found = page.locator(f'#ask tbody [data-column="{field}"]')
        expect(found).to_have_count(3)
        return list(found.all_inner_texts())

    assert cells("n") == [
        "9,007,199,254,740,993",
        "170,141,183,460,469,231,731,687,303,715,884,105,727",
        "7",
    ]
    # A decimal has its unit, which the title has not.
    assert cells("half_ms") == ["1.5 s", "250 ms", "10 s"]
    expect(page.locator("#ask .content > .said")).to_have_text("Without a value: gone.")
    assert cells("start_ns") == [
        "2023-11-14T22:13:20.123456789Z",
        "2023-11-14T22:13:20.123456788Z",
        "5 ns",
    ]
    assert cells("d.x") == ["1.50", "0.25", "10.00"]
    assert cells("text") == ["b", "12345", "a"]
    page.locator("#ask th", has_text="n").first.click()  # from the largest
    expect(page.locator('#ask tbody [data-column="d.x"]').first).to_have_text("0.25")
    page.locator("#ask th", has_text="n").first.click()
    expect(page.locator('#ask tbody [data-column="d.x"]').first).to_have_text("10.00")
