"""The home page of `tracewh serve`: the runs of a warehouse."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.servers import ENDLESS, answer_of, sent, started, stop, visitor

RUNS = ["resnet_workers_2", "resnet_workers_0", "ddp_gloo"]


@pytest.fixture
def copy(samples: tracewh.Warehouse, tmp_path: Path) -> Path:
    """A copy of the samples' warehouse, without the newest run."""
    path = Path(shutil.copytree(samples.path, tmp_path / "warehouse"))
    shutil.rmtree(path / "data" / f"run={RUNS[0]}")
    return path


def listed(client: TestClient) -> dict[str, dict[str, Any]]:
    """The rows of the page, by run."""
    found = client.get("/api/runs").json()
    names = [column["name"] for column in found["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*found["values"], strict=True)]
    return {row["run"]: row for row in rows}


def test_the_rows_are_those_of_the_views(client: TestClient, samples: tracewh.Warehouse) -> None:
    rows = listed(client)
    view = samples.runs()
    expected = [dict(zip(view.columns, row, strict=True)) for row in view.fetchall()]
    assert [*rows] == [row["run"] for row in expected]
    for row in expected:
        for name in ("gpus", "workers", "world_size", "traces", "mean_step_us"):
            assert rows[row["run"]][name] == row[name], (row["run"], name)


def test_the_history_has_runs_whose_names_differ_in_digits(client: TestClient) -> None:
    rows = listed(client)
    first, second = (rows[f"resnet_workers_{n}"]["mean_step_us"] for n in (0, 2))
    assert rows["resnet_workers_0"]["step_history_us"] == [first]
    assert rows["resnet_workers_2"]["step_history_us"] == [first, second]
    assert len(rows["ddp_gloo"]["step_history_us"]) == 1


def test_the_figures_are_those_of_the_verdict(
    client: TestClient, samples: tracewh.Warehouse
) -> None:
    found = client.get("/api/figures", params={"run": [*RUNS, "none"]}).json()
    assert [*found] == RUNS
    for run in RUNS:
        peaks = samples.sql(
            "SELECT max(value) FILTER (WHERE name = 'peak_memory'),"
            " avg(value) FILTER (WHERE name = 'communication')"
            f" FROM verdict(run := '{run}') WHERE part = 'card'"
        ).fetchall()
        figures = found[run]
        assert (figures["peak_memory_bytes"], figures["gpu_busy_pct"]) == (peaks[0][0], None)
        assert figures["exposed_communication_us"] == pytest.approx(peaks[0][1])
        assert figures["is_host_memory"]
    assert found["ddp_gloo"]["exposed_communication_us"] > 0
    assert found["resnet_workers_0"]["exposed_communication_us"] is None


def test_serving_steps_are_without_waits_for_work_that_is_not_in_the_trace(tmp_path: Path) -> None:
    """The kernel of 4 ms starts 15 ms after its launch: without the wait a step takes 4 ms, not 20."""
    call = {"ph": "X", "pid": 1, "tid": 1}
    args = {"correlation": 1, "device": 0, "stream": 7}
    given = [
        {
            **call,
            "cat": "user_annotation",
            "name": "step[DECODE bs=8 toks=8]",
            "ts": 0,
            "dur": 20000,
        },
        {
            **call,
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "ts": 990,
            "dur": 10,
            "args": args,
        },
        {
            "ph": "X",
            "cat": "kernel",
            "name": "gemm",
            "pid": 0,
            "tid": 7,
            "ts": 16000,
            "dur": 4000,
            "args": args,
        },
    ]
    (tmp_path / "w.json").write_text(json.dumps({"traceEvents": given}), "utf-8")
    tracewh.ingest([tmp_path / "w.json"], tmp_path / "wh", run="served")
    with tracewh.open(tmp_path / "wh") as opened, visitor(opened, seconds=600) as client:
        figures = client.get("/api/figures", params={"run": "served"}).json()["served"]
        said = opened.sql(
            "SELECT name, value FROM verdict() WHERE name IN ('step_time', 'gpu_busy') AND part = 'card' ORDER BY name"
        ).fetchall()
    assert said == [("gpu_busy", figures["gpu_busy_pct"]), ("step_time", figures["mean_step_us"])]


def test_an_unchanged_warehouse_is_not_read_again(copy: Path, samples: tracewh.Warehouse) -> None:
    with tracewh.open(copy) as opened, visitor(opened, seconds=600) as client:
        before = client.get("/api/runs").json()
        state = {"known": before["state"]}
        assert client.get("/api/runs", params=state).json() == {"state": before["state"]}
        assert client.get("/api/runs").json() == before
        new = Path("data", f"run={RUNS[0]}")
        shutil.copytree(Path(samples.path) / new, copy / new)
        after = client.get("/api/runs", params=state).json()
        assert after["values"][0] == RUNS
        assert after["states"][1:] == before["states"]
        figures = client.get("/api/figures", params={"run": RUNS[0]}).json()[RUNS[0]]
        assert figures["peak_memory_bytes"] > 0


def test_a_damaged_run_takes_no_other_from_the_page(
    samples: tracewh.Warehouse, tmp_path: Path
) -> None:
    path = Path(shutil.copytree(samples.path, tmp_path / "warehouse"))
    for file in path.glob("data/run=ddp_gloo/worker=rank0/span=1/memory_records.parquet"):
        file.write_bytes(file.read_bytes()[:-100])
    with tracewh.open(path) as damaged, visitor(damaged, seconds=600) as client:
        assert [*listed(client)] == RUNS
        found = client.get("/api/figures", params={"run": RUNS}).json()
        assert found["ddp_gloo"]["error"].startswith("the trace ddp_gloo/rank0/1 is damaged: ")
        assert found["resnet_workers_0"]["peak_memory_bytes"] > 0


def test_runs_are_found_and_opened(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(address)
    rows = page.locator("#runs tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.last.locator("[data-column=exposed_communication_us]")).to_have_text(
        re.compile(r"^[\d.]+\sms$")
    )
    expect(rows.first.locator("svg polyline")).to_have_count(1)
    # Steps without length have no ratio.
    said = "[[1, 2], [0, 0]].map((us) => sparkline({ step_history_us: us }).ariaLabel)"
    found = [text.partition(" only: ")[2] for text in page.evaluate(said)]
    assert found == [
        "1\u00a0µs to 2\u00a0µs; this one 2\u00a0µs, +100 % to the one before",
        "0\u00a0µs to 0\u00a0µs; this one 0\u00a0µs",
    ]
    page.get_by_label("Search runs").fill("WORKERS res")
    expect(rows).to_have_count(2)
    expect(page.locator("#said")).to_have_text("2 of 3 runs")
    page.get_by_role("button", name="Step time").click()
    expect(page.locator("th[aria-sort]")).to_have_text("Step time")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(rows.locator("th")).to_have_text(["resnet_workers_0", "resnet_workers_2"])
    rows.first.locator("[data-column=workers]").click()
    page.wait_for_url("**/?run=resnet_workers_0")
    expect(page.locator("[data-choice=run]")).to_have_value("resnet_workers_0")
    page.get_by_role("link", name="tracewh").click()
    page.wait_for_url(address)
    expect(rows).to_have_count(3)
    page.get_by_role("link", name="Newest run").click()
    page.wait_for_url("**/?run=resnet_workers_2")
    assert all(request.startswith(address) for request in visit.requests)


def test_two_runs_are_compared_with_the_keyboard(visit: Visit, address: str) -> None:
    page = visit.page
    page.goto(address)
    compare = page.locator("#compare")
    expect(page.locator("#runs tbody tr")).to_have_count(3)
    expect(compare).to_be_disabled()
    for run in ("ddp_gloo", "resnet_workers_2", "resnet_workers_0"):  # the first tick is taken back
        page.get_by_label(f"Select {run} to compare").press("Space")
    expect(page.locator("#runs input:checked")).to_have_count(2)
    expect(compare).to_have_text("Compare with resnet_workers_0")
    compare.press("Enter")
    page.wait_for_url("**/?run=resnet_workers_2&baseline=resnet_workers_0")


def test_new_runs_appear_by_themselves(
    visit: Visit, copy: Path, samples: tracewh.Warehouse
) -> None:
    """The ticks, the search and the position stay."""
    with tracewh.open(copy) as opened:
        server, address = started(opened, "--time-limit", "600")
    page = visit.page
    try:
        page.set_viewport_size({"width": 390, "height": 240})
        page.goto(address)
        rows = page.locator("#runs tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.last.locator("[data-column=peak_memory_bytes]")).to_contain_text("MiB")
        page.get_by_label("Search runs").fill("_")
        page.get_by_label("Select ddp_gloo to compare").check()
        page.evaluate("document.querySelector('#runs tbody tr:last-child').scrollIntoView()")
        page.evaluate("document.querySelector('#runs tbody tr:last-child').dataset.kept = 'yes'")
        before = page.evaluate("document.querySelector('[data-kept]').getBoundingClientRect().top")
        new = Path("data", f"run={RUNS[0]}")
        shutil.copytree(Path(samples.path) / new, copy / new)
        expect(rows).to_have_count(3)
        expect(rows.first.locator("th")).to_have_text(RUNS[0])
        expect(rows.first.locator("[data-column=peak_memory_bytes]")).to_contain_text("MiB")
        assert page.locator("#runs [data-kept]").count() == 1
        after = page.evaluate("document.querySelector('[data-kept]').getBoundingClientRect().top")
        assert after == pytest.approx(before, abs=2)
        expect(page.get_by_label("Search runs")).to_have_value("_")
        expect(page.get_by_label("Select ddp_gloo to compare")).to_be_checked()
    finally:
        page.goto("about:blank")
        stop(server)


def test_fifty_pages_are_open_while_a_query_never_ends(samples: tracewh.Warehouse) -> None:
    """Home pages that poll, pages of runs, SQL pages, and a trace for Perfetto: all are answered."""
    server, address = started(samples, "--time-limit", "600")
    try:
        state = json.loads(fetched(f"{address}api/runs"))["state"]
        figures = f"api/figures?{urlencode([('run', run) for run in RUNS])}"
        endless = sent(address, ENDLESS)
        poll = f"api/runs?known={state}"
        paths = [
            poll,
            "",
            figures,
            poll,
            "sql",
            "?run=ddp_gloo",
            poll,
            "api/trace?run=ddp_gloo&worker=rank0",
        ]
        with ThreadPoolExecutor(50) as pages:
            answers = list(pages.map(lambda n: fetched(address + paths[n % len(paths)]), range(56)))
        assert {json.loads(answer)["state"] for answer in answers[0::8]} == {state}
        assert {len(json.loads(answer)) for answer in answers[2::8]} == {len(RUNS)}
        for place in (1, 4, 5, 7):  # each page and each file is the same for everybody
            assert len({answer for answer in answers[place::8]}) == 1
        endless.close()  # cancels the query
        assert answer_of(sent(address, "SELECT 42 AS answer"))["values"] == [[42]]
    finally:
        stop(server)


def fetched(url: str) -> bytes:
    """The body of an answer, which must be no error."""
    with urlopen(url, timeout=120) as answer:
        body: bytes = answer.read()
    return body


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1024])
def test_the_page_fits(visit: Visit, address: str, width: int, theme: str) -> None:
    page = visit.page
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    expect(page.locator("#runs tbody tr")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # A card has no title above nothing.
    empty = page.locator("#runs [data-run=ddp_gloo] [data-column=history]")
    assert empty.is_visible() == (width > 900)
    # A name without a blank breaks.
    page.locator("#runs [data-column=gpus]").first.evaluate(
        "cell => cell.textContent = 'GPU'.repeat(60)"
    )
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if (width, theme) == (390, "light"):  # also on the page that says that there is no such run
        page.goto(f"{address}?run={'run_' * 40}")
        expect(page.get_by_role("alert")).to_contain_text("no run named")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        visit.complaints.clear()  # the browser's own line about the status 400
