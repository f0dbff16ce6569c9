"""The files that a code host reads: they call what CI calls, and ask for commands that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tracewh.cli.app import main

ROOT = Path(__file__).parents[1]
FORMS = sorted(
    path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"
)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def test_the_workflow_runs_what_everybody_runs() -> None:
    (job,) = read(ROOT / ".github/workflows/ci.yml")["jobs"].values()
    assert job["steps"][-1] == {"run": "bash .ci/run"}
    least = re.search(
        r'^requires-python = ">=(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    assert least is not None
    assert job["container"].startswith(f"python:{least[1]}-")


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_commands_that_exist(form: Path) -> None:
    asked = read(form)
    assert asked["name"]
    assert asked["description"]
    fields = [field for field in asked["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    for command in re.findall(r"`(tracewh [^`]+)`", form.read_text("utf-8")):
        _, *words = shlex.split(command)
        if words != ["--version"]:
            name = words[:2] if words[0] == "show" else words[:1]
            assert main([*name, "--help"]) == 0, command


def test_a_bug_needs_a_check_and_the_first_lines_of_the_trace() -> None:
    fields = {
        field.get("id"): field for field in read(ROOT / ".github/ISSUE_TEMPLATE/bug.yml")["body"]
    }
    for name, said in (("check", "tracewh check"), ("trace", "head")):
        assert fields[name]["validations"] == {"required": True}
        assert said in fields[name]["attributes"]["description"]
