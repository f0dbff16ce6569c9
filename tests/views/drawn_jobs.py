"""Draw tables of pipeline-parallel jobs: schedules of one or more model chunks per stage, with random times.

An operation starts when what it waits for has ended, with a small delay, and communication ends together. So
the tables are such as a profiler records. What waits for what is written down here apart from the rules of
the views, as a program would do it.
"""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.views.pipeline_reference import Operation

FORWARD, BACKWARD = "forward", "backward"
SYNCHRONIZED = (
    "params-all-gather",
    "grads-reduce-scatter",
    "separate-grads-all-reduce",
    "optimizer-clip-main-grad",
)


@dataclass(frozen=True)
class Drawing:
    """What to draw.

    Attributes:
        overlaps: Whether gradients are reduced while computations run.
        exchanges: Whether data-parallel ranks exchange parameters and gradients.
        has_idle: Whether there are sends before the first computation has ended and receives after the last.
        lacks_receive: Whether the first forward receive of the first stage, which has no peer, is missing.
        is_skewed: Whether clocks disagree, so that transfers can be below 0.
        slow: dp_rank and stage of a worker that takes three times as long, if there is one.
        is_even: Whether all computations of a direction take equally long.
        hesitates: Whether operations start up to 30 ms later than they could, not 3 ms.
    """

    stages: int = 2
    chunks: int = 1
    dp_ranks: int = 2
    microbatches: int = 4
    steps: int = 3
    dsp_size: int = 1
    overlaps: bool = False
    exchanges: bool = True
    has_idle: bool = False
    lacks_receive: bool = False
    is_skewed: bool = False
    slow: tuple[int, int] | None = None
    is_even: bool = False
    hesitates: bool = False
    seed: int = 0


@dataclass
class Task:
    """An operation of the schedule."""

    optype: str
    stage: int
    mc: int = -1
    gmc: int = -1
    after: list[Task] = field(default_factory=list)
    group: tuple[object, ...] = ()
    is_late: bool = False


