"""tracewh.record on loaders of all kinds: the batches stay as they are, and errors are clear."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh.record


# torch is slow to import, and every process of a test run collects this file.
def torch_loader(items: Any, *arguments: Any, **options: Any) -> Any:
    from torch.utils.data import DataLoader

    return DataLoader(items, *arguments, **options)


def numbers() -> Any:
    from torch.utils.data import IterableDataset

    class Numbers(IterableDataset[int]):
        def __iter__(self) -> Iterator[int]:
            return iter(range(10))

    return Numbers()


def lines(folder: Path) -> list[dict[str, Any]]:
    [file] = folder.iterdir()
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize(
    ("made", "batches"),
    [
        (lambda: torch_loader(range(5), 2), [[0, 1], [2, 3], [4]]),
        (lambda: torch_loader(range(5), 2, num_workers=2), [[0, 1], [2, 3], [4]]),
        (lambda: torch_loader(numbers(), 4), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        (lambda: torch_loader(range(3), None), [0, 1, 2]),
        (lambda: [7, 8], [7, 8]),
    ],
)
def test_the_batches_do_not_change(made: Any, batches: list[Any], tmp_path: Path) -> None:
    from torch.utils.data import DataLoader

    loader = made()
    recorded = tracewh.record.dataloader(loader, tmp_path, "w")
    assert isinstance(recorded, DataLoader) == isinstance(loader, DataLoader)
    found = [batch.tolist() if hasattr(batch, "tolist") else batch for batch in recorded]
    assert found == batches
    said = [line for line in lines(tmp_path) if line.get("kind") == "batch"]
    assert [line["batch"] for line in said] == [*range(len(batches))]
    if isinstance(loader, DataLoader):
        sizes = [len(batch) if isinstance(batch, list) else 1 for batch in batches]
        assert [line["samples"] for line in said] == sizes
        assert all(0 < line["collate_ns"] < line["fetch_ns"] for line in said)


def test_a_copy_is_not_recorded(tmp_path: Path) -> None:
    loader = torch_loader(range(4), 2)
    tracewh.record.dataloader(loader, tmp_path, "w")
    copy = pickle.loads(pickle.dumps(loader))
    assert type(copy) is type(torch_loader([])) and copy.worker_init_fn is None
    assert [batch.tolist() for batch in copy] == [[0, 1], [2, 3]]
    assert len(lines(tmp_path)) == 1  # the header


@pytest.mark.parametrize("made", [lambda: torch_loader(range(4), 2), lambda: [7, 8]])
def test_a_loader_is_described_once(made: Any, tmp_path: Path) -> None:
    """A look at the loader makes an iterator that no batch is taken from."""
    loader = tracewh.record.dataloader(made(), tmp_path, "w")
    iter(loader)
    assert len(list(loader)) == len(list(loader)) == 2
    kinds = [line.get("kind") for line in lines(tmp_path)]
    assert kinds == [None, "pipeline", *["batch"] * 4]


def test_an_iterator_stays_one(tmp_path: Path) -> None:
    """As a loop may take batches with `next`, here the first of three."""
    loader: Any = tracewh.record.dataloader(iter([7, 8, 9]), tmp_path, "w")
    assert (next(loader), list(loader), next(loader, None)) == (7, [8, 9], None)
    said = [line.get("kind", line.get("tracewh")) for line in lines(tmp_path)]
    assert said == ["dataloader", "pipeline", *["batch"] * 3]
    assert not hasattr(tracewh.record.dataloader([7], tmp_path, "v"), "__next__")


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="a int is no data loader: it cannot be iterated over"):
        tracewh.record.dataloader(7, tmp_path)
    with pytest.raises(ValueError, match=r"interval is 0; it must be at least 0\.01 seconds"):
        tracewh.record.cpu(tmp_path, interval=0)
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        tracewh.record.cpu(tmp_path / "file" / "log")


def test_a_full_disk_ends_the_recording_only(tmp_path: Path) -> None:
    loader: Any = tracewh.record.dataloader([1, 2, 3], tmp_path, "w")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, loader._recorder._file._file)
    os.close(full)
    with pytest.warns(RuntimeWarning, match="the recording ends here: No space left on device"):
        assert list(loader) == [1, 2, 3]
    assert list(loader) == [1, 2, 3]


def test_lines_are_written_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a batch costs no system call: at 500 lines, or after half a second."""
    clock, sizes, write = 100.0, list[int](), os.write

    def counted(file: int, data: bytes) -> int:
        sizes.append(data.count(b"\n"))
        return write(file, data)

    monkeypatch.setattr(time, "monotonic", lambda: clock)
    monkeypatch.setattr(os, "write", counted)
    loader = tracewh.record.dataloader(range(1200), tmp_path, "w")
    batches = iter(loader)
    for _ in range(1100):
        next(batches)
    # The header; then what the pipeline is and 499 batches; then 500 batches.
    assert sizes == [1, 500, 500]
    clock += 0.4
    next(batches)
    assert len(sizes) == 3
    clock += 0.2
    next(batches)
    assert sizes == [1, 500, 500, 103]
    assert sum(1 for _ in batches) == 98
    assert sizes == [1, 500, 500, 103, 98]


def test_an_endless_interval_has_the_last_sample(tmp_path: Path) -> None:
    with tracewh.record.cpu(tmp_path, "w", interval=float("inf")) as sampler:
        sampler._thread.join(0.1)  # has time to fail
    assert [line.get("kind") for line in lines(tmp_path)] == [None, "host", "cpu"]


def test_the_sampler_reads_once_per_interval(tmp_path: Path) -> None:
    with tracewh.record.cpu(tmp_path, "w", interval=60):
        pass
    assert [line.get("kind") for line in lines(tmp_path)] == [None, "host", "cpu"]
