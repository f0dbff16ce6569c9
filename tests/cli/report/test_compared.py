"""The page of two runs, in a browser: the sentence, the aligned blocks, and the panels that follow them."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.conftest import revisit as visit
from tests.cli.report.parts import panels_only
from tests.cli.report.servers import started
from tracewh.cli.report.panels import COMPARED
from tracewh.cli.report.write import write_report

__all__ = ["visit"]

#: Per step, in us: the loader, the forward pass with one operator in it, and a log that only one run writes. The
#: loader differs in each step, the forward pass by chance.
RUNS = {
    "before": [(100, 40, 0), (101, 43, 0), (102, 41, 0), (103, 44, 0)],
    "after": [(300, 42, 30), (301, 40, 30), (302, 45, 30), (303, 41, 30)],
}
BOTH = {"baseline": "before", "experiment": "after"}
STEP_2 = "/ProfilerStep[2]"


def events(steps: list[tuple[int, int, int]]) -> Iterator[dict[str, Any]]:
    at = 1000

    def event(cat: str, name: str, start: int, dur: int, **args: int) -> dict[str, Any]:
        pid = 0 if cat == "kernel" else 7
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 7, "ts": start, "dur": dur, "args": args}  # fmt: skip

    for number, (loader, forward, log) in enumerate(steps, start=1):
        yield event("user_annotation", f"ProfilerStep#{number}", at, loader + forward + log + 20)
        yield event("user_annotation", "enumerate(DataLoader)#it.__next__", at, loader)
        inside = at + loader
        yield event("user_annotation", "forward", inside, forward)
        yield event("user_annotation", "attention", inside + 5, forward - 10)
        yield event("cpu_op", "aten::mm", inside + 6, 20, **{"External id": number})
        yield event("cuda_runtime", "cudaLaunchKernel", inside + 7, 3, correlation=number)
        yield event("kernel", "gemm", inside + 11, forward - 25, correlation=number, device=0)
        if log:
            yield event("user_annotation", "log", inside + forward, log)
            yield event("cpu_op", "aten::item", inside + forward + 5, log - 10)
        at += loader + forward + log + 20


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = tmp_path_factory.mktemp("two_runs")
    without = [each for each in events(RUNS["before"]) if "Profiler" not in each["name"]]
    for run, made in {**{name: list(events(steps)) for name, steps in RUNS.items()}, "bare": without}.items():  # fmt: skip
        path = folder / "logs" / run / "w.1.pt.trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": made}), "utf-8")
    tracewh.ingest(folder / "logs", folder / "warehouse")
    with tracewh.open(folder / "warehouse") as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def file(pair: tracewh.Warehouse) -> str:
    """The address of the report."""
    path = Path(pair.path).parent / "report.html"
    with panels_only(*(panel.id for panel in COMPARED.panels), has_verdict=False):
        write_report(str(pair.path), "after", None, None, path, "before")
    return path.as_uri()


@pytest.fixture(scope="module")
def server(pair: tracewh.Warehouse) -> Iterator[str]:
    """The address of the same page on a server."""
    panels = [panel.id for panel in COMPARED.panels]
    process, address = started(pair, "--time-limit", "600", panels=panels, has_verdict=False)
    yield f"{address}?run=after&baseline=before"
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    with process.stderr:
        assert process.wait(60) == 0


def rows(relation: Any) -> list[dict[str, Any]]:
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("µs", "us")


def parts(blocks: Locator, side: int) -> Locator:
    return blocks.locator(".aligned .strip").nth(side).locator(".part")


def names(panel: Locator) -> list[str]:
    return panel.locator('tbody [data-column="name"]').all_inner_texts()


def followed(page: Page, path: str) -> None:
    """Wait until both panels show a block."""
    for panel in ("diff-operators", "diff-kernels"):
        expect(page.locator(f"#panel-{panel}:not([aria-busy])")).to_have_attribute("data-block", path)  # fmt: skip


def test_the_sentence_is_that_of_the_view(visit: Visit, file: str, pair: tracewh.Warehouse) -> None:
    found = rows(pair.diff_verdict(**BOTH))
    visit.page.goto(file)
    panel = visit.panel("diff-verdict")
    assert plain(panel.locator(".headline").inner_text()) == found[0]["text"]
    assert plain(panel.locator(".gain").inner_text()) == found[0]["detail"]
    # The step, what changed in it, and the other figures.
    step, *figures = [row for row in found if row["part"] == "figure"]
    changes = [row for row in found if row["part"] == "change"]
    assert changes[0]["name"] == "dataloader" and figures[0]["name"] == "gpu_utilization_pct"
    lines = panel.locator("tbody tr")
    assert lines.locator("th").all_inner_texts() == [row["title"] for row in (step, *changes, *figures)]  # fmt: skip
    assert lines.locator(".certainty").all_inner_texts() == [row["certainty"] or "" for row in (step, *changes, *figures)]  # fmt: skip
    # All cells say what `tracewh diff` prints.
    assert lines.nth(0).locator("td").all_inner_texts()[3] == f"+{step['delta_pct']:.1f} %"
    numbers = "[rounded(-231.4, 'us'), rounded(12.41, 'us'), rounded(999.6, 'us'), significant(-231.4), share(-99.8).textContent]"
    assert visit.page.evaluate(numbers) == ["-231 µs", "12.4 µs", "1.0 ms", "-231", "−99.8 %"]
    # What is not 0 does not look like 0.
    numbers = "[shown(0.003, 'us', true), shown(-0.0033, 'pct', true), shown(0.003, '', true), shown(0, 'us', true)]"
    assert visit.page.evaluate(numbers) == ["0.003 µs", "-0.0033 %", "0.003", "0 µs"]
    points = lines.nth(1 + len(changes)).locator("td").nth(2).inner_text()
    assert points.endswith(" points") and points[0] == "−"
    assert panel.locator("tr.noise").count() == sum(
        row["certainty"] == "not significant" for row in found if row["part"] != "headline"
    )
    for side in ("baseline", "experiment"):
        strip = panel.locator(".aligned .strip", has_text=side).locator(".part")
        titles = strip.evaluate_all("parts => parts.map((part) => part.title)")
        assert [title.rsplit(" ", 2)[0] for title in titles] == [
            row["title"] for row in changes if row[f"{side}_value"]
        ]


@pytest.mark.parametrize("place", ["file", "server"])
def test_panels_follow_the_block(
    visit: Visit, pair: tracewh.Warehouse, place: str, request: pytest.FixtureRequest
) -> None:
    """By mouse: into a step, and back up."""
    visit.page.goto(request.getfixturevalue(place))
    blocks = visit.panel("diff-modules")
    operators, kernels = visit.panel("diff-operators"), visit.panel("diff-kernels")
    whole = names(operators), operators.locator("code").text_content()
    parts(blocks, 0).and_(blocks.locator(".c-step")).nth(1).click()
    followed(visit.page, STEP_2)
    said = blocks.locator(".controls .said").first
    expect(said).to_have_text(
        f"{STEP_2}: 227 µs slower than in the baseline, significant. Click a block to see what is in it."
    )
    assert operators.locator("h3").inner_text() == f"Operators in {STEP_2}"
    expected = rows(pair.diff_operators(**BOTH, block=STEP_2))
    assert names(operators) == [row["name"] for row in expected] == ["aten::mm", "aten::item"]
    calls = operators.locator('tbody [data-column="baseline_calls"]').all_inner_texts()
    assert [int(text) for text in calls] == [row["baseline_calls"] for row in expected] == [1, 0]
    assert names(kernels) == [row["name"] for row in rows(pair.diff_kernels(**BOTH, block=STEP_2))]
    for panel, view in ((operators, pair.diff_operators), (kernels, pair.diff_kernels)):
        query = panel.locator("code").text_content()
        assert query is not None and f"block := '{STEP_2}'" in query
        assert len(pair.sql(query).fetchall()) == len(view(**BOTH, block=STEP_2).fetchall())
    blocks.get_by_role("button", name="Up").click()
    followed(visit.page, "/")
    assert (names(operators), operators.locator("code").text_content()) == whole
    assert operators.locator("h3").inner_text() == "Operators"


def test_a_block_without_a_mouse(visit: Visit, file: str) -> None:
    """Enter opens a block, the focus stays among the blocks, and Escape goes back up."""
    visit.page.goto(file)
    blocks = visit.panel("diff-modules")
    parts(blocks, 1).and_(blocks.locator(".c-step")).nth(1).focus()
    visit.page.keyboard.press("Enter")
    followed(visit.page, STEP_2)
    assert visit.page.evaluate("document.activeElement.matches('.aligned button.part')")
    choice = blocks.locator("select[name=block]")
    visit.page.wait_for_function(
        "path => document.querySelector('select[name=block]').selectedOptions[0].text === path",
        arg=STEP_2,
    )
    visit.page.keyboard.press("Escape")
    followed(visit.page, "/")
    assert visit.page.evaluate("document.activeElement.matches('.aligned button.part')")
    choice.select_option(label=f"{STEP_2}/forward")
    followed(visit.page, f"{STEP_2}/forward")


def test_a_bar_opens_its_block(visit: Visit, file: str) -> None:
    """The largest change first: the step that became slowest."""
    visit.page.goto(file)
    blocks = visit.panel("diff-modules")
    blocks.locator(".chart").evaluate("chart => chart.scrollIntoView({ block: 'center' })")
    bars = blocks.locator(".mark-rect.role-mark path")
    tops = bars.evaluate_all("bars => bars.map((bar) => bar.getBoundingClientRect().top)")
    bars.nth(tops.index(min(tops))).click(force=True)
    followed(visit.page, "/ProfilerStep[3]")


def test_what_one_run_alone_has_is_hatched_and_noise_is_faded(
    visit: Visit, file: str, pair: tracewh.Warehouse
) -> None:
    found = rows(pair.diff_modules(**BOTH).order("position"))
    visit.page.goto(file)
    blocks = visit.panel("diff-modules")
    for path, depth in (("", 1), (STEP_2, 2), (f"{STEP_2}/forward", 3)):
        if path:
            parts(blocks, 1).and_(blocks.get_by_title(re.compile(r"^(ProfilerStep|forward),"))).nth(
                1 if depth == 2 else 0
            ).click()
            followed(visit.page, path)
        inside = [row for row in found if row["depth"] == depth and row["path"].startswith(path)]
        for n, side in enumerate(("baseline", "experiment")):
            shown = [row for row in inside if row[f"{side}_us"]]
            classes = parts(blocks, n).evaluate_all("parts => parts.map((p) => [...p.classList])")
            assert [("only" in each, "noise" in each) for each in classes] == [
                (not row["matched"], row["significant"] is False) for row in shown
            ]
            titles = parts(blocks, n).evaluate_all("parts => parts.map((part) => part.title)")
            assert [f"only in the {side}" in title for title in titles] == [
                not row["matched"] for row in shown
            ]
        lines = blocks.locator(".running line:not(.zero)")
        kinds = lines.evaluate_all("lines => lines.map((line) => line.getAttribute('class'))")
        assert kinds == [
            "noise"
            if row["significant"] is False or not row["delta_us"]
            else "longer"
            if row["delta_us"] > 0
            else "shorter"
            for row in inside
        ]
        ends = lines.evaluate_all("lines => lines.map((line) => Number(line.getAttribute('x2')))")
        assert ends == sorted(ends)
    forward = [row["significant"] for row in found if row["path"].endswith("/forward")]
    assert forward == [False] * 4  # so that the test tests something
    assert {row["matched"] for row in found if row["name"] == "log"} == {False}
    noise = [row["path"] for row in found if row["significant"] is False]
    table = blocks.locator('tbody tr.noise [data-column="path"]').all_inner_texts()
    assert sorted(table) == sorted(noise)


def test_a_file_says_what_it_does_not_hold(visit: Visit, file: str) -> None:
    """The third level: neither operators nor kernels, but what shows them."""
    visit.page.goto(file)
    blocks = visit.panel("diff-modules")
    path = f"{STEP_2}/forward/attention"
    for name, n in (("ProfilerStep", 1), ("forward", 0), ("attention", 0)):
        parts(blocks, 0).and_(blocks.get_by_title(re.compile(f"^{name},"))).nth(n).click()
    followed(visit.page, path)
    empty = visit.page.locator("#panel-diff-operators .empty")
    expect(empty).to_have_text(
        re.compile(r"^This file has the operators and kernels of the \d+ blocks that changed most, of the "
        r"first 2 levels\. Every block: `tracewh serve`, or `tracewh diff before after --block '"
        + re.escape(path) + r"'`\.$")
    )  # fmt: skip
    assert visit.page.locator("#panel-diff-operators tbody").count() == 0
    expect(parts(blocks, 0).locator("xpath=self::*[@aria-current='true']")).to_have_count(1)


def test_a_server_shows_any_block(visit: Visit, server: str, pair: tracewh.Warehouse) -> None:
    visit.page.goto(server)
    assert visit.page.locator("article[data-panel]").count() == len(COMPARED.panels)
    blocks = visit.panel("diff-modules")
    for name, n in (("ProfilerStep", 1), ("forward", 0), ("attention", 0)):
        parts(blocks, 0).and_(blocks.get_by_title(re.compile(f"^{name},"))).nth(n).click()
    path = f"{STEP_2}/forward/attention"
    followed(visit.page, path)
    assert names(visit.page.locator("#panel-diff-operators")) == [
        row["name"] for row in rows(pair.diff_operators(**BOTH, block=path))
    ]


def test_a_block_is_shown_in_the_timelines(
    visit: Visit, file: str, pair: tracewh.Warehouse
) -> None:
    """Where it starts together in both runs; the longer one is as wide as the view."""
    visit.page.goto(file)
    blocks = visit.panel("diff-modules")
    box = visit.page.locator("#timeline .timeline-box")
    [row] = rows(pair.diff_modules(**BOTH).filter(f"path = '{STEP_2}'"))
    begins = {run: start for run, start in pair.sql("SELECT run, start_ns FROM traces").fetchall()}
    start = row["experiment_start_ns"] - begins["after"]
    parts(blocks, 1).and_(blocks.locator(".c-step")).nth(1).click()
    end = start + round(1000 * row["experiment_host_us"])
    expect(box).to_have_attribute("data-view", f"{start} {end}")
    shift = visit.page.evaluate("document.getElementById('timeline').timeline.baseline.shift")
    assert row["baseline_start_ns"] - begins["before"] + shift == start


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone(visit: Visit, file: str, theme: Any) -> None:
    visit.page.emulate_media(color_scheme=theme)
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.goto(file)
    blocks = visit.panel("diff-modules")
    parts(blocks, 0).and_(blocks.locator(".c-step")).nth(1).click()
    followed(visit.page, STEP_2)
    for panel in ("diff-verdict", "diff-steps", "diff-operators"):
        visit.panel(panel)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    widths = blocks.locator(".aligned .bar").evaluate_all("bars => bars.map((bar) => bar.clientWidth)")  # fmt: skip
    assert min(widths) > 150


def test_a_step_is_not_compared_with_a_recording(visit: Visit, pair: tracewh.Warehouse) -> None:
    path = Path(pair.path).parent / "bare.html"
    with panels_only("diff-verdict", "diff-steps", has_verdict=False):
        write_report(str(pair.path), "bare", None, None, path, "before")
    visit.page.goto(path.as_uri())
    said = visit.panel("diff-verdict").locator(".headline").inner_text()
    assert (
        said
        == "Not comparable: the experiment has no steps. Record with a schedule, and call prof.step() after each iteration."
    )
    steps = visit.panel("diff-steps").locator(".empty")
    expect(steps).to_have_text("The sentence above says why steps cannot be compared.")
