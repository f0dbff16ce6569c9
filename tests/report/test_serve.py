"""`tracewh serve`: what it answers, and to whom."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

import tracewh
from tests.report.conftest import Visit
from tracewh.cli.app import main
from tracewh.cli.report import serve

TOKEN = "a-token"


@pytest.fixture(scope="module")
def client(samples: tracewh.Warehouse) -> TestClient:
    """A visitor of a server on loopback."""
    return TestClient(
        serve.application(str(samples.path), [*serve.LOOPBACK]), base_url="http://127.0.0.1:8765"
    )


def ask(client: TestClient, sql: str) -> str:
    """The error that a query meets."""
    answer = client.post("/api/sql", json={"sql": sql})
    assert answer.status_code == 400
    return str(answer.json()["error"])


def test_the_newest_run_is_shown_first(client: TestClient) -> None:
    page = client.get("/").text
    assert '<option value="ddp_gloo" selected>' in page
    assert '<option value="rank1">' in page
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
        ("/api/panel/nothing", 404, "there is no such panel"),
        ("/api/panel/steps?run=ddp_glo", 400, "no run named 'ddp_glo'; did you mean 'ddp_gloo'?"),
    ],
)
def test_what_is_not_there(client: TestClient, path: str, status: int, said: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (status, said)


def test_sql_is_asked(client: TestClient) -> None:
    answer = client.post("/api/sql", json={"sql": "SELECT run, steps FROM runs() ORDER BY run"})
    found = answer.json()
    assert found["values"] == [["ddp_gloo", "resnet_workers_0", "resnet_workers_2"], [6, 6, 6]]
    assert found["said"] == "3 rows."
    many = client.post("/api/sql", json={"sql": "FROM range(5000)"}).json()
    assert (many["rows"], len(many["values"][0])) == (2000, 2000)
    assert many["said"] == "The first 2,000 rows."


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("9007199254740991", 9007199254740991),
        ("9007199254740993", "9007199254740993"),  # a browser would show ...992
        ("-9007199254740993", "-9007199254740993"),
        ("(2::HUGEINT ** 100)::HUGEINT", str(2**100)),
        ("sum(n) FROM (SELECT 9223372036854775807 AS n FROM range(4))", str(4 * (2**63 - 1))),
        ("(2::UHUGEINT ** 127)::UHUGEINT + 1", str(2**127 + 1)),
        ("123456789012345678901234567890123456789012345::BIGNUM", "1234567890" * 4 + "12345"),
        ("[[1, 170141183460469231731687303715884105727::HUGEINT]]", [[1, str(2**127 - 1)]]),
        ("[8, 16]", [8, 16]),
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
    ],
)
def test_every_value_is_given_whole(client: TestClient, value: str, found: object) -> None:
    answer = client.post("/api/sql", json={"sql": f"SELECT {value}"})
    assert (answer.status_code, answer.json().get("values")) == (200, [[found]])


def test_two_columns_of_one_name_are_two(client: TestClient) -> None:
    answer = client.post("/api/sql", json={"sql": "SELECT 1 AS a, 2 AS a, 3 AS b"}).json()
    assert [column["name"] for column in answer["columns"]] == ["a", "a_1", "b"]
    assert answer["values"] == [[1], [2], [3]]


def test_sql_only_reads_the_warehouse(client: TestClient) -> None:
    assert ask(client, "COPY traces TO 'x.csv'").startswith("COPY is refused")
    assert ask(client, "SELECT 1; SELECT 2") == "2 statements; query takes one at a time"
    assert "disabled by configuration" in ask(client, "FROM read_text('/etc/passwd')")
    assert ask(client, "SET lock_configuration = false").startswith("SET is refused")
    assert ask(client, "SELEC 1").startswith("Parser Error")
    assert client.post("/api/sql", json={"sql": "SELECT 1"}).status_code == 200


def test_sql_may_not_take_forever(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "SECONDS", 0.5)
    assert ask(client, "SELECT sum(a.range * b.range) FROM range(10000000) a, range(100000) b") == (
        "it took more than 0.5 seconds: ask for less"
    )


@pytest.mark.parametrize("content", [b"", b"[]", b'{"sql": 1}', b"{"])
def test_a_question_that_is_none(client: TestClient, content: bytes) -> None:
    answer = client.post("/api/sql", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()) == (400, {"error": 'send {"sql": "..."}'})


def test_another_site_cannot_ask(client: TestClient) -> None:
    """Neither by a name of its own for this machine, nor by a form."""
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
    form = client.post("/api/sql", content=b'{"sql": "SELECT 1"}')
    assert form.status_code == 415
    assert client.get("/").headers["x-frame-options"] == "DENY"


def test_beyond_loopback_one_needs_the_token(samples: tracewh.Warehouse) -> None:
    app = serve.application(str(samples.path), ["*"], TOKEN)
    visitor = TestClient(app, base_url="http://10.0.0.7:8765")
    for path in ("/", "/?token=wrong", "/api/panel/steps"):
        assert visitor.get(path).status_code == 403
    assert visitor.post("/api/sql", json={"sql": "SELECT 1"}).status_code == 403
    welcomed = visitor.get(f"/?token={TOKEN}", follow_redirects=False)
    assert (welcomed.status_code, welcomed.headers["location"]) == (307, "/")
    assert "httponly; path=/; samesite=strict" in welcomed.headers["set-cookie"].lower()
    page = visitor.get("/")
    assert page.status_code == 200
    assert TOKEN not in page.text


@pytest.fixture(scope="module")
def address(samples: tracewh.Warehouse) -> Iterator[str]:
    """Where a server of its own process listens."""
    command = [
        sys.executable,
        "-c",
        "import sys; from tracewh.cli.app import main; sys.exit(main())",
    ]
    server = subprocess.Popen(
        [*command, "serve", "--port", "0", "-w", str(samples.path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    found = re.match(r"(http://127\.0\.0\.1:\d+/)  \(Ctrl-C ends it\)", server.stderr.readline())
    assert found is not None
    yield found[1]
    server.send_signal(signal.SIGINT)
    with server.stderr:
        assert server.wait(20) == 0
        assert server.stderr.read() == ""


def test_in_a_browser(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(address)
    visit.all_panels()
    page.locator("[data-choice=run]").select_option("resnet_workers_2")
    page.wait_for_url("**/?run=resnet_workers_2")
    page.locator("[data-choice=span]").select_option("2")
    page.wait_for_url("**/?run=resnet_workers_2&worker=worker0&span=2")
    page.locator("[data-choice=baseline]").select_option("resnet_workers_0")
    page.wait_for_url("**/?baseline=resnet_workers_0&run=resnet_workers_2&worker=worker0&span=2")
    visit.all_panels()
    page.locator("#ask select").select_option("kernel_stats")
    expect(page.locator("#ask .said")).to_have_text("0 rows.")
    page.locator("#ask textarea").fill("SELECT 6 * 7 AS answer")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#ask .tabulator-cell")).to_have_text("42")
    assert all(request.startswith(address) for request in visit.requests)


def test_large_integers_keep_their_digits_in_a_browser(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(address)
    page.locator("#ask textarea").fill(
        "SELECT * FROM (VALUES (9007199254740993, 1700000000123456789, 1.50, 'b'),"
        " (170141183460469231731687303715884105727, 1700000000123456788, 0.25, '12345'),"
        " (7, 5, 10, 'a')) AS t(n, start_ns, \"d.x\", text)"
    )
    page.get_by_role("button", name="Run").click()

    def cells(field: str) -> list[str]:
        found = page.locator(f'#ask .tabulator-row [tabulator-field="{field}"]')
        expect(found).to_have_count(3)
        return list(found.all_inner_texts())

    assert cells("n") == [
        "9,007,199,254,740,993",
        "170,141,183,460,469,231,731,687,303,715,884,105,727",
        "7",
    ]
    assert cells("start_ns") == [
        "2023-11-14T22:13:20.123456789Z",
        "2023-11-14T22:13:20.123456788Z",
        "5 ns",
    ]
    assert cells("d.x") == ["1.50", "0.25", "10.00"]
    assert cells("text") == ["b", "12345", "a"]
    page.locator('#ask .tabulator-col[tabulator-field="n"]').click()  # from the largest
    expect(page.locator('#ask .tabulator-row [tabulator-field="d.x"]').first).to_have_text("0.25")
    page.locator('#ask .tabulator-col[tabulator-field="n"]').click()
    expect(page.locator('#ask .tabulator-row [tabulator-field="d.x"]').first).to_have_text("10.00")


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
        (["--port", "x"], "--port takes a whole number from 0 up, not 'x'"),
        (
            ["--host", "no.such.host.invalid", "--port", "0"],
            "cannot listen on no.such.host.invalid port 0: ",
        ),
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
    assert "None" not in written


def test_no_warehouse(tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", "0", "-w", str(tmp_path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
