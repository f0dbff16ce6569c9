"""Arrow columns over the memory of NumPy arrays and byte buffers, without a copy.

pa.array would do most of this, but it imports pandas where that is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def numbered(first: int, count: int) -> pa.Int64Array:
    """The whole numbers from `first` on."""
    return from_numpy(np.arange(first, first + count))


def from_numpy(values: npt.NDArray[Any]) -> pa.Array:
    """A column over the same bytes."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def to_numpy(column: pa.Array) -> npt.NDArray[Any]:
    """A column of numbers without NULLs, over the same bytes."""
    kind = column.type.to_pandas_dtype()
    return np.frombuffer(column.buffers()[1], kind)[column.offset :][: len(column)]


def joined(texts: list[bytes]) -> pa.StringArray:
    """A column of texts."""
    return strings(bytearray(b"".join(texts)), ends(texts))


def ends(texts: list[bytes]) -> npt.NDArray[np.int64]:
    """Where each text ends when they follow each other."""
    return np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))


def strings(buffer: bytearray, ends: npt.NDArray[np.int64]) -> pa.StringArray:
    """The pieces of a buffer between its start and each end, as strings over the same bytes."""
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(buffer)
    )
