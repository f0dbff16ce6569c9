"""The timeline of a page, in a browser: what it draws, and what happens on keys, wheel, drag and click."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.conftest import revisit as visit
from tests.cli.report.parts import panels_only
from tests.cli.report.servers import ENDLESS, answer_of, sent, started
from tracewh.cli.report.report_trace import choose_trace
from tracewh.cli.report.timeline import critical_path_at, embedded
from tracewh.cli.report.write import write_report
from tracewh.notebook.pictures import timeline

__all__ = ["visit"]

MS = 1_000_000
#: Two steps of 10 ms. The loader runs for 4 ms of each, then an operator launches a kernel of 3 ms; inside the
#: operator are 100 additions of 1 us. A second thread only waits for the device.
STEPS, STEP_US = 2, 10_000


def event(category: str, name: str, tid: int, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    pid = 0 if tid == 7 else 1
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def events() -> Iterator[dict[str, Any]]:
    for step in range(STEPS):
        at = step * STEP_US
        yield event("user_annotation", f"ProfilerStep#{step + 1}", 1, at, STEP_US)
        yield event("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 1, at, 4000)
        shape = {"Input Dims": [[8, 16], [16, 4]]}
        yield event(
            "cpu_op", "aten::linear", 1, at + 4000, 2000, **shape, **{"External id": step + 1}
        )
        for n in range(100):
            yield event("cpu_op", "aten::add", 1, at + 4100 + 5 * n, 1)
        launch = {"correlation": step + 1, "External id": step + 1}
        yield event("cuda_runtime", "cudaLaunchKernel", 1, at + 5000, 10, **launch)
        grid = {"device": 0, "stream": 7, "grid": [4, 1, 1], "block": [128, 1, 1]}
        yield event("kernel", "gemm_kernel", 7, at + 6000, 3000, **launch, **grid)
        yield event("cuda_runtime", "cudaEventQuery", 2, at + 7000, 10)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("timeline")
    (folder / "trained").mkdir()
    trace = {"schemaVersion": 1, "traceEvents": list(events())}
    (folder / "trained" / "rank0.json").write_text(json.dumps(trace), "utf-8")
    tracewh.ingest([folder / "trained"], folder / "warehouse")
    return folder / "warehouse"


@pytest.fixture(scope="module")
def page(warehouse: Path) -> Path:
    path = warehouse.parent / "report.html"
    with panels_only("steps"):
        write_report(str(warehouse), "trained", None, None, path)
    return path


class Drawn:
    """A timeline on the screen."""

    def __init__(self, visit: Visit, url: str) -> None:
        self.visit = visit
        self.page = visit.page
        self.page.goto(url)
        self.box = self.page.locator(".timeline-box")
        self.page.locator(".timeline-box[data-view][data-drawn]").wait_for()
        # It is above the timeline, and a server may have it later; some pages have none.
        expect(self.page.locator("#panel-verdict:not([data-drawn])")).to_have_count(0)
        self.details = self.page.locator(".timeline-details")
        self.is_settled()

    def is_settled(self) -> None:
        """Wait until what is in view is drawn."""
        self.page.wait_for_function(
            """() => {
                const { timeline } = document.getElementById("timeline");
                const { from, to } = timeline.view;
                return timeline.main.gaps && timeline.box.getAttribute("aria-busy") === "false"
                    && timeline.box.dataset.view === `${Math.round(from)} ${Math.round(to)}`;
            }"""
        )

    def ask(self, script: str) -> Any:
        return self.page.evaluate(
            f'() => {{ const t = document.getElementById("timeline").timeline; return {script}; }}'
        )

    @property
    def view(self) -> tuple[float, float]:
        """The range in view, in ms."""
        self.is_settled()
        start, end = self.ask("[t.view.from, t.view.to]")
        return round(start / MS, 2), round(end / MS, 2)

    def point(self, lane: str, ms: float, depth: int = 0, track: int = 0) -> tuple[float, float]:
        """Where an instant of a lane is on the screen."""
        self.box.scroll_into_view_if_needed()
        x, y = self.ask(
            f"""[t.placed.find((each) => each.track === t.tracks[{track}] && each.lane?.lane === {lane!r})]
                 .flatMap(({{ top, row }}) => [t.xOf({ms * MS}), top - t.scroll + {depth + 0.5} * row])"""
        )
        bounds = self.page.locator(".timeline-box canvas").bounding_box()
        assert bounds is not None
        return bounds["x"] + x, bounds["y"] + y

    def click(self, lane: str, ms: float, depth: int = 0, track: int = 0) -> None:
        self.page.mouse.click(*self.point(lane, ms, depth, track))

    def fact(self, name: str) -> str:
        """One line of the details."""
        found = self.details.locator(f'dt:text-is("{name}") + dd')
        return found.inner_text()

    def press(self, *keys: str) -> None:
        self.box.focus()
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture
def report(visit: Visit, page: Path) -> Drawn:
    return Drawn(visit, page.as_uri())


@pytest.fixture(scope="module")
def address(warehouse: Path) -> Iterator[str]:
    with tracewh.open(warehouse) as opened:
        server, address = started(opened, "--time-limit", "600", panels=["steps"])
    yield address
    server.terminate()
    server.communicate(timeout=60)


@pytest.fixture
def live(visit: Visit, address: str) -> Iterator[Drawn]:
    yield Drawn(visit, f"{address}?run=")
    visit.page.goto("about:blank")


def test_lanes_are_named_and_a_step_is_shown_first(report: Drawn) -> None:
    assert report.ask("t.placed.map(({ lane, curve }) => lane?.label ?? curve.series)") == [
        *("Steps", "Main thread", "Device 0, stream 7", "gpu_busy", "queue_length", "memory"),
    ]
    detail = "t.placed.at(-2).track.curveDetail(t.placed.at(-2).curve, t.placed.at(-2).device)"
    assert report.ask(detail) == "up to 1 event"
    assert report.view == (0, 10)


def test_keys_zoom_move_and_fit(report: Drawn) -> None:
    report.press("f")
    assert report.view == (0, 20)
    report.press("w")
    start, end = report.view
    assert (start + end) / 2 == pytest.approx(10, abs=0.1) and end - start < 15
    report.press("d")
    assert report.view[0] > start
    report.press("a")
    assert report.view == (start, end)
    report.press("s", "s")
    assert report.view[0] < 0 and report.view[1] - report.view[0] > 20
    assert report.ask("t.painter.ticks()[0].text") == "0 ms"


def test_the_wheel_zooms_around_the_pointer(report: Drawn) -> None:
    x, y = report.point("stream 0 7", 7)
    report.page.mouse.move(x, y)
    report.page.keyboard.down("Control")
    report.page.mouse.wheel(0, -800)
    report.page.keyboard.up("Control")
    start, end = report.view
    assert end - start < 5 and start < 7 < end
    assert report.point("stream 0 7", 7)[0] == pytest.approx(x, abs=2)


def test_the_wheel_scrolls_a_page_whose_timeline_is_not_chosen(report: Drawn) -> None:
    before = report.view
    report.page.mouse.move(*report.point("stream 0 7", 7))
    report.page.mouse.wheel(0, 300)
    report.page.wait_for_function("() => scrollY > 0")
    assert report.view == before


def test_a_click_tells_what_an_event_is(report: Drawn) -> None:
    report.click("thread 1 1", 5.5, 1)
    assert (report.fact("name"), report.fact("duration")) == ("aten::linear", "2 ms")
    assert report.fact("events like it") == "FROM operator_calls(op := 'aten::linear')"
    report.click("stream 0 7", 7)
    assert (report.fact("name"), report.fact("launched by")) == ("gemm_kernel", "cudaLaunchKernel")
    assert report.ask("t.selected.links.map((link) => link.start)") == [5 * MS]
    report.press("Escape")
    expect(report.details).to_contain_text("Select an event")


def test_the_arrow_keys_go_from_event_to_event(report: Drawn) -> None:
    report.press("f", "ArrowRight")
    assert report.fact("name") == "ProfilerStep#1"
    report.press("ArrowDown")
    assert report.fact("name") == "enumerate(DataLoader)#_Iter.__next__"
    report.press("ArrowRight")
    assert report.fact("name") == "aten::linear"
    report.press("ArrowUp", "ArrowRight")
    assert report.fact("name") == "ProfilerStep#2"


def test_a_search_finds_one_event_after_the_other(report: Drawn) -> None:
    report.press("/")
    report.page.keyboard.type("GEMM")
    report.page.keyboard.press("Enter")
    said = report.page.locator(".timeline-bar .said")
    expect(said).to_have_text("1 of 2")
    assert report.ask("t.selected.start") == 6 * MS
    report.page.keyboard.press("Enter")
    expect(said).to_have_text("2 of 2")
    assert report.ask("t.selected.start") == 16 * MS
    start, end = report.view
    assert start < 16 < end
    report.press("n")
    expect(said).to_have_text("1 of 2")
    report.press("p")
    expect(said).to_have_text("2 of 2")
    report.page.get_by_label("Search events").fill("softmax")
    report.page.keyboard.press("Enter")
    expect(said).to_have_text(
        "Not found in this file, which names only the longest event of a block. tracewh serve searches all events."
    )


def test_a_search_finds_blocks_as_blocks(report: Drawn) -> None:
    """Of the second step the file has blocks only: 100 additions of 1 us in 496 us."""
    report.page.get_by_label("Search events").fill("add")
    report.page.keyboard.press("Shift+Enter")
    assert report.ask("t.selected.start") > 14 * MS
    assert re.fullmatch(
        r"[34] events in .* µs, .* % of it covered; the longest:", report.fact("block")
    )
    assert report.fact("name") == "aten::add"
    expect(report.details.locator("dt")).to_have_text(["block", "name", "on", "events like it"])


def drag(drawn: Drawn, start: tuple[float, float], end: tuple[float, float]) -> None:
    drawn.page.mouse.move(*start)
    drawn.page.mouse.down()
    drawn.page.mouse.move(*end, steps=4)
    drawn.page.mouse.up()


def test_a_range_is_added_up(report: Drawn) -> None:
    drag(report, report.point("stream 0 7", 5), report.point("stream 0 7", 7.5))
    expect(report.details).to_contain_text("2.5 ms selected.")
    rows = report.details.locator("table").nth(1).locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [["gemm_kernel", "1", "1.5 ms"]]


def test_blocks_in_a_range_have_no_name(report: Drawn) -> None:
    """A block has the name of its longest event only, and would be counted as so many calls of that."""
    report.press("f")
    report.is_settled()
    drag(report, report.point("stream 0 7", 5), report.point("stream 0 7", 19.5))
    rows = report.details.locator("table").first.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in rows] == [
        ["aten::linear", "2"],
        ["blocks of short events", "99"],
        ["aten::add", "1"],
    ]


def test_a_range_is_added_up_by_the_server(live: Drawn) -> None:
    live.press("f")
    live.is_settled()
    drag(live, live.point("stream 0 7", 5), live.point("stream 0 7", 17.5))
    expect(live.details).to_contain_text("Device 0 busy 36 %")
    tables = live.details.locator("table")
    # Of an operator that begins in the range all its own time counts, of a kernel only what is in the range.
    expect(tables.nth(0).locator("caption")).to_have_text(
        "Operators that begin in it, by all their own host time"
    )
    operators = tables.nth(0).locator("tbody tr").all_inner_texts()
    assert operators[0].split("\t")[:2] == ["aten::linear", "1"]
    [kernel] = tables.nth(1).locator("tbody tr").all_inner_texts()
    assert kernel.split("\t")[:2] == ["gemm_kernel", "2"]


def test_the_strip_jumps(report: Drawn) -> None:
    bounds = report.page.locator(".timeline-box canvas").bounding_box()
    assert bounds is not None
    report.page.mouse.click(bounds["x"] + bounds["width"] - 5, bounds["y"] + 12)
    start, end = report.view
    assert end - start == pytest.approx(10, abs=0.1) and start > 9.5


def test_the_axis_is_dragged(report: Drawn) -> None:
    report.press("f", "w", "w")
    start, end = report.view
    bounds = report.page.locator(".timeline-box canvas").bounding_box()
    assert bounds is not None
    x, y = bounds["x"] + bounds["width"] / 2, bounds["y"] + 46
    drag(report, (x, y), (x - 100, y))
    assert report.view[0] > start and report.view[1] - report.view[0] == pytest.approx(
        end - start, abs=0.02
    )


def test_short_events_are_blocks_until_one_zooms(live: Drawn) -> None:
    live.press("f")
    live.is_settled()
    count = "t.main.rectangles.events.filter((n) => n > 1).length"
    assert live.ask(count) > 20
    assert live.ask("t.main.rectangles.events.reduce((a, b) => a + b)") == 2 * 107
    for _ in range(12):
        live.press("w")
    live.is_settled()
    assert live.ask(count) == 0
    live.page.get_by_title("the step of median length").click()
    live.is_settled()
    live.click("stream 0 7", 7)
    expect(live.details).to_contain_text("4 × 1 × 1 blocks of 128 × 1 × 1 threads")
    assert live.fact("operator") == "aten::linear"
    assert live.fact("launched by") == "cudaLaunchKernel, 1 ms before"
    assert live.fact("inside") == "ProfilerStep#1 › aten::linear"


def test_gaps_have_their_cause(report: Drawn) -> None:
    gaps = report.ask("t.main.gaps")
    assert (gaps["start"], gaps["length"]) == ([9 * MS], [7 * MS])
    assert gaps["texts"]["host_op"] == ["enumerate(DataLoader)#_Iter.__next__"]
    assert (
        report.ask("t.main.gapText(0)")
        == "7.0 ms idle: the host runs enumerate(DataLoader)#_Iter.__next__"
    )
    before = picture(report)
    report.page.get_by_role("button", name="Gaps").click()
    assert picture(report) != before


def test_a_device_with_work_that_was_not_recorded_is_not_idle(visit: Visit, tmp_path: Path) -> None:
    """The second kernel starts 5 ms after its launch, at the end of 7 ms without recorded work."""
    given = list(events())
    launches = [each for each in given if each["name"] == "cudaLaunchKernel"]
    launches[1]["ts"] -= 4000
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "rank0.json").write_text(json.dumps({"traceEvents": given}), "utf-8")
    tracewh.ingest([tmp_path / "late"], tmp_path / "warehouse")
    with panels_only("steps"):
        write_report(str(tmp_path / "warehouse"), "late", None, None, tmp_path / "report.html")
    drawn = Drawn(visit, (tmp_path / "report.html").as_uri())
    assert drawn.ask("t.main.gapText(0)") == (
        "7.0 ms: for 5.0 ms the device does work that is not in the trace"
    )


def picture(drawn: Drawn) -> str:
    drawn.page.wait_for_timeout(100)  # an animation frame
    return str(
        drawn.page.evaluate("() => document.querySelector('.timeline-box canvas').toDataURL()")
    )


def test_the_critical_path_is_marked(report: Drawn) -> None:
    before = picture(report)
    report.page.get_by_role("button", name="Critical path").click()
    report.page.wait_for_function(
        "() => document.getElementById('timeline').timeline.main.critical?.events.size > 2"
    )
    assert picture(report) != before


def path_of_step(drawn: Drawn, number: int) -> None:
    """Wait until the critical path of a step is the one that is marked."""
    start = (number - 1) * STEP_US * 1000
    drawn.page.wait_for_function(
        """([start, end]) => {
            const { critical } = document.getElementById("timeline").timeline.main;
            return critical?.from === start && critical.to === end && critical.events.size > 2
                && critical.start.every((each) => each >= start && each < end);
        }""",
        arg=[start, start + STEP_US * 1000],
    )


def test_the_critical_path_is_that_of_the_step_in_view(live: Drawn) -> None:
    live.page.get_by_role("button", name="Critical path").click()
    path_of_step(live, 1)
    live.page.locator(".step").nth(1).click()
    path_of_step(live, 2)
    marked = picture(live)
    live.page.get_by_role("button", name="Critical path").click()
    assert picture(live) != marked
    live.page.get_by_role("button", name="Critical path").click()
    live.press("f")
    live.is_settled()
    live.click("stream 0 7", 7)  # what is selected counts more than the middle of the view
    path_of_step(live, 1)
    live.click("stream 0 7", 17)
    path_of_step(live, 2)


@pytest.mark.parametrize(("ms", "start"), [(-5, 0), (0, 0), (9.9, 0), (10, 10), (25, 10)])
def test_the_critical_path_at_a_time_is_that_of_the_nearest_step(
    warehouse: Path, ms: float, start: int
) -> None:
    with tracewh.open(warehouse) as opened:
        trace = choose_trace(opened, "trained", None, None, None)
        found = critical_path_at(opened, trace, int(ms * MS))
    assert (found["from"], found["to"]) == (start * MS, (start + 10) * MS)
    assert sum(found["length"]) == 10 * MS


def test_threads_that_only_wait_are_folded_away(report: Drawn) -> None:
    assert "thread 1 2" not in report.ask("t.placed.map((each) => each.lane?.lane)")
    button = report.page.get_by_role("button", name="1 more lane")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert "thread 1 2" in report.ask("t.placed.map((each) => each.lane?.lane)")


@pytest.mark.parametrize("width", [390, 768, 1920])
def test_it_fits_the_screen(visit: Visit, page: Path, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    drawn = Drawn(visit, page.as_uri())
    bounds = drawn.box.bounding_box()
    assert bounds is not None and bounds["x"] >= 0 and bounds["x"] + bounds["width"] <= width
    assert drawn.page.evaluate("() => document.documentElement.scrollWidth") <= width
    right, texts = drawn.ask(
        """[t.canvas.getContext("2d")].map((context) => {
            const ends = [], texts = [];
            context.fillText = (text, x) => { ends.push(x + context.measureText(text).width); texts.push(text); };
            t.painter.paint();
            delete context.fillText;
            return [Math.max(...ends), texts];
        })[0]"""
    )
    assert right <= drawn.ask("t.width")
    assert "trace_quality says how to record it." in texts
    drawn.click("stream 0 7", 7)
    assert drawn.fact("name") == "gemm_kernel"


def test_another_program_is_not_asked_for_memory(visit: Visit, tmp_path: Path) -> None:
    """trace_quality says nothing of the memory of such a trace, so no lane says that it does."""
    event = {
        "ph": "X",
        "name": "model_run",
        "cat": "Session",
        "ts": 1,
        "dur": 9,
        "pid": 1,
        "tid": 1,
    }
    (tmp_path / "trace.json").write_text(json.dumps([event]))
    tracewh.ingest([tmp_path / "trace.json"], tmp_path / "warehouse", run="other")
    with tracewh.open(tmp_path / "warehouse") as opened:
        path = timeline(opened, "other", None, None).save(tmp_path / "timeline.html")
    drawn = Drawn(visit, path.as_uri())
    devices = "t.main.devicesOf({ series: 'memory' })"
    assert drawn.ask(f"[t.main.source.found.is_of_another_program, {devices}]") == [True, []]


def test_it_is_drawn_in_the_colours_of_the_theme(report: Drawn) -> None:
    before = picture(report)
    report.page.get_by_role("button", name="Dark").click()
    assert picture(report) != before


def test_a_question_that_is_none(live: Drawn) -> None:
    address = live.page.url.partition("?")[0]
    for path, status, error in (
        ("event?event=x", 400, "event must be a whole number, not 'x'"),
        ("event?event=--5", 400, "event must be a whole number, not '--5'"),
        ("selection?start=1", 400, "end must be a whole number, not ''"),
        ("critical_path?at=", 400, "at must be a whole number, not ''"),
        ("nothing", 404, "unknown question"),
    ):
        answer = live.page.request.get(f"{address}api/timeline/{path}")
        assert (answer.status, answer.json()["error"]) == (status, error)
    answer = live.page.request.get(f"{address}api/timeline/event?lane=thread&event=99999")
    assert answer.json() == {"facts": None, "around": []}


def test_a_step_of_the_verdict_is_shown(report: Drawn) -> None:
    report.page.locator(".step").nth(1).click()
    assert report.view == (10, 20)
    # A file also holds the steps of other recordings, but not their timelines.
    report.ask("t.showStep(1, 'other')")
    assert report.view == (10, 20)
    expect(report.page.locator(".timeline-bar .said")).to_have_text(
        "The timeline is of span default, which does not have this step."
    )


def test_fifty_zoom_while_a_query_never_ends(address: str) -> None:
    path = "api/timeline/rectangles?start=0&end=20000000&pixels=100"
    endless = sent(address, ENDLESS)
    with ThreadPoolExecutor(50) as clients:
        answers = list(clients.map(lambda _: fetched(address + path), range(100)))
    assert {status for status, _ in answers} == {200}
    events = {sum(json.loads(body)["events"]) for _, body in answers}
    assert events == {2 * 107}
    endless.close()  # cancels the query
    assert answer_of(sent(address, "SELECT 42 AS answer"))["values"] == [[42]]


def fetched(url: str) -> tuple[int, bytes]:
    """The status and the body of an answer."""
    with urlopen(url, timeout=120) as answer:
        return answer.status, answer.read()


def test_a_trace_without_durations_has_no_timeline(visit: Visit, tmp_path: Path) -> None:
    instant = {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 5, "s": "t"}
    (tmp_path / "logs").mkdir()
    trace = {"schemaVersion": 1, "traceEvents": [instant]}
    (tmp_path / "logs" / "rank0.json").write_text(json.dumps(trace), "utf-8")
    tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    path = tmp_path / "report.html"
    with panels_only("steps", "operators-table"):
        write_report(str(tmp_path / "warehouse"), "logs", None, None, path)
    visit.page.goto(path.as_uri())
    expect(visit.page.locator("#timeline .empty")).to_have_text(
        "The trace has no events with a duration."
    )
    visit.all_panels()


def test_the_step_in_full_may_have_no_length(tmp_path: Path) -> None:
    """A page without a server has a part of the recording that is not empty."""
    steps = [event("user_annotation", f"ProfilerStep#{n}", 1, at, 0) for n, at in ((1, 0), (2, 9))]
    trace = {"schemaVersion": 1, "traceEvents": [*steps, event("cpu_op", "aten::mm", 1, 2, 3)]}
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "rank0.json").write_text(json.dumps(trace), "utf-8")
    tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as opened:
        found = embedded(opened, choose_trace(opened, "logs", None, None, None))
    assert found["step"]["start"] == found["step"]["end"]
    assert found["window"]["end"] == found["window"]["start"] + 1


def test_a_step_with_a_long_name_fits_a_phone(visit: Visit, tmp_path: Path) -> None:
    """Steps of serving frameworks are named after all that is in the batch."""
    name = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)"
    step = event("user_annotation", name, 1, 0, 9000)
    later = event("cpu_op", "aten::add", 1, 9500, 500)
    trace = {
        "schemaVersion": 1,
        "traceEvents": [step, event("cpu_op", "aten::mm", 1, 100, 8000), later],
    }
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "rank0.json").write_text(json.dumps(trace), "utf-8")
    tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    path = tmp_path / "report.html"
    with panels_only(has_verdict=False):
        write_report(str(tmp_path / "warehouse"), "logs", None, None, path)
    visit.page.set_viewport_size({"width": 390, "height": 844})
    drawn = Drawn(visit, path.as_uri())
    button = drawn.page.get_by_role("button", name=name)
    expect(button).to_have_attribute("title", f"{name}, the step of median length")
    box = button.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    assert drawn.page.evaluate("document.documentElement.scrollWidth") == 390
    # Its name does not have its number, by which the verdict calls it.
    drawn.press("f")
    assert drawn.view == (0, 10)
    drawn.ask("t.showStep(1)")
    assert drawn.view == (0, 9)


#: Python frames around the operator of a step: more than the screen has room for in full height.
FRAMES = 60


@pytest.fixture
def deep(visit: Visit, tmp_path: Path) -> Drawn:
    """The timeline of a step whose operator is called in many Python frames."""
    (tmp_path / "deep").mkdir()
    frames = [
        event("python_function", f"model.py({n}): frame_{n}", 1, 10 * n, 9900 - 20 * n)
        for n in range(1, FRAMES + 1)
    ]
    first_step = [
        each for each in events() if each["ts"] < STEP_US and "DataLoader" not in each["name"]
    ]
    trace = {"schemaVersion": 1, "traceEvents": [*first_step, *frames]}
    (tmp_path / "deep" / "rank0.json").write_text(json.dumps(trace), "utf-8")
    tracewh.ingest([tmp_path / "deep"], tmp_path / "warehouse")
    with panels_only(has_verdict=False):
        write_report(str(tmp_path / "warehouse"), "deep", None, None, tmp_path / "deep.html")
    return Drawn(visit, (tmp_path / "deep.html").as_uri())


def color_at(drawn: Drawn, lane: str, ms: float, depth: int) -> list[int]:
    """What is painted at an instant of a lane."""
    x, y = drawn.point(lane, ms, depth)
    found: list[int] = drawn.ask(
        f"""[t.canvas].map((canvas) => {{
            const {{ left, top }} = canvas.getBoundingClientRect();
            const copy = document.createElement("canvas").getContext("2d", {{ willReadFrequently: true }});
            copy.drawImage(canvas, left - {x}, top - {y});
            return [...copy.getImageData(0, 0, 1, 1).data];
        }})[0]"""
    )
    return found


def search(drawn: Drawn, text: str) -> None:
    drawn.page.get_by_label("Search events").fill(text)
    drawn.page.keyboard.press("Enter")
    expect(drawn.details.locator("dd").first).to_contain_text(text)


def test_a_deep_stack_leaves_room_for_the_device(deep: Drawn) -> None:
    main = "thread 1 1"
    row = "t.placed.find(({ lane }) => lane?.lane === 'thread 1 1').row"
    bottom = "t.placed.filter(({ lane }) => lane).map(({ top, height }) => top + height).at(-1)"
    assert 4 <= deep.ask(row) < 11
    assert deep.ask(bottom) <= deep.ask("t.height")
    depth = FRAMES + 1  # of the operator, below the step and the frames
    assert color_at(deep, main, 4.05, depth) == color_at(deep, main, 5.5, depth)
    assert color_at(deep, main, 4.05, depth - 1) == color_at(deep, main, 4.05, 1)
    assert color_at(deep, main, 4.05, depth) != color_at(deep, main, 4.05, depth - 1)
    deep.click(main, 4.05, depth)
    assert deep.fact("name") == "aten::linear"
    deep.press("ArrowUp")
    assert deep.fact("name").endswith(f"frame_{FRAMES}")
    deep.click(main, 4.05, depth - 11)
    assert deep.fact("name").endswith(f"frame_{FRAMES - 10}")
    # Search finds an event without moving the lanes, which are all in view.
    search(deep, "gemm_kernel")
    expect(deep.details.locator("dt:text-is('launched by') + dd")).to_be_visible()
    assert deep.ask("t.box.scrollTop") == 0
    # A reader can have the names instead.
    tall = deep.page.get_by_role("button", name="Tall rows")
    tall.click()
    assert deep.ask(row) == 16
    assert deep.ask(bottom) > deep.ask("t.height")
    search(deep, "frame_50")
    assert deep.fact("name").endswith("frame_50")
    assert deep.ask("t.box.scrollTop") > 0
    tall.click()
    assert deep.ask(bottom) <= deep.ask("t.height")


def test_rows_of_a_shallow_stack_keep_their_height(report: Drawn) -> None:
    assert report.ask("t.placed.filter(({ lane }) => lane).map(({ row }) => row)") == [16, 16, 16]
    expect(report.page.get_by_role("button", name="Tall rows")).to_be_hidden()
