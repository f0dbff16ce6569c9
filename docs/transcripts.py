"""Fill in the output of commands in hand-written pages.

A block of ```console shows commands, each on a line that begins with `$ ` (and continues after a `\\` at
its end), and below each its output on a terminal. People write the commands. This module runs them on a
warehouse of the bundled samples and writes the output.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from docs.examples import ExampleError, Examples, in_terminal

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
WRITTEN = "<!-- Written by "


def render(docs: Path, examples: Examples) -> dict[str, str]:
    """The current text of every page with such a block, by its path below docs/.

    Raises:
        ExampleError: A command of a page does not work.
    """
    pages = {}
    output = functools.cache(functools.partial(_output, examples=examples))  # pages show the same
    for path in sorted(docs.rglob("*.md")):
        name, text = path.relative_to(docs).as_posix(), path.read_text("utf-8")
        if WRITTEN not in text and BLOCK.search(text):
            try:
                pages[name] = BLOCK.sub(functools.partial(_block, output=output), text)
            except ExampleError as error:
                raise ExampleError(f"docs/{name}: {error}") from None
    return pages


def _block(block: re.Match[str], output: Callable[[str], str]) -> str:
    commands = [found[1] for found in COMMAND.finditer(block[1])]
    shown = "\n\n".join(f"$ {line}\n{output(line)}" for line in commands)
    return f"```console\n{shown}\n```"


def _output(line: str, examples: Examples) -> str:
    program, *words = shlex.split(line.replace("\\\n", ""))
    if program != "tracewh":
        raise ExampleError(f"`{line}` is not a command of tracewh")
    with patch.dict(os.environ, {"TRACEWH_WAREHOUSE": str(examples.warehouse("samples"))}):
        code, printed = in_terminal(words)
    if code:
        raise ExampleError(f"`{line}`: {printed.rstrip()}")
    return printed.rstrip()
