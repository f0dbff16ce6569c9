"""What the rows of a view depend on is what its header says under `distributes:`, and no less.

The view is asked for parts of a warehouse, with nothing of the others in the tables. Of the groups of a
run, and of its copy, each is in another part. Where no group is cut, the answers for the parts are
together the whole one; where smaller groups are taken apart, they are not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from itertools import chain, product, zip_longest
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.conftest import made_once
from tests.copied import CopiedTables, Rows
from tests.views.test_every_view import A100, alike, assert_same, crowd_of, has_all
from tracewh.spark.distributed import combine, partial_rows, select_traces
from tracewh.views import SIZES, Spec
from tracewh.views.listing import Listing
from tracewh.views.registry import installed
from tracewh.views.warehouse import listed

REGISTRY = installed()

#: Two ranks that share a host with four GPUs, of which two have nothing to do: neither rank alone can know.
SHARED_HOST = [
    {
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "hostName": "host",
        "deviceProperties": [{**A100, "id": device} for device in range(4)],
        "traceEvents": [
            {
                "ph": "X",
                "cat": "kernel",
                "name": "gemm",
                "pid": rank,
                "tid": 7,
                "ts": 10,
                "dur": 5,
                "args": {"device": rank, "stream": 7},
            },
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": f"PP:{rank}F0",
                "pid": rank,
                "tid": rank,
                "ts": 10,
                "dur": 5,
            },
        ],
    }
    for rank in range(2)
]


#: Arguments beside those that the header lists, and those of the views that need some.
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "utilization_series": [{"buckets": 7}],
    "kernel_sequences": [{"operator": "aten::%", "min_length": 1}],
    "trend": [{"figure": "step_us"}, {"figure": "kernel_calls", "name": "gemm"}],
}
SIDES = {"baseline": "h100_bert_2025", "experiment": "two_ranks_nccl_2023"}


class Groups(CopiedTables):
    """The tables of a warehouse, to be asked about some of its traces as if there were no others.

    Args:
        path: The warehouse.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path
        keys = "run, worker, span"
        self.con.execute(
            f"""
            CREATE SCHEMA whole;
            CREATE TABLE whole.places AS
            SELECT {keys}, row_number() OVER (ORDER BY {keys}) AS place FROM traces
            """
        )
        self._traces = self.con.execute(
            f"SELECT {keys} FROM whole.places ORDER BY place"
        ).fetchall()
        for table in self.registry.tables():
            self.con.execute(
                f"""
                CREATE TABLE whole.{table.name} AS
                SELECT t.*, p.place FROM {table.name} AS t INNER JOIN whole.places AS p USING ({keys});
                DROP TABLE {table.name};
                CREATE VIEW {table.name} AS
                SELECT * EXCLUDE (place) FROM whole.{table.name}
                WHERE list_contains(getvariable('places'), place)
                """
            )

    def parts(self, size: str) -> list[list[int]]:
        """The places of all traces in parts that cut no group of a size.

        Two parts of many groups find what a query for each group finds, and take a fourth of the time: a group
        is in another part than its neighbours of the same span, of the same worker and of the run's copy. One
        group is alone, so that a view that only looks for company is found, too.
        """
        keys = {"trace": 3, "worker": 2, "run": 1, "warehouse": 0}[size]
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, trace in enumerate(self._traces, 1):
            groups.setdefault(trace[:keys], []).append(place)
        alone = next((name for name in groups if SIDES["baseline"] in name), ())
        parts = [groups.pop(alone), [], []]
        for (run, *names), places in groups.items():
            of_run = [trace for trace in self._traces if trace[0] == run]
            number = int(run.endswith(" again"))
            for key, name in enumerate(names, 1):
                number += sorted({trace[key] for trace in of_run}).index(name)
            parts[1 + number % 2] += places
        return list(filter(None, parts))

    def ask_each_part(self, view: Spec, arguments: dict[str, Any], size: str) -> Iterator[Rows]:
        """The rows of a view for each part."""
        sql = REGISTRY.call(view.name, view.version, **arguments).sql
        for places in self.parts(size):
            self.con.execute(f"SET VARIABLE places = {places}")
            self.prepare(sql, self.rare(sql))
            yield self.con.execute(sql).fetchall()

    def ask_parts(self, view: Spec, arguments: dict[str, Any], size: str) -> Rows:
        """The rows of a view for each part, put together."""
        return list(chain.from_iterable(self.ask_each_part(view, arguments, size)))

    def is_unlike(self, view: Spec, arguments: dict[str, Any], size: str, whole: Rows) -> bool:
        """Whether the parts are not the whole: known at the first part with a row that the whole has not."""
        rows: Rows = []
        for part in self.ask_each_part(view, arguments, size):
            rows += part
            if not has_all(whole, part):
                return True
        return not alike(rows, whole)


