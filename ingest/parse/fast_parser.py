"""Plain events: those that hold only keys with columns, each with a value that its column gives back.

Nearly every event of a trace is one. What native/ holds, in C, reads them from the bytes of a block
straight into columns, and passes all others on as they stand, to the full parse of `fields`. Where
there was no compiler for it, the full parse reads everything, which takes longer.
"""

from __future__ import annotations

from functools import cache

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.ingest.parse.event_layout import EventLayout, event_layout
from tracewh.ingest.read.chunks import Block, Cut, separators
from tracewh.ingest.read.resync import EVENT_BYTES, Resync
from tracewh.schema import Column

try:
    from tracewh.ingest.native import _events
except ImportError:
    _events = None  # type: ignore[assignment]

_TEXT, _JSON = pa.string_view(), pa.json_(pa.string_view())
#: With these the events of a kind are never plain: a stream may make one that is not known a device's.
_NOT_PLAIN = {"host": ("stream",)}
#: What is in `raw`, for kinds that always have it.
_RAW = {
    "flow": """CASE WHEN p.bind = 'e' THEN '{"bp":"e"}'::JSON END""",
    "memory": """'{"s":"t"}'""",
}
_ANY = (-(2**63), 2**63 - 1)
#: What the database said of categories, which is the same for every trace.
_CATEGORIES: dict[bytes, tuple[str | None, list[int]]] = {}
MOST_CATEGORIES = 1000
_WIDTHS = {"INTEGER": (-(2**31), 2**31 - 1)}


