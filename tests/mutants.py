"""Changes one token of the SQL at a time, and runs the tests: what survives, no test would miss.

    python -m tests.mutants --seed 1 --count 200

A mutant is a view, a block, a slice or a derived table with one comparison, sign, join, aggregate,
coalesce, condition, order or constant changed. Its tests are the .test files whose queries need it and, for a
view or a block, the test_<name>.py beside it; for sql/derive the tests of ingest as well. One that cannot be created is drawn
anew. A survivor that `equivalent_mutants.txt` names answers the same for every input, and the file says why.

Each is tried in a process of its own, which has all macros and replaces one. Tests in Python run in a
copy of the checkout.

It prints each survivor and exits with 1 where fewer than 95 % of the others are killed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokenizer_core import Token, TokenType

from tests.derived_tables import STEP_ROLES
from tests.given import Mismatch, Tables, cases, paragraphs
from tracewh.views.registry import Registry, ViewError, installed
from tracewh.views.spec import HeaderError, parse

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
FOLDERS = ("views", "sql/blocks", "sql/functions", "sql/slices", "sql/derive")
#: Tests of what ingest derives; the other ones of ingest are about bytes and files.
OF_DERIVE = [
    *(f"tests/ingest/parse/test_{name}.py" for name in (
        "argument_columns", "counters_and_flows", "event_columns", "fast_parser",
    )),
    *(f"tests/ingest/link/test_{name}.py" for name in (
        "link_tasks", "nesting", "operator_costs", "operators", "stacks", "step_activity", "steps", "trace_facts",
    )),
    "tests/ingest/test_reconstruct.py",
]  # fmt: skip
WANTED_PCT = 95
#: A mutant whose tests take longer counts as killed: many of recursive queries never end.
SECONDS = 300
#: How a process ends that tried one; by a signal, too, it is killed.
SURVIVED, KILLED, BROKEN = 0, 1, 2

#: By the text of a token, in upper case: what stands in its place.
TOKENS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=",
    "+": "-", "-": "+", "/": "*",
    "AND": "OR", "OR": "AND", "NOT": "", "DESC": "", "DISTINCT": "",
    "SEMI": "ANTI", "ANTI": "SEMI", "INNER": "LEFT", "LEFT": "INNER",
    "TRUE": "FALSE", "FALSE": "TRUE",
}  # fmt: skip
#: The same for names of functions.
FUNCTIONS = {
    "sum": "max", "max": "min", "min": "max", "avg": "max", "median": "max", "count": "max",
    "bool_or": "bool_and", "bool_and": "bool_or", "arg_max": "arg_min", "arg_min": "arg_max",
    "greatest": "least", "least": "greatest", "list_sum": "list_max", "list_max": "list_min",
    "row_number": "rank", "lag": "lead", "lead": "lag", "starts_with": "contains",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file.

    Attributes:
        path: The file, from the root of the checkout.
        start: First character that is replaced.
        end: The one after the last.
        line: Of the change, from 1.
    """

    path: str
    start: int
    end: int
    text: str
    line: int

    def applied(self) -> str:
        """The file with the change."""
        before = (ROOT / self.path).read_text("utf-8")
        return before[: self.start] + self.text + before[self.end :]

    def __str__(self) -> str:
        """How equivalent_mutants.txt names it: the changed line, not its number."""
        before = (ROOT / self.path).read_text("utf-8")
        first = before.rfind("\n", 0, self.start) + 1
        last = before.find("\n", self.end)
        change = (
            before[first : self.start] + f"[{before[self.start : self.end]} -> {self.text}]"
        ) + before[self.end : last]
        return f"{self.path}: {' '.join(change.split())}"


def mutants(path: str) -> Iterator[Mutant]:
    """Every mutant of a file."""
    sql = (ROOT / path).read_text("utf-8")
    tokens = DuckDB().tokenize(sql)
    for place, token in enumerate(tokens):
        following = tokens[place + 1 : place + 3]
        for end, text in _changes(sql, token, tokens[:place], following):
            yield Mutant(path, token.start, end, text, token.line)


