"""Draw a large export of Nsight Systems: a process with kernels, their calls, and nested NVTX ranges.

    python bench/draw_nsys.py large.sqlite --kernels 2_000_000 --ranges 16_000_000

Each kernel has a call; ranges nest five deep around the calls, as operators of emit_nvtx do, on four threads. The
same command writes the same rows. SQLite draws them itself: a loop in Python would take minutes.
"""

import argparse
import sqlite3
from pathlib import Path

PROCESS = (1 << 48) | (4242 << 24)
#: Ranges of a group: each level lies within the one before it.
LEVELS = 5
THREADS = 4
TEXTS = (
    "cudaLaunchKernel_v7000",
    *(f"void kernel_{number}<float>(float*)" for number in range(40)),
)
NAMES = tuple(f"layer_{number}" for number in range(300))


def draw(path: Path, kernels: int, ranges: int) -> None:
    """Write the export.

    Args:
        path: The file; replaced if it exists.
        kernels: Number of kernels, and of calls.
        ranges: Number of NVTX ranges.
    """
    path.unlink(missing_ok=True)
    con = sqlite3.connect(path)
    con.executescript("""
        PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.13.2');
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
        INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
            start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
            start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, registersPerThread INTEGER,
            gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,
            blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
        CREATE TABLE NVTX_EVENTS (
            start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
            color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
            domainId INTEGER);
    """)
    con.executemany("INSERT INTO StringIds (value) VALUES (?)", [(text,) for text in TEXTS + NAMES])
    numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)"
    con.execute(
        f"""{numbers} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
        SELECT i * 10000 + 4000, i * 10000 + 7000, 0, {PROCESS} + 1 + i % {THREADS}, i + 1, 1, 0, NULL
        FROM n""",
        (kernels,),
    )
    con.execute(
        f"""{numbers} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
        SELECT i * 10000 + 8000, i * 10000 + 16000, 0, 1, 7 + i % 2, i + 1, {PROCESS},
            2 + i % 40, 32, 128, 1, 1, 256, 1, 1, 0, 1024
        FROM n""",
        (kernels,),
    )
    # Groups of ranges fill the recording evenly, each on one of the threads.
    groups = -(-ranges // LEVELS)
    length = kernels * 10000 // groups * THREADS
    con.execute(
        f"""{numbers} INSERT INTO NVTX_EVENTS
        SELECT g.start + l * {length // 20}, g.start + {length - 1} - l * {length // 20}, 59, NULL,
            NULL, NULL, NULL, {PROCESS} + 1 + (i / {LEVELS}) % {THREADS}, NULL,
            {len(TEXTS) + 1} + (i * 7) % {len(NAMES)}, 0
        FROM (
            SELECT i, i % {LEVELS} AS l, (i / {LEVELS} / {THREADS}) * {length} AS start FROM n
        ) AS g""",
        (ranges,),
    )
    con.commit()
    con.close()


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("path", type=Path)
    parser.add_argument("--kernels", type=int, default=2_000_000)
    parser.add_argument("--ranges", type=int, default=16_000_000)
    arguments = parser.parse_args()
    draw(arguments.path, arguments.kernels, arguments.ranges)


if __name__ == "__main__":
    main()
