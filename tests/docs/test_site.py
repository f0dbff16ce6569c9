"""The documentation site: what docs/hooks.py adds to mkdocs, on a site of three pages; and the site in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from playwright.sync_api import Browser, Page

from docs import hooks

ROOT = Path(__file__).parents[2]
VIEWS = """\
# The views

## Overview

| view | what it says |
| --- | --- |
| [runs](views/runs.md) | What there is. |

## Nothing here
"""
RUNS = """\
# runs

[SQL](../../views/overview/runs_v1.sql), [page](../../samples/README.md#samples), [all](../views.md).

```text
[no link](../../nowhere.md)
```
"""


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three pages that build, in a folder called docs as mkdocs.yml has it."""
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    docs = tmp_path / "docs"
    (docs / "views").mkdir(parents=True)
    (docs / "index.md").write_text("# Home\n\n[Views](views.md#overview)\n")
    (docs / "views.md").write_text(VIEWS)
    (docs / "views" / "runs.md").write_text(RUNS)
    return docs


def built(docs: Path) -> Path:
    """The site of a folder of pages, with all else as for docs/."""
    nav = [{"Home": "index.md"}, {"Reference": [{"Views": "views.md"}]}]
    site = docs.parent / "site"
    config = load_config(
        str(ROOT / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(site), nav=nav, strict=True
    )
    build(config)
    return site


def test_views_are_in_the_navigation_and_sources_are_pages(docs: Path) -> None:
    site = built(docs)
    assert 'href="views/runs.html"' in (site / "index.html").read_text()
    page = (site / "views" / "runs.html").read_text()
    assert 'href="../source/views/overview/runs_v1.sql.html"' in page
    assert 'href="../source/samples/index.html#samples"' in page
    assert "[no link](../../nowhere.md)" in page
    sql = (site / "source" / "views" / "overview" / "runs_v1.sql.html").read_text()
    assert "CREATE" in sql
    assert '<span class="k">SELECT</span>' in sql, "in colour"
    # What a page outside docs/ links to comes too: a program as a page, a notebook as it is.
    assert 'href="record.py.html"' in (site / "source" / "samples" / "index.html").read_text()
    notebook = ROOT / "samples" / "notebooks" / "first_look.ipynb"
    assert (
        site / "source/samples/notebooks/first_look.ipynb"
    ).read_bytes() == notebook.read_bytes()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a](nowhere.md)", "contains a link 'nowhere.md', but the target is not found"),
        ("[a](views.md#gone)", "does not contain an anchor '#gone'"),
        ("[a](../nowhere.sql)", "a page links to nowhere.sql, which is no file"),
        ("![a](https://example.org/a.png)", "index.html loads https://example.org/a.png"),
    ],
)
def test_a_page_that_is_wrong_fails_the_build(
    docs: Path, caplog: pytest.LogCaptureFixture, text: str, problem: str
) -> None:
    (docs / "index.md").write_text(text)
    with pytest.raises(Abort) as refused:
        built(docs)
    assert problem in f"{caplog.text} {refused.value}"


def test_a_page_that_no_menu_has_fails_the_build(docs: Path) -> None:
    (docs / "lost.md").write_text("# Lost")
    with pytest.raises(Abort):
        built(docs)


def test_what_a_file_loads(tmp_path: Path) -> None:
    page, style = tmp_path / "a.html", tmp_path / "a.css"
    page.write_text(
        '<a href="https://x.org/">a link is no load</a><script src="//x.org/a.js"></script>'
        '<link rel="stylesheet" href="https://x.org/a.css"><img src="a.png"><img srcset="b.png">'
        '<img alt="1 < 2 > 1" src="https://x.org/b.png"> // <img src="c.png">'
    )
    style.write_text('@import "https://x.org/b.css"; a { b: url(//x.org/c.woff); c: url(d.png) }')
    assert hooks.loads(page) == ["//x.org/a.js", "https://x.org/a.css", "https://x.org/b.png"]
    assert hooks.loads(style) == ["https://x.org/b.css", "//x.org/c.woff"]
    assert hooks.loads(tmp_path / "a.js") == []


#: The part of a page between the menus.
ARTICLE = re.compile(r"(<article\b[^>]*>)(.*)(</article>)", re.DOTALL)
#: What does not fit into its box, and whether the page itself is wider than the window.
CUT = """() => {
    const cut = { console: [], code: [], tables: [] };
    for (const box of document.querySelectorAll("article :is(pre > code, .md-typeset__scrollwrap)")) {
        if (box.scrollWidth <= box.clientWidth) continue;
        const kind = box.closest(".language-console") ? "console" : box.tagName === "CODE" ? "code" : "tables";
        cut[kind].push(`${box.closest("section").id}: ${box.innerText.slice(0, 60)}`);
    }
    return { ...cut, page: document.documentElement.scrollWidth > innerWidth };
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, as `mkdocs build --strict` makes it."""
    site = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site), strict=True))
    return site


