"""The page that `tracewh report` writes, looked at in a browser."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

import tracewh
from tests.cli.report.conftest import Visit, data_of
from tests.cli.report.conftest import revisit as visit
from tests.cli.report.parts import panels_only
from tracewh.cli.app import main
from tracewh.cli.report.panels import COMPARED, SECTIONS

__all__ = ["visit"]

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def test_it_needs_no_mouse_and_nothing_but_itself(visit: Visit, compared: Path) -> None:
    """The page of two runs has all panels of the page of one, and those of the comparison.

    The first Tab stop skips the navigation; every picture has a name, every field a label.
    """
    started = time.perf_counter()
    visit.page.goto(compared.as_uri())
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.querySelector('main').contains(document.activeElement)")
    visit.panel("recommendations")
    assert time.perf_counter() - started < 20  # a hang, not a speed
    visit.all_panels()
    nameless = "[...document.querySelectorAll(q)].filter((e) => !e.ariaLabel && !e.labels?.length)"
    for query in (
        ".chart",
        "select",
        ".controls input",
        "thead input",
        ".scrolled",
        ".dt-scroll-body",
    ):
        assert visit.page.evaluate(f"(q) => {nameless}.length", query) == 0
        assert visit.page.locator(query).count() > 0
    visit.page.get_by_role("button", name="Dark").click()
    visit.all_panels()
    assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert visit.requests == [compared.as_uri()]


def test_panels_show_what_their_sql_gives(samples: tracewh.Warehouse, compared: Path) -> None:
    text, data = compared.read_text("utf-8"), data_of(compared)
    queries = re.findall(r'data-panel="([^"]+)".*?<pre><code[^>]*>(.*?)</code>', text, re.DOTALL)
    assert [name for name, _ in queries] == [
        panel.id for section in (COMPARED, *SECTIONS) for panel in section.panels
    ]
    filled = 0
    for name, sql in queries:
        rows = samples.sql(html.unescape(sql)).fetchall()
        # A browser cannot represent large integers, such as times, so they are text.
        values = [
            [str(value) if isinstance(value, int) and value > 2**53 else value for value in column]
            for column in zip(*rows, strict=True)
        ]
        assert data[name]["values"] == json.loads(json.dumps(values, default=str))
        filled += bool(rows)
    assert filled > 12
    for name, column in (("memory-events", "size_bytes"), ("module-flame", "host_self_us")):
        names = [known["name"] for known in data[name]["columns"]]
        sizes = data[name]["values"][names.index(column)]
        assert sizes == sorted(sizes, reverse=True)  # so that a limit leaves out the least


def test_memory_without_addresses_is_memory(visit: Visit, tmp_path: Path) -> None:
    """As torch wrote it in 2021: operators allocate and release, and nothing tells the blocks apart."""
    events = [
        {
            "ph": "X",
            "cat": "Operator",
            "name": "aten::empty",
            "pid": 1,
            "tid": 1,
            "ts": 10,
            "dur": 5,
        },
        *(
            {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "s": "t"}
            | {"args": {"Device Type": 0, "Device Id": -1, "Bytes": size}}
            for ts, size in ((11, 64), (13, 32), (20, -64))
        ),
    ]
    trace = tmp_path / "old.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), "utf-8")
    tracewh.ingest([trace], tmp_path / "warehouse")
    page = tmp_path / "report.html"
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        [(run,)] = warehouse.sql("FROM traces SELECT run").fetchall()
    with panels_only("memory-stats", "memory-events", "overlap", has_verdict=False):
        assert main(["report", run, "-w", str(tmp_path / "warehouse"), "-o", str(page)]) == 0
    data = data_of(page)
    assert data["memory-stats"]["rows"] == 2 and data["memory-stats"]["empty"] == ""
    assert data["memory-events"]["rows"] == 0
    assert data["overlap"]["empty"].startswith(
        "This run has no communication, or has it on the host"
    )
    visit.page.goto(page.as_uri())
    said = visit.panel("memory-events").locator(".empty").inner_text()
    assert said == data["memory-events"]["empty"]
    assert "profile_memory" not in said and "address" in said


@pytest.mark.parametrize("width", [900, 1280, 1800])
def test_a_sentence_is_read_without_scrolling(visit: Visit, report: Path, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.page.goto(report.as_uri())
    for name in ("recommendations", "quality"):
        rows = visit.panel(name).locator(".table")
        assert rows.evaluate("rows => rows.scrollWidth - rows.clientWidth") == 0
        cells = visit.panel(name).locator('tbody [data-column="message"]')
        assert cells.evaluate_all("cells => cells.every(c => c.scrollHeight <= c.clientHeight)")


def bars(visit: Visit, panel: str) -> dict[str, float]:
    """Names and lengths in pixels of the bars of a chart."""
    found: list[list[Any]] = visit.panel(panel).evaluate(
        """panel => {
            const texts = [...panel.querySelectorAll(".role-axis-label text")].map(
                text => [text.textContent, text.getBoundingClientRect()]);
            return [...panel.querySelectorAll(".mark-rect.role-mark path")].map(path => {
                const bar = path.getBoundingClientRect();
                const middle = bar.top + bar.height / 2;
                const [name] = texts.find(([_, at]) => at.top < middle && at.bottom > middle);
                return [name, bar.width];
            });
        }"""
    )
    return dict(found)


def test_a_phone_shows_whole_messages_and_short_numbers(visit: Visit, report: Path) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.goto(report.as_uri())
    messages = visit.panel("recommendations").locator("td.prose").all()
    messages += visit.panel("quality").locator("td.prose").all()
    assert len(messages) > 2
    for message in messages:
        box = message.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    # A word of any length is broken rather than make the page wider.
    messages[0].evaluate("(cell) => { cell.textContent = 'x'.repeat(200); }")
    visit.page.locator(".empty").first.evaluate("(said) => { said.textContent = 'x'.repeat(200); }")
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    # Three digits, and all of them where the mouse rests.
    cell = visit.panel("recommendations").locator('td[data-column="cost_per_step_us"]').first
    assert re.fullmatch(r"\d\.\d\d ms|\d\d\.\d ms|\d{3} (ms|µs)", cell.inner_text())
    exact = cell.get_attribute("title")
    assert exact is not None
    assert len(exact) > 4


def test_what_is_nested_is_not_added_up(visit: Visit, report: Path) -> None:
    """An operator's total has the totals of those inside it: the rest of them is no bar."""
    visit.page.goto(report.as_uri())
    data = data_of(report)["operators-table"]
    chosen = visit.panel("operators-table").get_by_role("combobox", name="By")
    names = [column["name"] for column in data["columns"]]

    def others() -> list[str]:
        return [name for name in bars(visit, "operators-table") if name.endswith(" others")]

    chosen.select_option(label="host self")
    self_us = data["values"][names.index("host_self_us")]
    expect(visit.panel("operators-table").get_by_text(" others")).to_have_count(1)
    shown = bars(visit, "operators-table")
    largest = max(self_us)
    assert sum(shown.values()) / max(v for k, v in shown.items() if k not in others()) == (
        pytest.approx(sum(self_us) / largest, rel=0.01)
    )
    chosen.select_option(label="host total")
    expect(visit.panel("operators-table").get_by_text(" others")).to_have_count(0)