def variants(view: Spec) -> list[dict[str, Any]]:
    """Arguments to ask a view with: all choices among the words that its header lists, too.

    Of the changes of what_if, each of which is a replay of each trace, the first three.
    """
    given: dict[str, Any] = SIDES if "baseline" in {param.name for param in view.params} else {}
    choices = {
        param.name: re.findall(r"'(\w+)'", param.meaning)
        for param in view.params
        if param.default.startswith("'") and f"{param.default}" in param.meaning
    }
    listed = [dict(zip(choices, words, strict=True)) for words in product(*choices.values())]
    listed = [
        words
        for number, words in enumerate(listed)
        if words not in listed[:number] and (number < 3 or view.name != "what_if")
    ]
    names = {param.name for param in view.params}
    listed += [{name: True} for name in ("per_span", "combine_workers") if name in names]
    required = any(param.required for param in view.params if param.name not in given)
    return [given | more for more in ([] if required else listed) + ARGUMENTS.get(view.name, [])]


def groups_of(shared: Path, factory: pytest.TempPathFactory) -> Path:
    """A warehouse of three jobs, and of three traces with others of their worker, run and another run."""
    crowd = crowd_of(shared, factory) / "data"

    def fill(folder: Path) -> None:
        for rank, content in enumerate(SHARED_HOST):
            (folder / f"rank{rank}.json").write_text(json.dumps(content))
        tracewh.ingest(sorted(folder.glob("rank?.json")), folder / "warehouse", run="shared_host")
        data = folder / "warehouse" / "data"
        for run in ("two_ranks_nccl_2023", "ddp_gloo"):
            shutil.copytree(crowd / f"run={run}", data / f"run={run}", copy_function=os.link)
        # Without the captures of graphs, which stay with their run: tests/storage/test_captures.py.
        for run in ("sglang_decode", "minddata_2.0.0", "pipeline"):
            [trace] = (crowd / f"run={run}").glob("*/span=default")
            for copy in (run, f"{run} again"):
                place = data / f"run={copy}" / trace.parent.name / trace.name
                shutil.copytree(trace, place, copy_function=os.link)
        for run in ("h100_bert_2025", "lightning", "counted"):
            trace = max((crowd / f"run={run}").glob("*/span=default"))  # not "again ..."
            for copy in (
                "run={0}/{1}/{2}",
                "run={0}/{1}/span=2",
                "run={0}/worker=2/{2}",
                "run={0} again/{1}/{2}",
            ):
                place = data / copy.format(run, trace.parent.name, trace.name)
                shutil.copytree(trace, place, copy_function=os.link)

    return made_once(factory, "groups", fill) / "warehouse"


@pytest.fixture(scope="module")
def groups(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Groups:
    return Groups(groups_of(shared, tmp_path_factory))


@pytest.fixture(scope="module")
def jobs(groups: Groups) -> Listing:
    """Of these the jobs, and a worker with two recordings."""
    runs = ("two_ranks_nccl_2023", "ddp_gloo", "h100_bert_2025")
    listing = listed(groups.path)
    return listing.only(
        t
        for t in listing.traces
        if t.run in runs and t.worker != "2" and not t.span.startswith("again")
    )


@pytest.mark.parametrize("view", list(REGISTRY), ids=lambda view: view.object_name)
def test_a_view_distributes_as_its_header_says(groups: Groups, view: Spec) -> None:
    smaller = list(SIZES)[: list(SIZES).index(view.distributes)][-1:]
    is_needed, rows = not smaller, 0
    for arguments in variants(view):
        whole = groups.ask_parts(view, arguments, "warehouse")
        rows += len(whole)
        size = REGISTRY.call(view.name, view.version, **arguments).distributes
        if size != "warehouse":
            parts = groups.ask_parts(view, arguments, size)
            assert alike(parts, whole), f"depends on more than a {size}: {arguments}"
        if size != view.distributes:
            assert groups.is_unlike(view, arguments, view.distributes, whole), (
                f"distributes by {view.distributes}: {arguments}"
            )
        elif not is_needed:
            is_needed = groups.is_unlike(view, arguments, smaller[0], whole)
        elif view.distributes == "warehouse":
            break  # nothing is left to be found out
    assert rows > 1 or view.grain == "one row"
    assert is_needed, f"distributes by {smaller[0]}, too, as far as these traces can tell"


@pytest.mark.parametrize(
    "view", [view for view in REGISTRY if view.combines], ids=lambda view: view.object_name
)
def test_what_a_view_combines_is_all_that_it_reads(jobs: Listing, view: Spec) -> None:
    """Worked out for one trace of each run, and for another, it makes up the answer, with no file at hand.

    Other arguments than those of tests/spark/test_view_tasks.py, which asks a cluster.
    """
    arguments = variants(view)[-1]
    call = REGISTRY.call(view.name, view.version, **arguments)
    traces = select_traces(call, jobs).traces
    of_runs = [[t for t in traces if t.run == run] for run in {t.run for t in traces}]
    rows = [
        row
        for part in zip_longest(*of_runs)
        for row in partial_rows(call, {}, jobs.only(filter(None, part)))
    ]
    batches = combine(call, {}, jobs.only([]), rows)
    found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    with tracewh.Warehouse(jobs) as warehouse:
        assert_same(found, warehouse.view(view.name, view.version, **arguments).fetchall())
