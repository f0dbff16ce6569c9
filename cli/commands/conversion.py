"""Converters of options and arguments. Typer's own load pydantic, a quarter of the time of a short command."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

#: How the words of the command line become a value, by the type of the option. A flag has no words.
CONVERTERS: dict[Any, Callable[[Any], Any]] = {str: str, Path: Path, list[str]: list}


@dataclass(frozen=True)
class Converter:
    """Converts the values of one option or argument; what it does not know, as Typer does."""

    kind: Any
    typers_own: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option, which is None or empty if it was not given."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self.kind in CONVERTERS:
            return CONVERTERS[self.kind](value)
        return self.typers_own().coerce(value, param=param, ctx=ctx)


def convert_directly(params: Iterable[Any]) -> None:
    """Make parameters convert their values without pydantic, where this version of Typer would use it."""
    for param in params:
        own = getattr(param, "get_runtime_param", None)
        descriptor = getattr(param, "type_descriptor", None)
        if own and descriptor and not isinstance(own, partial):
            param.get_runtime_param = partial(Converter, descriptor.annotation, own)
