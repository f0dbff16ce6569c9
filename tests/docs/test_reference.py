"""The pages that are written from elsewhere say what is said there, and know when they are behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tracewh
from docs import transcripts
from docs.examples import ExampleError, Examples
from docs.reference import DOCS, behind, main, pages_with, render, write
from tests.copied import OpenWarehouse
from tests.parity.differences import listed
from tracewh.cli.app import main as command_line
from tracewh.views import Registry
from tracewh.views.registry import installed
from tracewh.views.spec import Spec, parse

VIEW = """\
-- view: gaps
-- version: 1
-- since: 0.1
-- summary: Gaps a|b between kernels.
-- grain: one row per gap
-- distributes: trace
-- order: gap_us DESC
-- needs: no_device_events, no_operators
-- empty: No gap on {device}.
-- example: drawn --device 1 --run 'a b' --limit 3
-- reading: Gaps are long.
-- deprecated: counts them twice; use gaps_v2
--
-- What a gap is.
--
-- params
--   device  INTEGER  -  -  Device a|b.
--   run
-- columns
--   run
--   gap_us  DOUBLE  us  Its length.
CREATE MACRO gaps_v1(device INTEGER, run VARCHAR := NULL) AS TABLE
    SELECT t.run, 1.0::DOUBLE AS gap_us FROM query_table('x') AS t;
"""
NEWER = VIEW.replace("version: 1", "version: 2").replace("gaps_v1(", "gaps_v2(")
NEWER = NEWER.replace("-- deprecated: counts them twice; use gaps_v2\n", "")
INTERFACE = """\
| parameter | type | default | meaning |
| --- | --- | --- | --- |
| `device` | INTEGER | required | Device a\\|b. |
| `run` | VARCHAR | `NULL` | Run to report; NULL reports every run. |
"""
COLUMNS = """\
| column | type | unit | meaning |
| --- | --- | --- | --- |
| `run` | VARCHAR | key | Run that the row belongs to. |
| `gap_us` | DOUBLE | us | Its length. |
"""


def header(view: str) -> Spec:
    return parse(view, f"views/device/gaps_v{2 if 'version: 2' in view else 1}.sql")


def shown(view: Spec) -> str:
    return f"What {view.object_name} prints."


def test_a_page_with_an_older_version_on_it() -> None:
    registry = Registry.of([header(VIEW), header(NEWER)])
    made = render(registry, shown)
    assert sorted(made) == ["views.md", "views/gaps.md"]
    assert (
        made["views/gaps.md"]
        == f"""\
# gaps

<!-- Written by `python -m docs.reference` from the header of views/device/gaps_v2.sql. -->

Gaps a|b between kernels.

One row per gap.

## Example

What gaps_v2 prints.

Gaps are long.

## How to read it

What a gap is.

If a trace has no rows, `no_device_events` or `no_operators` in [trace_quality](trace_quality.md) says what was not recorded, and how to record it.

Other reasons for no rows: No gap on `device`.

## Usage

{INTERFACE}
The example from the command line, in SQL and in Python:

```sh
tracewh show gaps --device 1 --run 'a b' --limit 3
```
```sql
FROM gaps(device := 1, run := 'a b') LIMIT 3;
```
```python
warehouse.gaps(device=1, run="a b").show()
```

## Columns

{COLUMNS}
Rows are ordered by `gap_us DESC`. On a cluster they distribute by `trace`: the rows of a trace depend on that trace alone.

`gaps_v2`, since tracewh 0.1: [SQL](../../views/device/gaps_v2.sql), [test](../../tests/views/gaps_v2.test)

## gaps_v1

**Deprecated:** counts them twice; use gaps_v2

Gaps a|b between kernels.

One row per gap.

What a gap is.

If a trace has no rows, `no_device_events` or `no_operators` in [trace_quality](trace_quality.md) says what was not recorded, and how to record it.

Other reasons for no rows: No gap on `device`.

{INTERFACE}
{COLUMNS}
Rows are ordered by `gap_us DESC`. On a cluster they distribute by `trace`: the rows of a trace depend on that trace alone.

`gaps_v1`, since tracewh 0.1: [SQL](../../views/device/gaps_v1.sql), [test](../../tests/views/gaps_v1.test)

[All views](../views.md)
"""
    )
    index = made["views.md"]
    assert (
        index[index.index("## ") :]
        == """\
## Kernels and devices

