"""Records convolutions, products and attention with torch.profiler, and what torch counts of them.

    python flops.py FOLDER

writes FOLDER/traces/flops/WORKER.1.pt.trace.json and FOLDER/said.json: by worker and operator the
operations that FlopCounterMode counts, and FOLDER/arguments.json: the names of the arguments of
every operator.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.profiler import profile
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

aten = torch.ops.aten
#: The counter knows attention on GPUs only; that on CPUs takes the same shapes.
ATTENTION = {
    aten._scaled_dot_product_flash_attention_for_cpu: lambda q, k, v, *_, **__: sdpa_flop_count(
        q, k, v
    ),
    aten._scaled_dot_product_flash_attention_for_cpu_backward: (
        lambda grad, q, k, v, *_, **__: sdpa_backward_flop_count(grad, q, k, v)
    ),
}


def tensor(*shape: int, grad: bool = True) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=grad)


def plain() -> None:
    """Without biases and causal masks, which the counter does not look at."""
    x = tensor(2, 4, 9, 8)
    F.conv2d(x, tensor(6, 4, 3, 3), stride=(2, 1), padding=1).sum().backward()
    F.conv2d(x, tensor(6, 4, 3, 3, grad=False), dilation=2, padding="same").sum().backward()
    F.conv2d(x.detach(), tensor(6, 4, 3, 2)).sum().backward()
    F.conv1d(tensor(3, 4, 11), tensor(5, 4, 3), stride=3).sum().backward()
    F.conv3d(tensor(1, 2, 5, 6, 7), tensor(3, 2, 2, 3, 1)).sum().backward()
    F.conv_transpose2d(
        x, tensor(4, 3, 3, 3), stride=2, padding=1, output_padding=1
    ).sum().backward()
    F.linear(tensor(3, 5, 7), tensor(9, 7)).sum().backward()
    (tensor(3, 5, 7) @ tensor(3, 7, 2)).sum().backward()
    q, k, v = tensor(2, 4, 16, 8), tensor(2, 4, 12, 8), tensor(2, 4, 12, 8)
    F.scaled_dot_product_attention(q, k, v).sum().backward()
    F.scaled_dot_product_attention(q, k, v, attn_mask=tensor(16, 12, grad=False)).sum().backward()


def grouped() -> None:
    """Convolutions in two groups."""
    x = tensor(2, 4, 9, 8)
    F.conv2d(x, tensor(6, 2, 3, 3), stride=(2, 1), padding=1, groups=2).sum().backward()
    F.conv_transpose2d(x, tensor(4, 3, 3, 3), stride=2, groups=2, dilation=2).sum().backward()


def biased() -> None:
    """A bias in all of them, and a causal mask."""
    F.conv2d(tensor(2, 4, 9, 8), tensor(6, 4, 3, 3), tensor(6)).sum().backward()
    F.linear(tensor(5, 7), tensor(9, 7), tensor(9)).sum().backward()
    q = tensor(2, 4, 16, 8)
    F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()


def main(folder: Path) -> None:
    traces = folder / "traces" / "flops"
    traces.mkdir(parents=True)
    said = {}
    for work in (plain, grouped, biased):
        with FlopCounterMode(display=False, custom_mapping=ATTENTION) as counter:
            work()
        with profile(record_shapes=True) as profiler:
            work()
        profiler.export_chrome_trace(str(traces / f"{work.__name__}.1.pt.trace.json"))
        counts = counter.get_flop_counts()["Global"]
        said[work.__name__] = {str(op).replace(".", "::", 1): n for op, n in counts.items()}
    (folder / "said.json").write_text(json.dumps(said), "utf-8")
    arguments = {
        schema.name: [argument.name for argument in schema.arguments]
        for schema in torch._C._jit_get_all_schemas()
        if not schema.overload_name
    }
    (folder / "arguments.json").write_text(json.dumps(arguments), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
