"""DuckDB's numeric types."""

from __future__ import annotations

import re

#: Matches the name of a numeric type.
NUMERIC = re.compile(r"(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\))")
