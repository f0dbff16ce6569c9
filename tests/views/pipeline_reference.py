"""What a pipeline-parallel job would have taken, computed without SQL, to compare the views with.

One node at a time, in plain Python; numpy holds the steps and data-parallel ranks of a node. The times of the
record are 32-bit, as in the published data, and all others 64-bit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.floating]
#: A node of the graph: type, seq_id and stage.
Node = tuple[str, int, int]

COMPUTE = ("forward-compute", "backward-compute")
GATHER, SCATTER = "params-all-gather", "grads-reduce-scatter"
SEPARATE = "separate-grads-all-reduce"
LAYERNORM, EMBEDDING = "layernorm-grads-all-reduce", "embedding-grads-all-reduce"
CLIP, OPTIMIZER = "optimizer-clip-main-grad", "optimizer"
DATA_PARALLEL = (GATHER, SCATTER, SEPARATE)
MEANS = (*COMPUTE, "gc", OPTIMIZER)
TOLERANCE = np.float32(5e-5)
LIMIT = 0.01
#: Type of a send or receive -> the type of its peer, and by how much the peer's stage and chunk differ.
PEERS = {
    "forward-send": ("forward-recv", 1),
    "forward-recv": ("forward-send", -1),
    "backward-send": ("backward-recv", -1),
    "backward-recv": ("backward-send", 1),
}


class Operation(NamedTuple):
    """A row of the table."""

    dp_rank: int
    stage: int
    rank: int
    step: int
    optype: str
    start_ts: float
    duration: float
    seq_id: int
    mc: int
    gmc: int

    @property
    def node(self) -> Node:
        return self.optype, self.seq_id, self.stage

    @property
    def end(self) -> np.float32:
        return np.float32(self.start_ts) + np.float32(self.duration)


def part_of(optype: str) -> str:
    """What an operation counts as in the slowdowns by operation."""
    if optype in PEERS:
        return f"{optype.split('-')[0]}-pp-comm"
    return optype


class Job:
    """A job.

    Args:
        rows: Its operations.
        dsp_size: The sequence-parallel size.
    """

    def __init__(self, rows: Iterable[Operation], dsp_size: int = 1) -> None:
        rows = list(rows)
        self.has_data_parallel = len({row.dp_rank for row in rows}) * dsp_size > 1
        all_rows = rows
        if not self.has_data_parallel:
            rows = [row for row in rows if row.optype not in DATA_PARALLEL]
        self.steps = sorted({row.step for row in rows})
        self.dp_ranks = sorted({row.dp_rank for row in rows})
        self.stages = 1 + max(row.stage for row in rows)
        self.ranks = {(row.dp_rank, row.stage): row.rank for row in rows}
        first = [
            row for row in rows if (row.step, row.dp_rank) == (self.steps[0], self.dp_ranks[0])
        ]
        self.after: dict[Node, set[Node]] = {row.node: set() for row in first}
        self.group_of: dict[Node, list[Node]] = {}
        self._overlaps = any(row.optype == SEPARATE for row in rows)
        self._chunks = self.stages * (1 + max(row.mc for row in rows))
        chosen: dict[tuple[int, str], list[Node]] = {}
        for stage in range(self.stages):
            here = sorted(
                (row for row in first if row.stage == stage),
                key=lambda row: (np.float32(row.start_ts), row.seq_id, row.optype),
            )
            self._order_streams(here)
            self._order_data_parallel(here)
            self._order_end(here, stage)
            for optype in PEERS:
                chosen[stage, optype] = self._match(here, optype)
        self._group(first, chosen)
        self._measure(rows, all_rows)

    def _chain(self, nodes: Sequence[Node]) -> None:
        for node, following in pairwise(nodes):
            self.after[following].add(node)

    def _order_streams(self, here: list[Operation]) -> None:
        """Rules 1, 2 and 5."""
        computed = [row for row in here if row.optype in COMPUTE]
        self._chain([row.node for row in computed])
        for optype in PEERS:
            self._chain([row.node for row in here if row.optype == optype])
        backward = [at for at, row in enumerate(computed) if row.optype == "backward-compute"]
        if backward and backward[0] >= 2:
            for optype in ("backward-send", "backward-recv"):
                node = (optype, 0, computed[0].stage)
                if node in self.after:
                    self.after[node].add(computed[backward[0] - 2].node)

    def _match(self, here: list[Operation], optype: str) -> list[Node]:
        """Rule 3, and of rule 4 which operations have a peer."""
        direction = optype.split("-")[0]
        computed = sorted(
            (row for row in here if row.optype == f"{direction}-compute"),
            key=lambda row: row.seq_id,
        )
        is_send = optype.endswith("send")
        found = [row for row in here if row.optype == optype]
        if computed and is_send:
            earliest = min(row.end for row in computed) - TOLERANCE
            found = [row for row in found if row.end >= earliest]
        elif computed:
            latest = max(np.float32(row.start_ts) for row in computed) + TOLERANCE
            found = [row for row in found if np.float32(row.start_ts) <= latest]
        skipped = 1 if not is_send and len(found) + 1 == len(computed) else 0
        with_peer = []
        for row, compute in zip(found, computed[skipped:], strict=False):
            if is_send:
                self.after[row.node].add(compute.node)
            else:
                self.after[compute.node].add(row.node)
                before = (compute.optype, compute.seq_id - 1, compute.stage)
                if before in self.after:
                    self.after[row.node].add(before)
            if 0 <= compute.gmc + PEERS[optype][1] < self._chunks:
                with_peer.append(row.node)
        return with_peer

    def _order_data_parallel(self, here: list[Operation]) -> None:
        """Rule 6, and of rule 7 what each chunk's first reduce-scatter comes after."""
        self._chain([row.node for row in here if row.optype in (GATHER, SCATTER)])
        gathers: dict[int, Operation] = {}
        scatters: dict[int, Operation] = {}
        for row in sorted(here, key=lambda row: row.seq_id):
            if row.optype == GATHER:
                gathers[row.mc] = row
            elif row.optype == SCATTER:
                scatters.setdefault(row.mc, row)
        for chunk, gather in gathers.items():
            forward = [r for r in here if r.optype == "forward-compute" and r.mc == chunk]
            if forward:
                self.after[forward[0].node].add(gather.node)
        if self._overlaps:
            for chunk, scatter in scatters.items():
                backward = [r for r in here if r.optype == "backward-compute" and r.mc == chunk]
                if backward:
                    self.after[scatter.node].add(max(backward, key=lambda row: row.end).node)

    def _order_end(self, here: list[Operation], stage: int) -> None:
        """Rule 8, and of rule 7 what layernorm comes after."""
        last = max((row for row in here if row.optype in COMPUTE), key=lambda row: row.end)
        embedding = [EMBEDDING] if stage in (0, self.stages - 1) else []
        reduced = [SEPARATE] if self._overlaps else [SCATTER]
        wanted = ["gc", LAYERNORM, *embedding, *reduced, CLIP, OPTIMIZER]
        ends = sorted(
            (row for row in here if row.optype in wanted),
            key=lambda row: (wanted.index(row.optype), row.seq_id),
        )
        self._chain([last.node, *(row.node for row in ends)])
        scatters = sorted((r.seq_id, r.node) for r in here if r.optype == SCATTER)
        if self._overlaps and scatters and (LAYERNORM, 0, stage) in self.after:
            self.after[LAYERNORM, 0, stage].add(scatters[-1][1])

    def _group(self, first: list[Operation], chosen: dict[tuple[int, str], list[Node]]) -> None:
        """Rule 4, and the other groups."""
        groups: dict[object, list[Node]] = defaultdict(list)
        for row in first:
            if row.optype in PEERS:
                mine = chosen[row.stage, row.optype]
                if row.node not in mine:
                    groups[row.node].append(row.node)
                    continue
                peer, by = PEERS[row.optype]
                pair = sorted([(row.optype, row.stage), (peer, (row.stage + by) % self.stages)])
                groups[tuple(pair), mine.index(row.node)].append(row.node)
            elif row.optype in DATA_PARALLEL:
                groups[row.node].append(row.node)
            elif row.optype == CLIP or (
                row.optype == EMBEDDING and row.stage in (0, self.stages - 1)
            ):
                groups[row.optype].append(row.node)
        for members in groups.values():
            for node in members:
                self.group_of[node] = members

    def _measure(self, rows: list[Operation], all_rows: list[Operation]) -> None:
        """Record, transfer, delay and own time of each node, by step and data-parallel rank."""
        begin: dict[int, float] = {}
        for row in all_rows:
            begin[row.step] = min(row.start_ts, begin.get(row.step, math.inf))
        shape = (len(self.steps), len(self.dp_ranks))
        start: dict[Node, NDArray[np.float32]] = {
            node: np.full(shape, np.nan, np.float32) for node in self.after
        }
        self.duration = {node: np.full(shape, np.nan, np.float32) for node in self.after}
        for row in rows:
            at = self.steps.index(row.step), self.dp_ranks.index(row.dp_rank)
            start[row.node][at] = np.float32(row.start_ts - begin[row.step])
            self.duration[row.node][at] = np.float32(row.duration)
        assert not any(np.isnan(times).any() for times in start.values()), "lanes differ"
        end = {node: start[node] + self.duration[node] for node in self.after}
        ends = [
            float(
                max(
                    np.float32(r.start_ts - begin[step]) + np.float32(r.duration)
                    for r in all_rows
                    if r.step == step
                )
            )
            for step in self.steps
        ]
        self.base = np.array(ends)
        self.delay, self.own = {}, {}
        for node, before in self.after.items():
            delay = start[node] - np.maximum.reduce(
                [end[b] for b in before] or [np.zeros(shape, np.float32)]
            )
            self.delay[node] = np.where(delay <= -LIMIT, 0, delay).astype(np.float64)
            own: Times = self.duration[node]
            if node in self.group_of:
                last = np.maximum.reduce([start[other] for other in self.group_of[node]])
                own = end[node] - self._over_ranks(node, last)
                own = np.where(own <= -LIMIT, 0, own)
            self.own[node] = own.astype(np.float64)
        self.ideal = {}
        for optype in {node[0] for node in self.after}:
            values = np.array([self.own[node] for node in self.after if node[0] == optype])
            self.ideal[optype] = float((np.mean if optype in MEANS else np.median)(values))

    def _over_ranks(self, node: Node, times: Times) -> Times:
        """The latest of all data-parallel ranks, where a node waits for them."""
        if node[0] not in (*DATA_PARALLEL, CLIP):
            return times
        return np.broadcast_to(times.max(axis=1, keepdims=True), times.shape)

    def simulate(
        self,
        keeps: Callable[[Node], NDArray[np.bool_] | bool],
        delayed: Callable[[Node], NDArray[np.bool_] | bool] = lambda node: False,
    ) -> tuple[Times, Times]:
        """Of each step the latest end minus the earliest start, and the latest end of an optimizer.

        Args:
            keeps: Whether the operations of a node keep their recorded own time, of each data-parallel rank.
            delayed: Whether the operations of a node keep their delays, of each data-parallel rank.

        Raises:
            ValueError: Nodes wait for each other in a circle.
        """
        starts: dict[Node, Times] = {}
        ends: dict[Node, Times] = {}
        while len(ends) < len(self.after):
            known = len(starts), len(ends)
            for node, before in self.after.items():
                if node not in starts and before <= ends.keys():
                    starts[node] = np.maximum.reduce(
                        [ends[b] for b in before] or [np.zeros_like(self.own[node])]
                    ) + np.where(delayed(node), self.delay[node], 0)
            for node in starts.keys() - ends.keys():
                members = self.group_of.get(node, [node])
                if all(other in starts for other in members):
                    latest = np.maximum.reduce([starts[other] for other in members])
                    own = np.where(keeps(node), self.own[node], self.ideal[node[0]])
                    ends[node] = self._over_ranks(node, latest) + own
            if known == (len(starts), len(ends)):
                raise ValueError("nodes wait for each other in a circle")
        span = np.max([t.max(1) for t in ends.values()], 0) - np.min(
            [t.min(1) for t in starts.values()], 0
        )
        optimizers = [times.max(axis=1) for node, times in ends.items() if node[0] == OPTIMIZER]
        return span, np.max(optimizers, axis=0)


