"""A folder with traces of every source: each is found, and every view answers for each of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.copied import CopiedWarehouse, run_once
from tests.ingest.sources import ascend_recording, test_mindspore, test_ncu
from tests.nsys_exports import tiny, write_sqlite
from tests.views.drawn_jobs import Drawing, write_csv
from tracewh.cli.output.empty_result import ADVICE, reasons
from tracewh.ingest.sources.readers import READERS
from tracewh.views import Spec
from tracewh.views.registry import installed

VIEWS = list(installed())
#: What compares two runs gets each source as one of them.
RUNS = {
    "ascend": "ascend",
    "kernels": "ascend",
    "kineto": "kineto",
    "mindspore": "mindspore",
    "ncu_details": "ncu",
    "ncu_raw": "ncu",
    "nsys": "nsys",
    "pipeline": "pipeline",
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    top = tmp_path_factory.mktemp("mixed")
    logs = top / "logs"
    ascend_recording.write_recording(logs / "ascend")
    test_mindspore.write(logs / "mindspore")
    for name in ("kernels", "ncu_details", "ncu_raw", "kineto", "nsys", "pipeline"):
        (logs / name).mkdir()
    rows = [ascend_recording.HEADER, *ascend_recording.kernel_rows(), ""]
    (logs / "kernels" / "kernel_details.csv").write_text("\n".join(rows))
    (logs / "ncu_details" / "report.csv").write_text(test_ncu.DETAILS)
    (logs / "ncu_raw" / "report.csv").write_text(test_ncu.RAW)
    (logs / "ncu_raw" / "notes.csv").write_text("a,b\n1,2\n")
    write_sqlite(logs / "nsys" / "report.sqlite", tiny())
    write_csv(Drawing(steps=2, slow=(1, 0)), logs / "pipeline" / "job.csv")
    sample = min((Path(__file__).parents[3] / "samples" / "ddp_gloo").glob("*.json*"))
    shutil.copy(sample, logs / "kineto")
    found = tracewh.ingest([logs], top / "warehouse")
    assert set(RUNS.values()) == {reader.name for reader in READERS}
    assert {each.run: each.status for each in found} == dict.fromkeys(RUNS, "ingested")
    with CopiedWarehouse(top / "warehouse") as warehouse:
        yield warehouse


def test_each_trace_has_its_source(mixed: tracewh.Warehouse) -> None:
    found = mixed.sql("SELECT run, source FROM traces ORDER BY run").fetchall()
    assert found == sorted(RUNS.items())


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.object_name)
def test_every_view_answers_for_each_source(mixed: tracewh.Warehouse, view: Spec) -> None:
    if "baseline" in {param.name for param in view.params}:
        for baseline, experiment in zip([*RUNS][::2], [*RUNS][1::2], strict=True):
            sides = {"baseline": baseline, "experiment": experiment}
            mixed.view(view.name, view.version, **sides).fetchall()
        return
    rows = mixed.view(view.name, view.version, **of_all(view))
    # A trace without times has none in any result.
    if "start_ns" in rows.columns:
        timed = rows.filter("start_ns IS NOT NULL").project("run").distinct().fetchall()
        assert [run for (run,) in timed if run.startswith("ncu")] == []


def of_all(view: Spec) -> dict[str, str]:
    """What a view needs to be told to answer for all runs at once.

    tests/views/test_every_view.py sees to it that a run has the same rows by itself.
    """
    return {"figure": "step_us"} if view.name == "trend" else {}


def test_the_page_on_nsight_systems_names_what_has_rows(
    mixed: tracewh.Warehouse, tmp_path: Path
) -> None:
    """The export has ranges and operators; a copy of it has CUDA alone."""
    page = (Path(__file__).parents[3] / "docs" / "sources" / "nsight-systems.md").read_text("utf-8")
    more, none = page.split("## Which views have rows")[1].split("so they have no rows:")
    names = {view.name for view in installed()}
    need_more, have_none = (set(re.findall(r"`(\w+)`", text)) & names for text in (more, none))
    assert len(need_more) == 9
    assert len(have_none) == 12
    tables = tiny()
    cuda = {name: tables[name] for name in tables if name != "NVTX_EVENTS"}
    write_sqlite(tmp_path / "report.sqlite", cuda)
    tracewh.ingest([tmp_path / "report.sqlite"], tmp_path / "warehouse", run="nsys")

    def with_rows(warehouse: tracewh.Warehouse) -> set[str]:
        found = set()
        for name in need_more | have_none:
            sides = ("baseline", "experiment") if name.startswith("diff_") else ("run",)
            arguments: dict[str, Any] = dict.fromkeys(sides, "nsys")
            if warehouse.view(name, **arguments).limit(1).fetchall():
                found.add(name)
        return found

    assert with_rows(mixed) == need_more
    with tracewh.open(tmp_path / "warehouse") as cuda_alone:
        assert with_rows(cuda_alone) == set()


@pytest.mark.parametrize(
    ("run", "checks"),
    [
        ("ascend", set()),
        ("kernels", {"no_steps", "no_operators", "no_memory", "rank_unknown"}),
        ("mindspore", {"no_epoch", "no_counters", "no_memory", "no_stacks", "kernels_without_launches"}),
        ("ncu_raw", {"no_times", "no_steps", "no_operators", "no_memory", "no_device_events", "rank_unknown"}),
    ],
)  # fmt: skip
def test_what_each_source_does_not_record(
    mixed: tracewh.Warehouse, run: str, checks: set[str]
) -> None:
    found = mixed.sql(f"SELECT \"check\", message FROM trace_quality(run := '{run}')").fetchall()
    said = dict(found)
    assert checks <= said.keys()
    assert all(said.values())
    assert wrong_words(RUNS[run], " ".join(said.values())) == []


#: Options of other profilers, which do not help who recorded with this one.
WRONG = {
    "ascend": ["ProfilerActivity.CUDA", "XPU", "--trace", "nvtx"],
    "mindspore": ["ProfilerActivity", "with_stack", "profile_memory", "prof.step", "--trace", "CUDA"],
    "ncu": ["ProfilerActivity", "with_stack", "profile_memory", "prof.step", "--cuda", "CUPTI"],
}  # fmt: skip


def wrong_words(source: str, text: str) -> list[str]:
    text = text.replace(
        "Only Nsight Systems records those of the operating system, with --trace=osrt.", ""
    )
    return [word for word in WRONG[source] if word in text]


@pytest.mark.parametrize("run", ["ascend", "kernels", "mindspore", "ncu_raw"])
def test_no_rows_have_the_advice_of_the_profiler(mixed: tracewh.Warehouse, run: str) -> None:
    wrong = {}
    for view in VIEWS:
        names = {param.name for param in view.params}
        if "baseline" in names:
            arguments = {"baseline": run, "experiment": run}
            found = mixed.view(view.name, view.version, **arguments)
        elif "run" in names:
            arguments = {"run": run}
            found = mixed.view(view.name, view.version, **of_all(view)).filter(f"run = '{run}'")
        else:
            continue
        if found.limit(1).fetchall():
            continue
        said = reasons(partial(run_once, mixed), mixed.names(), view, arguments)
        text = " ".join(message for messages in said.values() for message in messages)
        assert text or not view.empty, view.name
        if "{" in text or wrong_words(RUNS[run], text):
            wrong[view.name] = text
    assert wrong == {}


def test_every_source_has_advice_for_every_word(mixed: tracewh.Warehouse) -> None:
    words = {
        data for (data,) in mixed.sql("SELECT DISTINCT data FROM recording_advice()").fetchall()
    }
    used = {word for view in VIEWS for word in ADVICE.findall(view.empty)}
    assert used <= words
    for reader in READERS:
        for word in words:
            [(said,)] = mixed.sql(f"SELECT recording_hint('{reader.name}', '{word}')").fetchall()
            assert said, (reader.name, word)


def test_no_view_names_an_option_of_one_profiler() -> None:
    options = re.compile(r"ProfilerActivity|with_stack|profile_memory|record_function|prof\.step")
    assert [view.name for view in VIEWS if options.search(view.empty)] == []
