"""Random traces, as the profiler might write them, and random damage to their bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import strategies as st

words = st.sampled_from(
    ["", "a", "aten::mm", "7", "nan", ": inf", "N/A", "}, {", "], ", '"', "\\", "C:\\new\\", "é🔥"]
    + ['{"ph": "X"}', '"ph":', "\0", "\n", "\x7f", "x" * 300, '", "', "]}", "[0, 1]", "\ud83d"]
)
numbers = st.sampled_from(
    ["0", "-1", "1.5", "4294967295", "9007199254740993", "18446744073709551615", "1e999", "-0.0"]
    + ["123456789012345678901234567890", "1E-7", "5.000"]
)
#: JSON as text.
scalars = words.map(json.dumps) | numbers | st.sampled_from(["true", "false", "null"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(words, inner), max_size=3, unique_by=lambda m: m[0]).map(
            lambda members: "{" + ", ".join(f"{json.dumps(k)}: {v}" for k, v in members) + "}"
        )
    ),
    max_leaves=5,
)
#: What a writer may put where a value belongs, and no parser takes.
odd_values = st.sampled_from(
    ["NaN", "nan", "-Infinity", "inf", "N/A", "", '"C:\\Users"', '"say "hi""', "-nan(ind)", "0x1"]
    + ['"a\n\tb"', '"a\udcffb"', '"\udce2\udc82"', "True", '"\\ud800"', ",", '"a", "b"']
)
names = st.sampled_from(["External id", "Input Dims", "Device", "name", "id", "a b", "Call stack"])


@dataclass(frozen=True, slots=True)
class Trace:
    """The bytes of a trace, and where in them each event stands."""

    content: bytes
    events: list[tuple[int, int]]
    sound: list[bool]


@st.composite
def event(draw: st.DrawFn) -> tuple[str, bool]:
    """The text of an event, and whether it is sound."""
    phase = draw(st.sampled_from([*["X"] * 6, "i", "M", "s", "f", "C"]))
    fields = {
        "ph": json.dumps(phase),
        "cat": draw(st.sampled_from(['"cpu_op"', '"kernel"', '"cuda_runtime"', '"ac2g"'])),
        "name": draw(st.just('"aten::mm"') | words.map(json.dumps)),
        "pid": draw(st.sampled_from(["1", '"1"', "-1", '"Spans"'])),
        "tid": draw(st.sampled_from(["2", '"stream 7"', "18446744073709551615"])),
        "ts": draw(st.sampled_from(["5", "7.123", '"5"', "-3", "1e300", "1719792000000000.5"])),
        "dur": draw(st.sampled_from(["1", "0", "-4", "2.5", '"1"'])),
    }
    arguments = draw(st.dictionaries(names, values, max_size=4))
    sound = not any("\\ud8" in text for text in (*fields.values(), *arguments.values()))
    if draw(st.integers(0, 4)) == 0:
        arguments[draw(names)] = draw(odd_values)
        sound = False
    if arguments != {} or draw(st.booleans()):
        members = ", ".join(f'"{key}": {value}' for key, value in arguments.items())
        fields["args"] = "{" + members + "}"
    for missing in draw(st.sets(st.sampled_from(["cat", "pid", "tid", "ts", "dur"]), max_size=1)):
        del fields[missing]
    gap = draw(st.sampled_from([", ", ",", ",\n    ", " ,\r\n"]))
    colon = draw(st.sampled_from([": ", ":", " :\t"]))
    return "{" + gap.join(f'"{key}"{colon}{value}' for key, value in fields.items()) + "}", sound


@st.composite
def trace(draw: st.DrawFn, most: int = 12) -> Trace:
    """A trace of several events in one of the layouts that are seen."""
    drawn = draw(st.lists(event(), min_size=1, max_size=most))
    separator = draw(st.sampled_from([", ", ",", ",\n  ", "\r\n,\r\n"]))
    before = draw(st.sampled_from(['{"traceEvents": [', '{"schemaVersion":1,"traceEvents":[', "["]))
    after = "]"
    if before != "[":
        after += draw(st.sampled_from(["}", ', "traceName": "t"}\n', ', "a": [{}, {"id": 0}]}']))
    content = before.encode()
    places = []
    for position, (text, _) in enumerate(drawn):
        if position:
            content += separator.encode()
        start = len(content)
        content += text.encode("utf-8", "surrogateescape")
        places.append((start, len(content)))
    return Trace(content + after.encode(), places, [sound for _, sound in drawn])


@st.composite
def damaged(draw: st.DrawFn, given: Trace) -> tuple[bytes, list[int]]:
    """The bytes of a trace after some damage, and the events that it did not touch."""
    content = given.content
    whole = {number for number, sound in enumerate(given.sound) if sound}
    first, end = given.events[0][0], len(content)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(first, end - 1))
        kind = draw(st.sampled_from(["cut", "flip", "insert", "delete"]))
        length = draw(st.integers(1, 12)) if kind == "delete" else 1
        stop = len(given.content) if kind == "cut" else min(end, at + length)
        for number, (start, after) in enumerate(given.events):
            if start < stop and at < after:
                whole.discard(number)
        if kind == "cut":
            content = content[:at]
        elif kind == "flip":
            content = (
                content[:at]
                + bytes([content[at] ^ (1 << draw(st.integers(0, 7)))])
                + content[at + 1 :]
            )
        elif kind == "insert":
            content = content[:at] + draw(noise) + content[at:]
        else:
            content = content[:at] + content[stop:]
        end = at  # the next damage lies before this one, so that places stay what they were
        if end <= first:
            break
    return content, sorted(whole)


noise = st.binary(min_size=1, max_size=6) | st.sampled_from(
    [
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\\",
        b"\0",
        b"NaN",
        b"}, {",
        b'"ph":',
        b"]}",
        b"\xff",
    ]
)
