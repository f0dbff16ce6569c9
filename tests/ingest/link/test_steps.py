"""Profiler steps: extended to the device work that they launch, and told from a tail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tracewh
from tests.ingest.conftest import IngestEvents, Row, call, device, host

STEPS = """
    SELECT
        t.step, t.start_ns // 1000, t.end_ns // 1000,
        t.extended_start_ns // 1000, t.extended_end_ns // 1000, t.device_events
    FROM steps AS t ORDER BY t.start_ns
"""


def step(number: int, start: int, end: int) -> Row:
    return host("user_annotation", f"ProfilerStep#{number}", start, end)


def test_steps_are_extended_to_the_device_work_they_launch(ingest_events: IngestEvents) -> None:
    """Time runs to the right; below each step what it launches.

         80   100       200       300       400       500
      7        |---------|                                  as recorded
      8                  |---------|
      9                            |---------|
     10                                      |---------|

    before  90-110  112-125                                 launched at 80 and 85
      7           120-160 195-230                           and a sync to 290, which is no work
      8                           5 in 310-410              one graph launch
      9                                                     nothing
    between 7 and 8: launched by a call from 198 to 203, run 235 to 240: of no step
     10                                       450-460
    """
    trace = ingest_events(
        [
            step(7, 100, 200),
            step(8, 200, 300),
            step(9, 300, 400),
            step(10, 400, 500),
            call(80, 81, 1),
            device(
                90, 110, correlation=1
            ),  # ends before the first work of step 7: pushes its start
            call(85, 86, 2),
            device(112, 125, correlation=2),  # ends in it: does not
            call(115, 116, 3),
            device(120, 160, correlation=3),
            call(190, 191, 4),
            device(195, 230, correlation=4),
            call(192, 193, 5, "cudaDeviceSynchronize"),
            device(200, 290, "cuda_sync", "Context Sync", correlation=5),
            call(198, 203, 6),
            device(235, 240, correlation=6),
            call(299, 300, 7, "cudaGraphLaunch"),
            *(device(at, at + 20, correlation=7) for at in (310, 330, 350, 370, 390)),
            call(440, 441, 8),
            device(450, 460, correlation=8),
            # The device's copy of a step is no step.
            device(120, 230, "gpu_user_annotation", "ProfilerStep#7"),
        ]
    )
    assert trace.rows(STEPS) == [
        (7, 100, 200, 110, 230, 2),
        (8, 200, 300, 230, 410, 5),
        (9, 300, 400, 410, 410, 0),  # hidden behind step 8
        (10, 400, 500, 410, 500, 1),
    ]


def test_a_launch_belongs_to_the_step_whose_edges_it_touches(ingest_events: IngestEvents) -> None:
    """A call that starts with a step, or ends with it, lies in it."""
    trace = ingest_events(
        [
            step(1, 100, 200),
            step(2, 300, 400),
            call(100, 110, 1),
            device(210, 220, correlation=1),
            call(390, 400, 2),
            device(410, 420, correlation=2),
        ]
    )
    assert trace.rows(STEPS) == [(1, 100, 200, 100, 220, 1), (2, 300, 400, 300, 420, 1)]


@pytest.mark.parametrize(
    ("device_events", "is_tail"),
    [
        ([5, 4], [False, False]),  # 80 % exactly
        ([5, 3], [False, True]),
        ([5, 3, 0, 0], [False, True, True, True]),
        ([5, 5, 0], [False, False, True]),
        ([3, 5, 4], [False, False, False]),
        ([5, 3, 3], [False, False, False]),  # only the last is judged
        ([5, 0, 1], [False, False, False]),
        ([1], [False]),
        ([0, 0], [False, False]),
    ],
    ids=str,
)
def test_tail(ingest_events: IngestEvents, device_events: list[int], is_tail: list[bool]) -> None:
    given = []
    for number, count in enumerate(device_events):
        start = number * 100
        given += [step(number, start, start + 100), call(start + 1, start + 2, number + 1)]
        given += [
            device(start + 5 + n, start + 6 + n, correlation=number + 1) for n in range(count)
        ]
    rows = ingest_events(given).rows(
        "SELECT t.device_events, t.is_tail FROM steps AS t ORDER BY t.step"
    )
    assert rows == list(zip(device_events, is_tail, strict=True))


@pytest.mark.parametrize(
    ("operators", "is_tail"),
    [
        ([5, 5, 4], [False, False, False]),  # 80 % exactly
        ([5, 5, 3], [False, False, True]),
        ([5, 0], [False, True]),
        ([5, 3, 3], [False, False, False]),  # as few as in another step: those differ
        ([5, 3, 2], [False, False, True]),
        ([3, 0, 3], [False, False, False]),  # only the last is judged
        ([0, 0], [False, False]),
        ([1], [False]),
        ([0], [True]),
    ],
    ids=str,
)
def test_tail_on_the_host(
    ingest_events: IngestEvents, operators: list[int], is_tail: list[bool]
) -> None:
    """What a step holds counts in a trace without work on a device: operators and annotations on any thread."""
    given = []
    for number, count in enumerate(operators):
        start = number * 100
        given.append(step(number, start, start + 100))
        # The first starts with its step, and the last goes on after it.
        given += [
            host(
                ("cpu_op", "user_annotation")[n % 2], "work", start + 24 * n, start + 24 * n + 9, n
            )
            for n in range(count)
        ]
        given.append(host("python_function", "train.py(1): step", start, start + 100))
    rows = ingest_events(given).rows("SELECT t.is_tail FROM steps AS t ORDER BY t.step")
    assert [tail for (tail,) in rows] == is_tail


@pytest.mark.parametrize(("duration_us", "is_tail"), [(9_999, True), (10_000, False)])
def test_a_longer_step_without_operators_is_not_one_that_just_began(
    ingest_events: IngestEvents, duration_us: int, is_tail: bool
) -> None:
    """Its work ran in Python, or on threads whose operators were not recorded."""
    trace = ingest_events([step(1, 0, duration_us)])
    assert trace.rows("SELECT t.is_tail FROM steps AS t") == [(is_tail,)]


def test_steps_of_serving_on_the_host_are_no_tails(ingest_events: IngestEvents) -> None:
    """One that decodes calls fewer operators than one that prefills."""
    trace = ingest_events(
        [
            host("user_annotation", "execute_context_1(8)_generation_0(0)", 0, 100),
            host("cpu_op", "aten::mm", 10, 20),
            host("cpu_op", "aten::mm", 20, 30),
            host("user_annotation", "execute_context_0(0)_generation_1(1)", 100, 200),
        ]
    )
    assert trace.rows("SELECT t.step, t.is_tail FROM steps AS t ORDER BY t.step") == [
        (1, False),
        (2, False),
    ]


def test_no_step_is_a_tail_where_a_device_works_and_no_launch_is_recorded(
    ingest_events: IngestEvents,
) -> None:
    trace = ingest_events([step(1, 0, 100), step(2, 100, 200), device(10, 90)])
    assert trace.rows("SELECT t.is_tail FROM steps AS t ORDER BY t.step") == [(False,), (False,)]
    trace = ingest_events([step(1, 0, 100), device(10, 90)])
    assert trace.rows("SELECT t.is_tail FROM steps AS t") == [(False,)]


def test_steps_of_2021_are_rows_of_the_category_operator(ingest_events: IngestEvents) -> None:
    trace = ingest_events(
        [host("Operator", "ProfilerStep#5", 0, 10), host("cpu_op", "aten::mm", 2, 3)]
    )
    assert trace.rows(
        "SELECT t.step, t.name, h.category, h.raw_category"
        " FROM steps AS t INNER JOIN host_events AS h ON t.event_id = h.event_id"
    ) == [(5, "ProfilerStep#5", "user_annotation", "Operator")]


def test_a_trace_without_steps_is_one_step(ingest_events: IngestEvents) -> None:
    trace = ingest_events(
        [
            host("cpu_op", "aten::mm", 20, 30),
            device(40, 70),
            device(10, 15, "cuda_sync", "Stream Sync"),
            {"ph": "i", "name": "Record Window End", "ts": 500, "s": "g"},
        ]
    )
    assert trace.rows(STEPS) == [(None, 10, 70, 10, 70, 1)]


def test_a_trace_without_complete_events_has_no_step(ingest_events: IngestEvents) -> None:
    trace = ingest_events([{"ph": "i", "name": "Record Window End", "ts": 500, "s": "g"}])
    assert trace.rows(STEPS) == []


def numbered(name: str, number: object, start: int, end: int, **more: object) -> Row:
    """An event of JAX's StepTraceAnnotation, which has no category."""
    event = host("", name, start, end)
    del event["cat"]
    return {**event, "args": {"step_num": number}, **more}


