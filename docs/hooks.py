"""Hooks for mkdocs.

- The navigation lists every view and table of views.md and tables.md.
- A page may link to a file outside docs/, as on a code host: SQL, tests, other pages. Each such file
  becomes a page of the site under source/, and the link leads there.
- A picture that is there for light and for dark pages follows the reader's choice on the site.
- The build fails if a page loads anything from another host.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
#: A link of Markdown that is no URL, in three parts: up to the path, the path, and the anchor.
LINK = re.compile(r"(\]\()(?![a-z][a-z0-9+.-]*:|#)([^)#\s]+)((?:#[^)\s]*)?\))")
#: A tag of a page, and the text after it.
TAG = re.compile(r"<[a-zA-Z](?:[^<]|<(?![a-zA-Z/!]))*")
CODE = re.compile(r"^(```+).*?^\1", re.MULTILINE | re.DOTALL)
#: How the pages of files are coloured; what is none of these and no page is copied as it is.
LANGUAGES = {".sql": "sql", ".test": "text", ".txt": "text", ".py": "python", "": "text"}
SOURCE = "source/"
#: A picture as a code host wants it: for dark pages, for light ones, and the alternative text.
PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*'
    r'<img src="([^"]+)" alt="([^"]*)">\s*</picture>'
)


def on_config(config: MkDocsConfig) -> None:
    """Add the pages of views and tables to the navigation."""
    docs = Path(config.docs_dir)
    config.nav = _filled(config.nav, docs)


def _filled(nav: Any, docs: Path) -> Any:
    if isinstance(nav, list):
        return [_filled(entry, docs) for entry in nav]
    ((title, below),) = nav.items()
    if below in ("views.md", "tables.md"):
        return {title: [{"All": below}, *_listed((docs / below).read_text("utf-8"))]}
    return {title: _filled(below, docs) if isinstance(below, list) else below}


def _listed(page: str) -> Iterator[dict[str, Any]]:
    """Return the headings of a page, each with the pages that its tables link to."""
    for heading, below in re.findall(
        r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
    ):
        links = re.findall(r"^\| \[(.+?)\]\(([\w/]+\.md)\)", below, re.MULTILINE)
        if links:
            yield {heading: [{name: path} for name, path in links]}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages link to, directly or through such files."""
    todo = [
        target
        for file in files.documentation_pages()
        for target in _outside(f"docs/{file.src_uri}", Path(str(file.abs_src_path)))
    ]
    while todo:
        target = todo.pop()
        if files.get_file_from_path(_uri(target)) is None:
            files.append(_file(target, config))
            if target.endswith(".md"):
                todo += _outside(target, ROOT / target)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Rewrite links to files outside docs/ so that they lead to the pages of these files."""
    uri = page.file.src_uri
    here = uri.removeprefix(SOURCE) if uri.startswith(SOURCE) else f"docs/{uri}"

    def lead(link: re.Match[str]) -> str:
        target = _target(here, link[2])
        uri_of_target = target.removeprefix("docs/") if _is_inside(target) else _uri(target)
        return f"{link[1]}{posixpath.relpath(uri_of_target, posixpath.dirname(uri))}{link[3]}"

    markdown = _outside_code(PICTURE, _both, markdown)
    return _outside_code(LINK, lead, markdown)


def _both(picture: re.Match[str]) -> str:
    """Return the two images of a picture as mkdocs-material wants them; mkdocs checks their paths."""
    dark, light, alt = picture.groups()
    return f"![{alt}]({light}#only-light)![{alt}]({dark}#only-dark)"


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page loads anything from another host."""
    site = Path(config.site_dir)
    found = [
        f"{path.relative_to(site)} loads {url}"
        for path in sorted(site.rglob("*"))
        for url in loads(path)
    ]
    if found:
        raise PluginError("\n".join(found))


def loads(path: Path) -> list[str]:
    """Return what a file of the site loads from another host."""
    if path.suffix == ".css":
        text = path.read_text("utf-8")
        return re.findall(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", text)
    if path.suffix == ".html":
        # Only tags with a URL of another host in them: a page has thousands of others.
        tags = TAG.findall(path.read_text("utf-8"))
        return [url for tag in tags if "//" in tag for url in _loads(tag)]
    return []


def _loads(tag: str) -> list[str]:
    parser = _Loads()
    parser.feed(tag)
    return parser.urls


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {"src", "srcset", "poster", "data", *(["href"] if tag == "link" else [])}
        self.urls += [
            value for name, value in attrs if name in names and value and urlsplit(value).netloc
        ]


def _outside(here: str, path: Path) -> list[str]:
    """Return the files outside docs/ that a page links to, relative to the root."""
    found: list[str] = []

    def take(link: re.Match[str]) -> str:
        target = _target(here, link[2])
        if not _is_inside(target):
            found.append(target)
        return link[0]

    _outside_code(LINK, take, path.read_text("utf-8"))
    return found


def _outside_code(pattern: re.Pattern[str], replace: Any, markdown: str) -> str:
    parts, last = [], 0
    for code in CODE.finditer(markdown):
        parts += [pattern.sub(replace, markdown[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, pattern.sub(replace, markdown[last:])])


def _target(here: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(here), link))


def _is_inside(target: str) -> bool:
    return target.startswith("docs/") and not target.endswith(".py")


def _uri(target: str) -> str:
    is_code = Path(target).suffix in LANGUAGES
    return f"{SOURCE}{target}.md" if is_code else f"{SOURCE}{target}"


def _file(target: str, config: MkDocsConfig) -> File:
    path = ROOT / target
    if not path.is_file():
        raise PluginError(f"a page links to {target}, which is no file")
    uri, language = _uri(target), LANGUAGES.get(path.suffix)
    if language is None and path.suffix != ".md":
        return File.generated(config, uri, abs_src_path=str(path))
    text = path.read_text("utf-8")
    if language is not None:
        text = f"# {target}\n\n`````{language}\n{text}\n`````\n"
    front = "---\nsearch:\n  exclude: true\n---\n\n"
    return File.generated(config, uri, content=front + text, inclusion=InclusionLevel.NOT_IN_NAV)
