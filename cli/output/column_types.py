"""Which columns hold numbers."""

from __future__ import annotations

import re

#: DuckDB's numeric types.
NUMERIC = re.compile(r"(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\))")