def test_numbered_events_of_another_program_are_steps(ingest_events: IngestEvents) -> None:
    """Those of the loop with the most: not of the evaluation, of another thread, or without a number."""
    trace = ingest_events(
        [
            numbered("train", "0", 100, 180),
            numbered("train", "1", 180, 190),
            numbered("train", 2, 195, 210),
            numbered("train", "last", 210, 220),
            numbered("train", "3", 220, 230, tid=77),
            numbered("train", "4", 230, 240, pid=78),
            numbered("eval", "5", 240, 250),
            numbered("eval", "6", 250, 260),
            numbered("train", "7", 270, 280, cat="request"),
        ]
    )
    assert trace.rows(
        "SELECT s.step, s.name, s.end_ns, s.is_tail FROM steps AS s ORDER BY ALL"
    ) == [
        (0, "train", 180_000, False),
        (1, "train", 190_000, False),
        (2, "train", 210_000, False),
    ]


def test_steps_whose_names_end_with_their_numbers_are_one_loop(ingest_events: IngestEvents) -> None:
    """xprof writes the number into the name, also where it makes a Chrome trace of what TensorFlow recorded."""
    trace = ingest_events(
        [
            numbered("train 0", "0", 100, 180),
            numbered("train 1", "1", 180, 190),
            numbered("eval 10", "0", 190, 200),
            numbered("eval 10", "1", 200, 210),
            numbered("train 12", "12", 210, 220),
        ]
    )
    assert trace.rows("SELECT s.step, s.name FROM steps AS s ORDER BY ALL") == [
        (0, "train 0"),
        (1, "train 1"),
        (12, "train 12"),
    ]


