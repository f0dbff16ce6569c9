"""Check that a text is strictly valid JSON, and the repairs that apply anywhere in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import orjson

_SURROGATES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_ODD_SPACE = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_REPLACEMENT = "\ufffd".encode()


def is_strict(text: bytes) -> bool:
    """Whether a text is strictly valid JSON whose numbers all fit into a double."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def is_json(text: bytes) -> bool:
    """Whether a text is strictly valid JSON, with numbers of any size."""
    if is_strict(text):
        return True
    try:
        json.loads(text.decode(), parse_int=str, parse_float=str)
    except ValueError:
        return False
    except RecursionError:  # too deep for this parser; `Scanner` has already read the text
        return True
    return True


def _paired(escape: re.Match[bytes]) -> bytes:
    return _REPLACEMENT if escape[1] else escape[0]


#: Repairs that do not depend on the position in a text, by cause.
LAST_REPAIRS: dict[str, Callable[[bytes], bytes]] = {
    "bad_utf8": lambda text: text.decode("utf-8", "replace").encode(),
    "control_characters": lambda text: _ODD_SPACE.sub(b" ", text),
    "lone_surrogates": lambda text: _SURROGATES.sub(_paired, text),
}
