"""What axe-core, the checker of accessibility, says of the pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.cli.report.conftest import Visit


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, from the first node_modules of PATH that has it."""
    for folder in os.get_exec_path():
        path = Path(folder).parent / "axe-core" / "axe.min.js"
        if folder.endswith("node_modules/.bin") and path.is_file():
            return path.read_text("utf-8")
    pytest.skip("needs axe-core: npm install axe-core, with node_modules/.bin in PATH")


def faults(browser: Browser, axe: str, page: Path, theme: Any, width: int) -> list[str]:
    """The rules that a page breaks, each with the elements."""
    # The page allows no scripts but its own.
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True
    )
    visit = Visit(context.new_page())
    visit.page.goto(page.as_uri())
    visit.page.locator(".timeline-box[data-drawn]").wait_for()
    visit.all_panels()
    if (step := visit.page.locator(".aligned button.c-step").first).count():
        step.click()
        visit.page.locator("#panel-diff-kernels[data-block]:not([aria-busy])").wait_for()
    visit.page.evaluate(axe)
    found = visit.page.evaluate("axe.run()")
    context.close()
    return [
        f"{fault['impact']} {fault['id']}: {[node['html'][:200] for node in fault['nodes']]}"
        for fault in found["violations"]
    ]


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("page", ["report", "compared"])
def test_axe_finds_no_fault(
    browser: Browser, axe: str, page: str, theme: str, width: int, request: pytest.FixtureRequest
) -> None:
    assert faults(browser, axe, request.getfixturevalue(page), theme, width) == []