def _changes(
    sql: str, token: Token, before: Sequence[Token], following: Sequence[Token]
) -> Iterator[tuple[int, str]]:
    """Where each replacement of a token ends, and its text."""
    end, word = token.end + 1, sql[token.start : token.end + 1]
    after = following[0].text.upper() if following else ""
    last = before[-1].text.upper() if before else ""
    is_half = word in "<>" and (sql[token.start - 1] in "<>" or sql[end] in "<>")  # of << or >>
    if token.token_type is TokenType.STRING or is_half:
        return
    if word.upper() == "IS" and following:
        if after == "NULL":
            yield end, "IS NOT"
        elif after == "NOT" and following[1].text.upper() == "NULL":
            yield following[0].end + 1, "IS"
    elif word.upper() == "UNION" and after == "ALL":
        yield following[0].end + 1, "UNION"
    elif word in FUNCTIONS and after == "(" and last != ".":
        if not (word == "count" and following[1].text in ("*", "DISTINCT")):
            yield end, FUNCTIONS[word]
    elif word == "coalesce" and after == "(":
        first, closing = _first_argument(sql, following[0].start)
        yield closing + 1, f"({first})"
    elif (
        (word == "NOT" and last in ("IS", "IF"))
        or (word in ("LEFT", "INNER", "SEMI", "ANTI") and after != "JOIN")
        or (word in ("TRUE", "FALSE") and last == "CASCADE")
    ):
        return
    elif token.token_type is TokenType.NUMBER and word.isdecimal() and last not in ("(", "ROWS"):
        yield end, str(int(word) + 1)
    elif word == "*" and last not in ("(", ".", "SELECT", ",", ""):
        yield end, "/"
    elif word.upper() in TOKENS and word != "*":
        if word == "=" and last == ":":
            return
        yield end, TOKENS[word.upper()]


def _first_argument(sql: str, opening: int) -> tuple[str, int]:
    """The first argument of a call, and where its closing parenthesis is."""
    depth, comma, quote = 0, None, False
    for place in range(opening, len(sql)):
        letter = sql[place]
        quote ^= letter == "'"
        if quote:
            continue
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 1 and comma is None:
            comma = place
        if depth == 0:
            return sql[opening + 1 : comma or place], place
    raise AssertionError("a call without its end")


class Tests:
    """Which tests a file of SQL has."""

    def __init__(self, registry: Registry) -> None:
        settled = registry.needs(STEP_ROLES)
        self._needs: dict[str, set[str]] = {}
        for file in sorted(ROOT.glob("tests/**/*.test")):
            text = "\n".join(part for _, part in paragraphs(file.read_text("utf-8")))
            needed = set(registry.needs(text))
            # Both are written to tables before a query runs, see tests/derived_tables.py.
            if "step_activity" in needed:
                needed |= set(settled)
            self._needs[str(file.relative_to(ROOT))] = needed

    def of(self, path: str) -> list[str]:
        """Files to run, those that are named after it first."""
        if path.startswith("sql/derive/"):
            settled = {
                "operator_costs",
                "stacks",
            }  # by tests/derived_tables.py, with what ingest derives
            return [*OF_DERIVE, *(file for file, needed in self._needs.items() if needed & settled)]
        name = Path(path).stem
        wanted = [file for file, needed in self._needs.items() if name in needed]
        folder = "sql/blocks" if path.startswith("sql/") else "views"
        in_python = f"tests/{folder}/test_{re.sub(r'_v[0-9]+$', '', name)}.py"
        return [
            *sorted(wanted, key=lambda file: Path(file).stem != name),
            *([in_python] if (ROOT / in_python).exists() else []),
        ]


def is_created(mutant: Mutant) -> bool:
    """Whether the database takes the mutant at all."""
    sql = mutant.applied()
    try:
        if mutant.path.startswith("sql/derive/"):
            return bool(duckdb.extract_statements(sql))
        registry = Registry.of(
            parse(sql, spec.path) if spec.path == mutant.path else spec
            for spec in installed().all()
        )
        with duckdb.connect() as con:
            name = Path(mutant.path).stem
            registry.create(con, registry.needs(f"FROM {name}, {name}()"))
    except (duckdb.Error, HeaderError, ViewError):
        return False
    return True


