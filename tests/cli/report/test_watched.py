"""The pages of `tracewh serve` while `tracewh watch` writes to the warehouse."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.servers import started, stop

SAMPLES = Path(__file__).parents[3] / "samples"


@contextmanager
def watching(logs: Path, warehouse: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that ingests what is written to a folder."""
    main = "from tracewh.cli.app import run; run()"
    process = subprocess.Popen(
        [sys.executable, "-c", main, "watch", logs, "-w", warehouse, "--interval", "1"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("tracewh: watching ")
    with process.stderr:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def record(logs: Path, run: str, file: str, at: Path | None = None) -> None:
    """Write a trace as a job does: a part of it first."""
    source = SAMPLES / run / file
    path = at or logs / run / file
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    shutil.copy(source, part)
    part.rename(path)


def files(run: str) -> list[str]:
    return sorted(path.name for path in (SAMPLES / run).glob("*.json.gz"))


def is_answered(run: Page) -> None:
    """Zoom, which asks the server for the events in view, and see them drawn: those of the rank that came first."""
    run.locator(".timeline-box").focus()
    with run.expect_response(lambda answer: "/api/timeline/rectangles" in answer.url) as found:
        run.keyboard.press("s")
    assert found.value.status == 200
    assert "?run=ddp_gloo&worker=rank1&span=1&" in found.value.url
    assert found.value.json()["rows"] > 0


def changed(figure: Locator, before: str) -> str:
    """The figure that comes after another one."""
    expect(figure).not_to_have_text(before)
    expect(figure).to_have_text(re.compile(r"\d\sms$"))
    after = figure.inner_text()
    assert after != before
    return after


def test_runs_appear_while_they_are_ingested(visit: Visit, tmp_path: Path) -> None:
    """A run grows, another one comes, and a trace is replaced: home shows it, and the open run answers."""
    logs, warehouse = tmp_path / "logs", tmp_path / "warehouse"
    # The lowest rank comes last.
    second, first = files("ddp_gloo")
    record(logs, "ddp_gloo", first)
    with watching(logs, warehouse) as process:
        assert process.stderr is not None
        assert "ddp_gloo" in process.stderr.readline()
        with tracewh.open(warehouse) as opened:
            server, address = started(opened, panels=["operators-table"], has_verdict=False)
        home, run = visit.page, visit.page.context.new_page()
        run.on("pageerror", lambda error: visit.complaints.append(str(error)))
        try:
            home.goto(address)
            rows = home.locator("#runs tbody tr")
            row = home.locator("#runs [data-run=ddp_gloo]")
            figure = row.locator("[data-column=exposed_communication_us]")
            expect(rows).to_have_count(1)
            expect(row.locator("[data-column=workers]")).to_have_text("1 of 2")
            of_one = changed(figure, "…")

            run.goto(f"{address}?run=ddp_gloo")
            run.locator(".timeline-box[data-view][data-drawn]").wait_for()
            home.bring_to_front()

            is_answered(run)
            expect(run.locator("#changed")).to_be_hidden()

            record(logs, "ddp_gloo", second)
            expect(row.locator("[data-column=workers]")).to_have_text("2")
            of_two = changed(figure, of_one)
            is_answered(run)
            expect(run.locator("#changed")).to_have_text(
                "Traces of this page were added or replaced: load it again"
            )
            expect(run.locator("#changed")).to_be_visible()

            record(logs, "resnet_workers_0", files("resnet_workers_0")[0])
            expect(rows).to_have_count(2)
            expect(home.locator("#said")).to_have_text("2 runs")
            is_answered(run)

            record(logs, "ddp_gloo", second, at=logs / "ddp_gloo" / first)
            changed(figure, of_two)
            is_answered(run)
            run.locator("#panel-operators-table").scroll_into_view_if_needed()
            run.locator("#panel-operators-table[data-drawn=yes]").wait_for()
        finally:
            run.close()
            home.goto("about:blank")
            stop(server)
