"""`ingest` on a Spark cluster: one trace per task, or several small ones. Each trace is committed by itself.

Spark may lose, repeat or duplicate tasks. Each commit changes the warehouse in one step for readers, and
repeating it changes nothing but the ingest time.
"""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import DataFrame, SparkSession

from tracewh.errors import IngestError, RefusedError
from tracewh.ingest import result
from tracewh.ingest.database_pool import DatabasePool, Limits
from tracewh.ingest.error_messages import refusal
from tracewh.ingest.ingest_file import ingest_files
from tracewh.ingest.plan import Planned, list_traces, make_batches, make_plan
from tracewh.ingest.progress import Meter, Progress
from tracewh.ingest.result import FileResult
from tracewh.ingest.sources.discover import Source
from tracewh.ingest.sources.files import STDIN, Piped
from tracewh.spark.errors import TaskLostError
from tracewh.spark.share import Share, local_folder
from tracewh.spark.tasks import collect, context_of, one_per_task
from tracewh.storage.local_store import LocalStore
from tracewh.storage.staging import Session, scratch
from tracewh.storage.store import Store

#: Time without a running task after which `on_wait` is called.
WAIT_SECONDS = 20
#: Tasks at the same time, where Spark does not tell how many it can run.
TASKS_AT_ONCE = 16


class _TextAccumulator(AccumulatorParam[list[str]]):
    """Collects texts. The driver receives those of a task when the task ends."""

    def zero(self, value: list[str]) -> list[str]:
        return []

    def addInPlace(self, value1: list[str], value2: list[str]) -> list[str]:
        value1.extend(value2)
        return value1


@dataclass(frozen=True, slots=True)
class Job:
    """Settings that all tasks share.

    Attributes:
        store: The warehouse.
        marker: A file that the driver created in the warehouse's folder, to check that all machines see it.
        results: Accumulator for the results of files, in JSON.
    """

    store: Store
    marker: Path | None
    results: Accumulator[list[str]] | None


