"""Record the sample traces in this folder with the PyTorch profiler.

    cd samples
    python record.py                    # all of them; record_gpu.py records those of a GPU
    python record.py --only ddp_gloo

The samples are as the profiler wrote them, except for gzip. Seeds are fixed, so that recordings differ
only in their times.

Run this script from samples/: Python frames then have paths relative to this folder, and the files have
no path of the machine. Kineto also writes the host's name; README.md here shows how to avoid it.
"""

import argparse
import gzip
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import torch
import torch.distributed
from torch import Tensor, nn
from torch.multiprocessing.spawn import spawn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

# Of weights and images.
SEED = 2021
BATCH = 4
CLASSES = 10
# Two cycles of seven steps: one is skipped, one warms the profiler up, five are recorded. A trace
# file is written at the end of each cycle, so the steps on record are 2 to 6, then 9 to 13.
WAIT, WARMUP, ACTIVE = 1, 1, 5
CYCLES = 2
# Of each rank of ddp_gloo, one cycle with fewer steps.
RANK_ACTIVE = 3
# How long the storage of StoredPictures takes to send one image.
STORAGE_SECONDS = 0.002
# Counters from which operations and bytes per kernel follow, as docs/howto/counters.md has them. The first
# one stands for those of the instructions that add and multiply, in each precision. record_gpu.py records
# them.
COUNTERS = [
    "kineto__cuda_core_flops",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "gpu__time_duration.sum",  # rates need times
]


class Pictures(Dataset[tuple[Tensor, int]]):
    """Synthetic images that take some host time to load, like images decoded from files."""

    side = 384

    def __len__(self) -> int:
        """Return the number of images that all cycles need."""
        return BATCH * (WAIT + WARMUP + ACTIVE) * CYCLES

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        """Create a large image and shrink it."""
        generator = torch.Generator().manual_seed(SEED + index)
        large = torch.rand(1, 3, self.side, self.side, generator=generator)
        small = functional.interpolate(large, size=(32, 32), mode="bilinear", antialias=True)
        return small[0], index % CLASSES


class StoredPictures(Pictures):
    """Smaller images, read one by one from slow storage, e.g. from a file system on the network."""

    side = 128

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        """Read an image, then shrink it."""
        read_from_storage()
        return super().__getitem__(index)


def read_from_storage() -> None:
    """Wait as long as the storage takes to send an image. The core is free meanwhile."""
    time.sleep(STORAGE_SECONDS)


class Block(nn.Module):
    """A residual block: two 3x3 convolutions with a skip connection."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.Conv2d(channels_in, channels_out, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum of x and the output of the convolutions."""
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class SmallResNet(nn.Module):
    """A stem, two residual blocks and a classifier: six convolutions in all."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.blocks = nn.Sequential(Block(16, 16, 1), Block(16, 32, 2))
        self.classifier = nn.Linear(32, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Return one logit per class."""
        y: Tensor = self.blocks(functional.relu(self.stem(x)))
        logits: Tensor = self.classifier(y.mean(dim=(2, 3)))
        return logits


def train(
    folder: Path,
    worker: str,
    pictures: Pictures,
    *,
    loader_workers: int = 0,
    cycles: int = CYCLES,
    active: int = ACTIVE,
    device: str = "cpu",
    wrap: Callable[[nn.Module], nn.Module] = lambda model: model,
    finish: Callable[[profile, Path, str], None] | None = None,
    step: Callable[[profile], None] = profile.step,
) -> None:
    """Train for `cycles` profiler cycles and write one trace for each as folder/worker.<ns>...

    record_gpu.py passes its own `finish`, which writes more than the trace, and its own `step`, which
    times the steps.
    """
    torch.manual_seed(SEED)
    model = wrap(SmallResNet().to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(pictures, BATCH, num_workers=loader_workers)
    activities = [ProfilerActivity.CPU]
    if device != "cpu":
        activities.append(ProfilerActivity.CUDA)
    with profile(
        activities=activities,
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=active, repeat=cycles),
        on_trace_ready=lambda profiler: (finish or write)(profiler, folder, worker),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
    ) as profiler:
        steps = (WAIT + WARMUP + active) * cycles
        for images, labels in islice(loader, steps):
            images, labels = images.to(device), labels.to(device)
            with record_function("forward"):
                loss = functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            with record_function("backward"):
                loss.backward()
            optimizer.step()
            step(profiler)


def write(profiler: profile, folder: Path, worker: str) -> None:
    """Name the trace as tensorboard_trace_handler does and compress it.

    The handler's own use_gzip goes through a temporary file, whose path then stands in the trace
    as its traceName.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / f"{worker}.{time.time_ns()}.pt.trace.json"
    profiler.export_chrome_trace(str(plain))
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()


def resnet_workers_0(folder: Path) -> None:
    """Record the loop with data loading in the training process."""
    train(folder, "worker0", StoredPictures(), loader_workers=0)


def resnet_workers_2(folder: Path) -> None:
    """Record the same loop with two processes that prefetch data."""
    train(folder, "worker0", StoredPictures(), loader_workers=2)


def ddp_gloo(folder: Path) -> None:
    """Record one cycle of the loop in two processes that average gradients over gloo."""
    with tempfile.TemporaryDirectory() as meeting:
        spawn(ddp_rank, (folder, f"file://{meeting}/store"), 2)


def ddp_rank(rank: int, folder: Path, meeting: str) -> None:
    """Run one of the two processes of ddp_gloo."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    train(
        folder,
        f"rank{rank}",
        Pictures(),
        cycles=1,
        active=RANK_ACTIVE,
        wrap=DistributedDataParallel,
    )
    torch.distributed.destroy_process_group()


SAMPLES = [resnet_workers_0, resnet_workers_2, ddp_gloo]


def main() -> None:
    """Record the selected samples, each in a folder with its name."""
    samples = {sample.__name__: sample for sample in SAMPLES}
    parser = argparse.ArgumentParser(
        description="Record the sample traces with the PyTorch profiler."
    )
    parser.add_argument("--only", choices=samples, help="record this sample alone")
    parser.add_argument(
        "--output", type=Path, default=Path(), help="folder of the run folders (default: here)"
    )
    arguments = parser.parse_args()
    chosen = [samples[arguments.only]] if arguments.only else SAMPLES
    if torch.cuda.is_available():
        print("record_gpu.py records samples of this machine's GPU", file=sys.stderr)
    # One thread: the traces then look alike on a laptop and on a server.
    torch.set_num_threads(1)
    for sample in chosen:
        folder = arguments.output / sample.__name__
        shutil.rmtree(folder, ignore_errors=True)
        sample(folder)
        for trace in sorted(folder.glob("*.gz")):
            print(f"{trace}  {trace.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