def test_a_table_is_sorted_by_mouse_and_by_key(visit: Visit, report: Path) -> None:
    visit.page.goto(report.as_uri())
    panel = visit.panel("operators-table")
    head = panel.locator("th", has=visit.page.get_by_text("calls", exact=True))
    head.get_by_text("calls", exact=True).click()
    expect(head).to_have_attribute("aria-sort", "descending")
    calls = [int(text.replace(",", "")) for text in visit.column("operators-table", "calls")]
    assert calls == sorted(calls, reverse=True)
    head.get_by_role("button").focus()
    visit.page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    calls = [int(text.replace(",", "")) for text in visit.column("operators-table", "calls")]
    assert calls == sorted(calls)
    assert calls[0] < 10


def test_a_table_is_searched_and_filtered(visit: Visit, report: Path) -> None:
    visit.page.goto(report.as_uri())
    panel = visit.panel("operators-table")
    panel.get_by_role("searchbox", name="Search all columns").fill("convolution_backw")
    panel.get_by_text(re.compile(r"^1 of \d+ rows$")).wait_for()
    assert visit.column("operators-table", "name") == ["aten::convolution_backward"]
    panel.get_by_role("searchbox", name="Search all columns").fill("")
    panel.get_by_text(re.compile(r"^\d+ rows$")).wait_for()
    panel.get_by_label("calls: at least", exact=True).press_sequentially("300")
    panel.get_by_text(re.compile(r"^\d of \d+ rows$")).wait_for()
    calls = [int(text) for text in visit.column("operators-table", "calls")]
    assert calls
    assert min(calls) >= 300
    panel.get_by_label("calls: at least", exact=True).fill("")
    panel.get_by_label("tensor core eligible: contains").fill("yes")  # as the cells say
    panel.get_by_text(re.compile(r"^\d+ of \d+ rows$")).wait_for()
    assert {*visit.column("operators-table", "tensor_core_eligible")} == {"yes"}


