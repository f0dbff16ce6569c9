"""Make the pictures of README.md and docs/, light and dark: `python -m docs.pictures`.

It ingests the bundled samples. It writes docs/images/NAME.png and NAME-dark.png, and the sentence that a
picture shows into the `alt` of each page that shows it. A page shows a picture with

    <picture>
      <source media="(prefers-color-scheme: dark)" srcset="images/NAME-dark.png">
      <img src="images/NAME.png" alt="">
    </picture>

which a code host understands; docs/hooks.py writes it for the site, whose readers choose light or dark with
a button.
"""

from __future__ import annotations

import functools
import html
import os
import re
import shutil
import struct
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from playwright.sync_api import Browser, Page, sync_playwright

import tracewh
from docs.examples import in_terminal
from tracewh.cli.report.write import write_report

DOCS = Path(__file__).parent
ROOT = DOCS.parent
IMAGES = DOCS / "images"
#: Runs of the samples.
SLOW, FAST, RANKS = "gpt_eager", "gpt_cuda_graphs", "ddp_gpu_gloo"
WIDTH = 1280
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TERMINAL = """\
<!doctype html><meta charset="utf-8"><style>
:root {{ color-scheme: light dark; --ink: #1c1d1f; --paper: #fff; --line: #d0d3d9; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e6e7e9; --paper: #15171a; --line: #3a3f46; }} }}
body {{ margin: 0; background: var(--paper); }}
pre {{ display: inline-block; margin: 0; padding: 16px 20px; border: 1px solid var(--line); border-radius: 8px;
  background: var(--paper); color: var(--ink); font: 15px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }}
</style><pre>{}</pre>
"""
ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


@dataclass(frozen=True)
class Picture:
    """A picture: how to open its page, what is shown of it, and the sentence that it shows.

    Attributes:
        name: Its file, without .png.
        about: Start of the alternative text.
        page: Returns the page to open.
        prepare: Brings the page into the state to show, and returns what is shown: a selector, or the height
            of the part of the page from its top.
        sentence: Returns the rest of the alternative text.
    """

    name: str
    about: str
    page: Callable[[], Path]
    prepare: Callable[[Page], str | int]
    sentence: Callable[[Page], str]


def main() -> None:
    """Write the pictures."""
    IMAGES.mkdir(exist_ok=True)
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        folder = Path(work)
        tracewh.ingest([ROOT / "samples"], folder / "samples")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for picture in pictures(folder):
            sentence = take(browser, picture)
            describe(picture.name, f"{picture.about}: {sentence}")
            print(f"docs/images/{picture.name}.png: {sentence}")
        browser.close()


def pictures(folder: Path) -> list[Picture]:
    """The pictures, made from the warehouse samples of a folder."""
    report = functools.cache(functools.partial(_report, folder))
    return [
        Picture(
            "report",
            "The report of the training of a small GPT",
            lambda: report(SLOW),
            _first_screen,
            _verdict,
        ),
        Picture(
            "timeline",
            "The timeline of a training step",
            lambda: report(SLOW),
            _timeline,
            _verdict,
        ),
        Picture(
            "comparison",
            "The report of a run with another one as its baseline",
            lambda: report(FAST, SLOW),
            _comparison,
            lambda page: _text(page, "#panel-diff-verdict .headline"),
        ),
        Picture(
            "verdict",
            "The top of the report of a training run",
            lambda: report(SLOW),
            _first_verdict,
            _verdict,
        ),
        Picture(
            "workers",
            "All workers of a run side by side",
            lambda: report(RANKS),
            lambda page: _drawn(page, "workers"),
            lambda page: _text(page, "#panel-workers .finding"),
        ),
        Picture(
            "summary",
            "The output of tracewh summary on a terminal",
            lambda: _terminal(folder, SLOW),
            lambda page: "pre",
            lambda page: _paragraph(page.locator("pre").inner_text()),
        ),
    ]


