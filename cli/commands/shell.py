"""`tracewh shell`: open the DuckDB shell on the warehouse."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tracewh.cli.diagnostics.errors import CliError

#: Makes DuckDB 1.5 plan `verdict` twice as fast, and no view slower. The shell of 2.0 knows it, too.
PLAN_QUICKLY = "SET disabled_optimizers = 'statistics_propagation'"


def open_shell(warehouse: str) -> int:
    """Replace this process with the DuckDB shell; on Windows, run it and return its exit code."""
    from tracewh.views.database import DATABASE, ensure_database
    from tracewh.views.warehouse import find

    root = find(warehouse)
    beside = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    program = shutil.which("duckdb", path=beside)
    if program is None:
        raise CliError("the DuckDB shell is not installed: pip install duckdb-cli")
    ensure_database(root)
    sys.stdout.flush()
    words = [program, "-readonly", "-cmd", PLAN_QUICKLY, str(root / DATABASE)]
    if os.name == "posix":
        os.execv(program, words)
    import subprocess  # on Windows execv would return to the prompt before the shell ends

    return subprocess.call(words)
