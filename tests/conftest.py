"""Runs the .test files, one pytest item per query, counts skips, and makes what tests share."""

from __future__ import annotations

import fcntl
import functools
import gc
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from _pytest._code.code import TerminalRepr

from tests.given import Case, Mismatch, Tables, cases, cases_together
from tests.quick_ingest import kept_databases, kept_readers, without_database
from tracewh.views import ViewError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    import tracewh

__all__ = ["kept_databases", "kept_readers", "without_database"]

ROOT = Path(__file__).parents[1]

#: The traces and figures that tests share; a test that needs them skips where they are missing.
SHARED = Path(os.environ.get("TRACEWH_SHARED", ROOT.parent / "shared")).resolve()


# What a shell runs in the background ignores interrupts, and so would all that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Plain recomputations read millions of JSON values: looking for cycles among them takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)

# pytest_xdist_setupnodes sets it for this process only: what the tests start runs without it, as for users.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("LD_PRELOAD", None)
    os.environ.pop("DUCKDB_JE_MALLOC_CONF", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Give the processes of pytest-xdist jemalloc, where it is installed.

    DuckDB plans thousands of small queries here, and malloc takes a quarter of the time. jemalloc takes
    half as long. DuckDB has one of its own for rows, and gives memory back after a second, which the next query then
    has to get again. Here it keeps it for ten.
    """
    os.environ.setdefault("DUCKDB_JE_MALLOC_CONF", "dirty_decay_ms:10000")
    if jemalloc := find_library("jemalloc"):
        os.environ.setdefault("LD_PRELOAD", jemalloc)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files stay whole, and those on Spark together: a process that runs one starts a cluster."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if nodeid.startswith("tests/spark/") else super()._split_scope(nodeid)

    return Scheduling(config, log)


@functools.cache
def _tables() -> Tables:
    return Tables()


class SqlFile(pytest.File):
    """A .test file."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            for case in cases_together(list(cases(self.path))):
                yield SqlItem.from_parent(self, name=case.title, case=case)
        except ValueError as error:
            raise self.CollectError(str(error)) from None


class SqlItem(pytest.Item):
    """One query or error of a .test file."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def runtest(self) -> None:
        self.case.run(_tables())

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str | TerminalRepr:
        if isinstance(excinfo.value, (Mismatch, ViewError, duckdb.Error)):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.line, f"{self.path.name}: {self.name}"


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    return SqlFile.from_parent(parent, path=file_path) if file_path.suffix == ".test" else None


#: What a test says that skips because the shared traces are not there.
NO_TRACES = "needs the shared traces"

_skipped: set[str] = set()
_ran: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--once",
        type=Path,
        metavar="FILE",
        help="leave out the tests that FILE names, and add the names of those that run to it",
    )


#: What `pytest -m quick` runs, by path: of each room the tests that start no process, no server and no
#: browser, and ingest no recorded trace. Of a .test file it runs the first case only.
QUICK = (
    "*.test",
    "test_rooms.py",
    "test_schema.py",
    "cli/output/test_output.py",
    "docs/test_prose.py",
    "ingest/parse/test_native.py",
    "ingest/read/test_buffers.py",
    "ingest/read/test_reader.py",
    "ingest/sources/test_discover.py",
    "ingest/test_api.py",
    "spark/test_distributed.py",
    "sql/test_queries.py",
    "sql/test_sql_rules.py",
    "storage/remote/test_location.py",
    "storage/test_layout.py",
    "views/test_names.py",
    "views/test_registry.py",
)


@functools.cache
def _is_quick(path: Path) -> bool:
    name = path.relative_to(Path(__file__).parent).as_posix()
    return any(fnmatch(name, pattern) for pattern in QUICK)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "quick: less than a minute for all, QUICK in conftest.py lists them"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what a short run leaves out: torch and PySpark alone take seconds."""
    if config.option.markexpr != "quick" or collection_path.is_dir():
        return None
    return None if _is_quick(collection_path) else True


#: What takes longest, by path: several processes begin with it, so that none is left alone with it at the end.
LONGEST = (
    "spark/*",
    "views/test_distributes.py",
    "views/test_every_view.py",
    "docs/test_notebook.py",
    "storage/test_crashes.py",
    "docs/test_reference.py",
)


@functools.cache
def _place_of(path: Path) -> int:
    name = path.relative_to(Path(__file__).parent).as_posix()
    return next((n for n, pattern in enumerate(LONGEST) if fnmatch(name, pattern)), len(LONGEST))


def _place(item: pytest.Item) -> int:
    return _place_of(item.path)


def _mark_quick(items: list[pytest.Item]) -> None:
    seen = set()
    for item in items:
        is_first = item.path not in seen
        seen.add(item.path)
        if _is_quick(item.path) and (is_first or item.path.suffix != ".test"):
            item.add_marker("quick")


# First: what selects by markers comes after.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _mark_quick(items)
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=_place)
    file: Path | None = config.getoption("--once")
    if file is None or not file.exists():
        return
    ran = set(file.read_text("utf-8").splitlines())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in ran])
    items[:] = [item for item in items if item.nodeid not in ran]


