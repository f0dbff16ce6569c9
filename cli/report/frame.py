"""What every page of the report and of `tracewh serve` begins and ends with: its styles, scripts and policy."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
from collections.abc import Callable, Iterator
from importlib.resources import files

import orjson

from tracewh.cli.output.step_categories import STEP_CATEGORIES
from tracewh.cli.report import charts, libraries

ASSETS = files(__name__.rpartition(".")[0])
#: Those of other people, which the packages of an extra hold.
LIBRARIES: dict[str, Callable[[], str]] = {
    "vega": libraries.vega,
    "datatables": libraries.datatables,
    "datatables.css": libraries.datatables_css,
}
#: The name of the product in the header of a page of `tracewh serve`, which leads to the home page.
PRODUCT = '<h1 class="product"><a href="./">tracewh</a></h1>\n'


def opening(
    title: str, styles: tuple[str, ...], scripts: tuple[str, ...], *, is_live: bool
) -> Iterator[str]:
    """Yield the start of a page, up to its body.

    Args:
        title: Title of the page.
        styles: The style sheets of the page, which it contains.
        scripts: The scripts of the page; `closing` writes them.
        is_live: Whether the page may send requests to its own server.
    """
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts, is_live)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{html.escape(title)}</title>\n"
    for style in styles:
        yield f"<style>{asset(style)}</style>\n"
    yield f"<style>{_category_colors()}</style>\n</head>\n<body>\n"


def notices() -> str:
    """Return the part of a page that names its libraries and their licenses."""
    return (
        "<footer><details><summary>Libraries in this page</summary>"
        f'<pre tabindex="0">{html.escape(asset("notices.txt"))}</pre></details></footer>\n'
    )


def closing(scripts: tuple[str, ...]) -> Iterator[str]:
    """Yield the scripts of a page, and its end."""
    for script in scripts:
        yield f"<script>{asset(script)}</script>\n"
    yield "</body>\n</html>\n"


def _category_colors() -> str:
    """Return the colors of the charts for what the page itself draws."""
    named = {
        known.page_color: charts.COLORS[category.replace("_", " ")]
        for category, known in STEP_CATEGORIES.items()
    }
    named |= {"longer": charts.LONGER, "shorter": charts.SHORTER}
    return f":root{{{';'.join(f'--c-{name}: {color}' for name, color in named.items())}}}"


def _categories() -> str:
    """Return a script with the categories of a step: each with its column, its color and its word."""
    named = [
        [f"{category}_us", known.page_color, known.word]
        for category, known in STEP_CATEGORIES.items()
    ]
    return f"const CATEGORIES = {orjson.dumps(named).decode()};"


@functools.cache
def _policy(scripts: tuple[str, ...], is_live: bool) -> str:
    """Return the content security policy: only the page's own scripts, and its own server if live."""
    hashes = (
        base64.b64encode(hashlib.sha256(asset(script).encode()).digest()).decode()
        for script in scripts
    )
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    connect = " connect-src 'self';" if is_live else ""
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline';{connect}"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@functools.cache
def asset(name: str) -> str:
    """Return the text of a script or a style sheet."""
    made_by = {**LIBRARIES, "categories.js": _categories}.get(name)
    return made_by() if made_by else ASSETS.joinpath(name).read_text("utf-8")
