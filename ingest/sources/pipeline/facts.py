"""Facts about a job, from the file beside its table: `meta-ST.yaml` belongs to `trace-ST.parquet`."""

from __future__ import annotations

from pathlib import Path

from tracewh.errors import RefusedError
from tracewh.files import File

#: The names of facts that are counts, from 1, end with this.
_SIZE = "_size"


def read_facts(table: File, stem: str) -> dict[str, int | str]:
    """The facts of a job: one `name: value` per line; none if there is no such file.

    Args:
        table: The table of the job.
        stem: Its name without suffixes.

    Raises:
        RefusedError: A line is something else.
    """
    if not isinstance(table, Path):
        return {}
    path = table.parent / f"meta-{stem.removeprefix('trace-')}.yaml"
    if not path.is_file():
        return {}
    facts: dict[str, int | str] = {}
    for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if not text or text == "---":
            continue
        name, colon, value = (part.strip() for part in text.partition(":"))
        if not colon or not name or not value:
            raise RefusedError(
                f"{path.name}, line {number}: it is not 'name: value'; write one fact per line"
            )
        whole = _whole_number(value)
        if name.endswith(_SIZE) and not whole:
            raise RefusedError(
                f"{path.name}, line {number}: {name} is {value}; write a whole number from 1"
            )
        facts[name] = value.strip("'\"") if whole is None else whole
    return facts


def _whole_number(text: str) -> int | None:
    """The number; None if the text is something else, or has more digits than Python converts."""
    try:
        return int(text) if text.isdecimal() else None
    except ValueError:
        return None
