"""`tracewh serve`: what it answers, and to whom."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import duckdb
import pytest
from playwright.sync_api import Route, expect
from starlette.testclient import TestClient

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.servers import (
    BUSY,
    DEAF,
    ENDLESS,
    TOKEN,
    LatePool,
    answer_of,
    sent,
    started,
    stop,
    visitor,
)
from tracewh.cli.app import main
from tracewh.cli.report import serve
from tracewh.cli.report.panels import COMPARED
from tracewh.cli.report.row_json import by_column


def ask(client: TestClient, sql: str) -> str:
    """The error that a query meets."""
    answer = client.post("/api/sql", json={"sql": sql})
    assert answer.status_code == 400
    return str(answer.json()["error"])


def test_the_newest_run_is_shown_first(client: TestClient) -> None:
    page = client.get("/", params={"run": ""}).text
    assert '<option value="resnet_workers_2" selected>' in page
    assert '<option value="ddp_gloo">' in page
    assert 'id="data"' not in page
    assert "connect-src 'self'" in page


def test_a_panel_is_that_of_the_report(client: TestClient, samples: tracewh.Warehouse) -> None:
    answer = client.get("/api/panel/steps", params={"run": "resnet_workers_2", "span": "2"})
    rows = samples.step_breakdown(run="resnet_workers_2", span="2").fetchall()
    assert answer.json()["rows"] == len(rows) > 0
    assert answer.json()["values"][0] == [row[3] for row in rows]


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/api/panel/nothing", 404, "unknown panel"),
        ("/api/panel/steps?run=ddp_glo", 400, "no run named 'ddp_glo'; did you mean 'ddp_gloo'?"),
    ],
)
def test_what_is_not_there(client: TestClient, path: str, status: int, said: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (status, said)


def test_a_run_may_be_shortened(client: TestClient) -> None:
    for given, picked in (
        ({"run": "*loo"}, "ddp_gloo"),
        ({"run": "workers_2", "baseline": "workers_0"}, "resnet_workers_2"),
    ):
        assert f'<option value="{picked}" selected>' in client.get("/", params=given).text
    answer = client.get("/", params={"run": "resnet*"})
    said = (
        "&#x27;resnet*&#x27; matches 2 runs; name one:<br>  resnet_workers_0<br>  resnet_workers_2"
    )
    assert (answer.status_code, answer.headers["cache-control"]) == (400, "no-store")
    assert f'<p role="alert">{said}</p>\n<p><a href="./">All runs</a></p>' in answer.text


def test_sql_is_asked(client: TestClient) -> None:
    answer = client.post("/api/sql", json={"sql": "SELECT run, steps FROM runs() ORDER BY run"})
    found = answer.json()
    assert found["values"] == [["ddp_gloo", "resnet_workers_0", "resnet_workers_2"], [6, 10, 10]]
    assert found["said"] == "3 rows."
    many = client.post("/api/sql", json={"sql": "FROM range(5000)"}).json()
    assert (many["rows"], len(many["values"][0])) == (2000, 2000)
    assert many["said"] == "The first 2,000 rows; the query has more."
    assert client.post("/api/sql", json={"sql": "FROM range(2000)"}).json()["said"] == "2,000 rows."


#: Values in SQL, and how they are given.
VALUES: list[tuple[str, object]] = [
    ("9007199254740991", 9007199254740991),
    ("9007199254740993", "9007199254740993"),  # a browser would show ...992
    ("-9007199254740993", "-9007199254740993"),
    ("(2::HUGEINT ** 100)::HUGEINT", str(2**100)),
    ("(SELECT sum(n) FROM (SELECT 9223372036854775807 AS n FROM range(4)))", str(4 * (2**63 - 1))),
    ("(2::UHUGEINT ** 127)::UHUGEINT + 1", str(2**127 + 1)),
    ("123456789012345678901234567890123456789012345::BIGNUM", "1234567890" * 4 + "12345"),
    ("[[1, 170141183460469231731687303715884105727::HUGEINT]]", f"[[1, {2**127 - 1}]]"),
    ("[8, 16]", "[8, 16]"),
    ("0.1 + 0.2", "0.3"),
    ("12345678901234567890.123456789::DECIMAL(38, 9)", "12345678901234567890.123456789"),
    ("0.5::DOUBLE", 0.5),
    ("'nan'::DOUBLE", "nan"),
    ("'-infinity'::FLOAT", "-inf"),
    ("true", True),
    ("NULL", None),
    ("INTERVAL '13 months 2 days'", "1 year 1 month 2 days"),
    ("'\\x00\\xFFa'::BLOB", "\\x00\\xFFa"),
    ("MAP {'a': 1}", "{a=1}"),
    ("union_value(k := 1)", "1"),
    (
        "{'a': 170141183460469231731687303715884105727}",
        "{'a': 170141183460469231731687303715884105727}",
    ),
    ("'10110'::BIT", "10110"),
    ("TIMESTAMP_NS '2024-01-02 03:04:05.123456789'", "2024-01-02 03:04:05.123456789"),
    ("'12:00:00+02'::TIMETZ", "12:00:00+02"),
    ("'12:00:00.123456789'::TIME_NS", "12:00:00.123456789"),
    ("'290000-01-01'::DATE", "290000-01-01"),
    ("'0044-03-15 (BC)'::DATE", "0044-03-15 (BC)"),
    ("'infinity'::TIMESTAMP", "infinity"),
    ("'6e8f0c55-47cd-4d22-b48c-1dea4c0a0a4d'::UUID", "6e8f0c55-47cd-4d22-b48c-1dea4c0a0a4d"),
    ("'{\"a\": 1}'::JSON", '{"a": 1}'),
    ("'a'::ENUM('a', 'b')", "a"),
]


@pytest.fixture(scope="module")
def given(client: TestClient) -> list[list[object]]:
    """All values, by column: each query starts a process."""
    answer = client.post("/api/sql", json={"sql": f"SELECT {', '.join(sql for sql, _ in VALUES)}"})
    assert answer.status_code == 200, answer.text
    values: list[list[object]] = answer.json()["values"]
    return values


@pytest.mark.parametrize("number", range(len(VALUES)), ids=[sql for sql, _ in VALUES])
def test_every_value_is_given_whole(given: list[list[object]], number: int) -> None:
    assert len(given) == len(VALUES)
    assert given[number] == [VALUES[number][1]]


def test_a_panel_keeps_lists_with_all_digits() -> None:
    with duckdb.connect() as con:
        found = by_column(con.sql("SELECT [[8, 9007199254740993]] AS a, MAP {1: 2} AS b"), {})
    assert found["values"] == [[[[8, "9007199254740993"]]], ["{1=2}"]]


def test_two_columns_of_one_name_are_two(client: TestClient) -> None:
    answer = client.post("/api/sql", json={"sql": "SELECT 1 AS a, 2 AS a, 3 AS b"}).json()
    assert [column["name"] for column in answer["columns"]] == ["a", "a_1", "b"]
    assert answer["values"] == [[1], [2], [3]]


def test_two_columns_may_differ_in_case_only(client: TestClient) -> None:
    sql = """SELECT 1 AS a, DATE '2020-01-02' AS "A", 'x' AS "#1", [3] AS "q""?" """
    answer = client.post("/api/sql", json={"sql": sql}).json()
    assert [column["name"] for column in answer["columns"]] == ["a", "A", "#1", 'q"?']
    assert answer["values"] == [[1], ["2020-01-02"], ["x"], ["[3]"]]


def test_sql_only_reads_the_warehouse(client: TestClient) -> None:
    assert ask(client, "COPY traces TO 'x.csv'").startswith("COPY is not allowed")
    inserted = "WITH w AS (INSERT INTO x VALUES (1)) SELECT 1"
    assert ask(client, inserted).startswith("INSERT is not allowed")
    words = """WITH insert AS (SELECT '"type":"COPY_QUERY_NODE"') SELECT 1 AS update FROM insert"""
    assert client.post("/api/sql", json={"sql": words}).json()["values"] == [[1]]
    assert ask(client, "SELECT 1; SELECT 2") == "found 2 statements; a query is one statement"
    assert "disabled by configuration" in ask(client, "FROM read_text('/etc/passwd')")
    assert ask(client, "SET lock_configuration = false").startswith("SET is not allowed")
    assert ask(client, "SELEC 1").startswith("Parser Error")
    assert client.post("/api/sql", json={"sql": "SELECT 1"}).status_code == 200


def test_sql_may_not_take_forever(samples: tracewh.Warehouse) -> None:
    with visitor(samples, seconds=0.5) as client:
        queries = client.app.state.site.queries  # type: ignore[attr-defined]
        for sql in (BUSY, DEAF):
            before = {worker._process.pid for worker in queries._workers}
            queries._seconds = 0.5
            assert ask(client, sql) == (
                "the query took more than 0.5 seconds and was stopped; "
                "`tracewh serve --time-limit SECONDS` raises the limit"
            )
            # A process in which DuckDB does not notice the interrupt has to end.
            after = {worker._process.pid for worker in queries._workers}
            assert sql != DEAF or after.isdisjoint(before)
            queries._seconds = 60
            assert client.post("/api/sql", json={"sql": "SELECT 1"}).json()["values"] == [[1]]


def test_the_start_of_a_process_takes_no_time_from_a_query(
    samples: tracewh.Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with visitor(samples, seconds=2) as client:
        assert client.post("/api/sql", json={"sql": "SELECT 42"}).json()["values"] == [[42]]


def test_sql_may_not_take_all_memory(samples: tracewh.Warehouse) -> None:
    """DuckDB counts that of the first query, and not that of the second."""
    with visitor(samples, seconds=60, memory_mb=100) as client:
        for sql in ("SELECT list(range) FROM range(200000000)", "SELECT len(range(2000000000))"):
            assert ask(client, sql) == (
                "the query needed more than 100 MB of memory and was stopped; "
                "`tracewh serve --memory-limit MB` raises the limit"
            )
            assert client.post("/api/sql", json={"sql": "SELECT 1"}).json()["values"] == [[1]]


def test_an_answer_has_a_limit_of_bytes(client: TestClient) -> None:
    """The rows that fit, each text shortened; the answer says both."""
    sql = "SELECT repeat('x', 100000000) AS long, range AS n FROM range(5)"
    answer = client.post("/api/sql", json={"sql": sql})
    found = answer.json()
    assert found["values"] == [["x" * 10_000 + "…"] * 5, [0, 1, 2, 3, 4]]
    assert found["said"] == "5 rows. Texts are cut after 10,000 characters."
    found = client.post(
        "/api/sql", json={"sql": "SELECT repeat('é', 9000) FROM range(1999)"}
    ).json()
    # 18,000 bytes of text, two quotes and two brackets: 444 of them are 7,993,776 bytes
    assert (found["rows"], found["said"]) == (444, "The first 444 rows, 8 MB; the query has more.")
    wide = ", ".join(["repeat('x', 10000)"] * 900)
    assert ask(client, f"SELECT {wide}") == "one row is larger than 8 MB; select fewer columns"


def test_a_plan_is_given_as_text(client: TestClient) -> None:
    for sql in ("/* c */ EXPLAIN SELECT 42 AS answer", ";EXPLAIN ANALYZE SELECT 42 AS answer"):
        answer = client.post("/api/sql", json={"sql": sql})
        assert (answer.status_code, [*answer.json()]) == (200, ["plan"])


def test_the_body_of_a_request_has_a_limit(client: TestClient) -> None:
    """Said by its length, or found while it is read: what comes after is not read."""
    head = {"Content-Type": "application/json"}
    answer = client.post("/api/sql", content=b'{"sql": "' + b" " * 1_000_000, headers=head)
    assert (answer.status_code, answer.json()) == (413, {"error": "the query is larger than 1 MB"})
    sent = []

    def parts() -> Iterator[bytes]:
        for number in range(100):
            sent.append(number)
            yield b" " * 100_000

    async def asked() -> int:
        chunks = parts()
        statuses: list[int] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": next(chunks), "more_body": True}

        async def send(message: Any) -> None:
            statuses.extend([message["status"]] if "status" in message else [])

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/sql",
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        }
        await client.app(scope, receive, send)
        return statuses[0]

    # The browser of another test keeps an event loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(asked())).result() == 413
    assert len(sent) == 11


@pytest.mark.parametrize("content", [b"", b"[]", b'{"sql": 1}', b"{"])
def test_a_question_that_is_none(client: TestClient, content: bytes) -> None:
    answer = client.post("/api/sql", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": 'the body must be {"sql": "..."}'},
    )


def test_a_damaged_trace_blocks_no_other_run(samples: tracewh.Warehouse, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(samples.path, tmp_path / "warehouse"))
    for file in copy.glob("data/run=ddp_gloo/worker=rank0/span=1/*.parquet"):
        file.write_bytes(file.read_bytes()[:-100])
    said = "the trace ddp_gloo/rank0/1 is damaged: "
    run = {"run": "resnet_workers_2", "baseline": "resnet_workers_0"}
    with tracewh.open(copy) as damaged, visitor(damaged, seconds=600) as client:
        for _ in range(2):
            assert client.get("/", params=run).status_code == 200
            for panel in ("steps", "operators-table", "diff-operators"):
                assert client.get(f"/api/panel/{panel}", params=run).json()["rows"] > 0
            assert ask(client, "FROM operator_stats()").startswith(said)
            assert client.get("/api/runs").json()["error"].startswith(said)
            assert said in client.get("/", params={"run": "ddp_gloo"}).text


def test_another_site_cannot_ask(client: TestClient) -> None:
    """Neither by a name of its own for this machine, nor by a form."""
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
    form = client.post("/api/sql", content=b'{"sql": "SELECT 1"}')
    assert form.status_code == 415
    assert client.get("/").headers["x-frame-options"] == "DENY"


def test_beyond_loopback_one_needs_the_token(samples: tracewh.Warehouse) -> None:
    with visitor(samples, TOKEN) as guest:
        for path in ("/", "/?token=wrong", "/api/panel/steps"):
            assert guest.get(path).status_code == 403
        assert guest.post("/api/sql", json={"sql": "SELECT 1"}).status_code == 403
        welcomed = guest.get(f"/?token={TOKEN}")
        assert 'content="0; url=./"' in welcomed.text  # below the path of a proxy, too
        assert "httponly; path=/; samesite=strict" in welcomed.headers["set-cookie"].lower()
        page = guest.get("/")
        assert page.status_code == 200
        assert TOKEN not in page.text
        # A link to a run, and to the SQL page, that somebody shares with the token.
        for link, place in (
            ("/?run=a+b%26c&token={}&worker=0", "./?run=a+b%26c&amp;worker=0"),
            ("/sql?token={}", "./sql"),
        ):
            assert f'content="0; url={place}"' in guest.get(link.format(TOKEN)).text


def test_the_cookie_of_another_server_is_another_one(samples: tracewh.Warehouse) -> None:
    """A browser sends the cookies of a host to all its ports."""
    with visitor(samples, TOKEN) as guest:
        guest.get(f"/?token={TOKEN}")
        other = guest.get(f"/?token={TOKEN}", headers={"host": "127.0.0.1:8766"})
        assert other.status_code == 200
        assert set(guest.cookies) == {"tracewh_token_8765", "tracewh_token_8766"}
        guest.cookies.set("tracewh_token_8766", "of-another-server")
        assert guest.get("/").status_code == 200
        # An address without a port, as behind a proxy.
        bare = guest.get(f"/?token={TOKEN}", headers={"host": "[::1]"})
        assert bare.headers["set-cookie"].startswith("tracewh_token=")


def test_a_link_on_another_site_leads_to_the_page(samples: tracewh.Warehouse, visit: Visit) -> None:
    """From there, a browser sends no cookie of SameSite=Strict, also not after a redirect."""
    with visitor(samples, TOKEN) as guest:

        def answer(route: Route) -> None:
            if route.request.url.startswith("http://chat.example"):
                link = f'<a href="http://server.example/missing?token={TOKEN}">look</a>'
                route.fulfill(body=link, content_type="text/html")
                return
            guest.cookies.clear()
            place = urlsplit(route.request.url)
            got = guest.get(f"{place.path}?{place.query}", headers=route.request.all_headers())
            route.fulfill(status=got.status_code, headers=dict(got.headers), body=got.text)

        visit.page.route("**/*", answer)
        visit.page.goto("http://chat.example/")
        visit.page.get_by_text("look").click()
        expect(visit.page).to_have_url("http://server.example/missing")
        expect(visit.page.locator("body")).to_have_text("Not Found")
    visit.complaints.clear()


def test_who_has_no_token_reads_a_page(samples: tracewh.Warehouse) -> None:
    """Not the JSON that a script gets."""
    said = "open the URL that `tracewh serve` printed: it contains a token"
    with visitor(samples, TOKEN) as guest:
        for path in ("/?run=gpt_eager", "/sql"):
            page = guest.get(path)
            assert page.headers["content-type"].startswith("text/html")
            assert f'<p role="alert">{said}</p>' in page.text
        assert guest.get("/api/runs").json() == {"error": said}


def processes() -> dict[int, int]:
    """The parent of each process that lives."""
    listed = subprocess.check_output(["ps", "-eo", "pid=,ppid=,stat="], text=True)
    rows = [line.split() for line in listed.splitlines()]
    return {int(pid): int(parent) for pid, parent, state in rows if "Z" not in state}


def until(condition: Callable[[], object]) -> None:
    """Wait for something that has to happen, however long it takes."""
    while not condition():
        time.sleep(0.02)


def test_queries_run_side_by_side(address: str) -> None:
    """Beside queries that never end others are answered, and pages and panels as well."""
    endless = [sent(address, sql) for sql in (ENDLESS, DEAF, ENDLESS)]
    assert answer_of(sent(address, "SELECT 42"))["values"] == [[42]]
    place = urlsplit(address)
    for path in ["/", "/api/panel/steps?run=resnet_workers_2"] * 3:
        client = HTTPConnection(str(place.hostname), place.port)
        client.request("GET", path)
        assert client.getresponse().status == 200
        client.close()
    for client in endless:
        client.close()
    # Those that left are no longer in the way: four more could not run beside them.
    again = [sent(address, ENDLESS) for _ in range(3)]
    assert answer_of(sent(address, "SELECT 42"))["values"] == [[42]]
    for client in again:
        client.close()


def test_a_connection_outlives_the_pause_between_two_polls(address: str) -> None:
    place = urlsplit(address)
    with closing(HTTPConnection(place.hostname or "", place.port)) as client:
        client.request("GET", "/")
        client.getresponse().read()
        connected = client.sock
        time.sleep(5.5)
        client.request("GET", "/")
        assert client.getresponse().status == 200
        assert client.sock is connected


def test_a_line_that_is_full_says_so(samples: tracewh.Warehouse) -> None:
    server, address = started(samples, "--time-limit", "3600")
    try:
        clients = [sent(address, ENDLESS) for _ in range(serve.QUERIES + serve.WAITING)]
        said = {"error": f"{serve.WAITING} queries are already waiting; try again in a moment"}
        until(lambda: answer_of(sent(address, "SELECT error('not full yet')")) == said)
        for client in clients:
            client.close()
        until(lambda: answer_of(sent(address, "SELECT 42")).get("values") == [[42]])
    finally:
        server.kill()
        server.wait()
        assert server.stderr is not None
        server.stderr.close()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_server(
    samples: tracewh.Warehouse,
    ending: signal.Signals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = tmp_path / "of another program"
    other.touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server, address = started(samples, "--time-limit", "3600")
    clients = [sent(address, sql) for sql in (ENDLESS, DEAF)]
    assert answer_of(sent(address, "SELECT 42"))["values"] == [[42]]
    pids = {pid for pid, parent in processes().items() if parent == server.pid}
    assert len(pids) >= 4
    server.send_signal(ending)
    server.wait()
    until(lambda: not pids & processes().keys())
    until(lambda: [*tmp_path.iterdir()] == [other])
    for client in clients:
        client.close()
    assert server.stderr is not None
    server.stderr.close()


def test_a_client_that_does_not_read_its_answer_does_not_keep_the_server(
    samples: tracewh.Warehouse,
) -> None:
    server, address = started(samples)
    with closing(sent(address, "SELECT 42")) as client:
        client.getresponse().read()
        query = {"sql": "SELECT range FROM range(5000000)", "format": "csv"}
        client.request(
            "POST", "/api/export", json.dumps(query), {"Content-Type": "application/json"}
        )
        assert client.getresponse().status == 200  # 39 MB follow, more than a socket holds
        stop(server)


def test_in_a_browser(visit: Visit, address: str) -> None:
    page = visit.page
    # One panel fails, and is asked for again without the others.
    busy = {"status": 503, "json": {"error": "Too many people ask."}}
    page.route("**/api/panel/steps?*", lambda route: route.fulfill(**busy), times=1)
    page.goto(f"{address}?run=ddp_gloo")
    steps = page.locator("#panel-steps")
    steps.scroll_into_view_if_needed()
    expect(steps.locator(".empty")).to_have_text("Too many people ask. Try again")
    held: list[Route] = []
    page.route("**/api/panel/steps?*", lambda route: held.append(route), times=1)
    steps.get_by_role("button", name="Try again").click()
    expect(steps.locator(".empty")).to_be_hidden()
    content = steps.locator(".content")
    said = "e => { const { content, visibility } = getComputedStyle(e, '::before'); return `${visibility} ${content}`; }"
    page.wait_for_function(
        f"e => ({said})(e) === 'visible \"Loading …\"'", arg=content.element_handle()
    )
    held[0].continue_()
    expect(steps).to_have_attribute("data-drawn", "yes")
    assert content.evaluate(said) == "visible none"
    visit.complaints.clear()  # of the status
    visit.all_panels()
    page.locator("[data-choice=run]").select_option("resnet_workers_0")
    page.wait_for_url("**/?run=resnet_workers_0")
    # Whoever goes back finds the choices of that page, and not the one that led away from it.
    page.go_back()
    expect(page.locator("[data-choice=run]")).to_have_value("ddp_gloo")
    page.go_forward()
    expect(page.locator("[data-choice=run]")).to_have_value("resnet_workers_0")
    page.locator("[data-choice=span]").select_option("2")
    page.wait_for_url("**/?run=resnet_workers_0&worker=worker0&span=2")
    page.locator("[data-choice=baseline]").select_option("resnet_workers_2")
    page.wait_for_url("**/?baseline=resnet_workers_2&run=resnet_workers_0&worker=worker0&span=2")
    for panel in COMPARED.panels:  # the others are asked for as before
        visit.panel(panel.id)
    # By key: the panels above are drawn meanwhile, and what is pressed by a pointer moves.
    page.locator("#panel-steps summary").press("Enter")
    page.locator("#panel-steps").get_by_role("link", name="Open in SQL page").press("Enter")
    expect(page.locator("#ask textarea")).to_have_value(
        re.compile("step_breakdown.*resnet_workers_0", re.DOTALL)
    )
    assert all(request.startswith(address) for request in visit.requests)


def test_a_port_that_is_taken(
    samples: tracewh.Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "-w", str(samples.path)]) == 2
    assert capsys.readouterr().err == (
        f"tracewh: cannot listen on 127.0.0.1 port {port}: Address already in use; try --port 0\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "65536"], "--port takes a number from 0 to 65535, not 65536"),
        (["--port", "x"], "--port takes a whole number of at least 0, not 'x'"),
        (["--time-limit", "0"], "--time-limit takes a whole number of at least 1, not '0'"),
        (["--time-limit", "86401"], "--time-limit takes at most 86400 seconds (a day)"),
        (["--memory-limit", "99"], "--memory-limit takes a whole number of at least 100, not '99'"),
        (
            ["--host", "no.such.host.invalid", "--port", "0"],
            "cannot listen on no.such.host.invalid port 0: it is no address of this machine; try --host",
        ),
        (
            ["--host", "192.0.2.1", "--port", "0"],  # an address of documentation
            "cannot listen on 192.0.2.1 port 0: it is no address of this machine; try --host 127.0.0.1",
        ),
        # An empty address would be every address of the machine, as of --host "$UNSET".
        (["--host", ""], "--host takes an address, e.g. 127.0.0.1, not ''"),
    ],
)
def test_a_place_that_is_none(
    words: list[str],
    said: str,
    samples: tracewh.Warehouse,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["serve", *words, "-w", str(samples.path)]) == 2
    written = capsys.readouterr().err
    assert written.startswith(f"tracewh: {said}")
    assert len(written.splitlines()) == 1
    assert "None" not in written and "Unknown error" not in written


@pytest.mark.parametrize(("host", "here"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
def test_every_address_is_printed_as_one_that_others_can_open(
    host: str, here: str, samples: tracewh.Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    listening = socket.create_server(("127.0.0.1", 0))  # a machine may have no IPv6
    with (
        patch.object(socket, "create_server", return_value=listening),
        patch.object(serve, "Pool", LatePool),
        patch.object(serve._Server, "run"),
    ):
        assert main(["serve", "--host", host, "--port", "0", "-w", str(samples.path)]) == 0
    first, second = capsys.readouterr().err.splitlines()
    port, secret = (
        first.partition("  ")[0].removeprefix(f"http://{socket.gethostname()}").split("/")
    )
    assert secret.startswith("?token=")
    assert first.endswith("  (press Ctrl-C to stop)")
    assert second == f"http://{here}{port}/{secret}  (on this machine)"


def test_no_warehouse(tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", "0", "-w", str(tmp_path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
