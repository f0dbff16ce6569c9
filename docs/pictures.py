"""Make the pictures of the report in README.md and docs/, light and dark.

    python -m docs.pictures RUN --span 1 -w WAREHOUSE    # report.png: the top of a report
    python -m docs.pictures --tutorial                   # tutorial-*.png: those of the tutorial, from the samples

The RUN of report.png is the ResNet-50 sample of pytorch/kineto, whose files are not in this repository.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

import tracewh
from tracewh.cli.report.write import write_report

DOCS = Path(__file__).parent
SAMPLES = DOCS.parent / "samples"
WIDTH, HEIGHT = 1280, 1180
#: Height of the pictures of the tutorial, which end with the verdict, and with what explains a difference.
VERDICT_HEIGHT, COMPARED_HEIGHT = 640, 790


def main() -> None:
    """Parse the command line, and write the pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of the report.")
    parser.add_argument("run", nargs="?", help="run of the trace to show")
    parser.add_argument("--span", help="its recording; by default the first")
    parser.add_argument("-w", "--warehouse", default="tracewh-warehouse", help="warehouse")
    parser.add_argument("--tutorial", action="store_true", help="make those of the tutorial")
    arguments = parser.parse_args()
    if arguments.tutorial == bool(arguments.run):
        parser.error("name a RUN, or give --tutorial")
    with tempfile.TemporaryDirectory() as work:
        page = Path(work) / "report.html"
        if arguments.run:
            write_report(arguments.warehouse, arguments.run, None, arguments.span, page)
            take(page, "report", HEIGHT, choose_step)
            return
        slow, fast = "resnet_workers_0", "resnet_workers_2"
        warehouse = f"{work}/warehouse"
        tracewh.ingest([SAMPLES / slow, SAMPLES / fast], warehouse)
        write_report(warehouse, slow, None, None, page)
        take(page, "tutorial-verdict", VERDICT_HEIGHT, wait_for_verdict)
        write_report(warehouse, fast, None, None, page, slow)
        take(page, "tutorial-compared", COMPARED_HEIGHT, wait_for_difference)


def take(page: Path, name: str, height: int, prepare: Callable[[Page], None]) -> None:
    """Take a light and a dark picture of the top of a page, after `prepare` has waited for what it shows."""
    browser_path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    themes: tuple[Any, ...] = ("light", "dark")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for theme in themes:
            context = browser.new_context(
                viewport={"width": WIDTH, "height": height}, color_scheme=theme
            )
            tab = context.new_page()
            tab.goto(page.as_uri())
            prepare(tab)
            tab.evaluate("scrollTo(0, 0)")
            tab.wait_for_timeout(500)  # the last animation frame
            tab.screenshot(path=DOCS / f"{name}{'' if theme == 'light' else f'-{theme}'}.png")
        browser.close()


def wait_for_verdict(tab: Page) -> None:
    """Wait until the verdict is drawn."""
    tab.locator("#panel-verdict[data-drawn]").wait_for()
    tab.locator(".bar.large").wait_for()


def choose_step(tab: Page) -> None:
    """Choose the second step in the timeline, with the gap before its first kernel."""
    tab.locator(".timeline-box[data-view][data-drawn]").wait_for()
    wait_for_verdict(tab)
    tab.locator(".step").nth(1).click()


def wait_for_difference(tab: Page) -> None:
    """Wait until the sentence and the differences by category are drawn."""
    for panel in ("diff-overview", "diff-steps"):
        tab.locator(f"#panel-{panel}[data-drawn]").wait_for()


if __name__ == "__main__":
    main()
