"""A replay of one trace with something changed, in plain Python: what the SQL of what_if is compared with.

One pass over the nodes in recorded order. It reads the tables of a warehouse, but no block or view.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from statistics import median_low
from typing import Any

from tests.parity.replay_nodes import Change, Event, Interval, Node, Work, merged, pieces, scaled


class Replay:
    """The graph of one trace."""

    def __init__(self, con: Any, run: str, worker: str, span: str) -> None:
        key = [run, worker, span]
        where = "run = ? AND worker = ? AND span = ?"
        rows = con.sql(
            f"""SELECT event_id, pid, tid, name, category, start_ns, duration_ns FROM host_events
            WHERE {where} AND (category = 'cpu_op' OR category LIKE '%\\_runtime' ESCAPE '\\'
            OR category LIKE '%\\_driver' ESCAPE '\\' OR (category = 'user_annotation'
            AND (name LIKE 'enumerate(DataLoader)#%' OR name LIKE 'enumerate(DataPipe)#%')))""",
            key,
        ).fetchall()
        self.events = [
            Event(
                i,
                (pid, tid),
                name,
                cat == "cpu_op",
                cat.endswith(("_runtime", "_driver")),
                s,
                s + d,
            )
            for i, pid, tid, name, cat, s, d in rows
        ]
        rows = con.sql(
            f"""SELECT event_id, device_id, stream_id, kind, name, start_ns, duration_ns, launch_id
            FROM device_events WHERE {where}
            AND kind IN ('compute', 'communication', 'memcpy', 'memset')""",
            key,
        ).fetchall()
        self.work = [
            Work(i, ("device", device, stream), kind, name, s, s + d, launch)
            for i, device, stream, kind, name, s, d, launch in rows
        ]
        self.work.sort(key=lambda w: (w.start, w.id))
        # Stream, awaited stream, and the starts of the calls that wait and that recorded the event.
        self.waits = con.sql(
            """SELECT d.device_id, d.stream_id, (d.args ->> '$.wait_on_stream')::BIGINT,
            w.start_ns, r.start_ns
            FROM device_events AS d
            INNER JOIN host_events AS w ON (w.run, w.worker, w.span) = (d.run, d.worker, d.span)
            AND w.event_id = d.launch_id
            INNER JOIN host_events AS r ON (r.run, r.worker, r.span) = (d.run, d.worker, d.span)
            AND contains(r.name, 'EventRecord')
            AND r.correlation_id = (d.args ->> '$.wait_on_cuda_event_record_corr_id')::BIGINT
            WHERE (d.run, d.worker, d.span) = (?, ?, ?) AND d.name = 'Stream Wait Event'
            AND d.kind = 'sync'""",
            key,
        ).fetchall()
        self.steps = con.sql(
            f"""SELECT s.event_id, h.pid, h.tid, s.start_ns, s.end_ns FROM steps AS s
            LEFT JOIN host_events AS h USING (run, worker, span, event_id)
            WHERE s.step IS NOT NULL AND {where} ORDER BY s.start_ns, s.event_id""",
            key,
        ).fetchall()
        starts = [e.start for e in self.events] + [w.start for w in self.work]
        self.zero = min(starts + [s[3] for s in self.steps])
        zero = self.zero
        self.events = [e._replace(start=e.start - zero, end=e.end - zero) for e in self.events]
        self.work = [w._replace(start=w.start - zero, end=w.end - zero) for w in self.work]
        self.steps = [(i, (p, t), s - self.zero, e - self.zero) for i, p, t, s, e in self.steps]
        self.waits = [
            (("device", device, stream), ("device", device, awaited), wait - zero, record - zero)
            for device, stream, awaited, wait, record in self.waits
        ]
        self.backward_edges = 0
        self._launches()
        self._host_nodes()
        self._device_nodes()
        self._order()
        self._device_edges()
        self._blocking_edges()
        self._queue_edges()
        self._own_and_rest()
        self._inferred()

    def _launches(self) -> None:
        """Which calls launched work, and the median times."""
        of_call: dict[int, list[Work]] = defaultdict(list)
        for work in self.work:
            if work.launch is not None:
                of_call[work.launch].append(work)
        calls = {e.id: e for e in self.events if e.is_call}
        self.calls = {i: calls[i] for i in of_call if i in calls}
        self.of_call = {i: of_call[i] for i in self.calls}
        self.launch_median = median_low([c.end - c.start for c in self.calls.values()] or [0])
        self.streams: dict[Any, list[Work]] = defaultdict(list)
        for work in self.work:
            self.streams[work.lane].append(work)
        lags, pairs = [], []
        ends = sorted(work.end for work in self.work if work.end > work.start)
        for stream in self.streams.values():
            before: Work | None = None
            for work in stream:
                call = self.calls.get(work.launch) if work.launch is not None else None
                place = bisect_right(ends, work.start) - 1
                ready = max(before.end if before else -1, call.start if call else -1)
                if place >= 0 and work.start - 30_000 <= ends[place] > ready:
                    call = None  # it may have waited for another stream
                if (
                    call
                    and call.start <= work.start
                    and (before is None or before.end <= call.start)
                ):
                    lags.append(work.start - call.start)
                pairs.append((call, before, work))
                before = work
        self.launch_lag = median_low(lags) if len(lags) >= 5 else 10_000
        gaps = [
            work.start - before.end
            for call, before, work in pairs
            if call
            and before
            and work.start - call.start >= 3 * self.launch_lag
            and call.start <= before.end
        ]
        self.gap = median_low(gaps) if gaps else 0
        if len(gaps) < 5:
            self.gap = min(self.gap, 5_000)

    def _host_nodes(self) -> None:
        self.nodes: list[Node] = []
        self.call_starts: dict[int, Node] = {}
        self.call_ends: dict[int, Node] = {}
        lanes: dict[Any, list[Event]] = defaultdict(list)
        for event in sorted(self.events, key=lambda e: (e.start, -e.end, e.id)):
            lanes[event.lane].append(event)
        self.tops: dict[Any, list[Interval]] = {}
        for lane, events in lanes.items():
            tops: list[list[int]] = []
            for event in events:
                if not tops or event.start >= tops[-1][1]:
                    tops.append([event.start, event.end])
                else:
                    tops[-1][1] = max(tops[-1][1], event.end)
            self.tops[lane] = [(a, b) for a, b in tops]
        for call in self.calls.values():
            node = Node(call.start, call.lane, 2, call.id, kind="launch")
            self.call_starts[call.id] = node
            self.nodes.append(node)
        self.step_nodes = []
        for i, lane, start, end in self.steps:
            pair = Node(start, lane, 1, i, kind="step"), Node(end, lane, 0, i, kind="step end")
            self.step_nodes.append(pair)
            self.nodes += pair
        self.blocking = []
        for event in self.events:
            if event.is_call and ("Synchronize" in event.name or event.name == "synchronizeStream"):
                self.nodes.append(Node(event.start, event.lane, 2, event.id, kind="call"))
            elif event.id in self.calls and any(
                w.kind == "memcpy" and w.end <= event.end for w in self.of_call[event.id]
            ):
                pass
            else:
                continue
            node = Node(event.end, event.lane, 3, event.id, kind="call end")
            self.call_ends[event.id] = node
            self.nodes.append(node)
            self.blocking.append((event, node))
        for lane, intervals in self.tops.items():
            self.nodes.append(Node(intervals[-1][1], lane, 4, kind="last"))
        self._handovers()

    def _handovers(self) -> None:
        """Ends of other threads' topmost events in the time a thread has none."""
        self.handovers = []
        ends: dict[Any, list[tuple[int, Any]]] = defaultdict(list)
        for lane, intervals in self.tops.items():
            ends[lane[0]] += [(b, lane) for a, b in intervals if b > a]
        for found in ends.values():
            found.sort()
        sources: dict[Any, Node] = {}
        for lane, intervals in self.tops.items():
            idle_from = -1
            found = ends[lane[0]]
            for start, end in intervals:
                place = bisect_right(found, start, key=lambda f: f[0]) - 1
                if place >= 0 and found[place][0] > idle_from:
                    if found[place] not in sources:
                        at, other = found[place]
                        sources[found[place]] = Node(at, other, 0, kind="hand-over")
                    target = Node(start, lane, 1, cap=0, kind="taken over")
                    self.handovers.append((sources[found[place]], target))
                    self.nodes.append(target)
                elif idle_from < 0:
                    self.nodes.append(Node(start, lane, 1, kind="first"))
                idle_from = end
        self.nodes += sources.values()

    def _device_nodes(self) -> None:
        self.work_nodes = {
            w.id: Node(w.start, w.lane, 5, w.id, w.end - w.start, kind=w.kind) for w in self.work
        }
        self.queue_nodes()
        self.nodes += self.work_nodes.values()

    def queue_nodes(self) -> None:
        """Full queues: how many launches a stream takes, and an end node per call from there on."""
        self.queue: list[tuple[Event, Work, bool]] = []
        for works in self.streams.values():
            last: dict[int, Work] = {}
            for work in works:
                if work.launch in self.calls:
                    assert work.launch is not None
                    last[work.launch] = work
            order = sorted(last, key=lambda i: (self.calls[i].start, i))
            ends = [last[i].end for i in order]
            behind = {}
            for place, i in enumerate(order):
                call = self.calls[i]
                length = call.end - call.start
                if length <= max(5 * self.launch_median, 30_000) or ends[place] <= call.end:
                    continue
                done = bisect_right(ends, call.end) - 1
                if done >= 0 and ends[done] > call.start and place - done > 100:
                    behind[i] = place - done
            if not behind:
                continue
            size = median_low(behind.values())
            agree = {i for i, n in behind.items() if abs(n - size) <= 0.25 * size}
            if len(agree) < 20:
                continue
            for place, i in enumerate(order[size:]):
                call, source = self.calls[i], last[order[place]]
                if i not in self.call_ends:
                    self.call_ends[i] = Node(call.end, call.lane, 3, i, kind="call end")
                    self.nodes.append(self.call_ends[i])
                self.queue.append((call, source, i in agree))

    def _order(self) -> None:
        self.nodes.sort(key=lambda n: (n.at, n.rank, n.lane, n.event))
        last: dict[Any, Node] = {}
        for place, node in enumerate(self.nodes):
            node.place = place
            node.before = last.get(node.lane)
            last[node.lane] = node

    def _edge(self, source: Node, target: Node, cap: int | None) -> bool:
        lag = target.at - source.end
        if source.place >= target.place or lag < 0:
            self.backward_edges += 1
            return False
        target.edges.append((source, lag if cap is None else min(lag, cap)))
        return True

    def _device_edges(self) -> None:
        for source, target in self.handovers:
            self._edge(source, target, None)
        recorded = self._recorded_waits()
        for source_id, target_id in sorted(recorded):
            self._edge(self.work_nodes[source_id], self.work_nodes[target_id], 2_000)
        told = {target_id for _, target_id in recorded}
        by_thread: dict[Any, list[tuple[int, Work]]] = defaultdict(list)
        for i, call in sorted(self.calls.items(), key=lambda c: (c[1].start, c[0])):
            by_thread[call.lane] += [
                (call.start, w) for w in sorted(self.of_call[i], key=lambda w: (w.start, w.id))
            ]
            for work in self.of_call[i]:
                self._edge(self.call_starts[i], self.work_nodes[work.id], self.launch_lag)
        for launched in by_thread.values():
            latest: dict[Any, Work] = {}
            for _, work in launched:
                if work.kind == "communication" and work.id not in told:
                    others = [w for lane, w in latest.items() if lane != work.lane]
                    others = [w for w in others if w.end <= work.start]
                    if others:
                        latest_of = max(
                            others, key=lambda w: (self.calls[w.launch or 0].start, w.id)
                        )
                        self._edge(self.work_nodes[latest_of.id], self.work_nodes[work.id], 2_000)
                latest[work.lane] = work

    def _recorded_waits(self) -> set[tuple[int, int]]:
        """Work that a stream waited for as recorded, and the work launched on that stream next."""
        found = set()
        for stream, awaited, wait, record in self.waits:
            launched, next_ones = (
                [
                    (self.calls[w.launch].start, w.start, w.id)
                    for w in self.streams.get(lane, [])
                    if w.launch in self.calls
                ]
                for lane in (awaited, stream)
            )
            before = [w for w in launched if w[0] <= record]
            after = [w for w in next_ones if w[0] >= wait]
            if before and after and stream != awaited:
                found.add((max(before)[2], min(after)[2]))
        return found

    def _blocking_edges(self) -> None:
        ends = sorted((w.end, w.id) for w in self.work)
        by_stream = {
            lane: sorted(
                (self.calls[w.launch].start, w.start, w.id) for w in works if w.launch in self.calls
            )
            for lane, works in self.streams.items()
        }
        copies: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        for i, call in self.calls.items():
            copies[call.lane] += [(call.start, w.id) for w in self.of_call[i] if w.kind == "memcpy"]
        for found in copies.values():
            found.sort()
        for event, node in self.blocking:
            if event.id in self.calls:
                own = [
                    w for w in self.of_call[event.id] if w.kind == "memcpy" and w.end <= event.end
                ]
                sources = [max((w.end, w.id) for w in own)[1]]
            elif "DeviceSynchronize" in event.name:
                sources = []
                for works in by_stream.values():
                    place = bisect_left(works, event.start, key=lambda w: w[0]) - 1
                    if place >= 0:
                        sources.append(works[place][2])
            else:
                place = bisect_left(copies[event.lane], (event.start, -1)) - 1
                sources = [copies[event.lane][place][1]] if place >= 0 else []
                if not sources or not event.start < self.work_nodes[sources[0]].end <= event.end:
                    place = bisect_right(ends, (event.end, math.inf)) - 1
                    if place >= 0 and ends[place][0] > event.start:
                        sources = [ends[place][1]]
            works_ = [self.work_nodes[i] for i in sources]
            works_ = [w for w in works_ if w.end <= event.end]
            waited = max(
                (w for w in works_ if w.end > event.start),
                key=lambda w: (w.end, w.event),
                default=None,
            )
            for work in works_:
                self._edge(work, node, None if work is waited else 2_000)
            if waited:
                node.cap = 3_000

    def _queue_edges(self) -> None:
        for call, source, blocked in self.queue:
            node, work = self.call_ends[call.id], self.work_nodes[source.id]
            if self._edge(work, node, None if blocked else 2_000) and blocked:
                node.cap = min(node.cap or self.launch_median, self.launch_median)

    def _own_and_rest(self) -> None:
        for node in self.nodes:
            if node.before:
                lag = node.at - node.before.end
                cap = node.cap if node.duration == 0 and node.lane[0] != "device" else self.gap
                node.own = lag if cap is None else min(lag, cap)
            self._set_rest(node)

    def _set_rest(self, node: Node) -> None:
        reached = [source.end + lag for source, lag in node.edges]
        if node.before:
            reached.append(node.before.end + node.own)
        node.rest = node.at - max(reached, default=0)

    def _inferred(self) -> None:
        ends = sorted((w.end, w.start, w.id, w.lane) for w in self.work)
        for work in self.work:
            node = self.work_nodes[work.id]
            if node.rest <= 5_000:
                continue
            place = bisect_right(ends, work.start, key=lambda e: e[0]) - 1
            while place >= 0 and ends[place][0] >= work.start - 30_000:
                source = self.work_nodes[ends[place][2]]
                if source.lane != node.lane and source.place < node.place:
                    self._edge(source, node, None)
                    self._set_rest(node)
                    break
                place -= 1

    def of_events(self, factor: float, ids: Iterable[int]) -> Change:
        """A change of the time of some events."""
        wanted = set(ids)
        return Change(
            factor, times=merged((e.lane, e.start, e.end) for e in self.events if e.id in wanted)
        )

    def inside(self, factor: float, spans: Iterable[tuple[Any, int, int]]) -> Change:
        """A change of some time of threads, and of the work launched meanwhile."""
        times = merged(spans)

        def is_inside(call: Event) -> bool:
            found = times.get(call.lane, [])
            place = bisect_right(found, call.start, key=lambda i: i[0]) - 1
            return place >= 0 and call.start < found[place][1]

        work = [
            w.id for i, works in self.of_call.items() if is_inside(self.calls[i]) for w in works
        ]
        return Change(factor, frozenset(work), times)

    def solve(self, *changes: Change, rests: bool = True) -> list[int]:
        """Give every node its new time; return the times in recorded order."""
        factors: dict[int, float] = defaultdict(lambda: 1.0)
        for change in changes:
            for event in change.work:
                factors[event] *= change.factor
        on_thread = {
            lane: [change for change in changes if change.host or lane in change.times]
            for lane in {node.lane for node in self.nodes}
            if lane[0] != "device"
        }
        ends: dict[int, int] = {}
        for node in self.nodes:
            reached = [ends[source.place] + lag for source, lag in node.edges]
            if node.before:
                own, length = node.own, node.at - node.before.end
                here = on_thread.get(node.lane)
                if here and length:
                    saved = sum(
                        inside * (node.own / length) * (1 - factor)
                        for inside, factor in pieces(here, node.lane, node.before.end, node.at)
                    )
                    own -= scaled(saved, 1)
                reached.append(ends[node.before.place] + own)
            node.time = max(reached, default=0) + (node.rest if rests else 0)
            duration = node.duration
            if node.lane[0] == "device" and node.event in factors:
                duration = scaled(duration, factors[node.event])
            ends[node.place] = node.time + duration
        self.ends = ends
        return [node.time for node in self.nodes]

    def step_times(self) -> list[tuple[int, int]]:
        """Length of each step on its thread, and until its work was done since that of the one before was.

        A trace without steps is one step from its start to the last end of a thread.
        """
        bounds = [(start.time, end.time) for start, end in self.step_nodes]
        starts = [start for _, _, start, _ in self.steps]
        if not bounds:
            bounds = [(0, max(n.time for n in self.nodes if n.lane[0] != "device"))]
            starts = [0]
        last: dict[tuple[int, Any], Work] = {}
        for work in self.work:
            call = self.calls.get(work.launch) if work.launch is not None else None
            at = call.start if call else work.start
            number = bisect_right(starts, at) - 1
            if number < 0 or (self.steps and number == len(starts) - 1 and at >= self.steps[-1][3]):
                continue
            before = last.get((number, work.lane))
            if before is None or (work.end, self.work_nodes[work.id].place) > (
                before.end,
                self.work_nodes[before.id].place,
            ):
                last[number, work.lane] = work
        done = bounds[0][0]
        times = []
        for number, (start, end) in enumerate(bounds):
            ends = [
                self.ends[self.work_nodes[w.id].place] for (n, _), w in last.items() if n == number
            ]
            now = max([done, end, *ends])
            times.append((end - start, now - done))
            done = now
        return times
