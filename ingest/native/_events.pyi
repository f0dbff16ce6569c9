"""The module that native/ compiles to."""

from typing import TypeAlias

Bounds: TypeAlias = tuple[int, int]
Argument: TypeAlias = tuple[str, int, Bounds, Bounds, int]
Column: TypeAlias = tuple[bytes | None, bytes] | tuple[bytes | None, bytes, bytes]

WHOLE: int
DECIMAL: int
FLAG: int
TEXT: int
SHAPE: int
WHOLES: int
TEXTS: int
WHOLES_AS_TEXT: int
NO_TYPE: int

#: The names and types of the columns of every kind.
FIELDS: tuple[tuple[str, int], ...]

def fill(buffer: bytearray, parts: list[bytes | bytearray], /) -> None: ...

class Reader:
    def __init__(
        self, kinds: dict[str, list[Argument]], bounds: tuple[int, int, float], /
    ) -> None: ...
    @property
    def events(self) -> int: ...
    def read(self, block: bytearray, at: int, /) -> tuple[int, str | bytes]: ...
    def add(self, text: bytes, /) -> None: ...
    def add_category(self, word: bytes, kind: str | None, without: list[int], /) -> None: ...
    def take(
        self, /
    ) -> tuple[bytes, tuple[bytes, bytes, bytes], dict[str, tuple[int, list[Column | None]]]]: ...
