"""Generate the pages of the tables from sql/tables and sql/slices."""

from __future__ import annotations

import re

import duckdb

from docs.markdown import cell, sentence, table
from tracewh.views import Registry, Spec

_INDEX = """\
# The tables

<!-- Written by `{command}` from the headers under sql/. -->

The tables are the Parquet files of a [warehouse](warehouse.md). In SQL a table has the rows of all
traces. `run`, `worker` and `span` identify the trace of a row, and `event_id` identifies the row within
the trace. Use the [views](views.md) for most questions, and the tables for your own SQL.

```sql
SELECT o.name, count(*) AS calls, sum(o.duration_ns) / 1e6 AS ms
FROM cpu_ops AS o
WHERE o.run = 'resnet_workers_0'
GROUP BY o.name
ORDER BY ms DESC
LIMIT 5;
```

Times are whole nanoseconds. NULL means that the trace does not say.

## Tables

{tables}

## Slices

A slice is a part of a table with its own name and the same columns.

{slices}

{others}
"""


def render(registry: Registry, command: str) -> dict[str, str]:
    """Every page by its path below docs/: the list, and one for each table."""
    tables, slices = registry.tables(), registry.slices()
    listed = [(f"[{t.name}](tables/{t.name}.md)", cell(t.summary)) for t in tables]
    index = _INDEX.format(
        command=command,
        tables=table(("table", "contents"), listed),
        slices=table(
            ("slice", "contents", "defined in"),
            [(f"`{s.name}`", cell(s.summary), f"[SQL](../{s.path})") for s in slices if _of(s)],
        ),
        others="\n\n".join(_other(s, registry) for s in slices if not _of(s)),
    )
    return {
        "tables.md": index,
        **{f"tables/{t.name}.md": _page(t, slices, command) for t in tables},
    }


def _of(spec: Spec) -> str | None:
    """The table of a slice."""
    found = re.search(r"\bFROM ([a-z_]+)\b", spec.body)
    return found[1] if found else None


def _other(spec: Spec, registry: Registry) -> str:
    """The section about a slice that is not part of a table."""
    with duckdb.connect() as con:
        registry.create(con, registry.needs(f"FROM {spec.name}"))
        columns = con.sql(f"DESCRIBE FROM {spec.name}").fetchall()
    rows = [(f"`{name}`", kind) for name, kind, *_ in columns]
    parts = [f"## {spec.name}", spec.summary, spec.doc, table(("column", "type"), rows)]
    return "\n\n".join([*parts, f"Since tracewh {spec.since}: [SQL](../{spec.path})"])


def _page(spec: Spec, slices: list[Spec], command: str) -> str:
    rows = [
        (
            f"`{c.name}`",
            c.type,
            cell(c.meaning),
            ", ".join(f"`{key}`" for key in c.keys),
        )
        for c in spec.columns
    ]
    header = ("column", "type", "meaning", "argument")
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]  # type: ignore[assignment,misc]
    parts = [
        f"# {spec.name}",
        f"<!-- Written by `{command}` from the header of {spec.path}. -->",
        spec.summary,
        sentence(spec.grain),
        *([spec.doc] if spec.doc else []),
    ]
    if parts_of_it := [s for s in slices if _of(s) == spec.name]:
        names = ", ".join(f"`{s.name}` ({s.summary.rstrip('.')})" for s in parts_of_it)
        parts.append(f"Slices of it: {names}.")
    parts += ["## Columns", table(header, rows)]
    if len(header) == 4:
        parts.append(
            "An argument is a key in the `args` of the event in the trace file; the current spelling comes "
            "first. A column without an argument comes from the event itself, or ingest computes it."
        )
    parts += [
        f"Stored as `{spec.name}.parquet`, since tracewh {spec.since}: [SQL](../../{spec.path})",
        "[All tables](../tables.md)",
    ]
    return "\n\n".join(parts) + "\n"
