"""The top of a page: the verdict, the average step, what costs most, and the workers of a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import tracewh
from tests.cli.report.conftest import Visit, data_of
from tests.cli.report.conftest import revisit as visit
from tests.cli.report.parts import panels_only
from tracewh.cli.report import page
from tracewh.cli.report.first_screens import note, pickers
from tracewh.cli.report.report_trace import choose_trace
from tracewh.cli.report.write import write_report
from tracewh.views.queries import run_query

__all__ = ["visit"]

#: The panel of the average step, and those where the findings of the page lead.
LINKED = ("steps", "lines", "collectives")


@pytest.fixture(scope="module")
def gloo(samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with two workers."""
    path = tmp_path_factory.mktemp("verdict") / "report.html"
    with panels_only("workers", *LINKED):
        write_report(str(samples.path), "ddp_gloo", None, None, path)
    return path


def test_it_says_what_the_view_says(visit: Visit, gloo: Path, samples: tracewh.Warehouse) -> None:
    visit.page.goto(gloo.as_uri())
    panel = visit.panel("verdict")
    view = samples.verdict(run="ddp_gloo", worker="rank0")
    rows = [dict(zip(view.columns, row, strict=True)) for row in view.fetchall()]

    def texts(part: str, column: str = "text") -> list[str]:
        return [row[column] or "—" for row in rows if row["part"] == part]

    def said(selector: str) -> list[str]:
        found = panel.locator(selector).all_inner_texts()
        return [text.replace("\u00a0", " ").replace("µs", "us") for text in found]

    assert said(".headline") == texts("headline")
    assert said(".card b") == texts("card")
    assert len(said(".card b")) == 6
    assert said(".found .why span:first-child") == texts("finding") != []
    links = panel.locator(".found a").evaluate_all("links => links.map((a) => a.hash)")
    assert links and all(visit.page.locator(f"article{link}").count() == 1 for link in links)


def test_the_best_replay_comes_after_the_headline(
    visit: Visit, report: Path, samples: tracewh.Warehouse
) -> None:
    """It knows what limits the step next, and was asked of the trace of the page alone."""
    visit.page.goto(report.as_uri())
    gain = visit.panel("verdict").locator(".gain")
    [(best,)] = run_query(
        samples, "best_replay", run="resnet_workers_0", worker="worker0", span="1"
    ).fetchall()
    assert best.startswith("With a free data loader a step would take ")
    assert gain.inner_text().replace("\u00a0", " ") == best
    other = samples.verdict(run="resnet_workers_0", span="2").filter("part = 'gain'")
    visit.page.locator('[data-screen="span"]').select_option("2")
    [(text,)] = other.select("text").fetchall()
    assert text != best and gain.inner_text().replace("\u00a0", " ") == text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_verdict_needs_no_scrolling(visit: Visit, gloo: Path, theme: str) -> None:
    visit.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    visit.page.set_viewport_size({"width": 1440, "height": 900})
    visit.page.goto(gloo.as_uri())
    bounds = visit.panel("verdict").locator(".columns").bounding_box()
    assert bounds is not None and bounds["y"] + bounds["height"] < 900


@pytest.mark.parametrize("width", [390, 768, 1024, 1440, 1920])
def test_nothing_is_wider_than_the_screen(visit: Visit, gloo: Path, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.page.goto(gloo.as_uri())
    visit.panel("verdict")
    visit.panel("workers")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("text", [".headline", ".found .why span:first-child", ".found .soft"])
def test_a_long_path_of_a_function_breaks(visit: Visit, gloo: Path, text: str) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 900})
    visit.page.goto(gloo.as_uri())
    for shown in visit.panel("verdict").locator(text).all():
        shown.evaluate(
            "shown => shown.textContent = 'resize (' + 'transforms/'.repeat(12) + 'image.py:9)'"
        )
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    # So does the name of a device.
    visit.panel("verdict").evaluate("""panel => {
      panel.querySelector(".headline").before(element("p", { className: "recorded", textContent: "GPU".repeat(60) }));
    }""")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_bars_are_as_long_as_the_time(visit: Visit, gloo: Path, samples: tracewh.Warehouse) -> None:
    visit.page.goto(gloo.as_uri())
    bars = visit.panel("verdict").locator(".step .bar")
    lengths = bars.evaluate_all(
        """bars => bars.map((bar) => [...bar.children].reduce(
            (sum, part) => sum + part.getBoundingClientRect().width, 0) / bar.clientWidth)"""
    )
    steps = samples.step_breakdown(run="ddp_gloo", worker="rank0").project("total_us").fetchall()
    longest = max(total for (total,) in steps)
    assert lengths == pytest.approx([total / longest for (total,) in steps], abs=0.02)


