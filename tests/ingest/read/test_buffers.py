"""The text of a file: buffers that nothing points into any more are used again, others are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tracewh.ingest.read.buffers import BUFFERS_KEPT, TextBuffer, fill_in_python

Fill = Callable[[bytearray, list[bytes | bytearray]], None]


@pytest.fixture(params=["compiled", "python"])
def fill(request: pytest.FixtureRequest) -> Fill:
    if request.param == "python":
        return fill_in_python
    events = pytest.importorskip(
        "tracewh.ingest.native._events", reason="ingest/native was not compiled"
    )
    return events.fill  # type: ignore[no-any-return]


@pytest.mark.parametrize("before", [b"", b"x", b"abcde", b"longer than what comes"])
@pytest.mark.parametrize("parts", [[], [b""], [b"abcde"], [b"ab", bytearray(b"c"), b"", b"de"]])
def test_a_buffer_holds_the_parts_and_nothing_else(
    fill: Fill, before: bytes, parts: list[bytes | bytearray]
) -> None:
    buffer = bytearray(before)
    fill(buffer, parts)
    assert buffer == b"".join(parts)


@pytest.mark.parametrize("after", [b"abcdef", b"abc", b"abcd"])
def test_a_buffer_that_something_points_into_stays_as_it_is(fill: Fill, after: bytes) -> None:
    buffer = bytearray(b"1234")
    block = np.frombuffer(buffer, np.uint8)
    with pytest.raises(BufferError):
        fill(buffer, [after])
    assert bytes(block) == b"1234"
    del block
    fill(buffer, [after])
    assert buffer == after


@pytest.mark.parametrize("parts", [["text"], [1], [b"a", None]])
def test_only_bytes_are_parts(fill: Fill, parts: list[bytes]) -> None:
    with pytest.raises(TypeError):
        fill(bytearray(), list(parts))


def blocks() -> Iterator[bytes]:
    for number in range(20):
        yield b"%d" % number * 5
        yield b"|"


def test_memory_is_used_again_and_blocks_keep_what_is_theirs() -> None:
    text = TextBuffer(blocks())
    held: list[tuple[memoryview, bytes]] = []
    buffers: dict[int, bytearray] = {}
    read = b""
    while text.grow(8):
        read += text.buffer
        buffers[id(text.buffer)] = text.buffer
        held.append((memoryview(text.buffer), bytes(text.buffer)))
        text.drop(len(text.buffer))
        assert all(bytes(view) == content for view, content in held)
        if len(held) == BUFFERS_KEPT:
            held.pop(0)[0].release()
    assert read + text.buffer == b"".join(blocks())
    assert len(buffers) == BUFFERS_KEPT
