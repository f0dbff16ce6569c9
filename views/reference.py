"""The reference page of the views, written from their headers.

`python -m tracewh.views.reference` writes docs/views.md; with ``--check`` it only says whether the
page is behind, which is what CI runs. With ``--promises`` it prints what each view promises, one
line per version, for tests/released.txt.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tracewh.views.registry import Registry
from tracewh.views.spec import GROUPS, Spec

_INTRO = """\
# The views

<!-- Written by `python -m tracewh.views.reference` from the headers under views/. -->

Ask a view from the command line (`tracewh show step_breakdown --run R`), from Python
(`warehouse.step_breakdown(run="R")`), or in SQL (`FROM step_breakdown(run := 'R')`). The name alone
is the newest version; `step_breakdown_v1` stays what it is. Parameters are named, and those with a
default may be left out. Durations are in microseconds, instants in nanoseconds since 1970, sizes in
bytes, shares in percent; NULL means that the trace does not say."""


def render(registry: Registry) -> str:
    """The whole page: a table of contents, then every view, newest version first."""
    views = sorted(registry, key=lambda v: (GROUPS.index(v.group), v.name, -v.version))
    rows = [
        (f"[{view.name}](#{view.object_name})", view.group, _cell(view.summary))
        for view in registry.newest()
    ]
    parts = [_INTRO, _table(("view", "group", "what it says"), rows)]
    for group in GROUPS:
        members = [view for view in views if view.group == group]
        if members:
            parts += [f"## {group.capitalize()}", *(_view(view) for view in members)]
    return "\n\n".join(parts) + "\n"


def promise(view: Spec) -> str:
    """A view as one line: how to call it and what comes back."""
    params = ", ".join(param.declaration for param in view.params)
    columns = ", ".join(f"{column.name} {column.type}" for column in view.columns)
    return f"{view.object_name}({params}) -> {columns}"


def _view(view: Spec) -> str:
    params = [
        (f"`{p.name}`", p.type, "required" if p.required else f"`{p.default}`", _cell(p.meaning))
        for p in view.params
    ]
    columns = [(f"`{c.name}`", c.type, c.unit, _cell(c.meaning)) for c in view.columns]
    deprecated = f"**Deprecated:** {view.deprecated}" if view.deprecated else ""
    parts = [
        f"### {view.object_name}",
        deprecated,
        view.summary,
        view.doc,
        _table(("parameter", "type", "default", "meaning"), params),
        _table(("column", "type", "unit", "meaning"), columns),
    ]
    return "\n\n".join(part for part in parts if part)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(argv: list[str]) -> int:
    """Write or check one file, by default docs/views.md."""
    if "--promises" in argv:
        print(*map(promise, Registry.load()), sep="\n")
        return 0
    check = "--check" in argv
    page = Path(next((word for word in argv if not word.startswith("-")), "docs/views.md"))
    new = render(Registry.load())
    if page.is_file() and page.read_text("utf-8") == new:
        return 0
    if check:
        command = "python -m tracewh.views.reference"
        print(f"{page} is behind the headers under views/; run `{command}`", file=sys.stderr)
        return 1
    page.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
