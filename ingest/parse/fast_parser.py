"""The fast parser: reads plain events with compiled code, from the bytes of a block directly into columns.

A plain event has only keys with columns, and only values that their columns store exactly. Nearly every event
of a trace is plain. The compiled reader (native/, in C) passes the texts of all other events to the SQL parser.
If the C code was not compiled, the SQL parser reads all events, which takes longer.
"""

from __future__ import annotations

from functools import cache

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.ingest.parse.event_layout import EventLayout, event_layout
from tracewh.ingest.read import EVENT_BYTES, Block, Cut, Resync, find_separators
from tracewh.schema import Column

try:
    from tracewh.ingest.native import _events
except ImportError:
    _events = None  # type: ignore[assignment]

_TEXT, _JSON = pa.string_view(), pa.json_(pa.string_view())
#: Arguments without a column that may decide what kind an event is of: a stream makes an event of an unknown
#: category a device event.
_DECIDING = {"host": ("stream",)}
#: The SQL for `raw`, for kinds that always have it.
_RAW = {
    "flow": """coalesce(p.raw, CASE WHEN p.bind = 'e' THEN '{"bp":"e"}'::JSON END)""",
    "memory": """coalesce(p.raw, '{"s":"t"}')""",
}
_ANY = (-(2**63), 2**63 - 1)
#: The kind of each category, and the columns that its plain events leave empty; the same for every trace.
_CATEGORIES: dict[bytes, tuple[str | None, list[int]]] = {}
MOST_CATEGORIES = 1000
_WIDTHS = {"INTEGER": (-(2**31), 2**31 - 1)}


class FastParser:
    """Reads the events of one file, buffer by buffer; a `Splitter`.

    Args:
        con: A connection to a database with the macros of sql/derive/event_kinds.sql.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.resync = Resync()
        self._con = con
        self._layout = event_layout(con)
        self._reader = new_reader(self._layout)

    def split(self, buffer: bytearray, last: bool) -> Cut:
        """See `Splitter.split`."""
        before = self._reader.events
        at, ended = 0, False
        commas: npt.NDArray[np.int64] | None = None
        while True:
            if not self.resync.is_lost:
                at, is_whole = self._read(buffer, at)
                if not is_whole and not last and len(buffer) - at <= EVENT_BYTES:
                    break
            if commas is None:
                commas = find_separators(np.frombuffer(buffer, np.uint8)[at:]) + at
            walk = self.resync.walk(buffer, at, commas, last)
            for event in walk.events:
                self._reader.add(event)
            at = walk.at
            if walk.stopped != "cut":
                ended = walk.stopped == "ended"
                break
        return Cut(self._block(buffer, self._reader.events - before), at, ended)

    def _read(self, buffer: bytearray, at: int) -> tuple[int, bool]:
        """Read events from the start of one, until something else than an event follows.

        Returns:
            The first byte that was not processed, and whether the buffer contains all of what starts there.
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
        """Tell the reader which kind the complete events of a new category are.

        The reader itself checks that a memory record has the name of one.
        """
        if word not in _CATEGORIES:
            [(table, with_stream, has_device)] = self._con.execute(
                "SELECT event_table('X', c.category, '[memory]', true, false),"
                " event_table('X', c.category, '[memory]', true, true),"
                " has_device_as_process(c.category)"
                " FROM (SELECT current_category(?, '') AS category) AS c",
                [word.decode()],
            ).fetchall()
            without = []
            if has_device:
                # The process id is the device: the export could not tell that there was an argument, too.
                without.append(_position(self._layout, "device", "device"))
            if with_stream != table:
                without.append(_position(self._layout, table, "stream"))
            found = table if table in self._layout.compiled else None, without
            if len(_CATEGORIES) == MOST_CATEGORIES:
                _CATEGORIES.clear()
            _CATEGORIES[word] = found
        self._reader.add_category(word, *_CATEGORIES[word])


def is_available() -> bool:
    """Whether the compiled reader was built."""
    return _events is not None


def new_reader(layout: EventLayout) -> _events.Reader:
    """Create a compiled reader of events."""
    return _events.Reader(
        {kind: _specs(layout, kind) for kind in layout.compiled}, layout.compiled_bounds
    )


@cache
def batch_schema(layout: EventLayout, kind: str) -> pa.Schema:
    """The schema of the batches that `insert_sql` reads."""
    types = {_events.WHOLE: pa.int64(), _events.TEXT: _TEXT}
    is_json = {name for name, type_ in layout.remainders.items() if type_ == "JSON"}
    fields = [(name, _JSON if name in is_json else types[t]) for name, t in _events.FIELDS]
    return pa.schema([*fields, *((c.name, _arrow_type(c)) for c in layout.kinds[kind])])


def insert_sql(layout: EventLayout, kind: str) -> str:
    """Return SQL that appends the plain events of a kind, from `plain_<kind>`, to its raw table."""
    computed = {
        "category": "current_category(p.raw_category, p.name)",
        "raw": _RAW.get(kind, "p.raw"),
    }
    names = [*layout.fields, *(column.name for column in layout.kinds[kind]), *layout.remainders]
    values = ", ".join(computed.get(name, f"p.{name}") for name in names)
    return f"INSERT INTO raw_{kind} SELECT {values} FROM plain_{kind} AS p"


def _specs(layout: EventLayout, kind: str) -> list[_events.Argument]:
    """Return the arguments of a kind for the compiled reader.

    Each is a key, its type in the file, the range of numbers that the type allows, the range of the column,
    and the number of the column. Older keys have the column of the current key.
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
    deciding = enumerate(_DECIDING.get(kind, ()), start=len(specs))
    return specs + [(key, _events.NO_TYPE, _ANY, _ANY, number) for number, key in deciding]


def _position(layout: EventLayout, kind: str, key: str) -> int:
    """Return the position of the column that the compiled reader has for an argument."""
    [number] = [number for each, *_, number in _specs(layout, kind) if each == key]
    return len(_events.FIELDS) + number


def _arrow_type(column: Column) -> pa.DataType:
    """The Arrow type that the reader writes; the database casts it to the type of the column."""
    if column.type.endswith("[]"):
        return pa.list_(_TEXT if column.type == "VARCHAR[]" else pa.int64())
    types = {"VARCHAR": _TEXT, "JSON": _JSON, "DOUBLE": pa.float64()}
    return types.get(column.type, pa.int64())


def _array(
    type_: pa.DataType, rows: int, found: _events.Column | None, heap: list[pa.Buffer]
) -> pa.Array:
    if found is None:
        return pa.nulls(rows, type_)
    if type_ == _JSON:  # known to be valid JSON: the database does not check it again
        return pa.ExtensionArray.from_storage(_JSON, _array(_TEXT, rows, found, heap))
    valid, values, *items = found
    buffers = [None if valid is None else pa.py_buffer(valid), pa.py_buffer(values)]
    if not items:
        return pa.Array.from_buffers(type_, rows, [*buffers, *heap] if type_ == _TEXT else buffers)
    [children] = items
    width = 16 if type_.value_type == _TEXT else 8
    child = _array(type_.value_type, len(children) // width, (None, children), heap)
    return pa.Array.from_buffers(type_, rows, buffers, children=[child])
