"""What the tests of ingest share: events in, the tables and the rebuilt events of one trace out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tracewh.ingest.api import ingest
from tracewh.ingest.rebuild import events
from tracewh.ingest.store import Store


def written(event: Mapping[str, Any]) -> str:
    """An event as JSON text; a Decimal is written digit by digit."""
    members = (
        f"{json.dumps(key)}: {value if isinstance(value, Decimal) else json.dumps(value)}"
        for key, value in event.items()
    )
    return "{" + ", ".join(members) + "}"


def canonical(text: str) -> str:
    """A JSON text by its values: keys sorted, 1.0 as 1, every digit of a decimal, true apart from 1."""
    return json.dumps(json.loads(text, parse_float=Decimal), sort_keys=True, default=_number)


def _number(value: Decimal) -> int | dict[str, str]:
    whole = value == value.to_integral_value()
    return int(value) if whole else {"decimal": str(value.normalize())}


@dataclass(frozen=True, slots=True)
class Ingested:
    """One trace in a warehouse of its own."""

    folder: Path
    con: duckdb.DuckDBPyConnection

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a query on its tables returns."""
        return self.con.execute(sql, values).fetchall()

    def rebuilt(self) -> list[str]:
        """Its events, each as canonical text."""
        return [canonical(text) for text in events(self.folder)]


#: Events, the file's other keys, and the file's name; the folder is the run.
TakeIn = Callable[..., Ingested]


@pytest.fixture(scope="session")
def take_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeIn]:
    """Ingests events as a trace file."""
    with duckdb.connect() as con:

        def take_in(
            given: Sequence[Mapping[str, Any]],
            metadata: Mapping[str, Any] | None = None,
            name: str = "w.pt.trace.json",
        ) -> Ingested:
            path = tmp_path_factory.mktemp("trace") / "run" / name
            path.parent.mkdir()
            others = "".join(
                f"{json.dumps(key)}: {json.dumps(value)}, "
                for key, value in (metadata or {}).items()
            )
            path.write_text(
                f'{{{others}"traceEvents": [{", ".join(map(written, given))}]}}', "utf-8"
            )
            warehouse = path.parents[1] / "warehouse"
            [outcome] = ingest([path], warehouse)
            assert (outcome.status, outcome.reason) == ("ingested", "")
            assert outcome.run and outcome.worker and outcome.span
            folder = Store(warehouse).folder(outcome.run, outcome.worker, outcome.span)
            cursor = con.cursor()
            for file in folder.glob("*.parquet"):
                cursor.execute(
                    f"CREATE OR REPLACE TEMP VIEW {file.stem} AS FROM read_parquet('{file}')"
                )
            return Ingested(folder, cursor)

        yield take_in
