"""Generate the traces of a training job with many ranks: small, all different, similar as ranks are.

    python bench/draw.py folder_of_ranks/ --ranks 4096

Every rank has steps with a data loader, layers forward and backward, operators around the calls that
launch kernels, collectives, copies and an optimizer: about a thousand events. Durations differ by rank
and step and depend only on the seed: the same command writes the same files. The traces are synthetic,
with the layout of PyTorch 2.
"""

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any

HOST_THREAD, BACKWARD_THREAD, COMPUTE, COMMUNICATION = 1000, 1001, 7, 20
LAUNCH, COPY = "cudaLaunchKernel", "cudaMemcpyAsync"
GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
RELU = "void at::native::vectorized_elementwise_kernel<4, at::native::clamp_min>(int, at::Array)"
ADAM = "void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<float>>(int)"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"


class Rank:
    """The events of one rank. Times are nanoseconds from the start of the recording."""

    def __init__(self, rank: int, ranks: int, seed: int) -> None:
        self.rank, self.ranks = rank, ranks
        self.random = random.Random(f"{seed}/{rank}")
        self.events: list[dict[str, Any]] = []
        self.pid = 100 + rank % 8
        self.now = 1_000_000 + self.random.randrange(50_000)
        self.free = {COMPUTE: 0, COMMUNICATION: 0}
        self.ids = 0

    def complete(
        self, category: str, name: str, thread: int, start: int, end: int, **arguments: Any
    ) -> None:
        """Add an event with a duration."""
        pid = self.rank % 8 if category in ("kernel", "gpu_memcpy") else self.pid
        times = {"ts": start / 1000, "dur": (end - start) / 1000}
        self.events.append(
            {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, **times}
            | {"args": {key.replace("_", " "): value for key, value in arguments.items()}}
        )

    def launch(
        self,
        operators: tuple[str, ...],
        thread: int,
        kernel: str,
        length: int,
        stream: int = COMPUTE,
    ) -> None:
        """Add nested operators, and the device work that the innermost one launches."""
        start, depth = self.now, len(operators)
        length = int(length * self.random.uniform(0.9, 1.2))
        called, returned = start + 2_000 * depth, start + 2_000 * depth + 4_500
        for level, operator in enumerate(operators):
            self.ids += 1
            end = returned + 1_000 * (depth - level)
            dims = {"Input_Dims": [[64, 1024], [1024, 1024]], "Input_type": ["c10::BFloat16"] * 2}
            self.complete(
                "cpu_op", operator, thread, start + 2_000 * level, end, External_id=self.ids, **dims
            )
        correlation = 1_000_000 + self.ids
        link = {"correlation": correlation, "External_id": self.ids}
        is_copy = kernel.startswith("Memcpy")
        call = COPY if is_copy else LAUNCH
        self.complete("cuda_runtime", call, thread, called, returned, cbid=211, **link)
        began = max(returned + 1_500, self.free[stream])
        self.free[stream] = began + length
        place = {"device": self.rank % 8, "context": 1, "stream": stream}
        if is_copy:
            size = {"bytes": 262_144, "memory_bandwidth_(GB/s)": 262_144 / length}
            self.complete(
                "gpu_memcpy", kernel, stream, began, began + length, **place, **link, **size
            )
        else:
            shape = {"grid": [64, 2, 1], "block": [256, 1, 1], "registers_per_thread": 96}
            fill = {"shared_memory": 49152, "blocks_per_SM": 1.19, "warps_per_SM": 9.48}
            fill["est._achieved_occupancy_%"] = 15
            self.complete(
                "kernel", kernel, stream, began, began + length, **place, **link, **shape, **fill
            )
        flow = {"cat": "ac2g", "name": "ac2g", "id": correlation}
        at = {"pid": self.pid, "tid": thread, "ts": called / 1000}
        self.events.append({"ph": "s", **flow, **at})
        at = {"pid": self.rank % 8, "tid": stream, "ts": began / 1000}
        self.events.append({"ph": "f", "bp": "e", **flow, **at})
        self.now = returned + 1_000 * depth + 500

    def step(self, number: int, layers: int) -> None:
        """Add one step with a synchronization at its end, like a loss that is printed."""
        start = self.now
        self.now += self.random.randrange(30_000, 90_000)
        loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        self.complete("user_annotation", loader, HOST_THREAD, start + 500, self.now, External_id=0)
        self.launch(
            ("aten::to", "aten::copy_"), HOST_THREAD, "Memcpy HtoD (Pinned -> Device)", 20_000
        )
        for _ in range(layers):
            self.launch(("aten::linear", "aten::addmm"), HOST_THREAD, GEMM, 45_000)
            self.launch(("aten::relu", "aten::clamp_min"), HOST_THREAD, RELU, 6_000)
        for layer in range(layers):
            node = "autograd::engine::evaluate_function: AddmmBackward0"
            for _ in range(2):
                self.launch((node, "aten::mm"), BACKWARD_THREAD, GEMM, 45_000)
            self.launch((node, "aten::threshold_backward"), BACKWARD_THREAD, RELU, 6_000)
            if layer % 4 == 3:
                self.free[COMMUNICATION] = max(self.free[COMMUNICATION], self.free[COMPUTE])
                self.launch(
                    ("c10d::allreduce_", "record_param_comms"),
                    BACKWARD_THREAD, ALL_REDUCE, 110_000, COMMUNICATION,
                )  # fmt: skip
        self.free[COMPUTE] = max(self.free.values())
        self.launch(("aten::_fused_adamw_",), HOST_THREAD, ADAM, 70_000)
        waited, end = self.now, max(self.now, *self.free.values()) + 3_000
        self.ids += 1
        link = {"correlation": 1_000_000 + self.ids, "External_id": self.ids}
        self.complete(
            "cuda_runtime", "cudaDeviceSynchronize", HOST_THREAD, waited, end, cbid=165, **link
        )
        self.now = end + 2_000
        self.complete(
            "user_annotation", f"ProfilerStep#{number}", HOST_THREAD, start, self.now, External_id=0
        )
        self.now += 1_000

    def trace(self) -> dict[str, Any]:
        """Return the content of the file."""
        gpu = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_899_345_920}
        gpu |= {"computeMajor": 8, "computeMinor": 0, "numSms": 108, "warpSize": 32}
        gpu |= {"maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048}
        names = {HOST_THREAD: "python", BACKWARD_THREAD: "pt_autograd_0"}
        described = [
            {"ph": "M", "name": "thread_name", "pid": self.pid, "tid": thread, "ts": 0.0}
            | {"args": {"name": name}}
            for thread, name in names.items()
        ]
        return {
            "schemaVersion": 1,
            "deviceProperties": [gpu | {"id": number} for number in range(8)],
            "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": self.ranks},
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": 1_767_189_312_000_000_000,
            "traceEvents": described + self.events,
        }


