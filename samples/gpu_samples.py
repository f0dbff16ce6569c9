"""The samples that record_gpu.py records, each in a process of its own.

    python gpu_samples.py NAME DEVICE FOLDER

records one of them. A sample that cannot be recorded here raises NotRecorded with the reason.
"""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from gpt import SIZES, SmallGPT, Trainer, random_tokens  # type: ignore[import-not-found]
from record import COUNTERS, RANK_ACTIVE, SEED, Pictures, StoredPictures, train  # type: ignore[import-not-found]
from recorder import Recorder  # type: ignore[import-not-found]
from torch import Tensor
from torch._C._profiler import _ExperimentalConfig
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import profile

HERE = Path(__file__).parent
#: Steps before the recording: they compile, choose kernels and load libraries.
REHEARSED = 3
GPT_ACTIVE = 6
GRAPH_NEEDS = "a CUDA graph is captured on a GPU"
#: Each kernel runs alone while counters are read, several times.
COUNTED_ACTIVE = 1
REMEMBERED_ACTIVE = 2
#: Of Nsight Compute: operations of CUDA cores and of tensor cores, bytes, hit rates of the caches.
SECTIONS = [
    "SpeedOfLight_RooflineChart",
    "SpeedOfLight_HierarchicalTensorRooflineChart",
    "MemoryWorkloadAnalysis",
    "LaunchStats",
    "Occupancy",
]
#: The last allocations and releases that a snapshot keeps. Each has a stack.
SNAPSHOT_ENTRIES = 3000


class NotRecorded(Exception):
    """This machine cannot record the sample; the text says why."""


@dataclass(frozen=True)
class Sample:
    """A sample, and why it needs a GPU, if it does."""

    record: Callable[[Path, str, str], None]
    needs: str = ""


def resnet(out: Path, run: str, device: str, loader_workers: int) -> None:
    """Record the loop of record.py."""
    recorder = Recorder(out, run, device)
    train(
        recorder.folder,
        "worker0",
        StoredPictures(),
        loader_workers=loader_workers,
        device=device,
        finish=recorder.finish,
        step=recorder.step,
    )


def resnet_gpu_workers_0(out: Path, run: str, device: str) -> None:
    """Record the loop; the training process loads the data."""
    resnet(out, run, device, loader_workers=0)


def resnet_gpu_workers_2(out: Path, run: str, device: str) -> None:
    """Record the loop; two processes load data ahead."""
    resnet(out, run, device, loader_workers=2)


def gpt_eager(out: Path, run: str, device: str) -> None:
    """Record training of the GPT, operator by operator."""
    gpt(Recorder(out, run, device))


def gpt_compiled(out: Path, run: str, device: str) -> None:
    """Record the same training with torch.compile."""
    compiled_gpt(out, run, device, "default")


def gpt_cuda_graphs(out: Path, run: str, device: str) -> None:
    """Record the same training compiled, with a CUDA graph for forward and one for backward."""
    compiled_gpt(out, run, device, "reduce-overhead")


def compiled_gpt(out: Path, run: str, device: str, mode: str) -> None:
    """Record training of the GPT compiled in a mode; the caches of compilers last as long as the recording."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        os.environ["TRITON_CACHE_DIR"] = f"{cache}/triton"
        gpt(Recorder(out, run, device, hidden=(Path(cache),)), mode)


def gpt(recorder: Recorder, compiled: str | None = None) -> None:
    """Record training of the GPT."""
    trainer = Trainer(recorder.device, compiled)
    for _ in range(REHEARSED):
        trainer.step()
    recorder.steps("worker0", trainer.step, GPT_ACTIVE)


def gpt_inference(out: Path, run: str, device: str) -> None:
    """Record how the GPT's inference is captured as a CUDA graph, and then how it is replayed."""
    recorder = Recorder(out, run, device)
    size = SIZES[device]
    model = SmallGPT(size).to(device, torch.bfloat16).eval()
    tokens = random_tokens(size, device)[:, :-1].contiguous()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad():
        # A capture needs libraries that have been loaded, and memory of its own stream.
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(REHEARSED):
                model(tokens)
        torch.cuda.current_stream().wait_stream(stream)
        with (
            profile(
                activities=recorder.activities,
                record_shapes=True,
                with_stack=True,
            ) as profiler,
            torch.cuda.graph(graph),
        ):
            logits: Tensor = model(tokens)
        captured = recorder.folder / "capture_traces" / f"bs_{size.batch}.pt.trace.json"
        recorder.write(profiler, captured)

        def generate() -> None:
            """Append the likeliest token, and drop the first one."""
            graph.replay()
            token = logits[:, -1].argmax(-1, keepdim=True)
            tokens.copy_(torch.cat([tokens[:, 1:], token], dim=1))

        recorder.steps("worker0", generate, active=10)


def gpt_counters(out: Path, run: str, device: str) -> None:
    """Record a step of the GPT with counters of every kernel: of CUPTI, or else of Nsight Compute.

    Many builds of torch have no counters of CUPTI. The trace then has no counters, and a table of Nsight
    Compute beside it has those of the same step.
    """
    trainer = Trainer(device)
    for _ in range(REHEARSED):
        trainer.step()
    for counters in (COUNTERS, list[str]()):
        recorder = Recorder(out, run, device)
        shutil.rmtree(recorder.folder, ignore_errors=True)
        config = _ExperimentalConfig(
            profiler_metrics=counters, profiler_measure_per_kernel=bool(counters)
        )
        recorder.steps("worker0", trainer.step, COUNTED_ACTIVE, experimental_config=config)
        [trace] = recorder.folder.glob("*.gz")
        if b"cuda_profiler_range" in gzip.decompress(trace.read_bytes()):
            return
    nsight_compute(recorder.folder / "counters.csv.gz")


