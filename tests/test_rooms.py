"""The rooms of the code, and who imports whom: CONTRIBUTING.md draws them, and the imports agree."""

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"

#: Packages that are a room of their own. What lies in none of them, and in tracewh/ itself, is the ground.
ROOMS = {
    "tracewh.cli": "cli",
    "tracewh.cli.commands": "cli/commands",
    "tracewh.cli.diagnostics": "cli/diagnostics",
    "tracewh.cli.diff": "cli/diff",
    "tracewh.cli.output": "cli/output",
    "tracewh.cli.report": "cli/report",
    "tracewh.ingest": "ingest",
    "tracewh.ingest.link": "ingest/link",
    "tracewh.ingest.native": "ingest/native",
    "tracewh.ingest.parse": "ingest/parse",
    "tracewh.ingest.read": "ingest/read",
    "tracewh.ingest.sources": "ingest/sources",
    "tracewh.notebook": "notebook",
    "tracewh.record": "record",
    "tracewh.spark": "spark",
    "tracewh.storage": "storage",
    "tracewh.storage.remote": "storage/remote",
    "tracewh.views": "views",
}
#: What every room may import, and the library itself: the picture leaves out arrows to them.
GROUND, FACE = "ground", "tracewh"

Arrows = set[tuple[str, str]]


def room(module: str) -> str:
    """The room that a module is in."""
    if module == "tracewh":
        return FACE
    parts = module.split(".")
    for length in range(len(parts), 1, -1):
        if found := ROOMS.get(".".join(parts[:length])):
            return found
    return GROUND


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("tracewh", cache_dir=None)


def between_modules(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    return {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}


def between_rooms(graph: grimp.ImportGraph) -> Arrows:
    return {
        (room(one), room(other))
        for one, imported in between_modules(graph).items()
        for other in imported
        if room(one) != room(other)
    }


def drawn() -> Arrows:
    """The arrows of the picture in CONTRIBUTING.md."""
    [picture] = re.findall(r"```mermaid\n(.*?)```", CONTRIBUTING.read_text("utf-8"), re.DOTALL)
    names = dict(re.findall(r"(\w+)\[([\w/]+)\]", picture))
    found: Arrows = set()
    for source, targets in re.findall(r"^ *(\w+)(?:\[[^\]]*\])? --> (.+)$", picture, re.MULTILINE):
        targets = re.sub(r"\[[^\]]*\]", "", targets)
        found |= {(names[source], names[each.strip()]) for each in targets.split("&")}
    return found


def test_the_picture_is_what_the_code_imports(graph: grimp.ImportGraph) -> None:
    real = {(one, other) for one, other in between_rooms(graph) if other not in (GROUND, FACE)}
    assert sorted(real) == sorted(drawn())


def test_no_circle_between_modules(graph: grimp.ImportGraph) -> None:
    TopologicalSorter(between_modules(graph)).prepare()


def test_no_circle_between_rooms(graph: grimp.ImportGraph) -> None:
    rooms: dict[str, set[str]] = defaultdict(set)
    for one, other in between_rooms(graph):
        rooms[one].add(other)
    TopologicalSorter(rooms).prepare()


def test_a_circle_is_found() -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()


def test_the_ground_imports_no_room(graph: grimp.ImportGraph) -> None:
    assert not [arrow for arrow in between_rooms(graph) if arrow[0] == GROUND]


def test_only_the_command_line_uses_the_name_of_the_library(graph: grimp.ImportGraph) -> None:
    assert all(one.startswith("cli") for one, other in between_rooms(graph) if other == FACE)