| view | what it shows |
| --- | --- |
| [gaps](views/gaps.md) | Gaps a\\|b between kernels. |
"""
    )


def test_a_view_without_rules_or_parameters() -> None:
    plain = VIEW.replace("--\n-- What a gap is.\n", "").replace(
        "-- needs: no_device_events, no_operators\n-- empty: No gap on {device}.\n", ""
    )
    plain = plain.replace("-- params\n--   device  INTEGER  -  -  Device a|b.\n--   run\n", "")
    plain = plain.replace("device INTEGER, run VARCHAR := NULL", "")
    plain = plain.replace("drawn --device 1 --run 'a b' --limit 3", "samples")
    page = render(Registry.of([header(plain)]), shown)["views/gaps.md"]
    assert "How to read it" not in page
    assert (
        "## Usage\n\nThe example from the command line, in SQL and in Python:\n\n"
        "```sh\ntracewh show gaps\n```\n```sql\nFROM gaps();\n```\n"
        "```python\nwarehouse.gaps().show()\n```\n" in page
    )


@pytest.fixture(scope="module")
def examples(all_samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Examples:
    """Examples with the samples that all tests share."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "samples").symlink_to(all_samples.path)
    return Examples(folder)


@pytest.fixture(scope="module")
def wanted(examples: Examples, all_samples: tracewh.Warehouse) -> dict[str, str]:
    """All pages. The commands share a copy of the samples, but `query`, which locks the settings of its own."""
    copy = OpenWarehouse(Path(all_samples.path))

    def run(words: list[str]) -> int:
        with pytest.MonkeyPatch.context() as patch:
            if words[0] != "query":
                patch.setattr("tracewh.open", open_once)
            return command_line(words)

    def open_once(path: str) -> tracewh.Warehouse:
        return copy if Path(path).samefile(copy.path) else tracewh.Warehouse(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("docs.examples.main", run)
        return pages_with(examples)


def test_the_pages_are_what_the_views_say_and_answer(wanted: dict[str, str]) -> None:
    late = behind(DOCS, wanted)
    assert late == [], "run `python -m docs.reference`"
    registry = installed()
    assert set(wanted) >= {
        *("views.md", "tables.md", "definitions.md", "differences.md"),
        *(f"views/{v.name}.md" for v in registry.newest()),
        *(f"tables/{t.name}.md" for t in registry.tables()),
    }


def test_a_page_has_what_its_test_computes(wanted: dict[str, str]) -> None:
    """Not where the example is the same, and not where nothing is drawn."""
    assert """\
## Computed by hand

This is the first case in [the test](../../tests/views/gpu_time_v1.test) of the view, which has the rows that \
come out of it:

```text
What device 0 and 1 do, one character per us:

  us                   0    5    10   15   20   25   30
""" in wanted["views/gpu_time.md"]
    for name in ("serving_steps", "blocking_calls"):
        assert "Computed by hand" not in wanted[f"views/{name}.md"]
    assert "No bundled sample shows this." in wanted["views/serving_steps.md"]


def test_what_a_page_shows_is_what_a_terminal_does(wanted: dict[str, str]) -> None:
    assert """\
On the [bundled samples](../../samples/README.md):

```console
$ tracewh show topology --run ddp_gloo
run ddp_gloo

hostname   worker  process_id  rank  world_size
─────────  ──────  ──────────  ────  ──────────
localhost  rank0         7657     0           2
localhost  rank1         7658     1           2

without a value: device_id, device_name
```
""" in wanted["views/topology.md"]


def test_what_no_sample_holds_is_shown_on_the_tables_of_the_test(wanted: dict[str, str]) -> None:
    page = wanted["views/cpu_utilization.md"]
    assert (
        """\
[its test](../../tests/views/cpu_utilization_v1.test):

```text
Four workers of a run, each with a pipeline of its own:

  loader     a DataLoader with two workers, recorded by tracewh.record. Times in ms, steps 0-50 and 50-100:
"""
        in page
    )
    assert (
        """\
worker                  device      loader      loader         loader   minddata   minddata
scope                  process        host     process  child_process   operator   operator
pid                          9           -           7             70          -          -
"""
        in page
    )


def test_no_page_knows_where_it_was_made(wanted: dict[str, str]) -> None:
    for name, page in wanted.items():
        assert str(DOCS.parent) not in page, name
        assert "/tmp" not in page, name


NO_EXAMPLE = "the header needs an 'example:' line that starts with one of samples, lightning, drawn"


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("", NO_EXAMPLE),
        ("-- example: other --run x\n", NO_EXAMPLE),
        (
            "-- example: lightning --run x\n",
            "tracewh show kernel_stats --run x: tracewh: no run named 'x'; the only run is lightning",
        ),
        (
            "-- example: lightning\n",
            """\
tracewh show kernel_stats: tracewh: kernel_stats has no rows for these parameters
  lightning/run/default: No work on a device: if the job uses one, record with ProfilerActivity.CUDA (or XPU, ...).""",
        ),
    ],
)
def test_an_example_that_does_not_work(examples: Examples, example: str, message: str) -> None:
    view = installed().get("kernel_stats")
    text = view.sql.replace(f"-- example: {view.example}\n", example)
    with pytest.raises(ExampleError) as refused:
        examples.show(parse(text, view.path))
    assert str(refused.value) == f"{view.path}: {message}"