def draw(folder: Path, rank: int, ranks: int, steps: int, layers: int, seed: int) -> None:
    """Write the trace of one rank."""
    drawn = Rank(rank, ranks, seed)
    for number in range(steps):
        drawn.step(number, layers)
    name = f"node{rank // 8:04}_rank{rank}.1767189400000000000.pt.trace.json.gz"
    text = json.dumps(drawn.trace(), indent=1).encode()
    (folder / name).write_bytes(gzip.compress(text, 6, mtime=0))


def main() -> None:
    """Parse the command line and write the traces."""
    parser = argparse.ArgumentParser(description="Draw the small traces of a job of many ranks.")
    parser.add_argument("folder", type=Path, help="where the traces go; the run has its name")
    parser.add_argument("--ranks", type=int, required=True, help="traces to draw")
    parser.add_argument("--steps", type=int, default=4, help="steps of each (default: 4)")
    parser.add_argument("--layers", type=int, default=8, help="layers of the model (default: 8)")
    parser.add_argument("--seed", type=int, default=0, help="another job (default: 0)")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for rank in range(arguments.ranks):
        draw(
            arguments.folder,
            rank,
            arguments.ranks,
            arguments.steps,
            arguments.layers,
            arguments.seed,
        )
    size = sum(path.stat().st_size for path in arguments.folder.iterdir())
    print(f"{arguments.folder}: {arguments.ranks} traces, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
