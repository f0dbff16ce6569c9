"""The SQL that reads the arguments of events into the columns of a table.

Every value goes to the column that names its key. What a column could not give back exactly stays
in `args`. That is decided value by value from the JSON type, so "256" written as text fills a
BIGINT column and also stays in `args`, and `rebuild` can return every event as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracewh.schema import Column

#: JSON types of a whole number.
INTEGER = "('UBIGINT', 'BIGINT')"
#: The least and the most value that a column holds. What is beyond means 'none' in the files: the
#: column is NULL, the value stays in args.
BOUNDS = {
    "external_id": (1, 2**63 - 1),
    "correlation_id": (1, 2**63 - 1),
    "sequence_number": (0, 2**63 - 1),
    "stream_id": (0, 2**32 - 2),
    "device_id": (0, 2**31 - 1),
}


def typed_select(name: str, common: str, columns: Sequence[Column], older_keys: bool) -> str:
    """Rows of one kind from `base`, with a column per argument and the rest in args.

    In layers, so that nothing is worked out twice: `a` the typed arguments, `k` the JSON type under
    every key, `n` the number of arguments; the value `v` under every key; how many arguments the
    columns hold; the rest.
    """
    keys = [(column, key) for column in columns for key in column.keys[: None if older_keys else 1]]
    kind = {key: f"r.k[{position}]" for position, (_, key) in enumerate(keys, start=1)}
    value = {key: f"r.v{position}" for position, (_, key) in enumerate(keys, start=1)}
    spec = ",".join(f'"{column.keys[0]}":{_json_type(column)}' for column in columns)
    paths = ", ".join(f"""'$."{key}"'""" for _, key in keys)
    read = ", ".join(
        f"{_read(column, key, kind[key])} AS v{position}"
        for position, (column, key) in enumerate(keys, start=1)
    )
    flags = {key: _held(column, key, kind[key], value[key]) for column, key in keys}
    older = [(column, key) for column, key in keys if key != column.keys[0]]
    # A column can hold one key only: where a file has two spellings of it, both stay in args.
    for column, key in older:
        flags[key] += f" AND {kind[column.keys[0]]} IS NULL"
        flags[column.keys[0]] += f" AND {kind[key]} IS NULL"

    # Numbers by far outnumber the rest, and their kinds are checked in one go.
    numbers = [key for column, key in keys if column.type in ("BIGINT", "INTEGER")]
    held = " + ".join(
        [
            f"list_count([{', '.join(value[key] for key in numbers)}])",
            *(f"coalesce({flags[key]}, false)::INTEGER" for key in flags if key not in numbers),
        ]
    )
    exceptions = "".join(
        [
            *(f" AND ({kind[key]} IS NULL OR {kind[c.keys[0]]} IS NULL)" for c, key in older),
            *(
                f" AND ({value[key]} IS NULL OR NOT has_device_as_process(r.category))"
                for column, key in keys
                if column.name == "device_id"
            ),
        ]
    )
    sound = (
        f"NOT list_has_any([{', '.join(kind[key] for key in numbers)}],"
        f" ['VARCHAR', 'DOUBLE', 'BOOLEAN', 'OBJECT', 'ARRAY', 'NULL']){exceptions}"
    )
    known = ",".join(f'"{key}":null' for _, key in keys)
    drop = ", ".join(f"""CASE WHEN {flag} THEN '"{key}":null' END""" for key, flag in flags.items())
    # A null in args where the column has a value says: the value stood under this older key.
    marks = ", ".join(f"""CASE WHEN {flags[key]} THEN '"{key}":null' END""" for _, key in older)
    values = ", ".join(
        f"coalesce({', '.join(value[key] for key in column.keys if key in value)}, NULL)"
        for column in columns
    )
    return f"""
    SELECT
        {common},
        {values},
        CASE WHEN r.n > 0 THEN with_marks(r.rest, r.marks) ELSE r.args END::JSON,
        r.raw
    FROM (
        SELECT
            r.*,
            CASE
                WHEN r.held = r.n THEN '{{}}'
                ELSE merged_arguments(
                    r.text,
                    r.args,
                    CASE
                        WHEN r.held = list_count(r.k) THEN '{{{known}}}'
                        ELSE '{{' || concat_ws(',', {drop}) || '}}'
                    END
                )
            END AS rest,
            {f"concat_ws(',', {marks})" if older else "''"} AS marks
        FROM (
            SELECT r.*, CASE WHEN {sound} THEN {held} END AS held
            FROM (
                SELECT r.*, {read}
                FROM (
                    SELECT
                        b.*,
                        from_json(b.args, '{{{spec}}}') AS a,
                        json_type(b.args, [{paths}]) AS k,
                        len(json_keys(b.args)) AS n
                    FROM base AS b
                    WHERE b.tbl = '{name}'
                ) AS r
            ) AS r
        ) AS r
    ) AS r
    """


def _json_type(column: Column) -> str:
    if column.as_text:
        return '"VARCHAR"'
    return '"JSON"' if column.type.endswith("[]") else f'"{column.type}"'


def _read(column: Column, key: str, kind: str) -> str:
    """The value under one key, or NULL where it is missing, of another kind, or means 'none'."""
    if key == column.keys[0]:
        value = f'r.a."{key}"'
    elif column.type == "JSON":
        value = f"""CASE WHEN {kind} <> 'NULL' THEN json_extract(r.args, '$."{key}"') END"""
    else:
        value = f"""try_cast(json_extract_string(r.args, '$."{key}"') AS {column.type})"""
    if column.as_text:
        listed = f"try_cast({value} AS {column.type})"
        return f"CASE WHEN len({listed}) = list_count({listed}) THEN {listed} END"
    if column.type.endswith("[]"):
        return f"""from_json({value}, '["{column.type[:-2]}"]')"""
    if column.type == "DOUBLE":
        return f"CASE WHEN isfinite({value}) THEN {value} END"
    if column.type in ("BIGINT", "INTEGER"):
        if column.name in BOUNDS:
            least, most = BOUNDS[column.name]
            value = f"CASE WHEN {value} BETWEEN {least} AND {most} THEN {value} END"
        # 256.0 and "256" are taken; 2.5 and true would be cast to a number that nobody wrote.
        written = f"""try_cast(json_extract_string(r.args, '$."{key}"') AS DOUBLE)"""
        return f"""CASE
            WHEN {kind} IN ('UBIGINT', 'BIGINT', 'VARCHAR') THEN {value}
            WHEN {kind} = 'DOUBLE' THEN CASE WHEN {written} = {value} THEN {value} END
        END"""
    # Whoever writes an empty text recorded nothing.
    empty = {"VARCHAR": "''", "JSON": "'\"\"'"}.get(column.type)
    return f"nullif({value}, {empty})" if empty else value


def _held(column: Column, key: str, kind: str, value: str) -> str:
    """Whether the column gives the value under a key back exactly."""
    if column.type == "JSON":
        return f"{kind} <> 'NULL' AND {value} IS NOT NULL"
    if column.as_text:
        return f"""{kind} = 'VARCHAR' AND '[' || array_to_string({value}, ', ') || ']' = r.a."{key}\""""
    if column.type.endswith("[]"):
        return f"""{kind} = 'ARRAY' AND to_json({value})::VARCHAR = r.a."{key}"::VARCHAR"""
    if column.type == "DOUBLE":
        return f"{kind} IN ('DOUBLE', 'UBIGINT', 'BIGINT') AND abs({value}) < 9e15"
    if column.type in ("BIGINT", "INTEGER"):
        # Where the process is the device, nothing would tell that an argument said it as well.
        own = " AND NOT has_device_as_process(r.category)" if column.name == "device_id" else ""
        return f"{kind} IN {INTEGER} AND {value} IS NOT NULL{own}"
    return f"{kind} = '{column.type}' AND {value} IS NOT NULL"
