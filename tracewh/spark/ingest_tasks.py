"""`ingest` on a Spark cluster: one trace a task, which puts it into the warehouse itself.

Tasks may be lost, repeated, or run twice at once: what each does to the warehouse is one step for
readers, and doing it again changes nothing but the time of the ingest.
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
from tracewh.ingest.ingest_file import ingest_file
from tracewh.ingest.plan import Planned, make_plan
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

#: Seconds without a running task after which the user gets a message.
WAIT_SECONDS = 20


class _Texts(AccumulatorParam[list[str]]):
    """Collects texts, which come as soon as a task has ended."""

    def zero(self, value: list[str]) -> list[str]:
        return []

    def addInPlace(self, value1: list[str], value2: list[str]) -> list[str]:
        value1.extend(value2)
        return value1


@dataclass(frozen=True, slots=True)
class Job:
    """What all tasks have to know.

    Attributes:
        store: The warehouse.
        sign: A file that the driver made in the warehouse's folder, which all machines must see.
        told: Where outcomes are told as soon as they are known.
    """

    store: Store
    sign: Path | None
    told: Accumulator[list[str]] | None


def ingest_sources(
    spark: SparkSession,
    sources: Sequence[Source],
    store: Store,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[FileResult], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[FileResult]:
    """As that of the api, on a cluster.

    Args:
        spark: The session.
        sources: What was found; at least one.
        store: The warehouse.
        force: Ingest files again that were ingested before.
        on_progress: Called as files are done.
        on_result: Called once per file, as soon as its result is known.
        on_wait: Called once if no task starts for `WAIT_SECONDS`.

    Raises:
        IngestError: The call cannot start.
        SparkError: The cluster cannot do the work. Traces that are in stay in.
    """
    for source in sources:
        if isinstance(source.path, Piped):
            what = "- is standard input" if source.path is STDIN else f"{source.path} is a pipe"
            raise IngestError(f"{what}, which no executor can read; ingest it without Spark")
    with ExitStack() as stack:
        sign = None
        if isinstance(store, LocalStore):
            sign = stack.enter_context(store.session()).path / "lock"
        plan = make_plan(store, sources, force)
        run = _Run(spark, store, sign, plan, Meter(sources, on_progress, on_result), on_wait)
        return run.all()


class _Run:
    """One ingest, as the driver sees it."""

    def __init__(
        self,
        spark: SparkSession,
        store: Store,
        sign: Path | None,
        plan: Sequence[Planned],
        meter: Meter,
        on_wait: Callable[[], None] | None,
    ) -> None:
        self._spark, self._plan, self._meter, self._on_wait = spark, plan, meter, on_wait
        self._outcomes: dict[int, FileResult] = {}
        self._began = time.monotonic()
        context = context_of(spark)  # without one, outcomes come when all is done
        self._told = context.accumulator([], _Texts()) if context else None
        self._tracker = context.statusTracker() if context else None
        self._job = Job(store, sign, self._told)

    def all(self) -> list[FileResult]:
        """Settle every file.

        A trace that ends its process again and again ends Spark's job with it. It is tried once more
        when the others are in, alone: what it shared an executor with may have been the reason.
        """
        for number, planned in enumerate(self._plan):
            if planned.known is not None:
                self._settle(number, result.unchanged(planned.source, planned.known))
        suspects: list[int] = []
        while waiting := [
            n for n in range(len(self._plan)) if n not in {*self._outcomes, *suspects}
        ]:
            try:
                self._run_tasks(waiting)
            except TaskLostError as lost:
                suspects.append(waiting[lost.number])
        for number in suspects:
            try:
                self._run_tasks([number])
            except TaskLostError as lost:
                error = RefusedError(
                    f"its ingest ended the process it ran in at every attempt, at last on {lost.host}: "
                    "it may need more memory than executors have there; ingest it without --engine spark"
                )
                self._settle(number, result.refused(self._plan[number].source, error))
        return [self._outcomes[number] for number in range(len(self._plan))]

    def _run_tasks(self, numbers: Sequence[int]) -> None:
        items = [(number, self._plan[number]) for number in numbers]
        frame = one_per_task(self._spark, partial(ingest_task, self._job), items, "outcome string")
        try:
            rows = collect(frame, DataFrame.collect, self._look)
        finally:
            self._look()
        for row in rows:
            self._hear(row.outcome)

    def _look(self) -> None:
        """Hear what was told meanwhile."""
        for text in list(self._told.value) if self._told else ():
            self._hear(text)
        if self._on_wait and self._tracker and time.monotonic() - self._began > WAIT_SECONDS:
            stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
            if not self._outcomes and not any(stage and stage.numActiveTasks for stage in stages):
                self._on_wait()
            self._on_wait = None

    def _hear(self, text: str) -> None:
        number, found = json.loads(text)
        if number not in self._outcomes:
            self._settle(number, FileResult(self._plan[number].source.path, **found))

    def _settle(self, number: int, found: FileResult) -> None:
        self._outcomes[number] = found
        self._meter.read(found.source_bytes)
        self._meter.count(found.events)
        self._meter.finish(found)


def ingest_task(job: Job, item: tuple[int, Planned]) -> Iterator[pa.RecordBatch]:
    """Run a task: yield a row with the number of a file and its result.

    Raises:
        IngestError: This machine cannot ingest.
    """
    number, planned = item
    with ExitStack() as stack:
        local = stack.enter_context(scratch(local_folder(), "name another in spark.local.dir"))
        commit = partial(job.store.commit, local, planned.target)
        if isinstance(job.store, LocalStore):
            if job.sign and not job.sign.exists():
                raise IngestError(
                    f"{job.store.path} is another folder than where the ingest was started; the "
                    "warehouse must be in one that all machines share, or in a store: s3://BUCKET/PATH"
                )
            shared = stack.enter_context(job.store.session())
            commit = partial(_commit, job.store, shared, planned)
        found = _settle(planned, local, commit)
    told = {each.name: getattr(found, each.name) for each in fields(found) if each.name != "source"}
    text = json.dumps((number, told))
    if job.told is not None:
        job.told.add([text])
    yield pa.RecordBatch.from_pydict({"outcome": [text]})


def _settle(planned: Planned, local: Session, commit: Callable[[Path], str]) -> FileResult:
    path = planned.source.path
    if isinstance(path, Path) and not path.exists():
        error = RefusedError(
            f"not found on {socket.gethostname()}: trace files must be in a folder that all machines "
            "share, or in a store: s3://BUCKET/PATH"
        )
        return result.refused(planned.source, error)
    share = Share.of_task()
    limits = Limits(share.cores, share.memory_bytes, share.remedy)
    with DatabasePool(local, limits) as databases:
        return ingest_file(planned, databases, commit, Meter([planned.source]))


def _commit(store: LocalStore, shared: Session, planned: Planned, staged: Path) -> str:
    """Bring a trace to the disk of the warehouse, and put it in its place there."""
    with shared.staging() as copy:
        try:
            for file in staged.iterdir():
                shutil.copyfile(file, copy / file.name)
        except OSError as error:
            raise refusal(error, planned.source.path, shared.full, Limits(0, 0)) from None
        return store.commit(shared, planned.target, copy)