def schedule(drawing: Drawing, stage: int) -> list[tuple[str, int]]:
    """The computations of a stage in order: direction and model chunk. Interleaved, one forward one backward."""
    stages, chunks = drawing.stages, drawing.chunks
    total = drawing.microbatches * chunks
    warm_up = stages - stage - 1
    if chunks > 1:
        warm_up = 2 * warm_up + (chunks - 1) * stages
    warm_up = min(warm_up, total)
    forward = [(FORWARD, (at // stages) % chunks) for at in range(total)]
    backward = [(BACKWARD, chunks - 1 - (at // stages) % chunks) for at in range(total)]
    order = forward[:warm_up]
    for one, other in zip(forward[warm_up:], backward, strict=False):
        order += [one, other]
    return order + backward[total - warm_up :]


def tasks_of(drawing: Drawing) -> list[Task]:
    """The operations of one step and data-parallel rank, of each type in order."""
    tasks: list[Task] = []
    for stage in range(drawing.stages):
        tasks += _tasks_of_stage(drawing, stage)
    return tasks


def _tasks_of_stage(drawing: Drawing, stage: int) -> list[Task]:
    tasks: list[Task] = []
    last: dict[str, Task] = {}

    def add(
        optype: str, *after: Task | None, stream: str = "", mc: int = -1, gmc: int = -1
    ) -> Task:
        before = last.get(stream or optype)
        task = Task(optype, stage, mc, gmc, [each for each in (before, *after) if each])
        last[stream or optype] = task
        tasks.append(task)
        return task

    if drawing.has_idle:
        for direction in (FORWARD, BACKWARD):
            add(f"{direction}-send")
    gathers = {}
    if drawing.exchanges:
        for chunk in range(drawing.chunks):
            gathers[chunk] = add("params-all-gather", stream="data", mc=chunk)
    order = schedule(drawing, stage)
    model = drawing.stages * drawing.chunks
    counts: dict[tuple[str, int], int] = defaultdict(int)
    computed: dict[str, Task] = {}
    of_chunk: dict[tuple[str, int], Task] = {}
    for direction, mc in order:
        gmc = mc * drawing.stages + stage
        ahead = 1 if direction == FORWARD else -1
        receives, sends = 0 <= gmc - ahead < model, 0 <= gmc + ahead < model
        receive = None
        is_first = direction == FORWARD and direction not in computed
        if (receives or drawing.chunks > 1) and not (
            is_first and stage == 0 and drawing.lacks_receive
        ):
            receive = add(f"{direction}-recv", computed.get(direction))
            if receives:
                sender = (stage - ahead) % drawing.stages
                counts[f"{direction} recv", stage] += 1
                receive.group = (direction, sender, counts[f"{direction} recv", stage])
        gather = gathers.get(mc) if direction == FORWARD else None
        task = add(f"{direction}-compute", receive, gather, stream="compute", mc=mc, gmc=gmc)
        computed[direction] = of_chunk[direction, mc] = task
        if sends or drawing.chunks > 1:
            send = add(f"{direction}-send", task)
            if sends:
                counts[f"{direction} send", stage] += 1
                send.group = (direction, stage, counts[f"{direction} send", stage])
    if drawing.has_idle:
        for direction in (FORWARD, BACKWARD):
            add(f"{direction}-recv", last["compute"]).is_late = True
    scatter = None
    if drawing.exchanges and drawing.overlaps:
        for chunk in reversed(range(drawing.chunks)):
            scatter = add(
                "grads-reduce-scatter", of_chunk[BACKWARD, chunk], stream="data", mc=chunk
            )
    last["end"] = last["compute"]
    add("gc", stream="end")
    add("layernorm-grads-all-reduce", scatter, stream="end")
    if stage in (0, drawing.stages - 1):
        add("embedding-grads-all-reduce", stream="end").group = ("embedding",)
    if drawing.exchanges and drawing.overlaps:
        add("separate-grads-all-reduce", stream="end")
    elif drawing.exchanges:
        for chunk in reversed(range(drawing.chunks)):
            add("grads-reduce-scatter", last["data"], stream="end", mc=chunk)
    add("optimizer-clip-main-grad", stream="end").group = ("clip",)
    add("optimizer", stream="end")
    return tasks


def draw(drawing: Drawing) -> list[Operation]:
    """The table of a job."""
    rng = random.Random(drawing.seed)
    tasks = tasks_of(drawing)
    members: dict[object, list[int]] = defaultdict(list)
    for at, task in enumerate(tasks):
        members[task.group or at].append(at)
    return [
        row
        for step in range(drawing.steps)
        for row in _draw_step(drawing, 10 + 3 * step, tasks, members, rng)
    ]


def write_csv(drawing: Drawing, path: Path) -> Path:
    """Write the table of a job where tracewh can read it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*Operation._fields, "mb_id"])
        writer.writerows([*row, -1] for row in draw(drawing))
    return path


def _own(task: Task, dp_rank: int, drawing: Drawing, rng: random.Random) -> float:
    if task.optype == "gc":
        return 0.0
    own = rng.uniform(0.0005, 0.002)
    if task.optype.endswith("compute"):
        own = 0.025 if drawing.is_even else rng.uniform(0.02, 0.03)
        own *= 2 if task.optype.startswith(BACKWARD) else 1
        own *= 3 if (dp_rank, task.stage) == drawing.slow else 1
    elif drawing.is_skewed and dp_rank and rng.random() < 0.2:
        own = rng.choice([-0.004, -0.02])
    return own


def _draw_step(
    drawing: Drawing,
    step: int,
    tasks: list[Task],
    members: dict[object, list[int]],
    rng: random.Random,
) -> list[Operation]:
    lanes = range(drawing.dp_ranks)
    places = {id(task): at for at, task in enumerate(tasks)}
    starts: dict[tuple[int, int], float] = {}
    ends: dict[tuple[int, int], float] = {}
    while len(ends) < len(tasks) * len(lanes):
        known = len(starts), len(ends)
        for at, task in enumerate(tasks):
            before = [places[id(each)] for each in task.after]
            for lane in lanes:
                if (at, lane) not in starts and all((each, lane) in ends for each in before):
                    most = 0.03 if drawing.hesitates else 0.003
                    late = 0.001 if task.is_late else rng.choice([0, rng.uniform(0, most)])
                    starts[at, lane] = max([ends[each, lane] for each in before] or [0]) + late
        for at, task in enumerate(tasks):
            for lane in lanes:
                together = lanes if task.optype in SYNCHRONIZED else [lane]
                of_group = [(m, other) for m in members[task.group or at] for other in together]
                if (at, lane) not in ends and all(each in starts for each in of_group):
                    is_alone = not task.group and task.optype not in SYNCHRONIZED
                    latest = starts[at, lane] if is_alone else max(starts[e] for e in of_group)
                    own = _own(task, lane, drawing, rng)
                    ends[at, lane] = max(latest + own, starts[at, lane])
        assert known != (len(starts), len(ends)), "the schedule waits for itself"
    rows = []
    for lane in lanes:
        seen: dict[tuple[str, int], int] = defaultdict(int)
        for at, task in enumerate(tasks):
            key = task.optype, task.stage
            rows.append(
                Operation(
                    lane,
                    task.stage,
                    lane + drawing.dp_ranks * task.stage,
                    step,
                    task.optype,
                    starts[at, lane],
                    ends[at, lane] - starts[at, lane],
                    seen[key],
                    task.mc,
                    task.gmc,
                )
            )
            seen[key] += 1
    return rows
