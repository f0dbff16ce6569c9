"""Time what reads events into columns beside JSON parsers that only parse.

    python bench/json_parsers.py TRACE.json

The events of the file, as far as --megabytes go, are read once more by each contestant in turn, on one core:

    tracewh    the compiled reader: bytes into the buffers of Arrow arrays
    yyjson     yyjson_read_opts and nothing else, from the C source in the yyjson package of PyPI
    simdjson   simdjson.Parser().parse and nothing else, from the pysimdjson package
    orjson     orjson.loads, which makes Python objects

The last three have no columns yet when they are done: they would still have to look up each key and convert
each value. So they are lower bounds of what a reader built on them takes. It needs a C compiler and pip.
"""

import argparse
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from ctypes import CDLL, c_char_p, c_size_t
from importlib import import_module
from pathlib import Path

import duckdb
import orjson

from tracewh.ingest.parse import fast_parser
from tracewh.sql_files import derive

YYJSON, SIMDJSON = "yyjson==4.0.6", "pysimdjson==7.0.2"
ONLY_PARSE = """
#include "yyjson.h"
size_t only_parse(char *text, size_t length)
{
    yyjson_doc *doc = yyjson_read_opts(text, length, 0, NULL, NULL);
    size_t values = yyjson_doc_get_val_count(doc);
    yyjson_doc_free(doc);
    return values;
}
"""


def read_events(path: Path, size: int) -> bytes:
    """Read whole events from the start of a trace's list of events, without its brackets."""
    text = path.read_bytes()
    first = text.index(b"{", text.index(b"[", text.index(b'"traceEvents"')))
    reader = new_reader()
    block = bytearray(text[first : first + size])
    return bytes(block[: read_columns(reader, block)]).rstrip(b", \n\r\t")


def new_reader() -> fast_parser.FastParser:
    """Make a reader as ingest has it."""
    con = duckdb.connect()
    derive(con, "event_kinds")
    return fast_parser.FastParser(con)


def read_columns(reader: fast_parser.FastParser, block: bytearray) -> int:
    """Read a block into columns; returns the end of the last event but one."""
    at, _ = reader._read(block, 0)
    reader._reader.take()
    return at


def compile_yyjson(folder: Path) -> Callable[[bytes, int], int]:
    """Compile the parser as distributions do, with optimization."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "yyjson"]
    subprocess.run([*pip, "--dest", folder, YYJSON], check=True)
    with tarfile.open(next(folder.glob("yyjson-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    source = next(folder.rglob("yyjson.c"))
    (folder / "only_parse.c").write_text(ONLY_PARSE)
    library = folder / "only_parse.so"
    compile_line = ["cc", "-O3", "-shared", "-fPIC", f"-I{source.parent}", "-o", str(library)]
    subprocess.run([*compile_line, str(source), str(folder / "only_parse.c")], check=True)
    parse = CDLL(str(library)).only_parse
    parse.argtypes, parse.restype = [c_char_p, c_size_t], c_size_t
    return parse


def load_simdjson(folder: Path) -> Callable[[bytes], object]:
    """Install the parser outside of this environment and load it."""
    target = folder / "simd"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"--target={target}"]
    subprocess.run([*pip, SIMDJSON], check=True)
    sys.path.append(str(target))
    module = import_module("simdjson")
    return lambda text: module.Parser().parse(text)


def main() -> None:
    """Print the time of each contestant and its ratio to the compiled reader."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("trace", type=Path, help="a trace that is not compressed")
    arguments.add_argument("--megabytes", type=int, default=32)
    arguments.add_argument("--repeat", type=int, default=15)
    chosen = arguments.parse_args()
    events = read_events(chosen.trace, chosen.megabytes << 20)
    listed = b"[" + events + b"]"
    block = bytearray(events + b",{}")
    reader = new_reader()
    with tempfile.TemporaryDirectory() as folder:
        yyjson, simdjson = compile_yyjson(Path(folder)), load_simdjson(Path(folder))
        contestants: dict[str, Callable[[], object]] = {
            "tracewh": lambda: read_columns(reader, block),
            "yyjson": lambda: yyjson(listed, len(listed)),
            "simdjson": lambda: simdjson(listed),
            "orjson": lambda: orjson.loads(listed),
        }
        times: dict[str, list[float]] = {name: [] for name in contestants}
        for turn in range(chosen.repeat + 1):
            for name, run in contestants.items():
                start = time.thread_time()
                result = run()
                end = time.thread_time()
                del result
                if turn:  # the first one has memory to get
                    times[name].append(end - start)
    print(f"{len(orjson.loads(listed)):,} events, {len(events) / 1e6:.1f} MB\n")
    print("| | ms | MB/s | times tracewh |\n|---|---:|---:|---:|")
    for name, all_times in times.items():
        middle = statistics.median(all_times)
        pairs = zip(all_times, times["tracewh"], strict=True)
        ratio = statistics.median(one / ours for one, ours in pairs)
        print(f"| {name} | {middle * 1e3:.1f} | {len(events) / middle / 1e6:.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
