"""Compare the CPU time of this commit with that of the one before: no part may take a tenth more.

    python -m bench.gate

It ingests, queries and draws with both commits at once, on the same inputs, and compares the CPU seconds of
the two processes. What slows the machine for a while slows both: two processes of the same code differ by 3 %
this way, and by 40 % one after the other. A part counts with the median of its pairs, and one that seems
slower is measured again. It ends with 1 if a part takes more than 1.1 times as long, unless the message of
this commit has a line that says why:

    Slower: each event is checked twice, which finds ...
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]

#: A part may take this many times as long as before.
MOST = 1.1
#: Pairs of runs of each part, and further ones of a part that seems slower.
PAIRS, MORE_PAIRS = 3, 6
#: A line of a message that accepts what is slower.
ACCEPTED = re.compile(r"^Slower: *(\S.*)$", re.MULTILINE)

_COMMAND = "import sys; from tracewh.cli.app import main; sys.exit(main(sys.argv[1:]))"
_VIEWS = """
import sys, tracewh
with tracewh.open(sys.argv[1]) as warehouse:
    warehouse.connection.execute("SET threads = 1")  # several wait for each other, a while each time
    for name in warehouse.views:
        view = warehouse.registry.get(name)
        if not any(param.required for param in view.params):
            warehouse.view(name).fetchall()
"""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that is measured: Python code and its arguments.

    Attributes:
        name: Its name.
        code: The code of the process.
        arguments: Its arguments. {inputs} is the folder of the inputs, {out} an empty one.
    """

    name: str
    code: str
    arguments: tuple[str, ...]


PARTS = (
    Part("ingest a large trace", _COMMAND, ("ingest", "{inputs}/large", "-w", "{out}/w")),
    Part("ingest 16 small traces", _COMMAND, ("ingest", "{inputs}/small", "-w", "{out}/w")),
    Part("all views", _VIEWS, ("{inputs}/warehouse",)),
    Part("summary", _COMMAND, ("summary", "large", "-w", "{inputs}/warehouse")),
    Part("report", _COMMAND, ("report", "large", "-w", "{inputs}/warehouse", "-o", "{out}/r.html")),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a line for each part, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--against", default="HEAD^", metavar="REV", help="default: %(default)s")
    parser.add_argument("--only", metavar="WORD", default="", help="parts with this in their name")
    given = parser.parse_args(arguments)
    if not _is_commit(given.against):
        print(f"There is no commit {given.against} to compare with: nothing was measured.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        trees = {"before": Path(folder, "before"), "now": ROOT}
        check_out(given.against, trees["before"])
        inputs = Path(folder, "inputs")
        make_inputs(inputs)
        parts = [part for part in PARTS if given.only in part.name]
        slower = [part.name for part in parts if not _is_as_fast(part, trees, inputs)]
    if not slower:
        return 0
    message = _git("log", "--format=%B", f"{given.against}..HEAD").decode()
    if reasons := ACCEPTED.findall(message):
        print(f"Accepted: {'; '.join(reasons)}")
        return 0
    print(
        f"Slower than {given.against}: {', '.join(slower)}. Make it as fast as before, or say in the message"
        " of the commit why it takes longer, in a line that begins with 'Slower:'."
    )
    return 1


def check_out(revision: str, folder: Path) -> None:
    """Write the files of a commit to a folder, and compile its extension as ours was."""
    folder.mkdir(parents=True)
    # Not tarfile: it needs a filter for links between folders since Python 3.11.4, and has none before.
    subprocess.run(["tar", "-x", "-C", folder], input=_git("archive", revision), check=True)
    native = Path("ingest", "native")
    if not _git("diff", "--name-only", revision, "--", str(native)):
        for extension in (ROOT / native).glob("*.so"):
            shutil.copy(extension, folder / native)
        return
    build = [sys.executable, "-c", "from setuptools import setup; setup()", "-q", "build_ext"]
    subprocess.run([*build, "--inplace"], cwd=folder, check=True, capture_output=True)


def make_inputs(folder: Path) -> None:
    """Draw the traces, and ingest them into a warehouse."""
    large = folder / "large" / "worker.pt.trace.json.gz"
    large.parent.mkdir(parents=True)
    sample = next((ROOT / "samples" / "resnet_workers_0").glob("*.gz"))
    for script, *arguments in (
        ("grow.py", sample, large, "--megabytes", 8),
        ("draw.py", folder / "small", "--ranks", 16),
    ):
        command = [sys.executable, str(ROOT / "bench" / script), *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    words = ("ingest", str(large.parent), "-w", str(folder / "warehouse"))
    with _process(Part("large", _COMMAND, words), ROOT, folder):
        pass


def _is_as_fast(part: Part, trees: Mapping[str, Path], inputs: Path) -> bool:
    """Measure a part with both trees at once, and print what it takes."""
    pairs: list[tuple[float, float]] = []
    for runs in (PAIRS, MORE_PAIRS):
        for _ in range(runs):
            with (
                _process(part, trees["before"], inputs) as before,
                _process(part, trees["now"], inputs) as now,
            ):
                pairs.append((_cpu_seconds(before), _cpu_seconds(now)))
        ratio = median(now / before for before, now in pairs)
        if ratio <= MOST:
            break
    before, now = (median(seconds) for seconds in zip(*pairs, strict=True))
    print(f"{part.name:24} {before:6.2f} CPU s before, {now:6.2f} now: {ratio:.2f}", flush=True)
    return ratio <= MOST


@contextmanager
def _process(part: Part, tree: Path, inputs: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs a part with the code of a tree.

    Raises:
        SystemExit: The process fails.
    """
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryFile() as said:
        arguments = [word.format(inputs=inputs, out=out) for word in part.arguments]
        # One of its own: what the code of another tree keeps there is of no use to it.
        cache = inputs.joinpath("cache", *tree.parts[1:])
        process = subprocess.Popen(
            [sys.executable, "-c", part.code, *arguments],
            cwd=out,
            env=os.environ
            | {"PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1", "XDG_CACHE_HOME": str(cache)},
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        yield process
        if process.wait() != 0:
            said.seek(0)
            raise SystemExit(f"{part.name} with {tree}:\n{said.read().decode(errors='replace')}")


def _cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """What a process and its children took, once it has ended."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _is_commit(revision: str) -> bool:
    command = ["git", "rev-parse", "-q", "--verify", f"{revision}^{{commit}}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main())