def test_workers_are_sorted_by_who_makes_the_others_wait(
    visit: Visit, gloo: Path, samples: tracewh.Warehouse
) -> None:
    visit.page.goto(gloo.as_uri())
    panel = visit.panel("workers")
    order = samples.workers(run="ddp_gloo").project("worker").fetchall()
    assert [
        (name,)
        for name in panel.locator(".strip .name").evaluate_all(
            "names => names.map((name) => name.title)"
        )
    ] == order
    assert panel.locator(".finding").inner_text().startswith("The other workers wait ")


def test_a_run_of_one_worker_says_so(visit: Visit, report: Path) -> None:
    visit.page.goto(report.as_uri())
    assert visit.panel("workers").locator(".empty").inner_text() == "The run has one worker only."


def test_blocks_of_two_runs_are_aligned(
    visit: Visit, compared: Path, samples: tracewh.Warehouse
) -> None:
    visit.page.goto(compared.as_uri())
    panel = visit.panel("diff-modules")
    rows = (
        samples.diff_modules(
            baseline="resnet_workers_0", experiment="resnet_workers_2", experiment_span="1", depth=1
        )
        .filter("depth = 1")
        .order("position")
        .project("name, baseline_us, experiment_us")
        .fetchall()
    )
    for n, column in enumerate((1, 2)):
        strip = panel.locator(".aligned .strip").nth(n)
        titles = strip.locator(".part").evaluate_all("parts => parts.map((part) => part.title)")
        assert [title.split(",")[0] for title in titles] == [
            "outside of blocks" if row[0] == "unknown" else row[0] for row in rows if row[column]
        ]
        lengths = strip.locator(".part").evaluate_all(
            "parts => parts.map((part) => part.style.width)"
        )
        most = max(sum(row[side] or 0 for row in rows) for side in (1, 2))
        assert [float(length.rstrip("%")) for length in lengths] == pytest.approx(
            [100 * row[column] / most for row in rows if row[column]], abs=0.01
        )


def test_a_file_holds_the_first_screens_of_all_its_traces(
    visit: Visit, gloo: Path, samples: tracewh.Warehouse
) -> None:
    traces = samples.sql("SELECT worker, span FROM traces WHERE run = 'ddp_gloo'").fetchall()
    screens = data_of(gloo)["screens"]
    assert sorted((screen["worker"], screen["span"]) for screen in screens) == sorted(traces)
    visit.page.goto(gloo.as_uri())
    panel = visit.panel("verdict")
    assert len(traces) == 2
    expect(visit.page.locator("main > .said")).to_have_text(
        "The file holds the first screen of both traces of the run: choose a worker and a span at the top. "
        "Everything below is about worker rank0, span 1. tracewh serve shows every trace in full."
    )
    worker, span = traces[-1]
    for name, value in (("worker", worker), ("span", span)):
        visit.page.locator(f"select[data-screen={name}]").select_option(value)
    view = samples.verdict(run="ddp_gloo", worker=worker, span=span)
    rows = [dict(zip(view.columns, row, strict=True)) for row in view.fetchall()]
    [headline] = [row["text"] for row in rows if row["part"] == "headline"]
    cards = [row["text"] or "—" for row in rows if row["part"] == "card"]
    said = [
        text.replace("\u00a0", " ").replace("µs", "us")
        for text in panel.locator(".headline, .card b").all_inner_texts()
    ]
    assert said == [headline, *cards]
    steps = samples.step_breakdown(run="ddp_gloo", worker=worker, span=span).fetchall()
    assert panel.locator(".step, .step-columns .column").count() == len(steps)
    # What proves a finding is not in the file.
    assert panel.locator(".found a").count() == 0
    # A click on a worker's strip goes to its first screen.
    own = screens[0]
    strips = visit.panel("workers").locator("a.strip")
    strips.locator(f'[title="{own["worker"]}"]').first.click()
    expect(visit.page.locator("select[data-screen=worker]")).to_have_value(own["worker"])