def survives(mutant: Mutant, files: Sequence[str], tables: Tables) -> bool:
    """Whether all tests pass with the mutant."""
    if mutant.path.startswith("sql/derive/"):
        return _survives_in_a_copy(mutant, files)
    sql = parse(mutant.applied(), mutant.path).sql
    tables.con.execute(
        re.sub("^CREATE (MACRO|VIEW)", r"CREATE OR REPLACE \1", sql, flags=re.MULTILINE)
    )
    try:
        for file in files:
            if file.endswith(".test"):
                for case in cases(ROOT / file):
                    case.run(tables)
    except (Mismatch, ViewError, duckdb.Error):
        return False
    in_python = [file for file in files if file.endswith(".py")]
    return not in_python or _survives_in_a_copy(mutant, in_python)


def _survives_in_a_copy(mutant: Mutant, files: Sequence[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        skipped = shutil.ignore_patterns("__pycache__", "fuzz", ".*", "build")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=skipped)
        (copy / mutant.path).write_text(mutant.applied(), "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-n0", "-x", "-q", "-p", "no:cacheprovider", *files],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), "CI": "false"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{mutant}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


def _try(mutant: Mutant, files: Sequence[str], tables: Tables) -> int:
    """The exit status of a process that tries one."""
    signal.alarm(SECONDS)
    try:
        return SURVIVED if survives(mutant, files, tables) else KILLED
    except BaseException:  # noqa: BLE001  # whatever it is, the parent's work is not its
        traceback.print_exc()
        return BROKEN


def equivalents() -> dict[str, str]:
    """Mutants that answer the same, and why: pairs of lines, the mutant and its reason."""
    lines = [
        line for line in EQUIVALENT.read_text("utf-8").splitlines() if line[:1] not in ("", "#")
    ]
    return dict(zip(lines[::2], map(str.strip, lines[1::2]), strict=True))


def draw(count: int, seed: int, only: str) -> list[Mutant]:
    """As many different mutants, each of them as likely as any other, that the database takes."""
    paths = [
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.sql"))
    ]
    every = [mutant for path in paths if re.search(only, path) for mutant in mutants(path)]
    random.Random(seed).shuffle(every)
    chosen: list[Mutant] = []
    for mutant in every:
        if len(chosen) == count:
            break
        if is_created(mutant):
            chosen.append(mutant)
    return chosen


def main() -> int:
    """Draw mutants, test them and print what survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="a regular expression for paths")
    given = parser.parse_args()
    tests = Tests(installed())
    known = equivalents()
    drawn = draw(given.count, given.seed, given.only)
    unknown = [mutant for mutant in drawn if str(mutant) not in known]
    named = len(drawn) - len(unknown)
    survivors: list[Mutant] = []
    tables = Tables()
    tables.prepare(None)
    tables.con.execute("SET memory_limit = '2GB'; SET temp_directory = ''")  # joins may explode
    running: dict[int, Mutant] = {}
    while unknown or running:
        while unknown and len(running) < given.jobs:
            mutant = unknown.pop()
            pid = os.fork()
            if pid == 0:
                os._exit(_try(mutant, tests.of(mutant.path), tables))
            running[pid] = mutant
        pid, status = os.wait()
        mutant, code = running.pop(pid), os.waitstatus_to_exitcode(status)
        if code == BROKEN:
            raise RuntimeError(f"{mutant}: see above")
        if code == SURVIVED:
            survivors.append(mutant)
            print(f"{mutant.path}:{mutant.line}\n    {mutant}", flush=True)
        print(f"\r{len(unknown) + len(running)} left ", end="", file=sys.stderr, flush=True)
    counted = len(drawn) - named
    killed = counted - len(survivors)
    print(
        f"{killed} of {counted} killed, {100 * killed / max(counted, 1):.1f} %; {named} equivalent"
    )
    return int(100 * killed < WANTED_PCT * counted)


if __name__ == "__main__":
    sys.exit(main())
