"""Record the batches of a data loader.

The class of a DataLoader is replaced by a subclass, whose iterators time each batch. In a worker process, the function
that fetches a batch is timed. It returns its times together with the batch, so they belong to that batch for certain.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

from tracewh.record.record_file import RecordFile

Loader = TypeVar("Loader")
#: The first item of a tuple that holds a batch and its times.
_MARK = "tracewh.record.batch"
#: What a worker says of a batch, after the batch.
_TIMES = (
    *("loader_worker", "loader_pid", "samples"),
    *("fetch_start_ns", "fetch_ns", "collate_ns", "cpu_ns"),
)
#: Attribute of a loader that is recorded.
_RECORDER = "_tracewh_recorder"


def record_loader(loader: Loader, file: RecordFile) -> Loader:
    """Record a loader; see `tracewh.record.dataloader`."""
    torch_data = sys.modules.get("torch.utils.data")
    if torch_data is None or not isinstance(loader, torch_data.DataLoader):
        timed = _TimedIterator if hasattr(loader, "__next__") else _Timed
        return cast(Loader, timed(loader, _Recorder(file)))
    known = getattr(loader, _RECORDER, None)
    if known is None:
        loader.__class__ = _recorded(type(loader))
        loader.worker_init_fn = _StartWorker(loader.worker_init_fn)
    setattr(loader, _RECORDER, _Recorder(file))
    return loader


class _Line(tuple[Any, ...]):
    """The line of a batch. It becomes text when lines are written: many at a time take less time each."""

    __slots__ = ()

    def __str__(self) -> str:
        number, now, waited, ready, times = self
        line = (
            f'{{"kind":"batch","batch":{number},"time_ns":{now},"get_ns":{waited}'
            f',"queue_size":{"null" if ready is None else ready}'
        )
        if times:
            line += "".join(
                f',"{name}":{value}'
                for name, value in zip(_TIMES, times, strict=True)
                if value is not None
            )
        return line + "}"


class _Recorder:
    """Writes the lines of one loader."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file
        self._batches = 0
        self._is_described = False

    def start(self, loader: Any) -> None:
        """Describe the loader, before its first batch."""
        if self._is_described:
            return
        self._is_described = True
        workers = int(getattr(loader, "num_workers", None) or 0)
        prefetch = int(getattr(loader, "prefetch_factor", None) or 2)
        self._file.add_object(
            kind="pipeline", workers=workers, queue_capacity=prefetch * workers or None
        )

    def next(self, batches: Iterator[Any], has_queue: bool) -> Any:
        """Take the next batch and add its line."""
        ready = _ready(batches) if has_queue else None
        before = time.perf_counter_ns()
        batch = next(batches)
        waited = time.perf_counter_ns() - before
        now = time.time_ns()
        times: Any = ()
        # The thread that pins memory turns a tuple into a list.
        if isinstance(batch, (tuple, list)) and len(batch) == 2 + len(_TIMES):
            mark, found, *timed = batch
            if isinstance(mark, str) and mark == _MARK:
                batch, times = found, timed
        self._file.add(_Line((self._batches, now, waited, ready, times)))
        self._batches += 1
        return batch

    def flush(self) -> None:
        """Write what is kept."""
        self._file.flush()


def _ready(batches: Any) -> int | None:
    """The batches that workers have made and the loop has not taken; None if it is unknown."""
    tasks = getattr(batches, "_task_info", {})
    try:
        # A batch that came before its turn waits beside the queue.
        return int(batches._data_queue.qsize()) + sum(len(task) == 2 for task in tasks.values())
    except (AttributeError, NotImplementedError, OSError, RuntimeError, TypeError):
        return None


class _Batches:
    """Iterates over the batches of a loader and times each."""

    def __init__(self, batches: Iterator[Any], recorder: _Recorder) -> None:
        self._batches = batches
        self._recorder = recorder
        self._has_queue = getattr(batches, "_data_queue", None) is not None
        fetcher = getattr(batches, "_dataset_fetcher", None)  # of a loader without workers
        if fetcher is not None and not isinstance(fetcher.fetch, _Timer):
            fetcher.fetch = _Timer(fetcher.fetch, fetcher, None, time.thread_time_ns)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._recorder.next(self._batches, self._has_queue)
        except BaseException:
            self._recorder.flush()
            raise

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_batches"], name)