@pytest.fixture(scope="module")
def pages(site: Path) -> Path:
    """The contents of all pages of docs/ in one page, so that a browser lays them out at once."""
    articles = {
        path.relative_to(site): re.sub("<img [^>]*>", "", found[2])
        for path in sorted(site.rglob("*.html"))
        if "source" not in path.relative_to(site).parts
        and (found := ARTICLE.search(path.read_text("utf-8")))
    }
    assert len(articles) > 100
    together = "".join(f'<section id="{name}">{text}</section>' for name, text in articles.items())
    page = site / "together.html"
    text = (site / "tutorial.html").read_text("utf-8")
    page.write_text(ARTICLE.sub(lambda found: f"{found[1]}{together}{found[3]}", text), "utf-8")
    return page


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A new window, from which no request may leave and in which no script may fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    tab, complaints = context.new_page(), list[str]()

    def console(message: Any) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def request(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            complaints.append(request.url)

    tab.on("console", console)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", request)
    yield tab
    context.close()
    assert complaints == []


def test_no_block_of_the_site_is_cut(pages: Path, tab: Page) -> None:
    tab.goto(pages.as_uri())
    tab.locator(".md-typeset__scrollwrap").first.wait_for()
    assert tab.locator(".language-console pre > code").count() > 50
    for width in (1440, 1280, 1024, 768):
        tab.set_viewport_size({"width": width, "height": 900})
        cut = tab.evaluate(CUT)
        # Most tables fit a tablet, too. What does not scrolls in its box.
        tables = cut.pop("tables")
        assert cut == {"console": [], "code": [], "page": False}, width
        assert tables == [] or width == 768, width
    # A phone shows a part, and the page stays as wide as the phone.
    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.evaluate(CUT)["page"] is False
    smallest = tab.evaluate(
        """() => Math.min(...[...document.querySelectorAll("pre > code")]
            .map((code) => parseFloat(getComputedStyle(code).fontSize)))"""
    )
    assert smallest >= 11


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_shadow_says_that_a_box_scrolls(site: Path, browser: Browser, scheme: Any) -> None:
    page = site / "views" / "step_breakdown.html"
    with browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme=scheme
    ) as context:
        tab = context.new_page()
        tab.goto(page.as_uri())
        for box in (".language-console pre > code", ".md-typeset__scrollwrap"):
            scroller = tab.locator(box).first
            assert scroller.evaluate("(box) => box.scrollWidth > box.clientWidth"), box

            def edge(scroller: Any = scroller) -> bytes:
                scroller.scroll_into_view_if_needed()
                place = scroller.bounding_box()
                right, top = place["x"] + place["width"], place["y"]
                clip: Any = {"x": right - 2, "y": top + 3, "width": 1, "height": 1}
                return bytes(tab.screenshot(clip=clip, animations="disabled"))

            there_is_more = edge()
            scroller.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
            assert edge() != there_is_more, box


def test_a_picture_follows_the_choice_of_light_or_dark(site: Path, tab: Page) -> None:
    tab.goto((site / "howto" / "report.html").as_uri())
    tab.locator("article img").first.wait_for()
    for theme, other in (("light", "dark"), ("dark", "light")):
        shown = tab.locator(f'article img[src*="images/"][src$="#only-{theme}"]')
        assert shown.count() == 5
        assert all(image.is_visible() for image in shown.all())
        assert all(image.evaluate("image => image.naturalWidth > 300") for image in shown.all())
        assert not tab.locator(f'article img[src$="#only-{other}"]').first.is_visible()
        if theme == "light":
            tab.get_by_title("Dark").click()
            tab.locator('body[data-md-color-scheme="slate"]').wait_for()


def test_search_works_in_a_site_that_was_opened_as_files(site: Path, tab: Page) -> None:
    tab.goto((site / "index.html").as_uri())
    tab.get_by_role("textbox", name="Search").press_sequentially("flamegraph")
    result = tab.locator(".md-search-result__link").first
    result.wait_for()
    result.click()
    tab.wait_for_url("**/flamegraph.html*")
    assert tab.get_by_role("heading", level=1).inner_text().startswith("flamegraph")
    # The words that were searched for are marked.
    tab.locator("mark").first.wait_for()