def test_the_average_step_is_that_of_the_view(
    visit: Visit, gloo: Path, samples: tracewh.Warehouse
) -> None:
    visit.page.goto(gloo.as_uri())
    widths = (
        visit.panel("verdict")
        .locator(".bar.large .part")
        .evaluate_all("parts => parts.map((part) => parseFloat(part.style.width))")
    )
    view = samples.step_breakdown_summary(run="ddp_gloo", worker="rank0", span="1")
    shares = view.filter("category <> 'total' AND mean_us > 0").project("share_pct").fetchall()
    assert widths == pytest.approx([share for (share,) in shares], abs=0.01)


def test_what_does_not_fit_is_counted(
    samples: tracewh.Warehouse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "small.html"
    monkeypatch.setattr(page, "MOST_BYTES", 0)
    with panels_only(has_verdict=False):
        write_report(str(samples.path), "ddp_gloo", None, None, path)
    data = data_of(path)
    assert len(data["screens"]) == 1
    assert data["timeline"]["stack"]["worker"] == [0]
    assert data["timeline"]["stack"]["left"] == 1
    said = "The file has room for one of the 2 traces of the run: it is about worker rank0, span 1."
    assert said in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("count", "left", "held"), [(2, 0, "both"), (3, 0, "all 3"), (2, 3, "2 of the 5")]
)
def test_how_many_traces_a_file_holds_is_said(
    samples: tracewh.Warehouse, count: int, left: int, held: str
) -> None:
    trace = choose_trace(samples, "ddp_gloo", None, None, None)
    assert f" of {held} traces of the run: " in note(trace, [{}] * count, left)


def test_workers_and_spans_to_choose_are_in_the_order_of_their_numbers(
    samples: tracewh.Warehouse,
) -> None:
    trace = choose_trace(samples, "ddp_gloo", None, None, None)
    names = [("rank10", "2"), ("rank9", "10"), ("rank0", "1")]
    made = pickers(trace, [{"worker": worker, "span": span} for worker, span in names])
    shown = re.findall(r"<option[^>]*>([^<]*)<", made)
    assert shown == ["rank0", "rank9", "rank10", "1", "2", "10"]


