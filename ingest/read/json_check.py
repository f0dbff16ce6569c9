"""What makes a text that reads as JSON valid to the letter."""

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
    """Whether a text is JSON by the letter, with numbers that a double can hold."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def is_json(text: bytes) -> bool:
    """Whether a text that was read as JSON is valid in every byte, with numbers of any size."""
    if is_strict(text):
        return True
    try:
        json.loads(text.decode(), parse_int=str, parse_float=str)
    except ValueError:
        return False
    except RecursionError:  # too deep for that parser, and read already by this one
        return True
    return True


def _paired(escape: re.Match[bytes]) -> bytes:
    return _REPLACEMENT if escape[1] else escape[0]


#: What stands wrong in a text wherever it stands, by its cause, and how it is put right.
LAST_REPAIRS: dict[str, Callable[[bytes], bytes]] = {
    "bad_utf8": lambda text: text.decode("utf-8", "replace").encode(),
    "control_characters": lambda text: _ODD_SPACE.sub(b" ", text),
    "lone_surrogates": lambda text: _SURROGATES.sub(_paired, text),
}
