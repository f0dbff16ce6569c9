"""The runner of .test files notices what is wrong, and a skip cannot hide in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.given import cases, cases_together

HERE = Path(__file__).parent
#: With the one plugin that matters here: some import for long.
PYTEST = (sys.executable, "-m", "pytest", "-p", "xdist", "-p", "no:cacheprovider")

TEST = """\
# A comment, also inside a paragraph.

given host_events
event_id  name     input_dims   concrete_inputs
# here
1         aten::a  [[1, 2], 3]  ['x', NULL]
2         ''       NULL         NULL

query right
SELECT h.run, h.event_id, h.name, h.input_dims, h.concrete_inputs, h.pid FROM host_events AS h
----
r  1  aten::a  [[1, 2], 3]  [x, NULL]  NULL
r  2  ''       NULL         NULL       NULL

query wrong
SELECT h.event_id, h.name FROM host_events AS h ORDER BY h.event_id
----
1  aten::b
2  ''

query other order
SELECT h.event_id FROM host_events AS h ORDER BY h.event_id
----
2
1

query one row too few
SELECT h.event_id FROM host_events AS h ORDER BY h.event_id
----
1

error right message
SELECT h.nothing FROM host_events AS h
----
does not have a column named "nothing"

error wrong message
SELECT h.nothing FROM host_events AS h
----
does not have a column named "something"

error that does not come
SELECT 1
----
anything

clear

query nothing is left
SELECT count(*) FROM host_events
----
0
"""

OTHER = """\
query rows of another file are not here
SELECT count(*) FROM host_events
----
0
"""


def run(
    folder: Path, *options: str, ci: bool = False, allowed: str = "", traces: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name != "TRACEWH_SHARED"}
    if traces:
        environ["TRACEWH_SHARED"] = str(traces)
    shutil.copy(HERE / "conftest.py", folder)
    (folder / "allowed_skips.txt").write_text(allowed, "utf-8")
    return subprocess.run(
        [*PYTEST, "-q", "--rootdir=.", *options],
        cwd=folder,
        env={
            **environ,
            "CI": str(ci).lower(),
            "PYTHONPATH": str(HERE.parent),
            "PYTEST_ADDOPTS": "",  # of whoever runs this
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_fails_and_what_it_prints(tmp_path: Path) -> None:
    (tmp_path / "a.test").write_text(TEST, "utf-8")
    (tmp_path / "b.test").write_text(OTHER, "utf-8")
    out = run(tmp_path).stdout
    assert "5 failed, 4 passed" in out
    assert "ORDER BY h.event_id\n\n- 1  aten::b\n+ 1  aten::a\n" in out
    assert "same rows, in another order or number; got:\n  1\n  2\n" in out
    assert "FROM host_events AS h ORDER BY h.event_id\n\n+ 2\n" in out
    assert '- does not have a column named "something"\n+ Binder Error' in out
    assert "SELECT 1\n\n- anything\n+ (1,)\n" in out


def test_a_paragraph_that_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.test").write_text("\n\nquery no rows are given\nSELECT 1\n", "utf-8")
    done = run(tmp_path)
    assert done.returncode != 0
    assert "a.test:3: not a given, query, error or clear paragraph" in done.stdout


TOGETHER = """\
given traces
run  start_ns
a    1
b    2

given steps
run       step
a         1
a         1
b/c       1
other     1

query a
FROM verdict_v1(run := 'a')
----
1

query b and what is below it
FROM verdict_v1(run := 'b', every_rule := TRUE)
----
1

query another argument
FROM verdict_v1(run := 'a', worker := 'w')
----
1

query two calls, which may be the same
FROM verdict_v1(run := 'a') UNION FROM verdict_v1()
----
1

query a table, too
FROM verdict_v1(run := 'a'), traces
----
1

error none
FROM verdict_v1(run := 'a')
----
no

given steps
run  step
a    2

query a with more
SELECT count(*) FROM verdict_v1(run := 'a')
----
1

query several sets of rows
FROM verdict_v1()
----
1

clear

given traces
run  start_ns
d    4

