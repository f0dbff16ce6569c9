"""Peaks of GPUs in known_gpus against the data sheets that torch quotes."""

from __future__ import annotations

import duckdb
import pytest
import torch

from tracewh.views.registry import installed

device_info = pytest.importorskip("torch._inductor.analysis.device_info")

#: Name here, and name in torch.
MODELS = {
    "AMD Instinct MI210": "AMD MI210X",
    "AMD Instinct MI300X": "AMD MI300X",
    "AMD Instinct MI350X": "AMD MI350X",
    "A100-SXM4-80GB": "NVIDIA A100",
    "H100 80GB HBM3": "NVIDIA H100",
}


@pytest.mark.parametrize("name", MODELS)
def test_peaks_are_those_that_torch_quotes(name: str) -> None:
    """Float32 is not compared: for AMD torch quotes TF32, and known_gpus the rate of float32 itself."""
    with duckdb.connect() as con:
        con.execute(installed().named("known_gpus").sql)
        found = con.execute(
            "SELECT fp16_tensor_tflops, bf16_tensor_tflops, memory_gbps FROM known_gpus WHERE name = ?",
            [name],
        ).fetchone()
    quoted = device_info.lookup_device_info(MODELS[name])
    assert quoted is not None
    fp16, bf16 = (
        quoted.tops[dtype] / quoted.tops_sparsity_factor
        for dtype in (torch.float16, torch.bfloat16)
    )
    assert found is not None
    assert [*map(float, found[:2])] == pytest.approx([fp16, bf16], rel=0.002)
    assert float(found[2]) == pytest.approx(quoted.dram_bw_gbs, rel=0.03)
