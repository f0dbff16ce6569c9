"""Read the files of one device of a MindSpore profile into the raw tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tracewh.errors import RefusedError
from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.mindspore import minddata
from tracewh.ingest.sources.mindspore.reader import LINES, members
from tracewh.ingest.sources.reader import Contents, Reading
from tracewh.ingest.sources.source import Source
from tracewh.ingest.sources.text_tables import Damage, local_copy, read_lines, read_rows
from tracewh.sql_files import derive
from tracewh.storage.manifest import content_hash


def _read_minddata(reading: Reading, files: Mapping[str, Path], device: str) -> list[str]:
    """Read the files of MindData of a device; returns what was damaged."""
    texts = {
        named["kind"]: path.read_bytes()
        for name, path in files.items()
        if (named := minddata.NAMES.fullmatch(name)) and named["device"] == device
    }
    return minddata.read_minddata(reading.con, texts) if texts else []


def read_device(source: Source, reading: Reading) -> Contents:
    """Read it; see `TableReader.read`."""
    con, device, damage = reading.con, source.part, Damage()
    files = {
        name: Path(source.path.path, name)
        if isinstance(source.path, TraceFolder)
        else local_copy(source.path, reading.folder)
        for name in members(source)
    }
    for kind in LINES:
        if path := files.get(f"{kind}_{device}.txt"):
            read_lines(con, path, f"ms_{kind}")
        else:
            con.execute(f"CREATE TABLE ms_{kind} (line BIGINT, text VARCHAR)")
    if path := files.get(f"gpu_activity_data_{device}.csv"):
        read_rows(con, path, "ms_gpu_activity_data", damage)
    else:
        con.execute("CREATE TABLE ms_gpu_activity_data (place BIGINT, fields JSON)")
    con.execute(f"CREATE MACRO ms_device() AS '{device}'")
    derive(con, "mindspore")
    for file, line in con.execute(
        "SELECT d.file, d.line FROM ms_damaged AS d ORDER BY d.file, d.line"
    ).fetchall():
        damage.add(f"{file}_{device}.txt, line {line}: it has no start or no duration")
    [(events, is_gpu)] = con.execute(
        "SELECT (SELECT count(*) FROM raw_host) + (SELECT count(*) FROM raw_device)"
        " + (SELECT count(*) FROM raw_other), EXISTS (FROM raw_device)"
    ).fetchall()
    for said in _read_minddata(reading, files, device):
        damage.add(said)
    [(batches,)] = con.execute(
        "SELECT (SELECT count(*) FROM raw_pipeline_operators)"
        " + (SELECT count(*) FROM raw_pipeline_batches) + (SELECT count(*) FROM raw_samples)"
    ).fetchall()
    if not events and not batches:
        why = damage.named[0] if damage.named else "it has no events"
        raise RefusedError(f"{why}; call profiler.analyse() again, or record again")
    reading.on_bytes(source.path.stat().st_size)
    reading.on_events(events)
    return Contents(
        content_hash(source.path),
        events,
        "mindspore-gpu" if is_gpu else "mindspore-cpu",
        _metadata(files.get(f"profiler_info_{device}.json"), damage),
        {"no_epoch": 1, **({"damaged_rows": damage.rows} if damage.rows else {})},
        damage.rows,
    )


def _metadata(info: Path | None, damage: Damage) -> dict[str, object]:
    """Rank, number of ranks and version. The other settings may name paths."""
    found: dict[str, object] = {"Framework": "mindspore"}
    try:
        said = json.loads(info.read_bytes()) if info else {}
        ranks = {"rank": said.get("rank_id"), "world_size": said.get("rank_size")}
        version = said.get("ms_version")
    except (ValueError, AttributeError) as error:
        damage.add(f"{info.name if info else ''}: {error}")
        return {**found, "damagedRows": damage.named}
    whole = {key: int(str(value)) for key, value in ranks.items() if str(value).isdecimal()}
    if whole:
        found["distributedInfo"] = whole
    if isinstance(version, str) and len(version) < 30:
        found["mindsporeVersion"] = version
    if damage.named:
        found["damagedRows"] = damage.named
    return found