def test_steps_of_one_number_are_numbered_by_start(ingest_events: IngestEvents) -> None:
    """Two epochs, each counted from 0: a number stands for one step, as views that compare steps take it."""
    trace = ingest_events(
        [
            numbered("train", "0", 140, 150),
            numbered("train", "1", 150, 160),
            numbered("train", "0", 100, 120),
            numbered("train", "1", 120, 140),
            numbered("eval", "7", 160, 170),
        ]
    )
    assert trace.rows("SELECT s.step, s.start_ns FROM steps AS s ORDER BY ALL") == [
        (0, 100_000),
        (1, 120_000),
        (2, 140_000),
        (3, 150_000),
    ]


def test_steps_of_validation_and_training_have_a_number_each(ingest_events: IngestEvents) -> None:
    """Lightning counts those of each stage from 0. The names stay as they were written."""
    trace = ingest_events(
        [step(0, 100, 110), step(1, 110, 130), step(0, 200, 240), step(1, 240, 290)]
    )
    assert trace.rows("SELECT s.step, s.name, s.start_ns FROM steps AS s ORDER BY ALL") == [
        (0, "ProfilerStep#0", 100_000),
        (1, "ProfilerStep#1", 110_000),
        (2, "ProfilerStep#0", 200_000),
        (3, "ProfilerStep#1", 240_000),
    ]


def test_numbered_events_are_no_steps_beside_those_of_the_profiler(
    ingest_events: IngestEvents,
) -> None:
    trace = ingest_events([step(7, 100, 200), numbered("train", "1", 110, 190)])
    assert trace.rows("SELECT s.step FROM steps AS s") == [(7,)]


def test_each_trace_has_a_loop_of_its_own(tmp_path: Path) -> None:
    """The first has steps of the profiler. Of two loops with as many steps, one counts. The last two count from 0 twice."""
    train = [numbered("train", "1", 110, 190), numbered("train", "2", 190, 200)]
    infer = [numbered("infer", "3", 210, 290), numbered("infer", "4", 290, 300)]
    twice = [numbered("train", "0", 310, 320), numbered("train", "0", 330, 340)]
    loops = {
        "a": [step(7, 100, 200)],
        "b": [*train, infer[0]],
        "c": [*train, *infer],
        "d": twice,
        "e": twice,
    }
    (tmp_path / "run").mkdir()
    for worker, events in loops.items():
        path = tmp_path / "run" / f"{worker}.pt.trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
    tracewh.ingest([tmp_path / "run"], tmp_path / "warehouse", jobs=1)
    with tracewh.open(tmp_path / "warehouse") as opened:
        found = opened.sql("SELECT s.worker, s.step FROM steps AS s ORDER BY ALL").fetchall()
    assert found == [
        ("a", 7),
        *(("b", 1), ("b", 2), ("c", 3), ("c", 4)),
        *(("d", 0), ("d", 1), ("e", 0), ("e", 1)),
    ]