def nsight_compute(table: Path) -> None:
    """Write the counters of each kernel of a step as `ncu --csv` prints them."""
    if shutil.which("ncu") is None:
        raise NotRecorded("this build of torch has no counters of CUPTI, and there is no ncu")
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.ncu-rep"
        # The clocks stay as they are: others may use the device, and a trace has them so, too.
        command = f"ncu --profile-from-start off --clock-control none --export {report}".split()
        command += [word for section in SECTIONS for word in ("--section", section)]
        subprocess.run(
            [*command, sys.executable, "counted_step.py", str(REHEARSED)], cwd=HERE, check=True
        )
        printed = subprocess.run(
            ["ncu", "--import", report, "--page", "raw", "--csv"], check=True, capture_output=True
        ).stdout
    table.write_bytes(gzip.compress(printed, mtime=0))


def gpt_memory(out: Path, run: str, device: str) -> None:
    """Record training of the GPT, and a snapshot of the allocator with what happened meanwhile."""
    trainer = Trainer(device)
    for _ in range(REHEARSED):
        trainer.step()
    torch.cuda.memory._record_memory_history(stacks="python", max_entries=SNAPSHOT_ENTRIES)
    recorder = Recorder(out, run, device)
    recorder.steps("worker0", trainer.step, REMEMBERED_ACTIVE)
    snapshot = without_paths(torch.cuda.memory._snapshot())
    (recorder.folder / "worker0.memory_snapshot.pickle").write_bytes(pickle.dumps(snapshot))


def without_paths(value: Any) -> Any:
    """Return a snapshot whose files have paths relative to a folder that Python imports from."""
    if isinstance(value, dict):
        return {
            key: relative(each) if key == "filename" else without_paths(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [without_paths(each) for each in value]
    return value


def relative(file: str) -> str:
    """Return the path relative to the longest folder of sys.path around it, or its name alone."""
    around = [folder for folder in sys.path if folder and file.startswith(folder + os.sep)]
    return file[len(max(around, key=len)) + 1 :] if around else os.path.basename(file)


def ddp_gpu_nccl(out: Path, run: str, device: str) -> None:
    """Record two processes that average gradients over NCCL. NCCL may refuse two on one GPU."""
    pair(out, run, device, "nccl")


def ddp_gpu_gloo(out: Path, run: str, device: str) -> None:
    """Record two processes that average gradients over gloo, which copies them to the host."""
    pair(out, run, device, "gloo")


def pair(out: Path, run: str, device: str, backend: str) -> None:
    """Record two processes on one device."""
    with tempfile.TemporaryDirectory() as meeting:
        spawn(rank_of_pair, (out, run, device, backend, f"file://{meeting}/store"), 2)


def rank_of_pair(rank: int, out: Path, run: str, device: str, backend: str, meeting: str) -> None:
    """Record one of the two processes."""
    torch.set_num_threads(1)
    if device == "cuda":
        torch.cuda.set_device(0)
    dist.init_process_group(backend, init_method=meeting, rank=rank, world_size=2)
    recorder = Recorder(out, run, device)
    train(
        recorder.folder,
        f"rank{rank}",
        Pictures(),
        cycles=1,
        active=RANK_ACTIVE,
        device=device,
        wrap=DistributedDataParallel,
        finish=recorder.finish,
        step=recorder.step,
    )
    dist.destroy_process_group()


#: In the order in which they are recorded: what people look at first comes first.
SAMPLES = {
    "gpt_eager": Sample(gpt_eager),
    "gpt_compiled": Sample(gpt_compiled),
    "gpt_cuda_graphs": Sample(gpt_cuda_graphs, needs=GRAPH_NEEDS),
    "resnet_gpu_workers_0": Sample(resnet_gpu_workers_0),
    "resnet_gpu_workers_2": Sample(resnet_gpu_workers_2),
    "gpt_inference": Sample(gpt_inference, needs=GRAPH_NEEDS),
    "gpt_memory": Sample(gpt_memory, needs="a snapshot is of the allocator of a GPU"),
    "ddp_gpu_gloo": Sample(ddp_gpu_gloo),
    "ddp_gpu_nccl": Sample(ddp_gpu_nccl, needs="NCCL runs on GPUs"),
    # Nsight Compute runs each kernel many times, which takes a minute or two.
    "gpt_counters": Sample(gpt_counters, needs="counters are those of a GPU"),
}


def run_name(name: str, device: str) -> str:
    """Return the name of the folder that a sample is recorded into, which is that of its run."""
    return name if device == "cuda" else f"{name}_{device}"


def main() -> None:
    """Record one sample."""
    name, device, out = sys.argv[1:]
    # One thread: the traces then look alike on a laptop and on a server.
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    sample = SAMPLES[name]
    if sample.needs and device != "cuda":
        raise NotRecorded(sample.needs)
    sample.record(Path(out), run_name(name, device), device)


if __name__ == "__main__":
    try:
        main()
    except NotRecorded as reason:
        sys.exit(f"not recorded: {reason}")
