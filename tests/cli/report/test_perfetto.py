"""'Open in Perfetto': the trace that the page of a run hands over, to a page that speaks Perfetto's protocol."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
from base64 import b64decode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.servers import started, stop, visitor
from tracewh.cli.app import main
from tracewh.cli.commands.export import export_trace

#: A page that answers as Perfetto does: PONG when it is ready, to whoever opened it.
PERFETTO = b"""<!doctype html><title>Perfetto</title><script>
window.pings = 0;
window.addEventListener("message", async ({ data, source }) => {
  if (data === "PING") { window.pings += 1; source.postMessage("PONG", "*"); return; }
  const { buffer, title } = data.perfetto;
  const reader = new FileReader();
  reader.onload = () => { window.received = { title, hash: location.hash, is: buffer.constructor.name, base64: reader.result.split(",")[1] }; };
  reader.readAsDataURL(new Blob([buffer]));
});
</script>"""


class Perfetto(BaseHTTPRequestHandler):
    """Serves the page. If it has moved, the name localhost leads to another origin."""

    has_moved = False

    def do_GET(self) -> None:
        if self.has_moved and self.headers["Host"].startswith("localhost"):
            self.send_response(302)
            port = self.headers["Host"].partition(":")[2]
            self.send_header("Location", f"http://127.0.0.1:{port}/")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PERFETTO)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Perfetto) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def address(samples: tracewh.Warehouse, port: int) -> Iterator[str]:
    """The address of a server whose pages hand over traces to that page."""
    server, address = started(samples, "--perfetto", f"http://localhost:{port}/")
    yield address
    stop(server)


@pytest.fixture(scope="module")
def exported(samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What `tracewh export` writes."""
    path = tmp_path_factory.mktemp("exported") / "trace.json.gz"
    export_trace(str(samples.path), "ddp_gloo", "rank1", "1", None, path)
    return path.read_bytes()


PAGE = "?run=ddp_gloo&worker=rank1&span=1"


def test_the_file_is_that_of_the_export(client: TestClient, exported: bytes) -> None:
    answer = client.get(f"/api/trace{PAGE}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/gzip")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.content == exported
    assert len(json.loads(gzip.decompress(answer.content))["traceEvents"]) > 100
    refused = client.get("/api/trace?run=ddp_glo")
    assert (refused.status_code, refused.json()) == (
        400,
        {"error": "no run named 'ddp_glo'; did you mean 'ddp_gloo'?"},
    )


def test_a_trace_with_a_missing_file(samples: tracewh.Warehouse, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(samples.path, tmp_path / "warehouse"))
    (copy / "data/run=ddp_gloo/worker=rank1/span=1/flows.parquet").unlink()
    with tracewh.open(copy) as opened, visitor(opened, seconds=600) as client:
        answer = client.get(f"/api/trace{PAGE}")
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("ddp_gloo/rank1/1 has no flows.parquet: it is damaged")


def test_an_export_has_a_time_limit_of_its_own(samples: tracewh.Warehouse) -> None:
    with visitor(samples, seconds=600) as client:
        site = client.app.state.site  # type: ignore[attr-defined]
        site.panels._seconds = 0.001  # a panel would be stopped
        assert client.get(f"/api/trace{PAGE}").status_code == 200
        site.trace_seconds = 0.001
        assert client.get(f"/api/trace{PAGE}").json()["error"] == (
            "the answer took more than 0.001 seconds and was stopped; "
            "`tracewh serve --time-limit SECONDS` raises the limit"
        )
        assert [path.name for path in site._exports.path.iterdir()] == ["lock"]


def opened_by(page: Page) -> Page:
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Open in Perfetto").click()
    return popup.value


def test_a_click_hands_over_the_trace(
    visit: Visit, address: str, exported: bytes, samples: tracewh.Warehouse
) -> None:
    page, said = visit.page, visit.page.locator("#handover")
    # The button needs none of the panels.
    page.route("**/api/panel/**", lambda route: None)
    try:
        page.goto(address + PAGE)
        view = page.locator(".timeline-box[data-view]").get_attribute("data-view") or ""
        window = opened_by(page)
        window.wait_for_function("() => window.received")
        received = window.evaluate("window.received")
        # The part that the timeline shows, in nanoseconds from what the times of the file count from.
        [(start,)] = samples.rows(
            "SELECT t.start_ns - t.base_time_ns FROM traces AS t"
            " WHERE t.run = 'ddp_gloo' AND t.worker = 'rank1'"
        )
        first, last = (start + int(time) for time in view.split())
        assert received["hash"] == f"#!/?visStart={first}&visEnd={last}"
        assert (received["title"], received["is"]) == ("ddp_gloo, rank1, 1", "ArrayBuffer")
        assert b64decode(received["base64"]) == exported
        expect(said).to_contain_text("Handed over, ")
        # The page itself asked its own server only; the window is another page.
        assert all(request.startswith(address) for request in visit.requests)
        window.close()

        # All of the trace is what Perfetto shows anyway.
        page.get_by_role("button", name="Whole recording").click()
        window = opened_by(page)
        assert "#" not in window.url
        window.close()

        page.evaluate("window.open = () => null")
        page.get_by_role("button", name="Open in Perfetto").click()
        expect(said).to_have_text(
            "The browser blocked the new window: allow this page to open windows."
        )
    finally:
        page.goto("about:blank")


def test_another_site_gets_nothing(
    visit: Visit, address: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is not where it was to be says that it is ready."""
    monkeypatch.setattr(Perfetto, "has_moved", True)
    page, said = visit.page, visit.page.locator("#handover")
    # The button needs none of the panels.
    page.route("**/api/panel/**", lambda route: None)
    try:
        page.goto(address + PAGE)
        window = opened_by(page)
        expect(said).to_have_text(f"Waiting for http://localhost:{port}…")
        pings = window.evaluate("window.pings")
        window.wait_for_function("(pings) => window.pings > pings + 3", arg=pings)
        assert window.evaluate("window.received") is None
        window.close()
        expect(said).to_have_text("The window of Perfetto was closed.")
        expect(page.get_by_role("button", name="Open in Perfetto")).to_be_enabled()
    finally:
        page.goto("about:blank")


@pytest.mark.parametrize("address", ["ui.perfetto.dev", "javascript:alert(1)", "https://"])
def test_an_address_that_is_none(
    samples: tracewh.Warehouse, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--perfetto", address, "--port", "0", "-w", str(samples.path)]) == 2
    assert capsys.readouterr().err == (
        f"tracewh: --perfetto takes an address like https://ui.perfetto.dev, not {address!r}\n"
    )
