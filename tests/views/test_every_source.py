"""Every page answers for the traces of other sources, also beside those of the PyTorch profiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tracewh
from tests.conftest import made_once
from tests.nsys_exports import tiny, write_sqlite
from tracewh.cli.app import main

PAIR = Path(__file__).parents[2] / "samples" / "ddp_gloo"

#: Source -> writes a trace of it into a folder.
WRITES: dict[str, Callable[[Path], object]] = {
    "nsys": lambda folder: write_sqlite(folder / "r.sqlite", tiny()),
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each source, named like the source, and one of the PyTorch profiler."""

    def fill(folder: Path) -> None:
        for source, write in WRITES.items():
            (folder / source).mkdir()
            write(folder / source)
            tracewh.ingest([folder / source], folder / "warehouse")
        tracewh.ingest([PAIR], folder / "warehouse", run="kineto")

    return made_once(tmp_path_factory, "every_source", fill) / "warehouse"


@pytest.mark.parametrize("source", WRITES)
@pytest.mark.parametrize(
    "command",
    [
        "summary {0}",
        "diff kineto {0}",
        "diff {0} kineto",
        "check",
        "report {0} -o {1}.html",
        "export {0} -o {1}.json.gz",
    ],
)
def test_every_page(
    warehouse: Path, tmp_path: Path, source: str, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    words = command.format(source, tmp_path / "out").split()
    code = main([*words, "-w", str(warehouse)])
    err = capfd.readouterr().err
    assert (code, "Traceback" in err) == (0, False), err


def test_what_nsight_systems_needs_is_said_in_its_own_words(warehouse: Path) -> None:
    with tracewh.open(warehouse) as opened:
        said = {
            name: str(opened.view(name, run="nsys").fetchall())
            for name in ("trace_quality", "verdict")
        }
    for words in ("ProfilerActivity", "profile_memory", "prof.step"):
        assert not [name for name, text in said.items() if words in text]
    assert "Nsight Systems does not record ranks" in said["trace_quality"]