def test_a_trace_of_another_program_has_its_events_alone(visit: Visit, tmp_path: Path) -> None:
    """As tlparse writes what torch.compile did. No view of operators, kernels or steps has anything to show."""
    places = {"pid": 0, "tid": 0}
    events = [
        {"ph": "B", "name": "compile", "ts": 0, **places},
        {"ph": "B", "name": "code_gen", "ts": 200, **places},
        {"ph": "E", "name": "code_gen", "ts": 800, **places},
        {"ph": "E", "name": "compile", "ts": 1000, **places},
    ]
    path = tmp_path / "job" / "compiled.json"
    path.parent.mkdir()
    path.write_text(json.dumps(events))
    tracewh.ingest([path.parent], tmp_path / "warehouse")
    write_report(str(tmp_path / "warehouse"), "job", None, None, tmp_path / "page.html")
    visit.page.goto((tmp_path / "page.html").as_uri())
    assert "code_gen takes the most time, 60\u00a0%" in visit.page.locator(".headline").inner_text()
    titles = visit.page.locator(".card .soft:first-child").all_inner_texts()
    assert titles == ["Recording", "Busiest thread", "Busiest event"]
    # All of the mean step would be of a kind that is not known.
    assert visit.page.locator(".findings, .average").count() == 0
    assert visit.page.locator("nav a").all_inner_texts() == ["Timeline", "Events"]
    assert visit.page.locator("#timeline").is_visible()
    rows = visit.panel("events").locator("tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == ["code_gen", "compile"]
    assert "compile;code_gen" in visit.panel("stacks").inner_text()
    assert "unknown_kinds" in visit.panel("quality").inner_text()


def test_steps_of_another_program_have_a_panel(tmp_path: Path) -> None:
    """As JAX writes what jax.profiler.StepTraceAnnotation marked."""
    events = [
        {
            "ph": "X",
            "name": "train",
            "pid": 1,
            "tid": 1,
            "ts": ts,
            "dur": dur,
            "args": {"step_num": n},
        }
        for n, (ts, dur) in enumerate([(0, 900), (1000, 950), (2000, 1500)])
    ]
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "host.trace.json").write_text(json.dumps({"traceEvents": events}))
    tracewh.ingest([tmp_path / "job"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as opened:
        trace = choose_trace(opened, "job", None, None, None)
        _, shown = page.sections(trace)
        assert [panel.id for panel in shown.panels] == ["steps", "events", "stacks", "quality"]
        found = page.panel_data(opened, shown.panels[0], trace)["finding"]
    assert found == "Complete steps take 900 us to 1.5 ms; step 2 is the longest."


def test_a_table_of_pipeline_operations_has_a_sentence_and_a_heat_map_and_no_cards(
    visit: Visit, pipeline: Path
) -> None:
    """The worker that is drawn three times as slow has the darkest cell."""
    visit.page.goto(pipeline.as_uri())
    panel = visit.panel("straggler-workers")
    assert "rank 21 alone (data-parallel rank 5, stage 2)" in panel.inner_text()
    assert panel.locator('.mark-rect path[fill="rgb(168, 64, 11)"]').count() == 1
    assert len(panel.locator(".mark-rect path").all()) >= 32
    assert visit.page.locator(".headline").count() == 1
    assert visit.page.locator(".card, .findings, .average").count() == 0
    # What a table without events cannot fill is not there.
    assert visit.page.locator("nav a").all_inner_texts() == ["Pipeline"]
    assert visit.page.locator("#timeline").is_hidden()
    assert "without events" in visit.page.locator("header").inner_text()
    parts = visit.panel("straggler-parts").locator("tbody tr").first.inner_text().split()
    assert parts[:2] == ["stage", "2"]


def test_the_bar_of_a_serving_step_says_that_it_has_all_waits(visit: Visit, report: Path) -> None:
    """The time of such a step leaves out waits for work that is not in the trace."""
    visit.page.goto(report.as_uri())
    expect(visit.page.locator(".average h4")).to_contain_text("The average step: ")
    visit.page.evaluate(
        """() => {
            const { columns, values } = data.verdict;
            const at = columns.findIndex(({ name }) => name === "title");
            const titles = values[at].map((title) => (title === "Step time" ? "Decode step" : title));
            const content = document.querySelector("#panel-verdict .content");
            return ELEMENTS.verdict(content, { ...data.verdict, values: values.with(at, titles) });
        }"""
    )
    expect(visit.page.locator(".average h4").last).to_contain_text(
        "The average step, with all waits: "
    )


@pytest.mark.parametrize(
    ("tail", "heading"), [("false", "The average step: 0 µs"), ("true", "No step is complete")]
)
def test_each_of_many_steps_can_be_reached(
    visit: Visit, report: Path, tail: str, heading: str
) -> None:
    """Columns that the screen has no room for are scrolled to. A step may have no length."""
    visit.page.goto(report.as_uri())
    steps = f"""{{ rows: 1500, columns: ["step", "total_us", "is_tail"].map((name) => ({{ name }})),
        values: [0, 0, {tail}].map((value, n) => Array.from({{ length: 1500 }}, (_, at) => (n ? value : at))) }}"""
    holder = "document.querySelector('.average')"
    visit.page.evaluate(f"averageStep({holder}, {{ mean: {{ total: 0 }}, steps: {steps} }})")
    expect(visit.page.locator(".average h4").last).to_have_text(heading)
    last = visit.page.locator(".step-columns button").last
    last.scroll_into_view_if_needed()
    box, whole = last.bounding_box(), visit.page.locator(".step-columns").bounding_box()
    assert box is not None and whole is not None
    assert box["x"] + box["width"] <= whole["x"] + whole["width"] + 1
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 1280
    # Without a step and without a recording of any length there is no empty box.
    visit.page.evaluate(f"averageStep({holder}, {{ mean: {{}}, steps: {{ rows: 0 }} }})")
    expect(visit.page.locator(".average")).to_have_count(0)
