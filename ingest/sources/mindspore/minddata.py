"""The files that MindSpore writes about its input pipeline, MindData, one set for each device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tracewh.sql_files import derive

if TYPE_CHECKING:
    import duckdb

#: The files of MindData that are read, by device.
NAMES = re.compile(
    r"(?P<kind>pipeline_profiling|minddata_cpu_utilization|device_queue_profiling"
    r"|dataset_iterator_profiling|minddata_getnext_profiling)_(?P<device>\d+)\.(json|txt)"
)
#: The sums of them, which are not read.
SUMS = re.compile(r"minddata_pipeline_(raw|summary)_\d+\.(csv|json)|minddata_aicpu_\d+\.txt")


def read_minddata(con: duckdb.DuckDBPyConnection, texts: Mapping[str, bytes]) -> dict[str, int]:
    """Read the files of one device into the raw tables of sql/derive/pipeline_layout.sql.

    Args:
        con: Connection to a database with these tables.
        texts: The bytes of each file, by the kind of the file.

    Returns:
        Counts of what was damaged, by the causes of docs/repairs.md.
    """
    con.execute("CREATE TABLE minddata_texts (kind VARCHAR, text VARCHAR)")
    for kind, text in texts.items():
        con.execute(
            "INSERT INTO minddata_texts VALUES (?, ?)", [kind, text.decode("utf-8", "replace")]
        )
    derive(con, "minddata")
    counts = con.execute("FROM minddata_damage").fetchall()
    for table in ("texts", "json", "lines", "series", "damage"):
        con.execute(f"DROP TABLE minddata_{table}")
    return {reason: count for reason, count in counts if count}
