"""What commands print, in pages that people write.

A block of ```console shows commands, each on a line that begins with `$ ` (and goes on after a `\\` at
its end), and below each what it prints on a terminal. The commands are the writer's; the outputs are
filled in here, asked of a warehouse of the bundled samples.
"""

from __future__ import annotations

import functools
import re
import shlex
from pathlib import Path

from docs.examples import ExampleError, Examples, in_terminal

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
WRITTEN = "<!-- Written by "


def render(docs: Path, examples: Examples) -> dict[str, str]:
    """Every page with such a block, by its path below docs/, as it should be.

    Raises:
        ExampleError: A command of a page does not work.
    """
    pages = {}
    for path in sorted(docs.rglob("*.md")):
        name, text = path.relative_to(docs).as_posix(), path.read_text("utf-8")
        if WRITTEN not in text and BLOCK.search(text):
            fill = functools.partial(_block, page=name, examples=examples)
            pages[name] = BLOCK.sub(fill, text)
    return pages


def _block(block: re.Match[str], page: str, examples: Examples) -> str:
    commands = [found[1] for found in COMMAND.finditer(block[1])]
    shown = "\n\n".join(f"$ {line}\n{_output(line, page, examples)}" for line in commands)
    return f"```console\n{shown}\n```"


def _output(line: str, page: str, examples: Examples) -> str:
    program, *words = shlex.split(line.replace("\\\n", ""))
    if program != "tracewh":
        raise ExampleError(f"docs/{page}: `{line}` is no command of tracewh")
    code, printed = in_terminal([*words, "-w", str(examples.warehouse("samples"))])
    if code:
        raise ExampleError(f"docs/{page}: `{line}`: {printed.rstrip()}")
    return printed.rstrip()
