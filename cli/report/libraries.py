"""The JavaScript libraries of the page. They come from the packages of `pip install 'tracewh[report]'`.

vl-convert-python holds Vega, Vega-Lite and vega-embed, which draw the charts. itables holds DataTables,
which shows the tables. Neither package is imported for a page, except vl-convert-python once: it takes
two seconds to put its scripts together, so the result is cached.
"""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from importlib.util import find_spec
from pathlib import Path

from tracewh.cli.diagnostics.errors import CliError

#: The module of each package.
PACKAGES = {"vl_convert": "vl-convert-python", "itables": "itables"}


INSTALL = "pip install 'tracewh[report]'"


def missing() -> list[str]:
    """Return the packages that are not installed."""
    return [package for module, package in PACKAGES.items() if find_spec(module) is None]


def check() -> None:
    """Check that the packages are installed.

    Raises:
        CliError: One of them is not.
    """
    if packages := missing():
        raise CliError(f"the report needs {' and '.join(packages)}: {INSTALL}")


def vega() -> str:
    """Return the script that defines `vegaEmbed`."""
    from importlib.metadata import version  # slow to import

    made_by = version(PACKAGES["vl_convert"])
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tracewh")
    kept = folder / f"vega-embed-{made_by}.js"
    with contextlib.suppress(OSError):
        return kept.read_text("utf-8")
    import vl_convert

    made = _enclosed(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    with contextlib.suppress(OSError):  # disk full or no home folder: it is not cached
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f"{kept.name}-{uuid.uuid4().hex}"
        try:
            new.write_text(made, "utf-8")
            os.replace(new, kept)
        finally:
            new.unlink(missing_ok=True)
    return made


def datatables() -> str:
    """Return the script that defines `DataTable`."""
    module = _itables("dt_bundle.js")
    # The file is an ES module, and the scripts of a page cannot import from one in the same page.
    exported = [*re.finditer(r"export\s*\{([^}]*)\};?", module)][-1]
    [name] = re.findall(r"(\S+) as default\b", exported[1].replace(",", " "))
    return _enclosed(
        f"{module[: exported.start()]}window.DataTable={name};{module[exported.end() :]}"
    )


def datatables_css() -> str:
    """Return the style sheet of DataTables."""
    return _itables("dt_bundle.css")


def _itables(name: str) -> str:
    spec = find_spec("itables")  # does not import it: that would load pandas
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).with_name("html").joinpath(name).read_text("utf-8")


def _enclosed(script: str) -> str:
    """Return a script whose names are its own, and that an HTML page can hold."""
    return "(()=>{" + script.replace("</script", "<\\/script") + "\n})();"