def begins(node: Node) -> bool:
    """Whether an operation begins the step of its stage."""
    optype, seq_id, stage = node
    return seq_id == 0 and optype == ("forward-recv" if stage else "forward-compute")


class Answer:
    """What the views say of a job; the names are those of their columns.

    Args:
        job: The job.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        recorded, _ = self._no_delay = job.simulate(lambda node: True)
        ideal, self._ideal = job.simulate(lambda node: False)
        self.base, self.no_delay, self.ideal = job.base, recorded, ideal
        self.slowdown = float(recorded.mean() / self._ideal.mean())
        self.delay_slowdown = float(job.base.mean() / self._no_delay[1].mean())
        self.parts: dict[tuple[str, str], Times] = {}
        self.workers: dict[int, float] = {}
        self.slowest: list[int] = []
        if self.slowdown >= 1.03:
            self._decompose()
            self.m_w, self.m_w_add = self._explain(
                lambda node: np.array(
                    [job.ranks[dp, node[2]] in self.slowest for dp in job.dp_ranks]
                )
            )
        self.delays: dict[tuple[str, str], Times] = {}
        if self.delay_slowdown >= 1.03:
            self._decompose_delays()
        last = job.stages - 1
        self.m_s, self.m_s_add = self._explain(
            lambda node: np.full(len(job.dp_ranks), node[2] == last)
        )

    def _decompose(self) -> None:
        """Step times where only a part keeps its own times, and the workers."""
        job = self._job
        for part in sorted({part_of(node[0]) for node in job.after}):
            self.parts["operation", part] = self._but(lambda node, p=part: part_of(node[0]) == p)
        for stage in range(job.stages):
            self.parts["stage", str(stage)] = self._but(lambda node, s=stage: node[2] == s)
        for rank in job.dp_ranks:
            self.parts["dp_rank", str(rank)] = self._but(
                lambda node, r=rank: np.array(job.dp_ranks) == r
            )
        for (dp_rank, stage), rank in job.ranks.items():
            self.workers[rank] = min(
                self.mean("dp_rank", str(dp_rank)), self.mean("stage", str(stage))
            )
        order = sorted(self.workers, key=lambda rank: (-self.workers[rank], rank))
        self.slowest = order[: math.ceil(3 * len(order) / 100)]

    def _decompose_delays(self) -> None:
        """Step times where all keep their own times, and only a part keeps its delays."""
        job = self._job

        def part(node: Node) -> str:
            return "first-op" if begins(node) else part_of(node[0])

        def late(delayed: Callable[..., NDArray[np.bool_] | bool]) -> Times:
            return job.simulate(lambda node: True, delayed)[1]

        for name in sorted({part(node) for node in job.after}):
            self.delays["delay_operation", name] = late(lambda node, p=name: part(node) == p)
        for stage in range(job.stages):
            self.delays["delay_stage", str(stage)] = late(lambda node, s=stage: node[2] == s)
        for rank in job.dp_ranks:
            self.delays["delay_dp_rank", str(rank)] = late(
                lambda node, r=rank: np.array(job.dp_ranks) == r
            )

    def delay_ratios(self) -> dict[tuple[str, str, int | None], float]:
        """The slowdown by the delays of each part, over all steps and for each."""
        whole = self._no_delay[1]
        found: dict[tuple[str, str, int | None], float] = {}
        for key, times in self.delays.items():
            found[*key, None] = float(times.mean() / whole.mean())
            for step, time, base in zip(self._job.steps, times, whole, strict=True):
                found[*key, step] = float(time / base)
        return found

    def _but(self, keeps: Callable[..., NDArray[np.bool_] | bool]) -> Times:
        return self._job.simulate(keeps)[1] / self._ideal

    def mean(self, kind: str, part: str) -> float:
        """The slowdown by a part over all steps."""
        return float((self.parts[kind, part] * self._ideal).mean() / self._ideal.mean())

    def _explain(self, is_in: Callable[[Node], NDArray[np.bool_]]) -> tuple[float, float]:
        """M and the other way round: what of the time lost goes, and what comes, with a set of workers."""
        fixed = self._job.simulate(lambda node: ~is_in(node))[0].mean()
        added = self._job.simulate(is_in)[0].mean()
        lost = self.no_delay.mean() - self.ideal.mean()
        return (
            float((self.no_delay.mean() - fixed) / lost),
            float((added - self.ideal.mean()) / lost),
        )
