"""Pages with a part of their panels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from tracewh.cli.report import page
from tracewh.cli.report.panels import COMPARED, SECTIONS, VERDICT, VERDICT_PANEL, Section


@contextmanager
def panels_only(*names: str, has_verdict: bool = True) -> Iterator[None]:
    """Write pages with the verdict, the timeline and these panels: all others take seconds.

    So does the verdict, which a test that does not look at it leaves out. test_report.py and
    test_accessibility.py look at whole pages.
    """
    kept = {*names, *([VERDICT_PANEL.id] if has_verdict else [])}

    def part(section: Section) -> Section:
        return replace(section, panels=tuple(panel for panel in section.panels if panel.id in kept))

    known = {panel.id for section in (COMPARED, *SECTIONS) for panel in section.panels}
    assert known.issuperset(names)
    verdict = part(VERDICT)
    some = [verdict if section is VERDICT else part(section) for section in SECTIONS]
    # The timeline stands below the verdict, also if that has no panel.
    shown = tuple(section for section in some if section.panels or section is verdict)
    with patch.multiple(page, SECTIONS=shown, VERDICT=verdict, COMPARED=part(COMPARED)):
        yield
