"""Create Arrow arrays over the memory of NumPy arrays and byte buffers, without a copy.

pa.array can do most of this, but it imports pandas if that is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def numbered(first: int, count: int) -> pa.Int64Array:
    """An array of consecutive integers, starting at `first`."""
    return from_numpy(np.arange(first, first + count))


def from_numpy(values: npt.NDArray[Any]) -> pa.Array:
    """An Arrow array over the memory of a NumPy array."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def to_numpy(column: pa.Array) -> npt.NDArray[Any]:
    """A NumPy array over the memory of an Arrow array of numbers without NULLs."""
    kind = column.type.to_pandas_dtype()
    return np.frombuffer(column.buffers()[1], kind)[column.offset :][: len(column)]


def joined(texts: list[bytes]) -> pa.StringArray:
    """An array of strings."""
    return strings(bytearray(b"".join(texts)), ends(texts))


def ends(texts: list[bytes]) -> npt.NDArray[np.int64]:
    """The end of each text in their concatenation."""
    return np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))


def strings(buffer: bytearray, ends: npt.NDArray[np.int64]) -> pa.StringArray:
    """An array of the consecutive strings of a buffer that end at these positions, over the same memory."""
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(buffer)
    )
