"""Record samples of this machine's GPU with the PyTorch profiler, in minutes.

    cd samples
    python record_gpu.py FOLDER                    # all of them
    python record_gpu.py FOLDER --only gpt_eager
    python record_gpu.py FOLDER --device cpu       # what a CPU can record of them

Each sample is recorded in a process of its own, so that one that fails leaves the others alone. Beside the
traces, FOLDER has what torch says of the same recordings (recorder.py), the facts of the machine, what
each process printed, and report.json. It needs torch, and nothing of tracewh.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import torch
from gpu_samples import SAMPLES, run_name  # type: ignore[import-not-found]

HERE = Path(__file__).parent
#: Bytes that a file may have behind gzip, and all files together.
LARGEST, ALL = 600_000, 4_000_000
#: Text that tells where a trace was recorded: paths from the root, and folders of installed packages.
MACHINE = re.compile(rb'"/[^"]*|[^"]*site-packages[^"]*|"[A-Z]:\\[^"]*')
HOST = re.compile(rb'"host_name": ?"([^"]*)"')
#: What the profiler and gloo print on each start.
NOISE = re.compile(r"^(USDT:|\[(rank\d+\]:\[)?[WI]\d{4} |\s*$|\[Gloo\])")


def record(name: str, device: str, out: Path, seconds: float) -> str:
    """Record a sample, and return why it was not recorded: nothing if it was."""
    needs = SAMPLES[name].needs
    if needs and device != "cuda":
        return f"skipped: {needs}"
    if seconds <= 0:
        return "skipped: no time was left"
    command = [sys.executable, "gpu_samples.py", name, device, str(out)]
    log = out / "logs" / f"{name}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as printed:
        process = subprocess.Popen(
            command, cwd=HERE, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(seconds)
            reason = "" if process.returncode == 0 else last_line(log)
        except subprocess.TimeoutExpired:
            reason = f"failed: it took longer than {seconds:.0f} seconds"
        # Also those that the sample started: loaders, ranks and compilers.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not reason and not recorded(out, name, device):
        reason = "failed: it wrote no trace"
    if reason:
        shutil.rmtree(out / "traces" / run_name(name, device), ignore_errors=True)
        for said in (out / "said").glob(f"{run_name(name, device)}.*"):
            said.unlink()
    return reason


def last_line(log: Path) -> str:
    """Return the last line that a failed process printed: its error."""
    lines = [
        line for line in log.read_text("utf-8", "replace").splitlines() if not NOISE.match(line)
    ]
    line = lines[-1].strip() if lines else "it printed nothing"
    return line if line.startswith("not recorded: ") else f"failed: {line}"


def recorded(out: Path, name: str, device: str) -> list[Path]:
    """Return the files of a sample."""
    files = (out / "traces" / run_name(name, device)).rglob("*")
    return sorted(file for file in files if file.is_file())


def size(file: Path) -> int:
    """Return the bytes of a file behind gzip."""
    data = file.read_bytes()
    return len(data if file.suffix == ".gz" else gzip.compress(data))


def problems(files: list[Path]) -> list[str]:
    """Return what keeps files from being bundled: their size, and what they tell about the machine."""
    found = []
    for file in files:
        data = file.read_bytes()
        text = gzip.decompress(data) if file.suffix == ".gz" else data
        if size(file) > LARGEST:
            found.append(f"{file.name} is too large: {size(file) / 1000:.0f} kB")
        if file.suffix == ".gz" and (told := MACHINE.findall(text)):
            found.append(f"{file.name} has paths of the machine: {told[0].decode()[1:]}")
        # Some releases of torch write no name.
        if set(HOST.findall(text)) - {b"localhost"}:
            found.append(f"{file.name} has the name of the machine")
    return found


def pack(out: Path, archive: Path) -> None:
    """Write the folder into one file."""
    unfinished = archive.with_name(f"{archive.name}.part")
    with tarfile.open(unfinished, "w") as tar:
        tar.add(out, arcname=".")
    unfinished.replace(archive)


def chosen(arguments: argparse.Namespace) -> list[str]:
    """Return the names of the samples to record, in the order of SAMPLES."""
    return [name for name in SAMPLES if not arguments.only or name in arguments.only]


def main() -> int:
    """Record the samples, check their sizes, and print what became of each."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser = argparse.ArgumentParser(description="Record samples of this machine's GPU.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=["cuda", "cpu"], default=device)
    parser.add_argument("--only", choices=SAMPLES, action="append", help="may be repeated")
    parser.add_argument("--seconds", type=float, default=150, help="for each sample (default: 150)")
    parser.add_argument("--minutes", type=float, default=9, help="for all samples (default: 9)")
    parser.add_argument("--archive", type=Path, help="write the folder into this tar file, too")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    out: Path = arguments.folder.resolve()
    out.mkdir(parents=True, exist_ok=True)
    machine = subprocess.run(
        [sys.executable, "facts.py"], cwd=HERE, check=True, capture_output=True, text=True
    ).stdout
    (out / "facts.json").write_text(machine, "utf-8")
    print(machine, end="")
    report: dict[str, dict[str, object]] = {}
    for name in chosen(arguments):
        shutil.rmtree(out / "traces" / run_name(name, arguments.device), ignore_errors=True)
        begun = time.monotonic()
        reason = record(name, arguments.device, out, min(arguments.seconds, end - begun))
        files = recorded(out, name, arguments.device)
        report[name] = {
            "seconds": round(time.monotonic() - begun, 1),
            "not_recorded": reason,
            "bytes": {file.name: size(file) for file in files},
            "problems": problems(files),
        }
        (out / "report.json").write_text(json.dumps(report, indent=2), "utf-8")
        if arguments.archive:
            pack(out, arguments.archive)
        kilobytes = " + ".join(f"{size(file) / 1000:.0f}" for file in files)
        print(f"{name}: {reason or kilobytes + ' kB'}", flush=True)
    total = sum(size(file) for name in report for file in recorded(out, name, arguments.device))
    print(f"all: {total / 1000:.0f} kB")
    wrong = [str(each) for name in report for each in report[name]["problems"]]  # type: ignore[attr-defined]
    if total > ALL:
        wrong.append(f"all files together are too large: {total / 1000:.0f} kB")
    failed = [
        name for name in report if not str(report[name]["not_recorded"]).startswith("skipped: ")
    ]
    wrong += [
        f"{name}: {report[name]['not_recorded']}" for name in failed if report[name]["not_recorded"]
    ]
    for each in wrong:
        print(each, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
