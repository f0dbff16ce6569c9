"""Several workers in a timeline, and two runs: aligned, zoomed together, found and chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.conftest import revisit as visit
from tests.cli.report.parts import panels_only
from tests.cli.report.servers import started
from tests.cli.report.test_accessibility import axe, violations
from tests.cli.report.test_timeline import MS, Drawn, drag, event, events, picture
from tracewh.cli.report import timeline
from tracewh.cli.report.report_trace import choose_trace
from tracewh.cli.report.write import write_report

__all__ = ["axe", "visit"]
#: How far the clock of rank 2 is ahead, in us: it ran on another host.
AHEAD = 5000
#: By how much its four collectives end later than those of the others, in us: 0 in the lower median.
LATE = (0, 2, 4, -1)


def of_rank(rank: int) -> Iterator[dict[str, Any]]:
    """The events of a rank: those of test_timeline, and two collectives at the end of each step."""
    ahead = AHEAD if rank == 2 else 0
    for each in events():
        yield {**each, "ts": each["ts"] + ahead}
    for n, end in enumerate((9400, 9900, 19400, 19900)):
        late = LATE[n] if rank == 2 else 0
        # Rank 1 comes last.
        duration = 100 if rank == 1 else 300
        yield event(
            "user_annotation", "gloo:all_reduce", 1, end + ahead + late - duration, duration
        )


def written(path: Path, rank: int, of: list[dict[str, Any]]) -> None:
    trace = {
        "schemaVersion": 1,
        "host_name": "n2" if rank == 2 else "n1",
        "distributedInfo": {"rank": rank, "world_size": 3, "backend": "gloo"},
        "traceEvents": of,
    }
    path.write_text(json.dumps(trace), "utf-8")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stack")
    for run in ("many", "slower", "deep"):
        (folder / run).mkdir()
    for rank in range(3):
        written(folder / "many" / f"rank{rank}.json", rank, list(of_rank(rank)))
    # Everything takes twice as long, and begins 4 ms after the start of the trace.
    slower = [{**each, "ts": 2 * each["ts"] + 7000, "dur": 2 * each["dur"]} for each in events()]
    slower.append(event("cpu_op", "aten::empty", 1, 3000, 1000))
    written(folder / "slower" / "rank0.json", 0, slower)
    # In 50 Python frames.
    frames = [event("python_function", f"f{n}", 1, n, 30_000 - 2 * n) for n in range(50)]
    inner = [{**each, "ts": each["ts"] + 100} for each in events()]
    written(folder / "deep" / "rank0.json", 0, frames + inner)
    tracewh.ingest([folder / run for run in ("many", "slower", "deep")], folder / "warehouse")
    return folder / "warehouse"


@pytest.fixture(scope="module")
def page(warehouse: Path) -> Path:
    path = warehouse.parent / "many.html"
    with panels_only("workers", has_verdict=False):
        write_report(str(warehouse), "many", None, None, path)
    return path


@pytest.fixture(scope="module")
def compared_page(warehouse: Path) -> Path:
    path = warehouse.parent / "two.html"
    with panels_only(has_verdict=False):
        write_report(str(warehouse), "many", None, None, path, "slower")
    return path


@pytest.fixture(scope="module")
def address(warehouse: Path) -> Iterator[str]:
    with tracewh.open(warehouse) as opened:
        server, where = started(opened, panels=[], has_verdict=False)
    yield where
    server.terminate()
    server.communicate(timeout=60)


@pytest.fixture
def one(visit: Visit, page: Path) -> Drawn:
    return Drawn(visit, page.as_uri())


def stacked(drawn: Drawn) -> Drawn:
    """The timeline with all three workers."""
    drawn.page.get_by_role("button", name="All 3 workers").click()
    drawn.is_settled()
    return drawn


@pytest.fixture
def many(one: Drawn) -> Drawn:
    return stacked(one)


@pytest.fixture
def live(visit: Visit, address: str) -> Iterator[Drawn]:
    yield Drawn(visit, f"{address}?run=many")
    visit.page.goto("about:blank")


def names(drawn: Drawn) -> list[str]:
    return list(drawn.ask("t.tracks.map((track) => track.name)"))


def test_a_file_finds_the_blocks_of_each_worker_without_the_files_of_all_others(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the time for a job with many workers would grow by the square of them."""
    folded, found = timeline._folded, set()

    def seen(opened: tracewh.Warehouse, *values: Any) -> dict[str, Any]:
        found.add(tuple(opened.sql("SELECT run, worker FROM traces").fetchall()))
        return folded(opened, *values)

    monkeypatch.setattr(timeline, "_folded", seen)
    with tracewh.open(warehouse) as opened:
        opened.select_runs(["many"])
        trace = choose_trace(opened, "many", None, None, None)
        main = timeline.embedded(opened, trace)
        stack = timeline.embedded_stack(opened, trace, main, 10**6)
        assert found == {(("many", "rank1"),), (("many", "rank2"),)}
        assert [each and each["worker"] for each in stack["found"]] == [None, "rank1", "rank2"]
        assert opened.sql("SELECT DISTINCT run FROM traces").fetchall() == [("many",)]


