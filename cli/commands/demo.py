"""`tracewh demo`: ingest the bundled samples, find what makes one slow, and compare it with the fix."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from tracewh.cli import diagnostics
from tracewh.cli.commands.ingest import run_ingest
from tracewh.cli.commands.options import DEFAULT_WAREHOUSE
from tracewh.cli.commands.summary import summarize
from tracewh.cli.diagnostics.errors import OK, CliError
from tracewh.cli.diff.run_diff import compare
from tracewh.cli.output import Output
from tracewh.cli.report import libraries

SAMPLES = Path(__file__).parents[2] / "samples"
#: The same training on a GPU, operator by operator, and compiled with CUDA graphs.
BASELINE, EXPERIMENT = "gpt_eager", "gpt_cuda_graphs"


def run_demo(warehouse: str | None) -> int:
    """Ingest the samples, show a slow run and whether the fix helped, and print commands to try next."""
    if not SAMPLES.is_dir():
        raise CliError(f"the sample traces are missing: no folder {SAMPLES}")
    is_temporary = warehouse is None
    if warehouse is None:
        warehouse = str(Path(tempfile.mkdtemp(prefix="tracewh-demo-")) / DEFAULT_WAREHOUSE)
    where = f"-w {shlex.quote(warehouse)}"
    diagnostics.line(f"$ tracewh ingest {shlex.quote(str(SAMPLES))} {where}")
    code = run_ingest([str(SAMPLES)], warehouse)
    if code != OK:
        return code
    diagnostics.line(
        "\nA small GPT was trained on an H100. What makes a step slow?\n"
        f"$ tracewh summary {BASELINE} {where}"
    )
    summarize(warehouse, BASELINE, None, None, Output())
    diagnostics.line(
        "\nThe same training with CUDA graphs: did that help?\n"
        f"$ tracewh diff {BASELINE} {EXPERIMENT} {where}"
    )
    runs = {"baseline": BASELINE, "experiment": EXPERIMENT}
    code = compare(warehouse, runs, None, "0.05", False, [], "text", None)
    diagnostics.line(_next(warehouse, is_temporary))
    return code


def _next(warehouse: str, is_temporary: bool) -> str:
    where = f"-w {shlex.quote(str(warehouse))}"
    first = f"{libraries.INSTALL} && " if libraries.missing() else ""
    # The pages leave out -w.
    pages = f"For the commands of README.md and docs/: tracewh demo -w {DEFAULT_WAREHOUSE}\n"
    return f"""
Try next:
  tracewh show gpu_gaps --run {BASELINE} --limit 10 {where}
  {first}tracewh report {EXPERIMENT} --baseline {BASELINE} -o report.html {where}
  tracewh show --help
  tracewh query "FROM cpu_ops SELECT name, count(*) AS calls GROUP BY ALL ORDER BY calls DESC" {where}
  tracewh shell {where}
{pages if is_temporary else ""}Your own traces: tracewh ingest LOGDIR, then tracewh summary"""
