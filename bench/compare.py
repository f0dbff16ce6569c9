"""Compare all tables of two warehouses, row by row: python bench/compare.py ONE OTHER

The columns and types of each file must be equal, and so must its rows, in any order. When a trace was ingested is
left out. Exit status 1 if anything differs.
"""

import sys
from pathlib import Path

import duckdb


def difference(one: Path, other: Path) -> str:
    """What differs between two Parquet files; '' if nothing."""
    left_out = " EXCLUDE (ingested_at)" if one.name == "traces.parquet" else ""
    first, second = (
        f"(SELECT *{left_out} FROM read_parquet('{path}', hive_partitioning = false))"
        for path in (one, other)
    )
    types = [
        [row[:2] for row in duckdb.execute(f"DESCRIBE FROM {rows}").fetchall()]
        for rows in (first, second)
    ]
    if types[0] != types[1]:
        return "other columns"
    [(rows,)] = duckdb.execute(
        f"SELECT count(*) FROM ((FROM {first} EXCEPT ALL FROM {second})"
        f" UNION ALL (FROM {second} EXCEPT ALL FROM {first}))"
    ).fetchall()
    return f"{rows} rows" if rows else ""


def main() -> None:
    """Compare the warehouses of the command line."""
    folders = [Path(name, "data") for name in sys.argv[1:]]
    one, other = ({path.relative_to(top) for path in top.rglob("*.parquet")} for top in folders)
    different = [f"{path}: in one only" for path in sorted(one ^ other)]
    for path in sorted(one & other):
        if found := difference(folders[0] / path, folders[1] / path):
            different.append(f"{path}: {found}")
    print(*different, f"{len(one & other)} files, {len(different)} differ", sep="\n")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
