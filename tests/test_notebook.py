"""samples/quickstart.ipynb runs as it is, from the repository's root and from its own folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "samples" / "quickstart.ipynb"


@pytest.fixture
def quiet_jupyter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the person who runs the tests, and no statistics sent."""
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    for variable in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "TMPDIR"):
        folder = tmp_path / variable.lower()
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))


def executed(notebook: Any, folder: Path) -> dict[str, str]:
    """Run the cells in `folder`; give the text that each printed or showed, by its source."""
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return {
        cell.source: "\n".join(
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


def shown(texts: dict[str, str], part: str) -> str:
    """What the one cell with this piece of source showed."""
    (text,) = (text for source, text in texts.items() if part in source)
    return text


def test_outputs_are_not_committed() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert [
        cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")
    ] == []


# %load_ext sql says nothing when the name `sql` leads to our folder of that name instead.
@pytest.mark.usefixtures("quiet_jupyter")
@pytest.mark.parametrize("folder", [ROOT, NOTEBOOK.parent], ids=["root", "samples"])
def test_the_quickstart_runs(folder: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    texts = executed(notebook, folder)
    assert "resnet_workers_2" in shown(texts, "FROM runs()")
    assert "aten::" in shown(texts, "FROM operator_stats(")
    assert "aten::_upsample_bilinear2d_aa" in shown(texts, "FROM diff_operators(")
    assert "main" in shown(texts, "FROM python_functions")
    assert "rank1" in shown(texts, "w.step_breakdown(")
    assert "step_breakdown" in shown(texts, "FROM views()")
    plots = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(plots) == 1
