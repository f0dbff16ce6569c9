"""Python imports this first in a server that `started` gives a part of the panels, and in its child processes."""

from __future__ import annotations

import json
import os

from tests.cli.report.parts import panels_only

# As long as the process lives.
_pages = panels_only(*json.loads(os.environ["PANELS"]), has_verdict="VERDICT" in os.environ)
_pages.__enter__()
