"""Text for readers is plain English: none of the words in private_words.txt, each of which has a better one.

To hold more files to the list, add their pattern to READ. What counts as prose depends on the kind of file:
pages without their code, comments and texts of Python, comments of SQL and of tests.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from docs.transcripts import WRITTEN

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("private_words.txt")
#: Whose prose is held to the list; patterns from the root.
READ = (
    "*.md",
    "docs/**/*.md",
    "docs/*.py",
    "cli/**/*.py",
    "ingest/**/*.py",
    "sql/**/*.sql",
    "tracewh/*.py",
    "tracewh/spark/*.py",
    "tracewh/storage/**/*.py",
    "views/**/*.sql",
    "views/*.py",
    "bench/README.md",
    "samples/README.md",
    "samples/notebooks/*.ipynb",
    "tests/fuzz/README.md",
    "tests/parity/differences.txt",
    ".github/**/*.yml",
)
#: Between two words of a phrase: white space; at a line break also the sign of a comment, or the quotes of
#: a text that continues.
GAP = r"(?:\s|^[ \t]*(?:--|#+|//|\*|>)[ \t]?|[\"'][ \t]*\n[ \t]*[a-zA-Z]?[\"'])+"
#: Stands for each character that is no prose, so that a phrase does not reach over it.
CODE = "\0"

#: Tokens of Python with prose in them; since 3.12 a formatted text is several.
TEXTS = {
    getattr(tokenize, name, tokenize.STRING)
    for name in ("COMMENT", "STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
}


class Word(NamedTuple):
    """A line of the list."""

    pattern: re.Pattern[str]
    instead: str


class Found(NamedTuple):
    """A private word in a text."""

    line: int
    word: str
    instead: str


def words(text: str) -> list[Word]:
    """The list."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = (re.split(r"\s{2,}", line, maxsplit=1) for line in lines)
    return [
        Word(
            re.compile(rf"\b(?:{pattern.replace(' ', GAP)})\b", re.IGNORECASE | re.MULTILINE),
            instead,
        )
        for pattern, instead in pairs
    ]


def blanked(pattern: str, text: str) -> str:
    """A text without what matches. Every line keeps its number."""
    return re.sub(
        pattern,
        lambda match: re.sub(r"\S", CODE, match[0]),
        text,
        flags=re.MULTILINE | re.DOTALL,
    )


def of_page(text: str) -> str:
    """A page of Markdown without code and without where links lead."""
    text = blanked(r"^(```+).*?^\1|^(?: {4}|\t)(?! *[-*\d]).*?$", text)
    return blanked(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->", text)


def of_python(text: str) -> str:
    """The comments and texts of a module, without code that they quote."""
    source = text.splitlines(keepends=True)
    first_of = [0]
    for line in source:
        first_of.append(first_of[-1] + len(line))
    prose = re.sub(r"\S", CODE, text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in TEXTS:
            start, end = (first_of[line - 1] + column for line, column in (token.start, token.end))
            is_formatted = re.match(r"\w*f\w*[\"']", text[start:end], re.IGNORECASE)
            shown = blanked(r"\{[^{}]*\}", text[start:end]) if is_formatted else text[start:end]
            prose = prose[:start] + shown + prose[end:]
    return blanked(r"``?[^`\n]*``?", prose)


def of_comments(text: str) -> str:
    """What follows `--` in SQL, and `#` in other files."""
    return blanked(r"^(?:(?!--|#).)*?(?=--|#|$)", text)


def of_notebook(text: str) -> str:
    """Each line of a cell without the quotes that JSON puts around it."""
    return of_page(re.sub(r'^ *"|(?:\\n)?",?$', "", text, flags=re.MULTILINE))


KINDS: dict[str, Callable[[str], str]] = {
    ".ipynb": of_notebook,
    ".md": of_page,
    ".py": of_python,
    ".sql": of_comments,
    ".test": of_comments,
    ".txt": lambda text: text,
    ".yml": lambda text: text,
}


def found(text: str, listed: list[Word]) -> Iterator[Found]:
    """The private words of a text, by line."""
    for pattern, instead in listed:
        for match in pattern.finditer(text):
            yield Found(text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead)


def pages() -> list[Path]:
    """The files that people write and others read."""
    paths = {path for pattern in READ for path in ROOT.glob(pattern)}
    return sorted(
        path for path in paths if path.suffix != ".md" or WRITTEN not in path.read_text("utf-8")
    )


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_words(page: Path) -> None:
    prose = KINDS[page.suffix](page.read_text("utf-8"))
    lines = [
        f"{page.relative_to(ROOT)}:{line}: '{word}': write {instead}"
        for line, word, instead in sorted(found(prose, words(LIST.read_text("utf-8"))))
    ]
    assert not lines, "\n" + "\n".join(lines)


def test_the_list_names_a_better_word_for_each() -> None:
    listed = words(LIST.read_text("utf-8"))
    assert len(listed) > 30
    assert [word.pattern.pattern for word in listed if not word.instead.strip()] == []


LISTED = words("take in  ingest\nasked  queried\n")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (".md", "You take in a trace.\n", [(1, "take in", "ingest")]),
        (".ipynb", '{\n    "Take\\n",\n    "in a trace."\n', [(2, "Take in", "ingest")]),
        (
            ".md",
            "One.\nIt is Asked,\nand we take\nin two.\n",
            [(2, "Asked", "queried"), (3, "take in", "ingest")],
        ),
        (".md", "`asked` and\n```sh\nasked\n```\n    asked --now\n[a](asked.md)\n", []),
        (".md", "- one\n    - asked\n", [(2, "asked", "queried")]),
        (".md", "intake infasked tasked\n", []),
        (
            ".py",
            '"""Asked."""\nasked = 1  # to take\n# in\n',
            [(1, "Asked", "queried"), (2, "take # in", "ingest")],
        ),
        (".py", 'asked(f"a {asked} is asked")\n', [(1, "asked", "queried")]),
        (
            ".sql",
            "-- asked\nSELECT asked -- take\n-- in\n",
            [(1, "asked", "queried"), (2, "take -- in", "ingest")],
        ),
        (".sql", "SELECT asked;\n", []),
        (".md", "You take `a` in.\n", []),
        (".py", 'f("take", "in")\ng("we take "\n  f"in")\n', [(2, 'take " f"in', "ingest")]),
    ],
)
def test_private_words_are_found_in_prose_only(
    kind: str, text: str, expected: list[tuple[int, str, str]]
) -> None:
    assert sorted(found(KINDS[kind](text), LISTED)) == expected


def test_pages_that_people_write_are_read_and_written_ones_are_not() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in pages()}
    assert {"README.md", "CHANGELOG.md", "docs/howto/sql.md", "docs/reference.py"} <= names
    assert not {"docs/views.md", "docs/views/runs.md", "docs/tables.md"} & names
