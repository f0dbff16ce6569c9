"""What axe-core, the checker of accessibility, says of the pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.report.conftest import Visit

#: Only what is wrong leaves the browser: what passes names each element of the page. Rows of a table are alike.
RUN = """() => axe.run(
    {exclude: [["tbody tr:nth-child(n+12)"]]}, {resultTypes: ["violations"]}
).then(found => found.violations.map(fault =>
    `${fault.impact} ${fault.id}: ${fault.nodes.map(node => node.html.slice(0, 200)).join(", ")}`
))"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, from the first node_modules of PATH that has it."""
    for folder in os.get_exec_path():
        path = Path(folder).parent / "axe-core" / "axe.min.js"
        if folder.endswith("node_modules/.bin") and path.is_file():
            return path.read_text("utf-8")
    pytest.skip("needs axe-core: npm install axe-core, with node_modules/.bin in PATH")


def report(visit: Visit) -> None:
    """Wait until a page with a timeline is drawn."""
    visit.page.locator(".timeline-box[data-drawn]").wait_for()
    visit.all_panels()
    if (step := visit.page.locator(".aligned button.c-step").first).count():
        step.click()
        visit.page.locator("#panel-diff-kernels[data-block]:not([aria-busy])").wait_for()


def home(visit: Visit) -> None:
    """Select a run, when all figures are there."""
    expect(visit.page.locator("#runs tbody tr")).to_have_count(3)
    expect(visit.page.locator("#runs tbody")).not_to_contain_text("…")
    visit.page.get_by_label("Select ddp_gloo to compare").check()


def sql(visit: Visit) -> None:
    """Show all that the page can show: columns of a view, the history, an answer and its picture."""
    page = visit.page
    page.locator("#ask textarea").fill(
        "FROM operator_stats() SELECT name, calls, host_total_us LIMIT 9"
    )
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Picture").click()
    expect(page.locator(".picture svg")).to_be_visible()
    page.locator("#history summary").click()
    if page.viewport_size and page.viewport_size["width"] < 900:
        page.locator("#names > summary").click()
    page.locator("#names li summary").first.click()


@contextmanager
def violations(
    browser: Browser, axe: str, theme: Any, width: int
) -> Iterator[tuple[Visit, Callable[[], list[str]]]]:
    """A new window, and the rules that its page breaks, each with the elements."""
    # The page allows no scripts but its own.
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True
    )
    visit = Visit(context.new_page())

    def faults() -> list[str]:
        visit.page.evaluate(axe)
        found: list[str] = visit.page.evaluate(RUN)
        return found

    yield visit, faults
    context.close()


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_fault(
    browser: Browser, axe: str, compared: Path, theme: str, width: int
) -> None:
    """The page of two runs has all panels of the page of one, and those of the comparison."""
    with violations(browser, axe, theme, width) as (visit, faults):
        visit.page.goto(compared.as_uri())
        report(visit)
        assert faults() == []


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_fault_in_a_heat_map(
    browser: Browser, axe: str, pipeline: Path, theme: str, width: int
) -> None:
    with violations(browser, axe, theme, width) as (visit, faults):
        visit.page.goto(pipeline.as_uri())
        visit.panel("straggler-workers")
        assert faults() == []


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize(("path", "shown"), [("", home), ("sql", sql)])
def test_axe_finds_no_fault_in_the_pages_of_a_server(
    browser: Browser,
    axe: str,
    address: str,
    path: str,
    shown: Callable[[Visit], None],
    theme: str,
    width: int,
) -> None:
    with violations(browser, axe, theme, width) as (visit, faults):
        visit.page.goto(address + path)
        shown(visit)
        assert faults() == []
