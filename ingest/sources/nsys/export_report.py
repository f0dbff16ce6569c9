"""Export a report of Nsight Systems with the user's own nsys: nothing else can read it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import uuid
from pathlib import Path

from tracewh.errors import RefusedError
from tracewh.files import File


def exported(report: File, folder: Path | None) -> Path:
    """Export a report as SQLite.

    Args:
        report: The report.
        folder: Where to write it; None if it cannot be kept.

    Returns:
        The SQLite file.

    Raises:
        RefusedError: nsys is not installed, or cannot export it.
    """
    program = shutil.which("nsys")
    command = f"nsys export --type sqlite {shlex.quote(report.name)}"
    if program is None or folder is None or not isinstance(report, Path):
        where = (
            "with nsys, which is not in PATH here" if program is None else "where nsys is installed"
        )
        raise RefusedError(
            f"a report of Nsight Systems: export it {where}, and ingest the result: {command}"
        )
    target = folder / f"{uuid.uuid4().hex}.sqlite"
    done = subprocess.run(
        [
            program,
            "export",
            "--type",
            "sqlite",
            "--force-overwrite",
            "true",
            "--output",
            str(target),
            str(report),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode or not target.exists():
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        why = f": {said[-1]}" if said else ""
        raise RefusedError(
            f"nsys export failed with exit code {done.returncode}{why}; try: {command}"
        )
    return target