def take(browser: Browser, picture: Picture) -> str:
    """Write the two files of a picture, and return the sentence that it shows."""
    sentence = ""
    for theme in THEMES:
        with browser.new_context(
            viewport={"width": WIDTH, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        ) as context:
            page = context.new_page()
            page.goto(picture.page().as_uri())
            part = picture.prepare(page)
            page.evaluate(
                "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
            )
            sentence = picture.sentence(page)
            if isinstance(part, int):
                clip: Any = {"x": 0, "y": 0, "width": WIDTH, "height": part}
                image = page.screenshot(clip=clip, full_page=True, animations="disabled")
            else:
                image = page.locator(part).first.screenshot(animations="disabled")
        suffix = "" if theme == "light" else "-dark"
        (IMAGES / f"{picture.name}{suffix}.png").write_bytes(smaller(image))
    return sentence


def describe(name: str, alt: str) -> None:
    """Write the alternative text of a picture into the pages that show it."""
    shown = re.compile(rf'(<img src="[^"]*images/{name}\.png" alt=")[^"]*')
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        text = page.read_text("utf-8")
        described = shown.sub(lambda found: found[1] + html.escape(alt), text)
        if described != text:
            page.write_text(described, "utf-8")


def smaller(image: bytes) -> bytes:
    """Return the same picture as a smaller PNG: a browser compresses fast, not well."""
    signature, position, head, data = image[:8], 8, b"", b""
    while position < len(image):
        length, kind = struct.unpack(">I4s", image[position : position + 8])
        body = image[position + 8 : position + 8 + length]
        head, data = (body, data) if kind == b"IHDR" else (head, data)
        data += body if kind == b"IDAT" else b""
        position += length + 12
    packed = zlib.compress(zlib.decompress(data), 9)
    chunks = ((b"IHDR", head), (b"IDAT", packed), (b"IEND", b""))
    return signature + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def _report(folder: Path, run: str, baseline: str | None = None) -> Path:
    path = folder / f"{run}-{baseline}.html"
    write_report(str(folder / "samples"), run, None, "1", path, baseline)
    return path


def _drawn(page: Page, panel: str) -> str:
    page.locator(f"#panel-{panel}").scroll_into_view_if_needed()
    page.locator(f"#panel-{panel}[data-drawn]").wait_for()
    return f"#panel-{panel}"


def _step(page: Page) -> None:
    """Show the second step in the timeline, with the gap before its first kernel."""
    _drawn(page, "verdict")
    page.locator(".timeline-box[data-view][data-drawn]").wait_for()
    page.locator(".step").nth(1).click()
    page.locator(".timeline-box[data-view][data-drawn]").wait_for()


def _first_screen(page: Page) -> int:
    _step(page)
    page.evaluate("scrollTo(0, 0)")
    return 1180


def _first_verdict(page: Page) -> int:
    _drawn(page, "verdict")
    page.locator(".bar.large").wait_for()
    page.evaluate("scrollTo(0, 0)")
    return 640


def _timeline(page: Page) -> str:
    _step(page)
    return "article:has(.timeline-box)"


def _comparison(page: Page) -> int:
    page.locator("article[data-panel][data-drawn]").first.wait_for()
    page.evaluate("scrollTo(0, 0)")
    return 1000


def _text(page: Page, selector: str) -> str:
    return " ".join(page.locator(selector).first.inner_text().split())


def _verdict(page: Page) -> str:
    return _text(page, "#panel-verdict .headline")


def _paragraph(text: str) -> str:
    """Return the first paragraph after the line that names the trace."""
    return " ".join(text.split("\n\n")[1].split())


def _terminal(folder: Path, run: str) -> Path:
    """Return a page that shows `tracewh summary` as a terminal does."""
    shown = f"$ tracewh summary {run}\n" + as_html(_printed(folder, "summary", run, color=True))
    path = folder / "terminal.html"
    path.write_text(TERMINAL.format(shown), "utf-8")
    return path


def _printed(folder: Path, *words: str, color: bool = False) -> str:
    """Return what a command about the samples prints."""
    variables = {"TERM": "xterm-256color", "TRACEWH_WAREHOUSE": str(folder / "samples")}
    with patch.dict(os.environ, variables):
        code, printed = in_terminal([*words], color=color)
    if code:
        raise SystemExit(printed)
    return printed.rstrip()


def as_html(text: str) -> str:
    """Return text with escape sequences of a terminal as HTML."""
    parts, position = [], 0
    for escape in ESCAPE.finditer(text):
        parts.append(html.escape(text[position : escape.start()]))
        parts.append(_span(escape[1]))
        position = escape.end()
    return "".join([*parts, html.escape(text[position:])])


def _span(code: str) -> str:
    if code in ("", "0"):
        return "</span>"
    style = {"1": "font-weight: bold", "2": "opacity: 0.65", "4": "text-decoration: underline"}
    if code in style:
        return f'<span style="{style[code]}">'
    kind, _, number = code.partition(";5;")
    red, green, blue = _rgb(int(number))
    name = "background" if kind == "48" else "color"
    return f'<span style="{name}: rgb({red} {green} {blue})">'


def _rgb(number: int) -> tuple[int, int, int]:
    """Return a colour from 16 on of the 256 of a terminal."""
    if number >= 232:
        return ((grey := 8 + 10 * (number - 232)), grey, grey)
    levels = (0, 95, 135, 175, 215, 255)
    red, rest = divmod(number - 16, 36)
    green, blue = divmod(rest, 6)
    return levels[red], levels[green], levels[blue]


if __name__ == "__main__":
    main()
