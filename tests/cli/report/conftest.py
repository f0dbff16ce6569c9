"""A real browser, and what it complains of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect
from starlette.testclient import TestClient

import tracewh
from tests.cli.report.parts import panels_only
from tests.cli.report.servers import started, stop, visitor
from tests.conftest import made_once
from tests.views.drawn_jobs import Drawing, write_csv
from tracewh.cli.report.write import write_report

# A machine may be busy: what never comes is waited for longer than what comes late.
expect.set_options(timeout=60_000)


@dataclass
class Visit:
    """A page that is looked at: what it complained of, and what it asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def panel(self, name: str) -> Locator:
        """One panel, drawn."""
        panel = self.page.locator(f"#panel-{name}")
        panel.scroll_into_view_if_needed()
        self.page.locator(f"#panel-{name}[data-drawn]").wait_for()
        assert panel.get_attribute("data-drawn") == "yes", panel.inner_text()
        return panel

    def column(self, name: str, field: str) -> list[str]:
        """The texts of a column of a panel's table, as far as they are on the screen."""
        cells = self.panel(name).locator(f'tbody [data-column="{field}"]')
        return list(cells.all_inner_texts())

    def all_panels(self) -> None:
        """Draw everything."""
        for panel in self.page.locator("article[data-panel]").all():
            self.panel(str(panel.get_attribute("data-panel")))


def data_of(page: Path) -> dict[str, Any]:
    """The rows of the panels of a page."""
    text = page.read_text("utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    for panel in read.values():
        if isinstance(panel, dict) and "values" in panel:
            panel["values"] = [_unpacked(values) for values in panel["values"]]
    return read


def _unpacked(values: Any) -> Any:
    """The values of a column; paths of frames are written as the numbers of their parts."""
    if not isinstance(values, dict):
        return values
    return [";".join(values["names"][part] for part in path) for path in values["paths"]]


#: The size of a new window.
SIZE: ViewportSize = {"width": 1280, "height": 800}


@contextmanager
def new_window(browser: Browser) -> Iterator[Visit]:
    """A window that shares nothing with others."""
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(120_000)
    visited = Visit(context.new_page())

    def console(message: Any) -> None:
        if message.type in ("error", "warning"):
            visited.complaints.append(message.text)

    visited.page.on("console", console)
    visited.page.on("pageerror", lambda error: visited.complaints.append(str(error)))
    visited.page.on("dialog", lambda dialog: visited.complaints.append(dialog.message))
    visited.page.on("request", lambda request: visited.requests.append(request.url))
    yield visited
    context.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """A new window; that it complained of nothing is tested at the end."""
    with new_window(browser) as visited:
        yield visited
    assert visited.complaints == []


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Visit]:
    """One window for all tests of a module."""
    with new_window(browser) as visited:
        yield visited


@pytest.fixture
def revisit(window: Visit) -> Iterator[Visit]:
    """The window of the test before, as empty as a new one: it has compiled the scripts of reports already.

    A module imports it as `visit` if its pages store nothing, and no test routes requests or adds scripts.
    """
    window.page.set_viewport_size(SIZE)
    window.page.emulate_media(color_scheme="light")
    window.page.mouse.move(0, 0)
    window.requests.clear()
    yield window
    window.page.goto("about:blank")
    complaints = [*window.complaints]
    window.complaints.clear()
    assert complaints == []


@pytest.fixture(scope="session")
def report(samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about a training loop on the CPU, with the panels that tests look at."""
    overview = ("recommendations", "steps", "quality", "workers")
    others = ("operators-table", "memory-curve", "memory-events", "stacks")

    def write(folder: Path) -> None:
        with panels_only(*overview, *others):
            write_report(str(samples.path), "resnet_workers_0", None, "1", folder / "report.html")

    return made_once(tmp_path_factory, "report", write) / "report.html"


@pytest.fixture(scope="session")
def compared(samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same loop with more loader workers, beside that, with all panels: those of one run, too."""

    def write(folder: Path) -> None:
        path = folder / "compared.html"
        write_report(str(samples.path), "resnet_workers_2", None, "1", path, "resnet_workers_0")

    return made_once(tmp_path_factory, "compared", write) / "compared.html"


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about a table of pipeline operations: eight data-parallel ranks, four stages, one slow worker."""

    def write(folder: Path) -> None:
        drawing = Drawing(stages=4, dp_ranks=8, slow=(5, 2))
        tracewh.ingest([write_csv(drawing, folder / "job.csv")], folder / "warehouse", run="job")
        write_report(str(folder / "warehouse"), "job", None, None, folder / "pipeline.html")

    return made_once(tmp_path_factory, "pipeline", write) / "pipeline.html"


@pytest.fixture(scope="session")
def client(samples: tracewh.Warehouse) -> Iterator[TestClient]:
    """A visitor of a server on loopback."""
    with visitor(samples, seconds=600) as client:
        yield client


@pytest.fixture(scope="session")
def address(samples: tracewh.Warehouse) -> Iterator[str]:
    """The address of a server in its own process, on a machine that may be busy."""
    server, address = started(samples, "--time-limit", "600")
    yield address
    stop(server)
