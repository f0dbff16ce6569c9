"""What a notebook shows of a warehouse: reports, timelines, charts and tables. No kernel is started."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import pytest
from duckdb import DuckDBPyRelation
from IPython.core.interactiveshell import InteractiveShell
from playwright.sync_api import expect

import tracewh
from tests.cli.report.conftest import Visit, data_of
from tests.cli.report.parts import panels_only
from tracewh.cli.report import libraries
from tracewh.cli.report.write import write_report
from tracewh.notebook import Page, PictureError, report
from tracewh.notebook.pictures import CHARTS, relation_html

RUN, FASTER = "resnet_workers_0", "resnet_workers_2"
NO_DEVICE = (
    "No work on a device: if the job uses one, record with ProfilerActivity.CUDA (or XPU, ...)."
)


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def texts(html: str) -> list[str]:
    """The texts of elements, in order."""
    return [unescape(text) for text in re.findall(r">([^<]+)<", html)]


def test_a_report_is_that_of_the_command(samples: tracewh.Warehouse, tmp_path: Path) -> None:
    report, saved = tmp_path / "report.html", tmp_path / "page.html"
    with panels_only("steps", has_verdict=False):
        write_report(str(samples.path), RUN, None, "1", report)
        page = samples.report(RUN, span="1")
        assert repr(page) == f"Page(title='report of run {RUN}, worker worker0, span 1')"
        page.save(saved)
        with pytest.raises(PictureError) as error:
            page.save(tmp_path / "none" / "page.html")
    assert str(error.value) == f"{tmp_path}/none/page.html: No such file or directory"
    assert saved.read_text("utf-8") == report.read_text("utf-8")


def test_ipython_draws_what_views_return(
    shell: InteractiveShell, samples: tracewh.Warehouse
) -> None:
    assert shell.display_formatter is not None
    with tracewh.open(samples.path) as warehouse:
        steps = warehouse.step_breakdown(run=RUN)
        assert isinstance(steps, DuckDBPyRelation)
        drawn, _ = shell.display_formatter.format(steps)
        assert drawn["text/html"] == relation_html(steps)
        assert "10 rows" in drawn["text/plain"]
        assert steps.filter("step = 3").count("*").fetchall() == [(1,)]
        picture, _ = shell.display_formatter.format(warehouse.timeline(run=RUN))
        assert picture["text/html"].startswith("<iframe srcdoc=")


def test_a_query_that_fails_says_why_without_a_traceback(
    shell: InteractiveShell, samples: tracewh.Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is that of the query: DuckDB puts it into another one, to read the first rows."""
    assert shell.display_formatter is not None
    with tracewh.open(samples.path) as warehouse:
        drawn, _ = shell.display_formatter.format(
            warehouse.sql("SELECT\n  CAST('<b>' AS INTEGER) AS n")
        )
    said = drawn["text/plain"]
    assert said.startswith("Conversion Error: Could not convert string '<b>' to INT32")
    assert "\nLINE 2:   CAST('<b>' AS INTEGER) AS n\n" in said
    assert drawn["text/html"] == f"<pre>{escape(said)}</pre>"
    assert capsys.readouterr() == ("", "")


def test_a_table_says_what_show_prints(samples: tracewh.Warehouse) -> None:
    shown = texts(relation_html(samples.step_breakdown(run=RUN, span="1")))
    assert shown[:6] == ["run ", RUN, " · worker ", "worker0", " · span ", "1"]
    head = ["step", "communication_us", "dataloader_us", "cpu_exec_us", "other_us", "total_us"]
    assert shown[6:13] == [*head, "is_tail"]
    assert shown[13] == "2"
    assert "Without a value: kernel_us, memcpy_us, memset_us, runtime_us." in shown
    assert shown[-1] == f"FROM step_breakdown_v1(run := '{RUN}', span := '1')"
    columns = {each.name: each for each in samples.registry.get("step_breakdown").columns}
    assert f'title="{columns["other_us"].meaning}"' in relation_html(samples.step_breakdown())


def test_a_table_holds_the_first_rows(samples: tracewh.Warehouse) -> None:
    html = relation_html(samples.sql("SELECT range AS n FROM range(50)"))
    assert html.count("<tr>") == 1 + 40
    assert texts(html)[-1] == "The first 40 rows; .df() has all."