def _note_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Remember a skip, unless there is nothing to be done about it: no folder of shared traces.

    What is parametrized by the traces has no parameters then. A folder that TRACEWH_SHARED names
    has to be there.
    """
    said = str(report.longrepr)
    wants_traces = NO_TRACES in said or "got empty parameter set" in said
    if not (wants_traces and "TRACEWH_SHARED" not in os.environ and not SHARED.is_dir()):
        _skipped.add(report.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _note_skip(report)
    elif report.when == "call":
        _ran.add(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _note_skip(report)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Of what a process of pytest-xdist skips, whole files are not reported to this one."""
    _skipped.update(getattr(node, "workeroutput", {}).get("skipped", []))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where CI=true a skip is a failure, unless allowed_skips.txt has it: it hides what broke."""
    lines = (Path(__file__).parent / "allowed_skips.txt").read_text("utf-8").splitlines()
    allowed = [line.split("  ")[0] for line in lines if line and not line.startswith("#")]
    _skipped.difference_update(
        [name for name in _skipped if any(fnmatch(name, each) for each in allowed)]
    )
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["skipped"] = sorted(_skipped)
        return
    if os.environ.get("CI") == "true" and _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    file: Path | None = session.config.getoption("--once")
    if file is not None:
        with file.open("a", encoding="utf-8") as names:
            names.writelines(f"{name}\n" for name in sorted(_ran))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("CI") == "true" and _skipped:
        terminalreporter.section("skipped, and not in tests/allowed_skips.txt")
        for name in sorted(_skipped):
            terminalreporter.line(name)


@pytest.fixture
def tables() -> Iterator[Tables]:
    """All tables, empty; what a test inserts or creates is gone after it."""
    tables = _tables()
    tables.empty()
    created = set(tables.created)
    tables.con.execute("BEGIN")
    yield tables
    tables.con.execute("ROLLBACK")
    tables.created = created


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared traces and figures."""
    if not (SHARED / "traces").is_dir():
        pytest.skip(f"{NO_TRACES}: no folder {SHARED / 'traces'} (see TRACEWH_SHARED)")
    return SHARED


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that all processes of a test run read: the first one to want it fills it."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / name
    folder.mkdir(exist_ok=True)
    with (folder / ".made").open("a") as made:
        fcntl.flock(made, fcntl.LOCK_EX)
        if not made.seek(0, os.SEEK_END):
            make(folder)
            made.write("made")
    return folder


@pytest.fixture(scope="session")
def corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """A warehouse with every shared trace of the PyTorch profiler in it."""
    import tracewh
    from tests.copied import CopiedWarehouse
    from tracewh.ingest.api import drop

    def ingest(folder: Path) -> None:
        tracewh.ingest([shared / "traces"], folder / "warehouse")
        with tracewh.open(folder / "warehouse") as warehouse:
            others = warehouse.sql(
                "SELECT DISTINCT t.run FROM traces AS t WHERE t.source <> 'kineto'"
            )
            runs = [run for (run,) in others.fetchall()]
        for run in runs:
            drop(folder / "warehouse", run)

    with CopiedWarehouse(made_once(tmp_path_factory, "corpus", ingest) / "warehouse") as warehouse:
        yield warehouse


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; a process of tests starts it once."""
    from playwright.sync_api import sync_playwright

    # The shell is the same engine without windows and menus, and takes half the CPU time.
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


#: The samples of a CPU: small enough for whatever a test asks of them.
CPU_SAMPLES = [
    ROOT / "samples" / run for run in ("ddp_gloo", "resnet_workers_0", "resnet_workers_2")
]


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """A warehouse with the bundled samples of a CPU in it."""
    yield from _ingested(tmp_path_factory, "samples", CPU_SAMPLES)


@pytest.fixture(scope="session")
def all_samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """A warehouse with all bundled samples in it, also those of a GPU."""
    yield from _ingested(tmp_path_factory, "all_samples", [ROOT / "samples"])


def _ingested(
    tmp_path_factory: pytest.TempPathFactory, name: str, given: list[Path]
) -> Iterator[tracewh.Warehouse]:
    import tracewh

    def ingest(folder: Path) -> None:
        tracewh.ingest(given, folder / "warehouse")

    with tracewh.open(made_once(tmp_path_factory, name, ingest) / "warehouse") as warehouse:
        yield warehouse
