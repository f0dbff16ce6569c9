"""The pictures of README.md and docs/, and the program that makes them."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from docs import pictures
from tests.docs.test_readme import PAGES

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r'srcset="([^"]+)-dark\.png">\s*<img src="([^"]+)\.png" alt="([^"]*)">')


def test_pages_show_pictures_that_the_program_makes() -> None:
    made = {picture.name for picture in pictures.pictures(Path())}
    shown = set()
    for page in PAGES:
        text = page.read_text("utf-8")
        found = SHOWN.findall(text)
        assert len(found) == text.count("<img "), page
        for dark, light, alt in found:
            name = Path(light).name
            assert dark == light
            assert (page.parent / light).parent.resolve() == pictures.IMAGES
            assert len(alt) > 60, f"{page}: the alternative text of {name} says what it shows"
            shown.add(name)
    assert shown == made
    files = {path.name for path in pictures.IMAGES.iterdir()}
    assert files == {f"{name}{theme}.png" for name in made for theme in ("", "-dark")}
    assert sum((pictures.IMAGES / name).stat().st_size for name in files) < 2_500_000


def test_a_picture_of_a_terminal(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    page = tmp_path / "terminal.html"
    colored = "\x1b[1mA & B\x1b[0m \x1b[38;5;208m██\x1b[0m\n\n1 ms per step."
    page.write_text(pictures.TERMINAL.format(pictures.as_html(colored)), "utf-8")
    picture = pictures.Picture(
        "terminal",
        "A terminal",
        lambda: page,
        lambda _: "pre",
        lambda tab: tab.locator("pre").inner_text(),
    )
    assert pictures.take(browser, picture) == "A & B ██\n\n1 ms per step."
    assert "rgb(255 135 0)" in page.read_text("utf-8")  # 208 = 16 + 36 * 5 + 6 * 2
    light, dark = ((tmp_path / name).read_bytes() for name in ("terminal.png", "terminal-dark.png"))
    assert light != dark
    assert struct.unpack(">II", light[16:24]) == struct.unpack(">II", dark[16:24])


def test_a_smaller_file_has_the_same_pixels() -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
    pixels = (b"\0" + b"\x10\x20\x30" * 64) * 64
    packed = zlib.compress(pixels, 0)
    parts = chunk(b"IDAT", packed[:5000]) + chunk(b"IDAT", packed[5000:])
    image = b"\x89PNG\r\n\x1a\n" + head + parts + chunk(b"IEND", b"")
    smaller = pictures.smaller(image)
    assert smaller.startswith(b"\x89PNG\r\n\x1a\n" + head)
    assert smaller.endswith(chunk(b"IEND", b""))
    assert len(smaller) < len(image) / 10
    length = struct.unpack(">I", smaller[33:37])[0]
    assert zlib.decompress(smaller[41 : 41 + length]) == pixels
