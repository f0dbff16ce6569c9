"""`tracewh views`: list the views. It needs no warehouse, only the headers of the views."""

from __future__ import annotations

import sys

from tracewh.cli.commands.help_pages import write_sections
from tracewh.cli.commands.show import TITLES, registry, view_command
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
    if output == Output() and sys.stdout.isatty():
        output.write_text(_page(), "a list of views")
        return
    short = 'view_group AS "group", name, version, summary'
    wanted = (
        f"SELECT {short} FROM views() WHERE latest"
        if output.format is Format.TABLE
        else "FROM views()"
    )
    _write(wanted, output)


def _page() -> str:
    """Return the list for a terminal: all views by group, as `tracewh show --help` lists them."""
    views = registry().newest()
    with view_command(views[0]).make_context("", [], resilient_parsing=True) as context:
        formatter = context.make_formatter()
    write_sections(formatter, [(TITLES[view.group], (view.name, view.summary)) for view in views])
    formatter.write_paragraph()
    formatter.write_text("Describe a view: tracewh views VIEW. Run it: tracewh show VIEW")
    return formatter.getvalue().lstrip()


def _write(sql: str, output: Output) -> None:
    import duckdb

    with duckdb.connect() as con:
        registry().create(con, ["views"])
        output.write(con.sql(sql))