query d
FROM verdict_v1()
----
1
"""


def test_cases_share_the_answer_for_the_rows_of_each(tmp_path: Path) -> None:
    path = tmp_path / "verdict_v1.test"
    path.write_text(TOGETHER, "utf-8")
    first = (
        "given traces\nrun  start_ns\na    1\nb    2",
        "given steps\nrun       step\na         1\na         1\nb/c       1",
        "given traces\nrun  start_ns\nd    4",
    )
    second = (
        "given traces\nrun  start_ns\na    1",
        "given steps\nrun       step\na         1\na         1",
        "given steps\nrun  step\na    2",
    )
    assert {case.title: case.together for case in cases_together([*cases(path)])} == {
        "a": first,
        "b and what is below it": first,
        "another argument": (),
        "two calls, which may be the same": (),
        "a table, too": (),
        "none": (),
        "a with more": second,
        "several sets of rows": (),
        "d": first,
    }


def test_a_skip_is_a_failure_in_ci_unless_it_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import pytest\ndef test_it(): pytest.skip('why')\n", "utf-8"
    )
    assert run(tmp_path).returncode == 0
    done = run(tmp_path, ci=True)
    assert done.returncode == 1
    assert "skipped, and not in tests/allowed_skips.txt" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].startswith("1 skipped")
    assert run(tmp_path, ci=True, allowed="*test_a.py::test_it  because\n").returncode == 0


def test_a_skip_cannot_hide_in_one_of_several_processes(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import pytest\ndef test_it(): pytest.skip('why')\n", "utf-8"
    )
    (tmp_path / "test_b.py").write_text(
        "import pytest\npytest.skip('why', allow_module_level=True)\n", "utf-8"
    )
    (tmp_path / "test_c.py").write_text("def test_it(): pass\n", "utf-8")
    done = run(tmp_path, "-n2", ci=True)
    assert done.returncode == 1
    assert "skipped, and not in tests/allowed_skips.txt" in done.stdout
    assert "\ntest_a.py::test_it\ntest_b.py\n" in done.stdout
    allowed = "test_a.py::test_it  because\ntest_b.py  because\n"
    assert run(tmp_path, "-n2", ci=True, allowed=allowed).returncode == 0


NEEDS_TRACES = """\
from pathlib import Path

import pytest
import pytest
from conftest import SHARED
TRACES = sorted(path.name for path in SHARED.glob("traces/*"))
def test_without(): pass
def test_with(shared): pass
@pytest.mark.parametrize("trace", TRACES)
def test_each(trace): pass
"""


@pytest.fixture
def wants_traces(tmp_path: Path) -> Path:
    """A folder of tests, of which two want the shared traces; they are not there."""
    folder = tmp_path / "clone" / "tests"
    folder.mkdir(parents=True)
    (folder / "test_it.py").write_text(NEEDS_TRACES, "utf-8")
    return folder


def test_a_clone_with_nothing_beside_it_passes_in_ci(wants_traces: Path) -> None:
    done = run(wants_traces, ci=True)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 skipped" in done.stdout


def test_traces_that_are_named_have_to_be_there(wants_traces: Path) -> None:
    done = run(wants_traces, ci=True, traces=wants_traces / "nowhere")
    assert done.returncode == 1
    assert "skipped, and not in tests/allowed_skips.txt" in done.stdout


def test_what_was_skipped_for_want_of_traces_runs_once_they_are_there(
    wants_traces: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere" / "traces" / "a").mkdir(parents=True)
    once = f"--once={tmp_path / 'ran'}"
    for workers in ("-n0", "-n1"):
        (tmp_path / "ran").unlink(missing_ok=True)
        assert run(wants_traces, workers, once, ci=True).returncode == 0
        done = run(wants_traces, workers, once, ci=True, traces=tmp_path / "elsewhere")
        assert done.returncode == 0, done.stdout
        assert "2 passed" in done.stdout and "skipped" not in done.stdout
    assert (tmp_path / "ran").read_text("utf-8").splitlines() == [
        "test_it.py::test_without",
        "test_it.py::test_each[a]",
        "test_it.py::test_with",
    ]