def test_short_texts_stay_on_one_line_and_long_ones_break(samples: tracewh.Warehouse) -> None:
    query = "SELECT 'NVIDIA H100 80GB HBM3' AS gpu, repeat('long ', 9) AS message, NULL AS missing, 1 AS n"
    html = relation_html(samples.sql(f"{query} UNION ALL SELECT '', '', 'x', 2"))
    cells = dict(re.findall(r'<td style="([^"]+)">(NVIDIA|long|1<|-<)', html))
    assert cells == {
        "text-align: left; white-space: nowrap": "-<",
        "text-align: left": "long",
        "text-align: right; white-space: nowrap": "1<",
    }
    assert '<td style="text-align: left; white-space: nowrap">NVIDIA H100 80GB HBM3</td>' in html


def test_a_view_without_rows_says_why(samples: tracewh.Warehouse) -> None:
    said = texts(relation_html(samples.kernel_stats(run=RUN)))[0]
    assert said == f"kernel_stats has no rows for these parameters. {NO_DEVICE}"


def test_names_of_a_trace_are_text(samples: tracewh.Warehouse) -> None:
    html = relation_html(samples.sql("SELECT '<img src=x onerror=alert(1)>' AS name"))
    assert "<img" not in html and "&lt;img" in html


def test_a_chart_is_that_of_the_page(samples: tracewh.Warehouse, report: Path) -> None:
    panels = data_of(report)
    for view in ("step_breakdown", "operator_stats", "flamegraph", "memory_curve"):
        theirs = panels[CHARTS[view].id]["chart"]["specification"]
        ours = samples.chart(view, RUN, span="1").to_dict()
        assert ours["transform"] == theirs["transform"]
        assert ("layer" in ours) == ("layer" in theirs)
        finding = panels[CHARTS[view].id]["finding"]
        assert finding and ours["title"] == {"text": CHARTS[view].title, "subtitle": finding}
        assert ours["datasets"]["rows"]


def test_pictures_in_a_frame(visit: Visit, samples: tracewh.Warehouse, tmp_path: Path) -> None:
    with panels_only("steps"):
        compared = samples.report(FASTER, baseline=RUN)._repr_html_()
    frames = (compared, relation_html(samples.timeline(run=RUN)))
    # Without the encoding the browser guesses it, and the hashes of scripts depend on its guess.
    (tmp_path / "notebook.html").write_text(
        '<!doctype html><meta charset="utf-8">' + "".join(frames), "utf-8"
    )
    visit.page.goto((tmp_path / "notebook.html").as_uri())
    page, timeline = (visit.page.frame_locator("iframe").nth(n) for n in range(2))
    expect(page.locator("#panel-verdict[data-drawn=yes]")).to_be_visible()
    # A link leads to a place in the frame; without a script the browser would load the notebook in it.
    page.get_by_role("navigation").get_by_role("link", name="Overview").click()
    expect(page.locator("#overview")).to_be_in_viewport()
    page.locator(".skip").press("Enter")
    expect(page.locator("#main")).to_be_focused()
    visit.page.locator("iframe").nth(1).scroll_into_view_if_needed()  # draws nothing before
    timeline.locator(".timeline-box[data-view][data-drawn]").wait_for()
    assert timeline.locator("article[data-panel]").count() == 0
    timeline.get_by_role("button", name="Whole recording").click()
    requests = [url for url in visit.requests if not url.startswith(("file:", "about:", "blob:"))]
    assert requests == []


@pytest.mark.parametrize(
    ("view", "baseline", "said"),
    [
        ("steps", None, f"no chart of 'steps'; choose one of {', '.join(sorted(CHARTS))}"),
        (
            "diff_steps",
            None,
            "the chart of diff_steps compares two runs: name the other as baseline=",
        ),
        (
            "kernel_stats",
            None,
            NO_DEVICE,
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(
    view: str, baseline: str | None, said: str, samples: tracewh.Warehouse
) -> None:
    with pytest.raises(PictureError) as error:
        samples.chart(view, RUN, baseline=baseline)
    assert str(error.value) == said
    assert error.value._render_traceback_() == [said]


def test_without_the_extras_the_remedy_is_said(
    samples: tracewh.Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "find_spec", lambda module: None)
    with pytest.raises(PictureError, match=r"itables: pip install 'tracewh\[report\]'$"):
        samples.report(RUN)
    # A timeline needs no libraries.
    assert "<iframe" in relation_html(samples.timeline(run=RUN))
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(PictureError, match=r"^a chart needs altair: pip install 'tracewh\[noteb"):
        samples.chart("step_breakdown", RUN)


def test_a_run_that_does_not_exist(samples: tracewh.Warehouse) -> None:
    with pytest.raises(tracewh.ViewError, match="no run named 'resnett'"):
        samples.report("resnett")


def test_the_functions_are_the_methods(samples: tracewh.Warehouse) -> None:
    with panels_only(has_verdict=False):
        assert isinstance(report(samples, RUN), Page)
    assert {"report", "chart"} <= set(dir(samples))
