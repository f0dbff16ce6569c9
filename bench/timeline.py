"""Time the timeline of `tracewh serve`: its first picture in a browser, and each zoom.

    python -m bench.timeline TRACE.json.gz [TRACE.json.gz ...] --output bench/results_timeline.md

The first picture is the time from the request of the page to the lanes on the screen, in a server that has
answered nothing before ("cold") and once more ("warm"). Zooms are ranges drawn by a seed, from a thousandth
to a third of the recording, at 1,200 pixels. A second line is the same for one of 64 workers that all have
the trace. The second table shows 8 and 64 of these workers one below the other, in a browser of 1440 x 900: from
the request of the page until the workers are offered, from the click until they are drawn, and each zoom until all
that is on the screen is drawn again.
"""

import argparse
import datetime
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import orjson
from playwright.sync_api import sync_playwright

from bench.serve import fetched, served
from bench.views import RUN, cold, count_events, multiply

SHARES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
PIXELS = 1200


def pictures(address: str, repeat: int) -> list[float]:
    """Return the seconds to the first picture of the timeline in a browser, the cold one first."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for _ in range(repeat):
            start = time.perf_counter()
            page.goto(address, wait_until="commit")
            page.wait_for_selector(".timeline-box[data-drawn]")
            seconds.append(time.perf_counter() - start)
            page.wait_for_load_state("networkidle")
        browser.close()
    return seconds


def zooms(address: str, query: str, number: int) -> tuple[list[float], int]:
    """Return the seconds of each zoom, and the bytes of the largest answer."""
    base = f"{address}api/timeline"
    length = orjson.loads(fetched(f"{base}/overview?{query}")[1])["length"]
    draw = random.Random(1)
    seconds, most = [], 0
    for _ in range(number):
        share = draw.choice(SHARES)
        start = int(draw.random() * (1 - share) * length)
        window = f"start={start}&end={start + int(share * length)}&pixels={PIXELS}"
        took, body = fetched(f"{base}/rectangles?{query}&{window}")
        seconds.append(took)
        most = max(most, len(body))
    return seconds, most


#: Chooses workers, or a window, and returns the seconds until the screen is drawn.
DRAWN = """async ([names, window]) => {
    const { timeline } = document.getElementById("timeline");
    const start = performance.now();
    if (names !== null) timeline.stack.choose(timeline.stack.workers.slice(0, names).map((each) => each.worker));
    if (window !== null) timeline.show(window[0] * timeline.end, window[1] * timeline.end);
    do await new Promise(requestAnimationFrame);
    while (timeline.box.getAttribute("aria-busy") !== "false");
    return (performance.now() - start) / 1000;
}"""


def stacked(warehouse: Path, numbers: Sequence[int], repeat: int) -> list[str]:
    """Measure workers one below the other, and return the lines of the table."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    lines = []
    with served(warehouse) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for number in numbers:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(600_000)
            begun = time.perf_counter()
            page.goto(f"{address}?run={RUN}&worker=rank0", wait_until="commit")
            page.wait_for_function("() => document.getElementById('timeline')?.timeline?.stack")
            offered = time.perf_counter() - begun
            page.wait_for_load_state("networkidle")
            first = page.evaluate(DRAWN, [number, None])
            draw = random.Random(1)
            seconds = []
            for _ in range(10 * repeat):
                share = draw.choice(SHARES)
                start = draw.random() * (1 - share)
                seconds.append(page.evaluate(DRAWN, [None, [start, start + share]]))
            page.close()
            seconds.sort()
            p95 = seconds[int(len(seconds) * 0.95)]
            lines.append(
                f"| {number} workers | {offered:.2f} | {first:.2f} | {statistics.median(seconds):.3f} | {p95:.3f} |"
            )
            print(lines[-1], file=sys.stderr)
        browser.close()
    return lines


def row(name: str, warehouse: Path, worker: str, repeat: int) -> str:
    """Measure a warehouse and return its line of the table."""
    query = f"run={RUN}&worker={worker}" if worker else f"run={RUN}"
    with served(warehouse) as address:
        first = pictures(f"{address}?{query}", repeat)
        seconds, most = zooms(address, query, 20 * repeat)
    seconds.sort()
    p95 = seconds[int(len(seconds) * 0.95)]
    line = (
        f"| {name} | {first[0]:.2f} | {min(first[1:]):.2f} | {statistics.median(seconds):.3f} "
        f"| {p95:.3f} | {most / 1e3:,.0f} |"
    )
    print(line, file=sys.stderr)
    return line


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Time the timeline of tracewh serve.")
    parser.add_argument("traces", type=Path, nargs="+", help="traces, .json.gz or .json")
    parser.add_argument("--repeat", type=int, default=5, help="pictures of each (default: 5)")
    parser.add_argument("--workers", type=int, default=64, help="0 for none (default: 64)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    lines, under = [], []
    for trace in arguments.traces:
        with tempfile.TemporaryDirectory() as work:
            warehouse, many = Path(work) / "one", Path(work) / "many"
            cold("ingest", str(trace), "--run", RUN, "-w", str(warehouse))
            events = f"{trace.name.split('.')[0]}, {count_events(warehouse):,} events"
            lines.append(row(events, warehouse, "", arguments.repeat))
            if arguments.workers:
                multiply(warehouse, many, arguments.workers)
                name = f"one of {arguments.workers} such workers"
                lines.append(row(name, many, "rank7", arguments.repeat))
                numbers = sorted({min(8, arguments.workers), arguments.workers})
                under += stacked(many, numbers, arguments.repeat)
    number = f"{arguments.repeat} pictures and {20 * arguments.repeat} zooms of each"
    text = "\n".join(
        [
            f"{datetime.date.today()}; {machine}; {number}.",
            "",
            "| trace | first picture, cold, s | warm | zoom, median, s | p95 | largest answer, kB |",
            "|---|---:|---:|---:|---:|---:|",
            *lines,
            "",
            *(
                [
                    "| one below the other | offered, s | drawn, s | zoom, median, s | p95 |",
                    "|---|---:|---:|---:|---:|",
                ]
                if under
                else []
            ),
            *under,
            *([""] if under else []),
        ]
    )
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
