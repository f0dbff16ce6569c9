"""What the path of an .sql file says, and that a file is parsed when it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.test_registry import BLOCK, FUNCTION, TABLE, VIEW
from tracewh.views import HeaderError, Registry
from tracewh.views.registry import PACKAGE
from tracewh.views.sql_file import sql_files


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A view, what it needs, and a function that it does not need."""
    for path, text in (
        ("views/device/gaps_v1.sql", VIEW),
        ("sql/blocks/spaces.sql", BLOCK),
        ("sql/tables/kernels.sql", TABLE),
        ("sql/functions/double.sql", FUNCTION),
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_a_path_says_what_the_header_says() -> None:
    files = sql_files(PACKAGE)
    said = [(f.kind, f.object_name, f.name, f.version, f.group) for f in files]
    specs = [file.spec for file in files]
    assert said == [(s.kind, s.object_name, s.name, s.version, s.group) for s in specs]


def test_only_what_is_needed_is_parsed(package: Path) -> None:
    files = sql_files(package)
    registry = Registry(files)
    assert [file.name for file in files if file.is_parsed] == []
    registry.call("gaps", since_ns=1)
    assert [file.name for file in files if file.is_parsed] == ["gaps"]
    registry.needs("FROM gaps_v1()")
    assert sorted(f.name for f in files if f.is_parsed) == ["gaps", "kernels", "spaces"]


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("views/device/gaps.sql", VIEW, "a file that defines gaps_v1 must be named gaps_v1.sql"),
        ("views/device/gaps_v01.sql", VIEW, "a file that defines gaps_v1 must be named gaps_v1.sql"),
        ("views/speed/gaps_v1.sql", VIEW, "a view must be in one of views/overview/, "),
        ("views/device/spaces.sql", BLOCK, "a block is in the folder of views"),
    ],
)  # fmt: skip
def test_a_file_in_a_wrong_place(package: Path, path: str, text: str, message: str) -> None:
    (package / path).parent.mkdir(exist_ok=True)
    (package / path).write_text(text)
    with pytest.raises(HeaderError) as caught:
        Registry.load(package)
    assert str(caught.value).startswith(f"{path}:1: {message}")


def test_a_file_in_the_folder_of_another_kind(package: Path) -> None:
    (package / "sql/blocks/double.sql").write_text(FUNCTION)
    (package / "sql/functions/double.sql").unlink()
    registry = Registry.load(package)
    assert registry.get("gaps").name == "gaps"
    with pytest.raises(HeaderError) as caught:
        registry.named("double")
    assert str(caught.value) == "sql/blocks/double.sql:1: a function is in the folder of blocks"