def ingest_sources(
    spark: SparkSession,
    sources: Sequence[Source],
    store: Store,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[FileResult], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[FileResult]:
    """As `ingest_sources` of tracewh.ingest.api, on a cluster.

    Args:
        spark: The session.
        sources: The files; at least one.
        store: The warehouse.
        force: Ingest files again that are in the warehouse already.
        on_progress: Called as files are finished.
        on_result: Called once per result, when its task is finished.
        on_wait: Called once if no task starts within `WAIT_SECONDS`.

    Raises:
        IngestError: The call cannot start.
        SparkError: The cluster cannot do the work. Traces ingested by then stay.
    """
    for source in sources:
        if isinstance(source.path, Piped):
            what = "- is standard input" if source.path is STDIN else f"{source.path} is a pipe"
            raise IngestError(f"{what}, which executors cannot read; ingest it without Spark")
    with ExitStack() as stack:
        marker = None
        if isinstance(store, LocalStore):
            marker = stack.enter_context(store.session()).path / "lock"
        sources = list_traces(store, sources, force, None)
        plan = make_plan(store, sources, force)
        run = _Run(spark, store, marker, plan, Meter(sources, on_progress, on_result), on_wait)
        return run.all()


class _Run:
    """The driver's side of one ingest."""

    def __init__(
        self,
        spark: SparkSession,
        store: Store,
        marker: Path | None,
        plan: Sequence[Planned],
        meter: Meter,
        on_wait: Callable[[], None] | None,
    ) -> None:
        self._spark, self._plan, self._meter, self._on_wait = spark, plan, meter, on_wait
        self._results: dict[int, FileResult] = {}
        self._began = time.monotonic()
        context = context_of(spark)  # without one, results arrive when all tasks are done
        self._reported = context.accumulator([], _TextAccumulator()) if context else None
        self._tracker = context.statusTracker() if context else None
        self._job = Job(store, marker, self._reported)

    def all(self) -> list[FileResult]:
        """Ingest every file.

        A task that crashes its process in every attempt fails Spark's job. Each of its traces runs once more, alone,
        after the others: another trace in the same task or executor may have caused the crash.
        """
        for number, planned in enumerate(self._plan):
            if planned.known is not None:
                self._finish(number, result.unchanged(planned.source, planned.known))
        suspects: list[int] = []
        while waiting := [
            n for n in range(len(self._plan)) if n not in {*self._results, *suspects}
        ]:
            tasks = self._tasks(waiting)
            try:
                self._run_tasks(tasks)
            except TaskLostError as lost:
                suspects += tasks[lost.number]
        for number in suspects:
            try:
                self._run_tasks([[number]])
            except TaskLostError as lost:
                error = RefusedError(
                    f"its ingest crashed its process in every attempt, the last on {lost.host}: "
                    "it may need more memory than the executors have; ingest it without --engine spark"
                )
                self._finish(number, result.refused(self._plan[number].source, error))
        return [self._results[number] for number in range(len(self._plan))]

    def _tasks(self, numbers: Sequence[int]) -> list[list[int]]:
        """The numbers of the files of each task."""
        context = context_of(self._spark)
        at_once = context.defaultParallelism if context else TASKS_AT_ONCE
        batches = make_batches([self._plan[number] for number in numbers], at_once)
        following = iter(numbers)
        return [[next(following) for _ in batch] for batch in batches]

    def _run_tasks(self, tasks: Sequence[Sequence[int]]) -> None:
        items = [[(number, self._plan[number]) for number in numbers] for numbers in tasks]
        frame = one_per_task(self._spark, partial(ingest_task, self._job), items, "result string")
        try:
            rows = collect(frame, DataFrame.collect, self._poll)
        finally:
            self._poll()
        for row in rows:
            self._record(row.result)

    def _poll(self) -> None:
        """Process the results that have arrived, and call `on_wait` if no task runs."""
        for text in list(self._reported.value) if self._reported else ():
            self._record(text)
        if self._on_wait and self._tracker and time.monotonic() - self._began > WAIT_SECONDS:
            stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
            if not self._results and not any(stage and stage.numActiveTasks for stage in stages):
                self._on_wait()
            self._on_wait = None

    def _record(self, text: str) -> None:
        number, found = json.loads(text)
        if number not in self._results:
            self._finish(number, FileResult(self._plan[number].source.path, **found))

    def _finish(self, number: int, found: FileResult) -> None:
        self._results[number] = found
        self._meter.read(found.source_bytes)
        self._meter.count(found.events)
        self._meter.finish(found)


def ingest_task(job: Job, items: Sequence[tuple[int, Planned]]) -> Iterator[pa.RecordBatch]:
    """Ingest the files of a task. Returns a row for each, with the number of the file and its result.

    Raises:
        IngestError: This machine cannot ingest anything.
    """
    with ExitStack() as stack:
        local = stack.enter_context(scratch(local_folder(), "name another in spark.local.dir"))
        commit = partial(_commit_to_store, job.store, local)
        if isinstance(job.store, LocalStore):
            if job.marker and not job.marker.exists():
                raise IngestError(
                    f"{job.store.path} is not the folder in which the ingest was started; the warehouse "
                    "must be in a folder that all machines share, or in a store: s3://BUCKET/PATH"
                )
            shared = stack.enter_context(job.store.session())
            commit = partial(_commit, job.store, shared)
        found = _ingest([planned for _, planned in items], local, commit)
    names = [each.name for each in fields(FileResult) if each.name != "source"]
    texts = [
        json.dumps((number, {name: getattr(each, name) for name in names}))
        for (number, _), each in zip(items, found, strict=True)
    ]
    if job.results is not None:
        job.results.add(texts)
    yield pa.RecordBatch.from_pydict({"result": texts})


def _ingest(
    batch: Sequence[Planned], local: Session, commit: Callable[[Planned, Path], str]
) -> list[FileResult]:
    missing = [_is_missing(planned) for planned in batch]
    found = [planned for planned, is_missing in zip(batch, missing, strict=True) if not is_missing]
    share = Share.of_task()
    limits = Limits(share.cores, share.memory_bytes, share.remedy)
    with DatabasePool(local, limits) as databases:
        meter = Meter([planned.source for planned in found])
        results = iter(ingest_files(found, databases, commit, meter))
    error = RefusedError(
        f"not found on {socket.gethostname()}: trace files must be in a folder that all machines "
        "share, or in a store: s3://BUCKET/PATH"
    )
    return [
        result.refused(planned.source, error) if is_missing else next(results)
        for planned, is_missing in zip(batch, missing, strict=True)
    ]


def _is_missing(planned: Planned) -> bool:
    path = planned.source.path
    return isinstance(path, Path) and not path.exists()


def _commit_to_store(store: Store, local: Session, planned: Planned, staged: Path) -> str:
    return store.commit(local, planned.target, staged)


def _commit(store: LocalStore, shared: Session, planned: Planned, staged: Path) -> str:
    """Copy a trace to the disk of the warehouse and commit it there."""
    with shared.staging() as copy:
        try:
            for file in staged.iterdir():
                shutil.copyfile(file, copy / file.name)
        except OSError as error:
            raise refusal(error, planned.source.path, shared.full, Limits(0, 0)) from None
        return store.commit(shared, planned.target, copy)
