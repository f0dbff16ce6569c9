"""`tracewh demo`: ingest the bundled samples and run two views."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from tracewh.cli import diagnostics
from tracewh.cli.commands.ingest import run_ingest
from tracewh.cli.commands.options import DEFAULT_WAREHOUSE
from tracewh.cli.diagnostics.errors import OK, CliError
from tracewh.cli.output import Output
from tracewh.cli.report import libraries

SAMPLES = Path(__file__).parents[2] / "samples"
#: Two samples that differ only in the number of data loader workers.
BASELINE, EXPERIMENT = "resnet_workers_0", "resnet_workers_2"


def run_demo(warehouse: str | None) -> int:
    """Ingest the samples, run two views, and print commands to try next."""
    import tracewh

    if not SAMPLES.is_dir():
        raise CliError(f"the sample traces are missing: no folder {SAMPLES}")
    if warehouse is None:
        warehouse = str(Path(tempfile.mkdtemp(prefix="tracewh-demo-")) / DEFAULT_WAREHOUSE)
    diagnostics.line(f"$ tracewh ingest {SAMPLES} -w {warehouse}")
    code = run_ingest([str(SAMPLES)], warehouse)
    if code != OK:
        return code
    with tracewh.open(warehouse) as opened:
        diagnostics.line(
            "\nWhat does each step spend its time on?\n"
            f"$ tracewh show step_breakdown --run {BASELINE} -w {warehouse}"
        )
        Output().write(opened.view("step_breakdown", run=BASELINE))
        diagnostics.line(
            "\nWhich operators take the most time?\n"
            f"$ tracewh show operator_stats --run {BASELINE} --span 1 --limit 10 -w {warehouse}"
        )
        Output(limit=10).write(opened.view("operator_stats", run=BASELINE, span="1"))
    diagnostics.line(_next(warehouse))
    return OK


def _next(warehouse: str) -> str:
    where = f"-w {shlex.quote(str(warehouse))}"
    first = f"{libraries.INSTALL} && " if libraries.missing() else ""
    return f"""
Try next:
  tracewh summary {BASELINE} {where}
  {first}tracewh report {EXPERIMENT} --baseline {BASELINE} -o report.html {where}
  tracewh diff {BASELINE} {EXPERIMENT} {where}
  tracewh show --help
  tracewh query "FROM cpu_ops SELECT name, count(*) AS calls GROUP BY ALL ORDER BY calls DESC" {where}
  tracewh shell {where}
Your own traces: tracewh ingest LOGDIR, then tracewh summary"""
