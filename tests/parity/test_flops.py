"""operator_flops_summary and operator_work against TraceLens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.conftest import SHARED
from tests.parity.conftest import ANOTHER_FILE, TRACES, keys
from tests.parity.differences import Table

if TYPE_CHECKING:
    from pathlib import Path

    import tracewh
    from tests.given import Tables

SHEETS = ("GEMM", "CONV_fwd", "CONV_bwd", "SDPA_fwd", "SDPA_bwd")
ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def said(trace: str) -> dict[str, Any]:
    text = (SHARED / "expected" / f"{trace}.tracelens.json").read_text("utf-8")
    return json.loads(text)["data"]  # type: ignore[no-any-return]


def rows(trace: str) -> Iterator[dict[str, Any]]:
    """What it says of products, convolutions and attention, by operator and arguments."""
    for sheet in SHEETS:
        yield from said(trace)["sheets"].get(sheet, {"data": []})["data"]


def figures(row: dict[str, Any]) -> dict[str, float]:
    return {
        "flops": round(row["GFLOPS_first"] * 1e9),
        "bytes": round(row["Data Moved (MB)_first"] * 2**20),
    }


#: Traces in which it finds no linked kernel crash it.
SAID = [trace for trace in TRACES if "sheets" in said(trace)]

#: Traces of which it saw calls that the corpus does not have.
LACKING = [ANOTHER_FILE, "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode"]


def every_operator_and_shape(trace: str, corpus: tracewh.Warehouse) -> Table:
    """Compared in test_tracelens.py, with all else that TraceLens says of a trace."""
    theirs: dict[str, dict[str, float]] = {}
    for row in rows(trace):
        shapes = json.dumps(row["Input Dims_first"], separators=(",", ":"))
        found = theirs.setdefault(f"{row['name']} {shapes}", {"calls": 0, "device_us": 0})
        assert figures(row).items() <= {**figures(row), **found}.items()
        found |= figures(row)
        found["calls"] += row["name_count"]
        found["device_us"] += row["Kernel Time (µs)_sum"]
    summary = corpus.operator_flops_summary(**keys(corpus, trace))
    ours = {
        f"{name} {shapes}": {"calls": calls, "flops": flops, "bytes": size, "device_us": device_us}
        for name, shapes, calls, flops, size, device_us in summary.project(
            "name, input_dims, calls, flops, bytes, device_us"
        ).fetchall()
    }
    return Table("operator_flops_summary", ours, theirs)


def test_arguments_of_calls_that_the_corpus_lacks(shared: Path, tables: Tables) -> None:
    """Of two traces it saw more than the corpus has."""
    tables.prepare("operator_work()")
    known = tables.con.execute("SELECT name FROM operator_models()").fetchall()
    theirs = [row for trace in LACKING for row in rows(trace) if (row["name"],) in known]
    for number, row in enumerate(theirs):
        arguments = [row[f"{argument}_first"] for argument in ARGUMENTS]
        tables.con.execute(
            """
            INSERT INTO host_events BY NAME SELECT
                'r' AS run, 'w' AS worker, 'default' AS span, 'cpu_op' AS category,
                0 AS inner_self_ns, ? AS event_id, ? AS name, event_id * 10 AS start_ns, 5 AS duration_ns,
                ?::JSON AS input_dims, ?::VARCHAR[] AS input_types,
                ?::JSON AS input_strides, ?::VARCHAR[] AS concrete_inputs
            """,
            [
                number,
                row["name"],
                json.dumps(arguments[0]),
                arguments[1],
                json.dumps(arguments[2]) if arguments[2] else None,
                arguments[3],
            ],
        )
    ours = tables.con.execute(
        "SELECT w.flops, w.bytes FROM operator_work() AS w ORDER BY w.event_id"
    ).fetchall()
    assert len(ours) == len(theirs) == 24
    wrong = [
        (row["name"], dict(zip(("flops", "bytes"), mine, strict=True)), figures(row))
        for mine, row in zip(ours, theirs, strict=True)
        if mine != tuple(figures(row).values())
    ]
    assert wrong == []
