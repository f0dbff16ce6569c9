"""Generate the pages of the tables from sql/tables and sql/slices."""

from __future__ import annotations

import re

import duckdb

from docs.markdown import cell, sentence, table
from tracewh.ingest.tables import tables as ingested
from tracewh.views import Registry, Spec

_INDEX = """\
# The tables

<!-- Written by `{command}` from the headers under sql/. -->

What the Parquet files of a [warehouse](warehouse.md) hold. In SQL a table has the rows of all traces;
`run`, `worker` and `span` say which trace a row is of, and `event_id` names a row within it. The
[views](views.md) answer most questions; the tables are for the others.

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

A slice is a part of a table under a name of its own, with the same columns.

{slices}

{others}
"""


def render(registry: Registry, command: str) -> dict[str, str]:
    """Return the list of tables and a page per table, by path below docs/."""
    tables, slices = registry.tables(), registry.slices()
    listed = [(f"[{t.name}](tables/{t.name}.md)", cell(t.summary)) for t in tables]
    index = _INDEX.format(
        command=command,
        tables=table(("table", "what it holds"), listed),
        slices=table(
            ("slice", "what it holds", "written as"),
            [(f"`{s.name}`", cell(s.summary), f"[SQL](../{s.path})") for s in slices if _of(s)],
        ),
        others="\n\n".join(_other(s, registry) for s in slices if not _of(s)),
    )
    return {
        "tables.md": index,
        **{f"tables/{t.name}.md": _page(t, slices, command) for t in tables},
    }


def _of(spec: Spec) -> str | None:
    """Return the table that a slice selects from."""
    found = re.search(r"\bFROM ([a-z_]+)\b", spec.body)
    return found[1] if found else None


def _other(spec: Spec, registry: Registry) -> str:
    """A slice does not select from a table."""
    with duckdb.connect() as con:
        registry.create(con, registry.needs(f"FROM {spec.name}"))
        columns = con.sql(f"DESCRIBE FROM {spec.name}").fetchall()
    rows = [(f"`{name}`", kind) for name, kind, *_ in columns]
    parts = [f"## {spec.name}", spec.summary, spec.doc, table(("column", "type"), rows)]
    return "\n\n".join([*parts, f"Since tracewh {spec.since}: [SQL](../{spec.path})"])


def _page(spec: Spec, slices: list[Spec], command: str) -> str:
    keys = {c.name: c.keys for c in ingested()[spec.name].columns}
    rows = [
        (
            f"`{c.name}`",
            c.type,
            cell(c.meaning),
            ", ".join(f"`{key}`" for key in keys.get(c.name, ())),
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
            "An argument is a key of the `args` of the file's event, today's spelling first. A column "
            "without one comes from the event itself or is worked out by ingest."
        )
    parts += [
        f"Stored as `{spec.name}.parquet`, since tracewh {spec.since}: [SQL](../../{spec.path})",
        "[All tables](../tables.md)",
    ]
    return "\n\n".join(parts) + "\n"