class FastParser:
    """Reads the events of one file, a buffer at a time, as `Splitter` does.

    Args:
        con: A connection to a database with the macros of sql/derive/event_kinds.sql.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.resync = Resync()
        self._con = con
        self._layout = event_layout(con)
        self._reader = new_reader(self._layout)

    def split(self, buffer: bytearray, last: bool) -> Cut:
        """Read a buffer that starts at an event, or at the end of the array."""
        before = self._reader.events
        at, ended = 0, False
        commas: npt.NDArray[np.int64] | None = None
        while True:
            if not self.resync.is_lost:
                at, is_whole = self._read(buffer, at)
                if not is_whole and not last and len(buffer) - at <= EVENT_BYTES:
                    break
            if commas is None:
                commas = separators(np.frombuffer(buffer, np.uint8))
            walk = self.resync.walk(buffer, at, commas, last)
            for event in walk.events:
                self._reader.add(event)
            at = walk.at
            if walk.stopped != "cut":
                ended = walk.stopped == "ended"
                break
        return Cut(self._block(buffer, self._reader.events - before), at, ended)

    def _read(self, buffer: bytearray, at: int) -> tuple[int, bool]:
        """Read on from the start of an event, as far as events follow each other.

        Returns:
            The first byte that was not dealt with, and whether what starts there is there as a whole.
        """
        while True:
            at, why = self._reader.read(buffer, at)
            if isinstance(why, str):
                return at, why != "ends"
            self._learn(why)

    def _block(self, buffer: bytearray, events: int) -> Block:
        beside, (ids, ends, texts), kinds = self._reader.take()
        heap = [pa.py_buffer(buffer), pa.py_buffer(beside)]
        plain = {}
        for kind, (rows, columns) in kinds.items():
            if rows:
                schema = batch_schema(self._layout, kind)
                arrays = [
                    _array(type_, rows, found, heap)
                    for type_, found in zip(schema.types, columns, strict=False)
                ]
                plain[kind] = pa.record_batch(arrays, schema)
        count = len(ids) // 8
        offsets = pa.py_buffer(bytes(4) + ends)
        return Block(
            events,
            pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(ids)]),
            pa.StringArray.from_buffers(count, offsets, pa.py_buffer(texts)),
            plain,
        )

    def _learn(self, word: bytes) -> None:
        """Ask what complete events of a category are, whatever their name."""
        if word not in _CATEGORIES:
            [(table, has_device)] = self._con.execute(
                "SELECT event_table('X', c.category, '', true, false),"
                " has_device_as_process(c.category)"
                " FROM (SELECT current_category(?, '') AS category) AS c",
                [word.decode()],
            ).fetchall()
            columns = [column.name for column in self._layout.kinds["device"]]
            device = len(_events.FIELDS) + columns.index("device_id")
            # Where the process is the device, nothing would tell that an argument said it as well.
            found = (
                table if table in self._layout.compiled else None,
                [device] if has_device else [],
            )
            if len(_CATEGORIES) == MOST_CATEGORIES:
                _CATEGORIES.clear()
            _CATEGORIES[word] = found
        self._reader.add_category(word, *_CATEGORIES[word])


def is_available() -> bool:
    """Whether it was compiled."""
    return _events is not None


def new_reader(layout: EventLayout) -> _events.Reader:
    """A compiled reader of events."""
    return _events.Reader(
        {kind: _specs(layout, kind) for kind in layout.compiled}, layout.compiled_bounds
    )


@cache
def batch_schema(layout: EventLayout, kind: str) -> pa.Schema:
    """The columns that `insert_sql` reads."""
    types = {_events.WHOLE: pa.int64(), _events.TEXT: _TEXT}
    is_json = {name for name, type_ in layout.remainders.items() if type_ == "JSON"}
    fields = [(name, _JSON if name in is_json else types[t]) for name, t in _events.FIELDS]
    return pa.schema([*fields, *((c.name, _arrow_type(c)) for c in layout.kinds[kind])])


def insert_sql(layout: EventLayout, kind: str) -> str:
    """Append the plain events of a kind, which stand in `plain_<kind>`, to its raw table."""
    worked_out = {
        "category": "current_category(p.raw_category, p.name)",
        "raw": _RAW.get(kind, "p.raw"),
    }
    names = [*layout.fields, *(column.name for column in layout.kinds[kind]), *layout.remainders]
    values = ", ".join(worked_out.get(name, f"p.{name}") for name in names)
    return f"INSERT INTO raw_{kind} SELECT {values} FROM plain_{kind} AS p"


def _specs(layout: EventLayout, kind: str) -> list[_events.Argument]:
    """For each argument its key, how it is written, which numbers fit, which the column holds, and which
    argument's column that is: older keys fill that of today's.
    """
    types = {
        "BIGINT": _events.WHOLE,
        "INTEGER": _events.WHOLE,
        "DOUBLE": _events.DECIMAL,
        "BOOLEAN": _events.FLAG,
        "VARCHAR": _events.TEXT,
        "JSON": _events.SHAPE,
        "INTEGER[]": _events.WHOLES,
        "VARCHAR[]": _events.TEXTS,
    }
    columns = layout.kinds[kind]
    specs: list[_events.Argument] = [
        (
            column.keys[0],
            _events.WHOLES_AS_TEXT if column.as_text else types[column.type],
            _WIDTHS.get(column.type.removesuffix("[]"), _ANY),
            layout.argument_bounds.get(column.name, _ANY),
            number,
        )
        for number, column in enumerate(columns)
    ]
    older = [(key, number) for number, column in enumerate(columns) for key in column.keys[1:]]
    specs += [(key, _events.NO_TYPE, _ANY, _ANY, number) for key, number in older]
    barred = enumerate(_NOT_PLAIN.get(kind, ()), start=len(specs))
    return specs + [(key, _events.NO_TYPE, _ANY, _ANY, number) for number, key in barred]


def _arrow_type(column: Column) -> pa.DataType:
    """What the reader gives; the database makes of it what the column is."""
    if column.type.endswith("[]"):
        return pa.list_(_TEXT if column.type == "VARCHAR[]" else pa.int64())
    types = {"VARCHAR": _TEXT, "JSON": _JSON, "DOUBLE": pa.float64()}
    return types.get(column.type, pa.int64())


def _array(
    type_: pa.DataType, rows: int, found: _events.Column | None, heap: list[pa.Buffer]
) -> pa.Array:
    if found is None:
        return pa.nulls(rows, type_)
    if type_ == _JSON:  # known to be that: the database need not look
        return pa.ExtensionArray.from_storage(_JSON, _array(_TEXT, rows, found, heap))
    valid, values, *items = found
    buffers = [None if valid is None else pa.py_buffer(valid), pa.py_buffer(values)]
    if not items:
        return pa.Array.from_buffers(type_, rows, [*buffers, *heap] if type_ == _TEXT else buffers)
    [children] = items
    width = 16 if type_.value_type == _TEXT else 8
    child = _array(type_.value_type, len(children) // width, (None, children), heap)
    return pa.Array.from_buffers(type_, rows, buffers, children=[child])
