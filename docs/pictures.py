"""Make the pictures of the report in README.md and docs/: `python -m docs.pictures RUN --span 1 -w WAREHOUSE`.

They show the top of a page, light and dark. The run is the ResNet-50 sample of pytorch/kineto, whose files are not
in this repository.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tracewh.cli.report.write import write_report

DOCS = Path(__file__).parent
WIDTH, HEIGHT = 1280, 1180


def main() -> None:
    """Parse the command line, and write the pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of the report.")
    parser.add_argument("run", help="run of the trace to show")
    parser.add_argument("--span", help="its recording; by default the first")
    parser.add_argument("-w", "--warehouse", default="tracewh-warehouse", help="warehouse")
    arguments = parser.parse_args()
    browser_path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    themes: tuple[Any, ...] = ("light", "dark")
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        page = Path(work) / "report.html"
        write_report(arguments.warehouse, arguments.run, None, arguments.span, page)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for theme in themes:
            context = browser.new_context(
                viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme
            )
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.locator(".timeline-box[data-view][data-drawn]").wait_for()
            tab.locator("#panel-verdict[data-drawn]").wait_for()
            tab.locator(".bar.large").wait_for()
            # The second step, with the gap before its first kernel.
            tab.locator(".step").nth(1).click()
            tab.evaluate("scrollTo(0, 0)")
            tab.wait_for_timeout(500)  # the last animation frame
            name = "report.png" if theme == "light" else f"report-{theme}.png"
            tab.screenshot(path=DOCS / name)
        browser.close()


if __name__ == "__main__":
    main()
