"""The documentation site: what docs/hooks.py adds to mkdocs, on a site of three pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

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
    )
    style.write_text('@import "https://x.org/b.css"; a { b: url(//x.org/c.woff); c: url(d.png) }')
    assert hooks.loads(page) == ["//x.org/a.js", "https://x.org/a.css"]
    assert hooks.loads(style) == ["https://x.org/b.css", "//x.org/c.woff"]
    assert hooks.loads(tmp_path / "a.js") == []