def test_workers_stand_under_each_other_on_one_clock(many: Drawn) -> None:
    assert names(many) == ["rank 0", "rank 1", "rank 2"]
    assert many.view == (0, 10)
    assert many.page.locator(".timeline-stack .said").inner_text().replace("\u00a0", " ") == (
        "Rank 1 ran on the host of rank 0 and shares its clock. The times of rank 2 are moved by"
        " −5.0 ms to the clock of rank 0. Then 4 collectives end together, within 1.0 µs."
    )
    starts = many.ask(
        """t.tracks.map((track) => track.inLane("thread 1 1")
            .filter((n) => track.rectangles.nameOf(n) === "gloo:all_reduce")
            .map((n) => track.rectangles.start[n] + track.shift + track.rectangles.length[n]))"""
    )
    assert starts[0][:2] == starts[1][:2] == [9.4 * MS, 9.9 * MS]
    assert starts[2][:2] == pytest.approx(starts[0][:2], abs=5000)
    # Folded: two depths of the main thread, and the stream.
    assert (
        many.ask("t.placed.filter(({ lane }) => lane).map(({ lane, rows }) => [lane.label, rows])")
        == [
            ["Main thread", 2],
            ["Device 0, stream 7", 1],
        ]
        * 3
    )


def test_keys_and_wheel_zoom_all_of_them(many: Drawn) -> None:
    many.press("f")
    assert many.view == (0, 20)
    before = picture(many)
    x, y = many.point("stream 0 7", 7, track=2)
    many.page.mouse.move(x, y)
    many.page.keyboard.down("Control")
    many.page.mouse.wheel(0, -800)
    many.page.keyboard.up("Control")
    start, end = many.view
    assert end - start < 7 and start < 7 < end
    assert picture(many) != before
    many.press("d")
    assert many.view[0] > start
    assert many.ask("new Set(t.tracks.map((track) => track.loaded)).size") == 1


def test_a_click_on_a_worker_below(many: Drawn) -> None:
    many.click("stream 0 7", 7, track=2)
    assert many.fact("name") == "gemm_kernel"
    assert many.fact("on").startswith("rank 2 · Device 0, stream 7")
    assert many.fact("start") == "6 ms"


def test_a_search_finds_events_of_all_workers(many: Drawn) -> None:
    many.press("/")
    many.page.keyboard.type("gemm")
    many.page.keyboard.press("Enter")
    said = many.page.locator(".timeline-bar .said")
    expect(said).to_have_text("1 of 6, rank 0")
    many.page.keyboard.press("Enter")
    expect(said).to_have_text("2 of 6, rank 1")
    many.page.keyboard.press("Enter")
    expect(said).to_have_text("3 of 6, rank 2")
    assert many.fact("on").startswith("rank 2")


