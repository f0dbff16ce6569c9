"""Pages with a part of their panels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tracewh.cli.report import page
from tracewh.cli.report.panels import COMPARED, SECTIONS, VERDICT, Section


@contextmanager
def panels_only(*names: str) -> Iterator[None]:
    """Write pages with the verdict, the timeline and these panels: all others take seconds.

    test_report.py and test_accessibility.py look at whole pages.
    """

    def part(section: Section) -> Section:
        kept = tuple(panel for panel in section.panels if panel.id in names)
        return section if section is VERDICT else replace(section, panels=kept)

    known = {panel.id for section in (COMPARED, *SECTIONS) for panel in section.panels}
    assert known.issuperset(names)
    some = [part(section) for section in SECTIONS]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page, "SECTIONS", tuple(section for section in some if section.panels))
        patched.setattr(page, "COMPARED", part(COMPARED))
        yield