class _Timed:
    """An iterable that is no DataLoader, with its batches timed."""

    def __init__(self, loader: Any, recorder: _Recorder) -> None:
        self._loader = loader
        self._recorder = recorder

    def __iter__(self) -> Iterator[Any]:
        self._recorder.start(self._loader)
        return _Batches(iter(self._loader), self._recorder)

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_loader"], name)


class _TimedIterator(_Timed):
    """The same of an iterable that is its own iterator."""

    def __next__(self) -> Any:
        self._recorder.start(self._loader)
        return next(_Batches(self._loader, self._recorder))


_CLASSES: dict[type, type] = {}


def _recorded(base: type) -> type:
    """A subclass of a class of loaders whose iterators are timed."""

    def __iter__(self: Any) -> Iterator[Any]:
        recorder = getattr(self, _RECORDER, None)
        start = self.worker_init_fn
        if recorder is None and isinstance(start, _StartWorker):
            # A copy that a library made with the constructor: nobody would take the times off its batches.
            self.worker_init_fn = start.original
        batches = base.__iter__(self)  # type: ignore[attr-defined]
        if recorder is None:
            return cast(Iterator[Any], batches)
        recorder.start(self)
        return _Batches(batches, recorder)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        state = {name: value for name, value in self.__dict__.items() if name != _RECORDER}
        return _unrecorded, (base, {**state, "worker_init_fn": self.worker_init_fn.original})

    if base not in _CLASSES:
        members = {
            "__iter__": __iter__,
            "__reduce_ex__": __reduce_ex__,
            "__module__": base.__module__,
        }
        _CLASSES[base] = type(base.__name__, (base,), members)
    return _CLASSES[base]


def _unrecorded(base: Any, state: dict[str, Any]) -> Any:
    """A copy of a loader, which is not recorded."""
    copy = base.__new__(base)
    copy.__dict__.update(state)
    return copy


class _StartWorker:
    """Starts the timing in a worker process of a loader, and then what the user starts there."""

    def __init__(self, original: Callable[[int], Any] | None) -> None:
        self.original = original

    def __call__(self, worker_id: int) -> Any:
        _time_fetches(worker_id)
        return self.original(worker_id) if self.original else None


def _time_fetches(worker_id: int) -> None:
    """Time each batch that this process makes. It makes batches for one loader only."""
    try:
        from torch.utils.data._utils import fetch
    except ImportError:  # another version of torch: the loop's own times are still recorded
        return
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        fetcher = getattr(fetch, name, None)
        if fetcher is not None and hasattr(fetcher, "fetch"):
            _time_class(fetcher, worker_id)


def _time_class(fetcher: Any, worker_id: int) -> None:
    original = fetcher.fetch

    def timed(self: Any, index: Any) -> Any:
        timer = self.__dict__.get("_tracewh_timer")
        if timer is None:
            timer = _Timer(original.__get__(self), self, worker_id, time.process_time_ns)
            self._tracewh_timer = timer
        return timer(index)

    fetcher.fetch = timed


class _Timer:
    """Fetches batches and adds to each how long it took.

    Args:
        fetch: Fetches a batch, by the indices of its samples.
        fetcher: The object that has the function that collates samples.
        worker_id: Number of the worker; None in the process of the loop.
        cpu_time_ns: Clock of the CPU time that is spent.
    """

    def __init__(
        self,
        fetch: Callable[[Any], Any],
        fetcher: Any,
        worker_id: int | None,
        cpu_time_ns: Callable[[], int],
    ) -> None:
        self._fetch = fetch
        self._worker_id = worker_id
        self._cpu_time_ns = cpu_time_ns
        self._samples = 0
        self._collate_ns: int | None = None
        self._collate = getattr(fetcher, "collate_fn", None)
        if self._collate is not None:
            fetcher.collate_fn = self._timed_collate

    def _timed_collate(self, samples: Any) -> Any:
        assert self._collate is not None
        self._samples = len(samples) if isinstance(samples, list) else 1
        before = time.perf_counter_ns()
        batch = self._collate(samples)
        self._collate_ns = time.perf_counter_ns() - before
        return batch

    def __call__(self, index: Iterable[Any]) -> Any:
        started, cpu, before = time.time_ns(), self._cpu_time_ns(), time.perf_counter_ns()
        batch = self._fetch(index)
        taken = time.perf_counter_ns() - before
        spent = self._cpu_time_ns() - cpu
        samples = self._samples or None
        return (
            *(_MARK, batch, self._worker_id, os.getpid(), samples),
            *(started, taken, self._collate_ns, spent),
        )