def test_a_worker_is_unfolded_and_taken_away(many: Drawn) -> None:
    many.page.locator(".chip button").nth(0).click()
    assert many.ask("t.placed.filter(({ track, lane }) => lane && track === t.main).length") == 3
    assert many.ask("t.placed.find(({ lane }) => lane?.role === 'main').rows") > 2
    # A click on its head folds it again.
    many.box.scroll_into_view_if_needed()
    bounds = many.page.locator(".timeline-box canvas").bounding_box()
    assert bounds is not None
    many.page.mouse.click(bounds["x"] + 10, bounds["y"] + many.ask("t.main.top") + 10)
    assert many.ask("t.main.isFolded")
    many.page.get_by_label("Take rank 1 out of the timeline").click()
    assert names(many) == ["rank 0", "rank 2"]
    many.page.get_by_label("Add a worker to the timeline").select_option(label="rank 1")
    assert names(many) == ["rank 0", "rank 1", "rank 2"]
    many.page.get_by_role("button", name="One worker").click()
    assert names(many) == [""]
    assert not many.ask("t.main.isFolded")


def test_workers_are_ticked_in_the_strips(one: Drawn) -> None:
    panel = one.visit.panel("workers")
    box = panel.get_by_label("Show rank 2 in the timeline")
    box.check()
    assert names(one) == ["rank 0", "rank 2"]
    one.page.get_by_label("Take rank 2 out of the timeline").click()
    expect(box).not_to_be_checked()
    expect(panel.get_by_label("Show rank 0 in the timeline")).to_be_disabled()


def test_all_of_it_by_keyboard(one: Drawn) -> None:
    one.page.get_by_role("button", name="All 3 workers").focus()
    one.page.keyboard.press("Enter")
    one.is_settled()
    # From the stream of rank 0 down to the main thread of rank 1.
    one.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown")
    assert one.fact("on").startswith("rank 1 · Main thread")
    chip = one.page.locator(".chip button").nth(1)
    chip.focus()
    one.page.keyboard.press("Enter")
    expect(chip).to_be_focused()
    expect(chip).to_have_attribute("aria-expanded", "true")
    one.page.keyboard.press("Tab")
    one.page.keyboard.press("Enter")
    assert names(one) == ["rank 0", "rank 2"]
    expect(one.box).to_be_focused()


