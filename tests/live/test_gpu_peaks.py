"""Peaks of GPUs in known_gpus against the data sheets that torch quotes."""

from __future__ import annotations

import duckdb
import pytest

from tracewh.views.registry import installed

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
    """Float32 is not compared: for AMD torch quotes TF32, and known_gpus the rate of float32 itself.

    Torch gives a GPU without float8 the rate of float16.
    """
    # Takes seconds, and every process of a test run collects this file.
    device_info = pytest.importorskip("torch._inductor.analysis.device_info")
    import torch

    with duckdb.connect() as con:
        con.execute(installed().named("known_gpus").sql)
        found = con.execute(
            "SELECT memory_gbps, source, fp64_tensor_tflops, fp16_tensor_tflops, bf16_tensor_tflops,"
            " fp8_tensor_tflops FROM known_gpus WHERE name = ?",
            [name],
        ).fetchone()
    quoted = device_info.lookup_device_info(MODELS[name])
    assert quoted is not None
    assert found is not None
    bandwidth, source, *peaks = found
    assert source == "torch 2.13"
    assert float(bandwidth) == pytest.approx(quoted.dram_bw_gbs, rel=0.03)
    # Torch halves no figure of float64: data sheets quote sparsity for shorter types only.
    sparsity = [1, *[quoted.tops_sparsity_factor] * 3]
    types = (torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fnuz)
    for dtype, peak, factor in zip(types, peaks, sparsity, strict=True):
        if peak is not None:
            assert float(peak) == pytest.approx(quoted.tops[dtype] / factor, rel=0.002)
        else:
            assert quoted.tops.get(dtype) in (None, quoted.tops[torch.float16])
