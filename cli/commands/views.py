"""`tracewh views`: list the views. It needs no warehouse, only the headers of the views."""

from __future__ import annotations

from tracewh.cli.commands.show import registry, view_command
from tracewh.cli.output import Format, Output


def list_views(name: str | None, *, sql: bool, output: Output) -> None:
    """List all views, or print the help page or the SQL of one."""
    output.check()
    if name is not None:
        view = registry().get(name)
        if sql:
            output.write_text(view.sql, "SQL")
        elif output.format is Format.TABLE:
            command = view_command(view)
            with command.make_context(
                f"tracewh show {name}", [], resilient_parsing=True
            ) as context:
                output.write_text(f"{command.get_help(context)}\n", "a help page")
        else:
            _write(f"SELECT * FROM views() WHERE object_name = '{view.object_name}'", output)
        return
    if sql:
        output.write_text("\n".join(view.sql for view in registry().newest()), "SQL")
        return
    short = 'view_group AS "group", name, version, summary'
    wanted = (
        f"SELECT {short} FROM views() WHERE latest"
        if output.format is Format.TABLE
        else "FROM views()"
    )
    _write(wanted, output)


def _write(sql: str, output: Output) -> None:
    import duckdb

    with duckdb.connect() as con:
        registry().create(con, ["views"])
        output.write(con.sql(sql))