@pytest.mark.parametrize("width", [390, 1440])
def test_a_stack_fits_the_screen(visit: Visit, page: Path, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    drawn = stacked(Drawn(visit, page.as_uri()))
    assert drawn.page.evaluate("() => document.documentElement.scrollWidth") <= width
    drawn.click("stream 0 7", 7, track=1)
    assert drawn.fact("name") == "gemm_kernel"


def test_a_stack_is_drawn_in_the_colours_of_the_theme(many: Drawn) -> None:
    before = picture(many)
    many.page.get_by_role("button", name="Dark").click()
    assert picture(many) != before


def test_a_server_tells_more_of_each_worker(live: Drawn) -> None:
    stacked(live)
    live.page.locator(".chip button").nth(3).click()
    live.is_settled()
    live.page.wait_for_function("() => document.getElementById('timeline').timeline.tracks[2].gaps")
    assert live.ask("t.tracks[2].gaps.start") == [9 * MS]
    live.click("stream 0 7", 7, track=2)
    expect(live.details).to_contain_text("4 × 1 × 1 blocks of 128 × 1 × 1 threads")
    assert live.fact("launched by") == "cudaLaunchKernel, 1 ms before"
    live.press("Escape", "f")
    live.is_settled()
    drag(live, live.point("stream 0 7", 5, track=2), live.point("stream 0 7", 17.5, track=2))
    expect(live.details).to_contain_text("of rank 2 selected. ")
    expect(live.details).to_contain_text("Device 0 busy 36 %")


def test_a_server_is_asked_for_what_is_on_the_screen_only(live: Drawn) -> None:
    live.page.set_viewport_size({"width": 1280, "height": 300})
    live.page.evaluate("() => { document.getElementById('timeline').timeline.layout(); }")
    stacked(live)
    live.page.evaluate(
        """() => { const t = document.getElementById("timeline").timeline;
            t.height = 150; t.box.style.height = "150px"; t.layout = () => {}; t.show(1e6, 2e6); }"""
    )
    live.is_settled()
    loaded = "t.tracks.map((track) => track.loaded?.startsWith('1000000 '))"
    assert live.ask(loaded)[0] and not live.ask(loaded)[2]


def steps_of(drawn: Drawn) -> Any:
    return drawn.ask("t.tracks.map((track) => track.step.start + track.shift)")


def test_two_runs_have_their_median_steps_under_each_other(
    visit: Visit, compared_page: Path, address: str
) -> None:
    for url in (compared_page.as_uri(), f"{address}?run=many&baseline=slower"):
        two = Drawn(visit, url)
        two.page.wait_for_function(
            "() => document.getElementById('timeline').timeline.tracks.length === 2"
        )
        assert names(two) == ["many", "baseline slower"]
        assert steps_of(two) == [0, 0]
        assert two.ask("t.baseline.shift") == -4 * MS
        assert two.view == (0, 20)
        assert two.ask("t.tracks.map((track) => track.isFolded)") == [False, False]
        two.click("stream 0 7", 14, track=1)
        assert (two.fact("name"), two.fact("duration")) == ("gemm_kernel", "6 ms")
        assert two.fact("start") == "16 ms"
        two.press("Escape", "w")
        start = two.view[0]
        loaded = two.ask("t.tracks.map((track) => parseFloat(track.loaded) + track.shift)")
        assert [round(each / MS, 2) for each in loaded] == [start, start]
    visit.page.goto("about:blank")


def test_two_runs_are_folded_if_they_are_too_high(visit: Visit, address: str) -> None:
    two = Drawn(visit, f"{address}?run=deep&baseline=many")
    two.page.wait_for_function(
        "() => document.getElementById('timeline').timeline.tracks.length === 2"
    )
    two.is_settled()
    assert two.ask("t.tracks.map((track) => track.isFolded)") == [True, True]
    # The steps instead of the outermost Python frames.
    assert two.ask("t.placed.filter(({ lane }) => lane).map(({ lane }) => lane.label)") == [
        *("Steps", "Device 0, stream 7", "Main thread", "Device 0, stream 7"),
    ]
    two.page.locator(".chip button").nth(0).click()
    two.is_settled()
    assert two.ask("t.placed.find(({ lane }) => lane?.role === 'main').rows") > 50
    visit.page.goto("about:blank")


def test_two_runs_are_zoomed_to_a_block(visit: Visit, compared_page: Path) -> None:
    two = Drawn(visit, compared_page.as_uri())
    first, second = two.ask("t.tracks.map((track) => track.source.found.start_ns)")
    where = [str(int(second) + 12 * MS), str(int(second) + 16 * MS)]
    assert two.page.evaluate(
        "([from, to]) => document.getElementById('timeline').timeline.zoomTo('slower', from, to)",
        where,
    )
    assert two.view == (8, 12)
    # The linear of both starts at one place.
    assert two.page.evaluate(
        """([from, to, start]) => document.getElementById("timeline").timeline.zoomTo(
            "many", from, to, { run: "slower", from_ns: start })""",
        [str(int(first) + 4 * MS), str(int(first) + 6 * MS), where[0]],
    )
    assert two.view == (4, 6)
    assert two.ask("t.baseline.shift") == -8 * MS
    notes = "t.tracks.map(({ note }) => note)"
    assert two.ask(notes) == ["", "the chosen block starts together in both"]
    two.page.get_by_title("the step of median length").click()
    assert two.ask("t.baseline.shift") == -4 * MS
    assert two.ask(notes) == ["10.0 ms", "the median steps of both start together: 20 ms"]
    assert two.view == (0, 20)
    assert (
        two.page.evaluate(
            "() => document.getElementById('timeline').timeline.zoomTo('none', '0', '1')"
        )
        is False
    )


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_fault_in_a_stack(
    browser: Browser, axe: str, page: Path, theme: Any, width: int
) -> None:
    with violations(browser, axe, theme, width) as (visit, faults):
        stacked(Drawn(visit, page.as_uri())).click("stream 0 7", 7, track=1)
        assert faults() == []
