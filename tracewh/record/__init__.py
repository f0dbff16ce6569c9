"""Record what the PyTorch profiler does not: the queue and the workers of a data loader, and the use of the CPUs.

    import tracewh.record

    loader = tracewh.record.dataloader(loader, "log/resnet")
    with tracewh.record.cpu("log/resnet"), torch.profiler.profile(
        on_trace_ready=torch.profiler.tensorboard_trace_handler("log/resnet")
    ) as prof:
        for batch in loader:
            ...

Both write a file beside the traces of the process. `tracewh ingest log/resnet` takes the files of a process and its
traces together. The views data_preparation_summary, data_pipeline, data_queue and cpu_utilization show them.

Importing this module loads neither DuckDB nor Arrow nor torch. `cpu` needs psutil: `pip install 'tracewh[record]'`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from tracewh.record.record_file import RecordFile

if TYPE_CHECKING:
    from tracewh.record.cpu_sampler import CpuSampler

__all__ = ["cpu", "dataloader"]

Loader = TypeVar("Loader")


def dataloader(
    loader: Loader, folder: str | os.PathLike[str], worker_name: str | None = None
) -> Loader:
    """Record each batch that a training loop takes from a data loader.

    A line per batch says how long the loop waited for it, how many batches were ready when the loop asked, and, of
    a `torch.utils.data.DataLoader`, which worker process made it, how long that took, how much of it was collating,
    and how much CPU time was spent. Times are nanoseconds. A batch takes about 250 bytes of the file and 30
    microseconds of the loop. The batches themselves do not change.

    Args:
        loader: The loader. Of a DataLoader, everything is recorded, from the next `iter(loader)` on. Of any other
            iterable only the time that the loop waits.
        folder: The folder of the traces, created if it is missing.
        worker_name: Name of the worker, as for `torch.profiler.tensorboard_trace_handler`: the file names of its
            traces begin with it. None for the default of the profiler, host and process id.

    Returns:
        The loader itself, if it is a DataLoader; otherwise an iterable that behaves like it.

    Raises:
        OSError: The file cannot be created. A later error, such as a full disk, ends the recording with a
            RuntimeWarning; the training continues.
        TypeError: It cannot be iterated over.
    """
    from tracewh.record.loader_recorder import record_loader

    if not hasattr(loader, "__iter__"):
        raise TypeError(f"a {type(loader).__name__} is no data loader: it cannot be iterated over")
    return record_loader(loader, RecordFile(folder, "dataloader", worker_name))


def cpu(
    folder: str | os.PathLike[str], worker_name: str | None = None, interval: float = 0.2
) -> CpuSampler:
    """Sample how the CPUs of this machine, this process and its child processes are used, in a thread.

    Sampling starts at once, and ends with `stop()`, with the `with` block, or with the process. A sample has the
    percentage of the time of all cores that the machine spent in user code, in the system, waiting for storage, and
    idle; its runnable processes and context switches; and the CPU time of the process and of each of its children,
    as percentages of one core. A sample takes about 0.7 ms of CPU time.

    Args:
        folder: The folder of the traces, created if it is missing.
        worker_name: Name of the worker, as for `dataloader`.
        interval: Seconds between two samples, at least 0.01.

    Raises:
        ImportError: psutil is not installed.
        OSError: The file cannot be created. A later error ends the recording with a RuntimeWarning.
        ValueError: The interval is shorter than 0.01 s.
    """
    if not interval >= 0.01:
        raise ValueError(f"interval is {interval}; it must be at least 0.01 seconds")
    try:
        from tracewh.record.cpu_sampler import CpuSampler
    except ImportError:
        raise ImportError(
            "tracewh.record.cpu needs psutil: pip install 'tracewh[record]'"
        ) from None
    return CpuSampler(RecordFile(folder, "cpu", worker_name), interval)
