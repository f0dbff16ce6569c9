"""The reference page says what the headers say, and knows when it is behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracewh.views import Registry
from tracewh.views.reference import main, render
from tracewh.views.spec import parse

VIEW = """\
-- view: gaps
-- version: 1
-- since: 0.1
-- summary: Gaps a|b between kernels.
-- deprecated: counts them twice; use gaps_v2
--
-- What a gap is.
--
-- params
--   device  INTEGER  -  -  Device a|b.
--   run
-- columns
--   run
--   gap_us  DOUBLE  us  Its length.
CREATE MACRO gaps_v1(device INTEGER, run VARCHAR := NULL) AS TABLE
    SELECT t.run, 1.0::DOUBLE AS gap_us FROM query_table('x') AS t;
"""


def test_a_view_on_the_page() -> None:
    page = render(Registry([parse(VIEW, "views/device/gaps_v1.sql")]))
    start = page.index("| view |")
    assert (
        page[start:]
        == """\
| view | group | what it says |
| --- | --- | --- |
| [gaps](#gaps_v1) | device | Gaps a\\|b between kernels. |

## Device

### gaps_v1

**Deprecated:** counts them twice; use gaps_v2

Gaps a|b between kernels.

What a gap is.

| parameter | type | default | meaning |
| --- | --- | --- | --- |
| `device` | INTEGER | required | Device a\\|b. |
| `run` | VARCHAR | `NULL` | Run to report; NULL reports every run. |

| column | type | unit | meaning |
| --- | --- | --- | --- |
| `run` | VARCHAR | key | Run the row belongs to. |
| `gap_us` | DOUBLE | us | Its length. |
"""
    )


def test_the_newest_version_comes_first() -> None:
    newer = VIEW.replace("version: 1", "version: 2").replace("gaps_v1(", "gaps_v2(")
    registry = Registry(
        [parse(VIEW, "views/device/gaps_v1.sql"), parse(newer, "views/device/gaps_v2.sql")]
    )
    page = render(registry)
    assert "| [gaps](#gaps_v2) | device |" in page
    assert page.index("### gaps_v2") < page.index("### gaps_v1")


def test_a_page_that_is_behind_is_found_and_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "views.md"
    page.write_text("old", "utf-8")
    assert main(["--check", str(page)]) == 1
    assert page.read_text("utf-8") == "old"
    assert "run `python -m tracewh.views.reference`" in capsys.readouterr().err
    assert main([str(page)]) == 0
    assert main(["--check", str(page)]) == 0
    for view in Registry.load():
        assert f"### {view.object_name}\n" in page.read_text("utf-8")
