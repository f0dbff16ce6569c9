"""Scripts that record with torch, each in a process that is forked when torch is imported.

torch takes two seconds of CPU time to import, which is more than most of these scripts take.

    python -m tests.torch_forks

reads one line of JSON per script: its path, its arguments and the folder that it runs in.
It answers with one line each: the exit status, and what the script printed.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[1]
#: What the scripts import, and what torch imports when it is first used.
IMPORTED = (
    "torch",
    "torch._dynamo",
    "torch.distributed",
    "torch.multiprocessing.spawn",
    "torch.nn.parallel",
    "torch.profiler",
    "torch.utils.data",
    "torch.utils.flop_counter",
    "tracewh.record",
)


def run_with_torch(script: Path, *words: object, cwd: Path = ROOT) -> None:
    """Run a script to its end, as `python script words` does."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps([str(script), [*map(str, words)], str(cwd)]) + "\n")
    server.stdin.flush()
    status, printed = json.loads(server.stdout.readline())
    assert status == 0, printed


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)  # closes its input, which ends it
    return server


def _serve() -> None:
    for name in IMPORTED:
        import_module(name)
    # What a script starts is forked, too: a process of its own would import torch again.
    spawning = sys.modules["torch.multiprocessing.spawn"]
    forks = functools.partial(spawning.start_processes, start_method="fork")
    setattr(spawning, "spawn", forks)  # noqa: B010
    for line in sys.stdin:
        script, words, cwd = json.loads(line)
        with TemporaryFile() as printed:
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(printed.fileno(), 1)
                os.dup2(printed.fileno(), 2)
                os.chdir(cwd)
                sys.argv = [script, *words]
                sys.path.insert(0, str(Path(script).parent))
                runpy.run_path(script, run_name="__main__")
                return
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            printed.seek(0)
            print(json.dumps([status, printed.read().decode(errors="replace")]), flush=True)


if __name__ == "__main__":
    _serve()
