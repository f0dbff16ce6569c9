"""Apache Spark as the engine: `pip install 'tracewh[spark]'`, and Java 17 or later.

Importing it is cheap: PySpark is loaded by the first call that needs it.
"""

from __future__ import annotations

from tracewh.spark.errors import SparkError

__all__ = ["SparkError"]
