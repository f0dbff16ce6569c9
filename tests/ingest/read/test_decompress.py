"""Compressed bytes in, the bytes they were made of out: all of them, and as many as a damage leaves."""

from __future__ import annotations

import gzip
import random
import sys
import zlib
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracewh.ingest.read import decompress
from tracewh.ingest.read.decompress import CutError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: More than what is given at a time, compressed more than one chunk.
TEXT = random.Random(0).randbytes(3 << 19).hex().encode()

CHECKED: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
FORMATS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda text: gzip.compress(text, 1, mtime=0),
    "zstd": lambda text: zstd.compress(text, options=CHECKED),
}
SKIPPED = b"\x5e\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"


def read(stored: bytes) -> tuple[bytes, CutError | None]:
    """What comes out, and the error at the end. All stored bytes are seen, in order."""
    out, seen = bytearray(), bytearray()
    cut = None
    try:
        for data in decompress.decompress(lambda: BytesIO(stored), seen.extend):
            assert 0 < len(data) <= decompress.OUT_BYTES
            out += data
    except CutError as error:
        cut = error
    assert seen == stored
    return bytes(out), cut


@pytest.mark.parametrize("text", [b"{}", TEXT], ids=["short", "long"])
@pytest.mark.parametrize("form", FORMATS)
def test_whole(form: str, text: bytes) -> None:
    pack = FORMATS[form]
    assert read(text) == (text, None)
    assert read(pack(text)) == (text, None)
    assert read(pack(text) + pack(b"") + pack(text)) == (2 * text, None)
    assert read(pack(text) + bytes(700_000)) == (text, None)


def test_plain_bytes_are_told_by_how_they_begin() -> None:
    for plain in (b"", b"\x1f", b"{" + gzip.compress(TEXT), b"\x28\xb5"):
        assert read(plain) == (plain, None)


def test_zstd_frames_that_are_to_be_skipped() -> None:
    assert read(SKIPPED + zstd.compress(TEXT) + SKIPPED) == (TEXT, None)


def test_a_bomb_comes_out_in_pieces() -> None:
    for pack in FORMATS.values():
        assert read(pack(bytes(1 << 27))) == (bytes(1 << 27), None)


@pytest.mark.parametrize("lost", [1, 8, 9, 100_000])
def test_gzip_that_ends_early(lost: int) -> None:
    """As much comes out as zlib gets out of it.

    If the cut is not in the eight bytes of the checksum and the length, ISA-L may hold back the last symbol,
    which is a repeat of 258 bytes at most.
    """
    stored = FORMATS["gzip"](TEXT)[:-lost]
    out, cut = read(stored)
    expected = zlib.decompressobj(31).decompress(stored)
    assert expected.startswith(out)
    assert len(expected) - len(out) <= (0 if lost <= 8 else 258)
    assert cut is not None
    assert str(cut) == f"the gzip data ends early, at byte {len(stored)}"
    assert (cut.stored_byte, cut.reason) == (len(stored), "the gzip data ends early")


@pytest.mark.parametrize("lost", [1, 9, 100_000])
def test_zstd_that_ends_early(lost: int) -> None:
    """zstd gives whole blocks of 128 KiB."""
    stored = FORMATS["zstd"](TEXT)[:-lost]
    out, cut = read(stored)
    assert TEXT.startswith(out)
    assert len(out) >= len(TEXT) - 2 * lost - (128 << 10)
    assert str(cut) == f"the zstd data ends early, at byte {len(stored)}"


def byte_by_byte(stored: bytes) -> tuple[bytes, int]:
    """What zlib gets out, and the byte at which it fails."""
    inflater, out = zlib.decompressobj(31), b""
    for at in range(len(stored)):
        try:
            out += inflater.decompress(stored[at : at + 1])
        except zlib.error:
            return out, at
    raise AssertionError("no damage")


def test_gzip_that_is_damaged_in_the_middle() -> None:
    text = TEXT[:300_000]
    pack = FORMATS["gzip"]
    first = len(pack(text)) * 2 // 3
    # A block of a type that deflate does not have: what stands before it is good.
    raw = zlib.compressobj(1, wbits=31)
    good = raw.compress(text) + raw.flush(zlib.Z_FULL_FLUSH)
    stored = good + b"\x07" + bytes(400_000)
    out, cut = read(stored)
    assert out == text
    assert cut is not None
    assert cut.stored_byte == len(good)
    assert cut.reason.startswith("damaged gzip data (Error -")
    # Bits flipped: some of what comes out is wrong, and the checksum says so at the latest.
    flipped = bytearray(pack(text))
    flipped[first : first + 50] = bytes(50)
    out, cut = read(bytes(flipped) + pack(text))
    want, at = byte_by_byte(bytes(flipped))
    assert out == want
    assert cut is not None
    assert at <= cut.stored_byte <= at + 4  # the length stands behind the checksum


def test_zstd_that_is_damaged_in_the_middle() -> None:
    pack = FORMATS["zstd"]
    stored = bytearray(pack(TEXT) + pack(TEXT))
    at = len(pack(TEXT)) + 700_000
    stored[at : at + 3000] = bytes(3000)
    out, cut = read(bytes(stored))
    good = len(TEXT) + 900_000
    assert out[:good] == (2 * TEXT)[:good]
    assert cut is not None
    assert cut.reason.startswith("damaged zstd data (")
    assert at <= cut.stored_byte < len(stored)


@pytest.mark.parametrize("size", [1, 700_000])
@pytest.mark.parametrize("form", FORMATS)
def test_something_else_after_the_end(
    form: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it begins as another member does, and if one byte is read at a time."""
    stored = FORMATS[form](b"{}")
    monkeypatch.setattr(decompress, "READ_BYTES", max(4, size))
    for more in (
        b"not compressed",
        stored[:2] + b"?" if form == "zstd" else stored[:1],
        b"\xff" * 9,
    ):
        out, cut = read(stored + b" \r\n" + more)
        assert out == b"{}"
        assert cut is not None
        assert (cut.stored_byte, cut.after) == (len(stored) + 3, len(more))
        assert cut.reason == f"something else follows the {form} data"
    assert read(stored + b"\n") == (b"{}", None)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_damage_ends_in_an_error_and_not_before_the_good_data(data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(list(FORMATS)))
    text = TEXT[: data.draw(st.integers(1, 5000))]
    stored = bytearray(FORMATS[form](text) + FORMATS[form](text))
    at = data.draw(st.integers(4, len(stored) - 1))
    stored[at : at + data.draw(st.integers(1, 9))] = data.draw(st.binary(max_size=9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decompress, "READ_BYTES", data.draw(st.integers(4, 4096)))
        patch.setattr(decompress, "OUT_BYTES", data.draw(st.integers(1, 4096)))
        out, cut = read(bytes(stored))
    assert cut is not None or out == 2 * text
    if at >= len(stored) // 2 + 4 and form == "gzip":
        assert out[: len(text)] == text
