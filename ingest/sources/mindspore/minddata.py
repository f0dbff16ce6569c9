"""The files that MindSpore writes about its input pipeline, MindData, one set for each device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tracewh.sql_files import derive

if TYPE_CHECKING:
    import duckdb

#: The files of MindData that are read, one of each kind for a device.
KINDS = (
    *("pipeline_profiling", "minddata_cpu_utilization", "device_queue_profiling"),
    *("dataset_iterator_profiling", "minddata_getnext_profiling"),
)
NAMES = re.compile(rf"(?P<kind>{'|'.join(KINDS)})_(?P<device>\d+)\.(json|txt)")
#: The sums of them, which are not read.
SUMS = re.compile(r"minddata_pipeline_(raw|summary)_\d+\.(csv|json)|minddata_aicpu_\d+\.txt")


def read_minddata(con: duckdb.DuckDBPyConnection, texts: Mapping[str, bytes]) -> list[str]:
    """Read the files of one device into the raw tables of sql/derive/pipeline_layout.sql.

    Args:
        con: Connection to a database with these tables.
        texts: The bytes of each file, by the kind of the file.

    Returns:
        What was damaged and left out: the kind of file, the place in it and the cause.
    """
    con.execute("CREATE TABLE minddata_texts (kind VARCHAR, text VARCHAR)")
    for kind, text in texts.items():
        con.execute(
            "INSERT INTO minddata_texts VALUES (?, ?)", [kind, text.decode("utf-8", "replace")]
        )
    derive(con, "minddata")
    damaged = con.execute("FROM minddata_damage").fetchall()
    for table in ("texts", "json", "lines", "series", "damage"):
        con.execute(f"DROP TABLE minddata_{table}")
    return [f"{kind}: {cause}" for kind, cause in damaged]
