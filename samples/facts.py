"""Print the facts of this machine that explain the figures of a recording, as JSON."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

import torch


def facts() -> dict[str, str]:
    """Return processor, memory and software, and the GPU with its driver if there is one."""
    found = {
        "processor": f"{processor()}, {len(os.sched_getaffinity(0))} cores",
        "system": f"{platform.system()} {platform.machine()}, {platform.libc_ver()[0]}",
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    if torch.cuda.is_available():
        gpu = torch.cuda.get_device_properties(0)
        found |= {
            "gpu": f"{gpu.name}, {gpu.total_memory / 2**30:.0f} GiB, "
            f"{gpu.multi_processor_count} multiprocessors, compute capability {gpu.major}.{gpu.minor}",
            "driver": driver(),
            "cuda": str(torch.version.cuda),
            "cudnn": str(torch.backends.cudnn.version()),
            "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        }
    return found


def processor() -> str:
    """Return the processor's name as Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def driver() -> str:
    """Return the version of the GPU's driver as nvidia-smi prints it."""
    if shutil.which("nvidia-smi") is None:
        return "unknown: there is no nvidia-smi"
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    return done.stdout.strip() or f"unknown: {done.stderr.strip()}"


if __name__ == "__main__":
    print(json.dumps(facts(), indent=2))