def test_pages_that_are_behind_are_found_and_mended(
    tmp_path: Path,
    wanted: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("docs.reference.pages", lambda: wanted)  # made once is enough
    write(tmp_path, wanted)
    assert behind(tmp_path, wanted) == []
    index, gone = tmp_path / "views.md", tmp_path / "tables" / "gone.md"
    index.write_text("old", "utf-8")
    gone.write_text("a table that is no more", "utf-8")
    (tmp_path / "other.md").write_text("a page that people write", "utf-8")
    assert main(["--check", str(tmp_path)]) == 1
    assert index.read_text("utf-8") == "old"
    assert capsys.readouterr().err == (
        f"{gone} is outdated; run `python -m docs.reference`\n"
        f"{index} is outdated; run `python -m docs.reference`\n"
    )
    write(tmp_path, wanted)
    assert not gone.exists()
    assert behind(tmp_path, wanted) == []


def test_the_page_of_a_table(wanted: dict[str, str]) -> None:
    page = wanted["tables/device_events.md"]
    assert page.startswith("""\
# device_events

<!-- Written by `python -m docs.reference` from the header of sql/tables/device_events.sql. -->

Events on devices: kernels, copies, memsets, synchronisations, and spans of annotations.

One row per complete event on a device.

Slices of it: `kernels` (Kernels, including collectives), `memcpys`""")
    assert (
        "| `external_id` | BIGINT | Profiler's id of the launching operator. "
        "| `External id`, `external id` |\n" in page
    )
    assert "| `start_ns` | BIGINT | Start, nanoseconds since the epoch. |  |\n" in page
    steps = wanted["tables/steps.md"]  # none of its columns is an argument
    assert "| column | type | meaning |\n" in steps
    assert "| `fp16_tflops` | DECIMAL(4,1) |" in wanted["tables.md"]
    for table in installed().tables():
        rows = re.findall(r"^\| `(\w+)` \|", wanted[f"tables/{table.name}.md"], re.MULTILINE)
        assert rows == [column.name for column in table.columns]


def test_every_reason_of_a_difference_is_on_the_page(wanted: dict[str, str]) -> None:
    page = wanted["differences.md"]
    for reason in listed().reasons.values():
        assert f"| {reason} | " in page, reason
    lines = [line for of_trace in listed().listed.values() for line in of_trace]
    assert sum(line.rows * (1 + line.reason.count(",")) for line in lines) == sum(
        int(rows.replace(",", "")) for rows in re.findall(r"\| ([\d,]+) \|$", page, re.MULTILINE)
    )


def test_definitions_are_those_of_the_headers(wanted: dict[str, str]) -> None:
    page = wanted["definitions.md"]
    specs = {spec.object_name: spec for spec in installed().all()}
    assert f"### Call, self time, device time\n\n{specs['operator_costs'].summary}\n\n" in page
    assert specs["operator_costs"].doc in page
    assert "SQL: [operator_costs](../sql/blocks/operator_costs.sql). Views: " in page
    assert specs["step_breakdown_v1"].doc in page


CONSOLE = """\
Before.

```console
$ tracewh show topology \\
    --run ddp_gloo
stale
```

```sh
$ left alone
```
"""


def test_outputs_of_commands_are_filled_in(tmp_path: Path, examples: Examples) -> None:
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text(CONSOLE, "utf-8")
    made = transcripts.render(page.parent, examples)["a.md"]
    assert "--run ddp_gloo\nrun ddp_gloo\n\nhostname   worker " in made
    assert "stale" not in made
    assert made.startswith("Before.\n\n```console\n$ tracewh show topology \\\n")
    assert made.endswith("device_name\n```\n\n```sh\n$ left alone\n```\n")
    page.write_text(made, "utf-8")
    assert transcripts.render(page.parent, examples) == {"a.md": made}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ls", "`ls` is not a command of tracewh"),
        (
            "tracewh show topolgy",
            "`tracewh show topolgy`: tracewh: no view named 'topolgy'; did you mean 'topology'?",
        ),
    ],
)
def test_a_command_on_a_page_that_does_not_work(
    tmp_path: Path, examples: Examples, line: str, message: str
) -> None:
    (tmp_path / "a.md").write_text(f"```console\n$ {line}\n```\n", "utf-8")
    with pytest.raises(ExampleError) as refused:
        transcripts.render(tmp_path, examples)
    assert str(refused.value) == f"docs/a.md: {message}"