def test_a_stretch_of_the_memory_curve_lists_what_lived_then(visit: Visit, report: Path) -> None:
    visit.page.goto(report.as_uri())
    before = visit.panel("memory-events").locator(".said").inner_text()
    panel = visit.panel("memory-curve")
    box = panel.locator(".chart").bounding_box()
    assert box is not None
    visit.page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 150)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 160, steps=5)
    visit.page.mouse.up()
    panel.get_by_text("Blocks of cpu allocated between").wait_for()
    after = visit.panel("memory-events").locator(".said").inner_text()
    total = before.split()[0]
    assert re.fullmatch(rf"[\d,]+ of {total} rows", after)
    assert 0 < int(after.split()[0].replace(",", "")) < int(total.replace(",", ""))


def test_and_so_do_two_numbers(visit: Visit, report: Path) -> None:
    visit.page.goto(report.as_uri())
    panel = visit.panel("memory-curve")
    panel.get_by_label("From").fill("10")
    panel.get_by_label("to", exact=False).last.fill("12")
    visit.page.keyboard.press("Tab")
    panel.get_by_text("Blocks of cpu allocated between 10 ms and 12 ms").wait_for()


def until(condition: Callable[[], bool]) -> None:
    """Wait for a chart, which is drawn a moment after it was asked for."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def height(panel: Locator) -> float:
    box = panel.locator(".chart").bounding_box()
    assert box
    return box["height"]


def test_a_flame_graph_is_drilled_into(visit: Visit, report: Path) -> None:
    visit.page.goto(report.as_uri())
    panel = visit.panel("stacks")
    button = panel.get_by_role("button", name="All")
    assert button.is_hidden()
    whole = height(panel)
    panel.locator("canvas").click(position={"x": 150, "y": 110})
    button.wait_for()
    until(lambda: height(panel) < whole)
    button.click()
    until(lambda: height(panel) == whole)


def test_the_bars_are_of_what_is_asked_for(visit: Visit, report: Path) -> None:
    visit.page.goto(report.as_uri())
    panel = visit.panel("operators-table")
    small = height(panel)
    panel.get_by_label("Top").select_option("20")
    until(lambda: height(panel) > small)
    panel.get_by_role("combobox", name="By").select_option(label="calls")


def test_a_run_beside_itself(samples: tracewh.Warehouse, visit: Visit, tmp_path: Path) -> None:
    page = tmp_path / "same.html"
    run = "resnet_workers_0"
    words = ["report", run, "--baseline", run, "-o", str(page), "-w", str(samples.path)]
    with panels_only("steps", *(panel.id for panel in COMPARED.panels), has_verdict=False):
        assert main(words) == 0
    visit.page.goto(page.as_uri())
    visit.all_panels()
    for panel in ("diff-steps", "diff-operators"):
        assert "No differences." in visit.panel(panel).inner_text()
    assert visit.panel("diff-modules").locator(".aligned .strip").count() == 3


def test_names_are_only_text(visit: Visit, tmp_path: Path) -> None:
    """In operators, stacks, the run and the worker."""
    run = tmp_path / "log" / "<b>run</b>"
    run.mkdir(parents=True)
    event = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {}}
    step = {**event, "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 100}
    (run / "<i>w.pt.trace.json").write_text(
        json.dumps({"traceEvents": [step, {**event, "name": HOSTILE}]}), "utf-8"
    )
    warehouse = str(tmp_path / "warehouse")
    assert main(["ingest", str(tmp_path / "log"), "-w", warehouse]) == 0
    page = tmp_path / "report.html"
    assert main(["report", "<b>run</b>", "-o", str(page), "-w", warehouse]) == 0
    visit.page.goto(page.as_uri())
    visit.all_panels()
    assert HOSTILE in visit.column("operators-table", "name")
    assert visit.page.locator("h1").inner_text() == "<b>run</b>"
    assert visit.page.locator("img").count() == 0


def test_long_stacks_are_in_a_file_once(visit: Visit, tmp_path: Path) -> None:
    """300 operators in 40 frames with names of 1,000 characters: 12 MB of stacks."""
    event = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1}
    frames = [
        {**event, "name": f"{n}".ljust(1000, "f"), "ts": n, "dur": 9_000 - 2 * n} for n in range(40)
    ]
    leaves = [{**event, "name": f"op {n}", "ts": 100 + 10 * n, "dur": 5} for n in range(300)]
    trace = tmp_path / "deep.pt.trace.json"
    trace.write_text(json.dumps({"traceEvents": [*frames, *leaves]}), "utf-8")
    warehouse, page = str(tmp_path / "warehouse"), tmp_path / "report.html"
    assert main(["ingest", str(trace), "--run", "deep", "-w", warehouse]) == 0
    with panels_only("stacks", has_verdict=False):
        assert main(["report", "deep", "-o", str(page), "-w", warehouse]) == 0
    assert page.stat().st_size < 3_000_000
    names = ";".join(str(frame["name"]) for frame in frames)
    visit.page.goto(page.as_uri())
    visit.all_panels()
    stacks = visit.column("stacks", "stack")
    assert any(stack.startswith(f"{names};op ") for stack in stacks)


def test_what_is_left_out_is_said(visit: Visit, tmp_path: Path) -> None:
    """2,100 operators, of which the page has 2,000; of lines, of which there are none, nothing."""
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"op {n}", "pid": 1, "tid": 1, "ts": 10 * n, "dur": 5}
        for n in range(2100)
    ]
    trace = tmp_path / "many.pt.trace.json"
    trace.write_text(json.dumps({"traceEvents": events}), "utf-8")
    warehouse, page = str(tmp_path / "warehouse"), tmp_path / "report.html"
    assert main(["ingest", str(trace), "--run", "many", "-w", warehouse]) == 0
    with panels_only("operators-table", "stacks", "lines", has_verdict=False):
        assert main(["report", "many", "-o", str(page), "-w", warehouse]) == 0
    visit.page.goto(page.as_uri())
    said = "At most 2,000 rows are shown, also in the chart."
    assert said in visit.panel("operators-table").inner_text()
    assert said in visit.panel("stacks").inner_text()
    assert said not in visit.panel("lines").inner_text()
    panel = visit.panel("operators-table")
    expect(panel.get_by_text("2,000 rows", exact=True)).to_be_visible()
    assert 10 < panel.locator("tbody tr").count() < 300  # only those on the screen
    panel.get_by_label("name: contains").press_sequentially("op 20")
    expect(panel.get_by_text(" of 2,000 rows")).to_be_visible()
    assert all("op 20" in name for name in visit.column("operators-table", "name"))
    # A print has no more rows than the screen.
    visit.page.emulate_media(media="print")
    note = "box => getComputedStyle(box, '::after').content"
    assert "a print has only the rows" in panel.locator(".table").evaluate(note)


def test_paper_shows_all_panels_in_the_light_theme(visit: Visit, report: Path) -> None:
    page = visit.page
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 700, "height": 800})
    page.goto(report.as_uri())
    page.locator("#panel-verdict[data-drawn]").wait_for()
    assert page.locator("article[data-panel]:not([data-drawn])").count() > 2
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(f"dispatchEvent(new Event('beforeprint')) && {theme}") == "light"
    expect(page.locator("article[data-panel]:not([data-drawn=yes])")).to_have_count(0)
    page.emulate_media(media="print")
    right = "boxes => Math.max(...boxes.map((box) => box.getBoundingClientRect().right))"
    assert page.locator(".chart svg, .chart canvas, .scrolled table").evaluate_all(right) <= 700
    # Of a table that is wider, the last columns stand beside it.
    cut = "boxes => boxes.filter((box) => getComputedStyle(box).overflowX !== 'visible').length"
    assert page.locator(".table.scrolled, .table.scrolled .dt-layout-cell").evaluate_all(cut) == 0
    color = "bar => getComputedStyle(bar).printColorAdjust"  # else a printer leaves bars out
    assert page.locator(".bar .part").first.evaluate(color) == "exact"
    page.emulate_media(media="screen")
    assert page.evaluate(f"dispatchEvent(new Event('afterprint')) && {theme}") == "dark"


def test_the_sql_is_copied(visit: Visit, report: Path) -> None:
    """Also from a page over plain HTTP, to which a browser gives no clipboard."""
    page = visit.page
    page.goto(report.as_uri())
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    panel = visit.panel("steps")
    panel.locator("summary").click()
    sql = panel.locator("code").inner_text()
    panel.locator(".copy").click()
    expect(panel.locator(".copy")).to_have_text("Copied")
    searchbox = visit.panel("operators-table").get_by_role("searchbox").first
    searchbox.focus()
    page.keyboard.press("Control+v")
    expect(searchbox).to_have_value(sql.replace("\n", " "))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["nope"],
            "no run named 'nope'; the runs are ddp_gloo, resnet_workers_0, resnet_workers_2",
        ),
        (["ddp_gloo", "--baseline", "ddp"], "no run named 'ddp'; did you mean 'ddp_gloo'?"),
        (
            ["ddp_gloo", "--worker", "rank7"],
            "no worker named 'rank7'; did you mean 'rank0' or 'rank1'?",
        ),
        (
            ["ddp_gloo", "-o", "missing/report.html"],
            "missing/report.html: the parent folder does not exist",
        ),
    ],
)
def test_what_cannot_be_written(
    arguments: list[str],
    said: str,
    samples: tracewh.Warehouse,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *arguments, "-w", str(samples.path)]) != 0
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
