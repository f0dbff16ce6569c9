"""`tracewh spark-sql`: print a script that defines the warehouse in Spark's SQL shell."""

from __future__ import annotations

from typing import Annotated

import typer

from tracewh.cli.commands import options
from tracewh.cli.commands.show import registry


def spark_sql(
    views: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VIEW",
            help="Views to include, e.g. kernel_stats or kernel_stats_v1. By default all that Spark SQL can run.",
        ),
    ] = None,
    warehouse: options.WarehouseOption = options.DEFAULT_WAREHOUSE,
) -> None:
    """Print SQL that defines the tables and views of the warehouse in Spark SQL.

    Needs Spark 4.1 or later. The tables and views last as long as the session. They contain the traces
    that are in the warehouse when you run this command.

    \b
    tracewh spark-sql > tracewh.sql
    spark-sql -i tracewh.sql
    spark-sql> SELECT name, total_us FROM kernel_stats(run => 'resnet') LIMIT 5;
    """
    from tracewh.spark.sql_script import script, select_views
    from tracewh.views.warehouse import listed

    wanted = select_views(registry(), views or ())
    for statement in script(registry(), listed(warehouse), wanted):
        print(f"{statement};\n")
