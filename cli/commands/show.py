"""`tracewh show VIEW`: run a view. Each view is a command, built from its header on demand."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracewh.cli import diagnostics
from tracewh.cli.commands import options
from tracewh.cli.commands.engine import Cluster
from tracewh.cli.commands.help_pages import Command, Group, option_rows, write_sections
from tracewh.cli.output import Format, Output, parse_integer
from tracewh.cli.output.empty_result import SOURCE

if TYPE_CHECKING:
    from tracewh.storage.layout import TraceKeys
    from tracewh.views import Column, Param, Registry, Spec


#: Titles of sections on the help page of a view.
PARAMETERS, TRACES = "Parameters", "Trace selection"
#: Titles of the groups of views.
TITLES = {
    "overview": "Overview",
    "operators": "Operators, source lines, modules",
    "device": "Kernels and devices",
    "memory": "Memory",
    "data": "Input pipeline and CPU",
    "distributed": "Distributed",
    "counters": "Counters",
    "serving": "Serving",
    "compare": "Comparison of two runs",
}


def registry() -> Registry:
    """Return the installed views; their headers are read on the first call."""
    from tracewh.views.registry import installed

    return installed()


class ViewGroup(Group):
    """`tracewh show`: a command whose subcommands are the installed views."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the name of every view, by group."""
        return [view.name for view in registry().newest()]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return the command of a view, or of one version of it if the name ends in one, e.g. _v1."""
        return view_command(registry().get(name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Choose the version before the options are parsed, because each version has its own."""
        name, *rest = args
        return name, view_command(registry().get(name, _version(rest))), rest


class ViewCommand(Command):
    """The command of a view; its help page also lists the columns."""

    view: Spec

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the parameters, the columns and the output options."""
        rows = option_rows(self, ctx)
        parameters = [row for row in rows if row[0] in (PARAMETERS, TRACES)]
        write_sections(formatter, parameters)
        columns = [(c.name, f"{c.meaning}{_facts(c.type, _unit(c))}") for c in self.view.columns]
        write_sections(formatter, [("Columns", row) for row in columns])
        write_sections(formatter, [row for row in rows if row not in parameters])


def view_command(view: Spec) -> ViewCommand:
    """Build the command of a view from its header."""

    def run(**given: Any) -> None:
        names = ("format", "output", "limit", "sort", "full_names", "escape_formulas")
        output = Output.parse(*(given.pop(name) for name in names))
        warehouse = given.pop("warehouse")
        cluster = Cluster.parse(given.pop("engine"), given.pop("master"))
        memory_mb = options.parse_memory(given.pop("memory_limit"))
        if cluster and memory_mb is not None:
            diagnostics.usage_error(
                "--memory-limit is for this machine; Spark has its own settings"
            )
        given.pop("version")
        arguments = {name: value for name, value in given.items() if value is not None}
        show(view, arguments, warehouse, output, cluster, memory_mb=memory_mb)

    parameters = {
        param.name: Annotated[bool | None if _is_flag(param) else str | None, _option(param)]
        for param in view.params
    }
    common: dict[str, tuple[Any, Any]] = {
        "version": (Annotated[str | None, _version_option(view)], None),
        "format": (options.FormatOption, Format.TABLE.value),
        "output": (options.PathOption, None),
        "limit": (options.LimitOption, None),
        "sort": (options.SortOption, None),
        "full_names": (options.FullNamesOption, False),
        "escape_formulas": (options.EscapeOption, False),
        "memory_limit": (options.MemoryOption, None),
        "warehouse": (options.WarehouseOption, options.DEFAULT_WAREHOUSE),
        "engine": (options.EngineOption, options.DEFAULT_ENGINE),
        "master": (options.MasterOption, None),
    }
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_keyword(name, kind, None) for name, kind in parameters.items()]
        + [_keyword(name, kind, default) for name, (kind, default) in common.items()]
    )
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(
        view.name,
        cls=ViewCommand,
        help=_page(view),
        short_help=view.summary + (" (deprecated)" if view.deprecated else ""),
        rich_help_panel=TITLES.get(view.group, view.group.capitalize()),
    )(run)
    command = typer.main.get_command(app)
    assert isinstance(command, ViewCommand)
    command.view = view
    return command


def show(
    view: Spec,
    arguments: dict[str, Any],
    warehouse: str,
    output: Output,
    cluster: Cluster | None = None,
    only: Sequence[str] = (),
    memory_mb: int | None = None,
) -> None:
    """Run a view, on this machine or on a Spark cluster, and write its rows.

    Args:
        only: See `tracewh.cli.output.output.Output.write`.
        memory_mb: Memory limit on this machine; None for DuckDB's own.
    """
    import duckdb

    import tracewh
    from tracewh.cli.output import empty_result

    output.check()
    if view.deprecated:
        diagnostics.warn(f"{view.object_name} is deprecated: {view.deprecated}")
    if cluster:
        from tracewh.views.names import resolve
        from tracewh.views.warehouse import listed

        traces = listed(warehouse).names()
        arguments = resolve(arguments, traces)  # fails before Spark starts
        with cluster.views(warehouse) as run_view:
            if not output.write(run_view(view.name, view.version, **arguments), view.keys):
                empty_result.explain(run_view, traces, view, arguments)
        if view.notes:
            with tracewh.open(warehouse) as opened:
                opened.select_traces(view, arguments)
                _write_notes(opened.notes(view, arguments))
        return

    from tracewh.views.trace_groups import Result, run_in_groups

    in_groups: Result | None = None

    def run() -> duckdb.DuckDBPyRelation:
        nonlocal in_groups
        if output.format is not Format.TABLE:  # other formats stream the rows
            return run_here(view.name, view.version, **arguments)
        in_groups = run_in_groups(opened, view, arguments)
        if in_groups:
            return in_groups.rows
        return stack.enter_context(opened.held_view(view.name, view.version, **arguments))

    def run_here(
        name: str, version: int | None = None, **arguments: Any
    ) -> duckdb.DuckDBPyRelation:
        nonlocal in_groups
        in_groups = run_in_groups(opened, opened.registry.get(name, version), arguments)
        return in_groups.rows if in_groups else opened.view(name, version, **arguments)

    with output.open_warehouse(warehouse) as opened, ExitStack() as stack:
        if memory_mb is not None:
            opened.limit_memory(memory_mb)
        arguments = opened.resolve(arguments)
        opened.select_traces(view, arguments)
        try:
            rows = output.write_with_retry(run, view.keys, only)
        except duckdb.InvalidInputException as error:  # a view rejects a value with error('...')
            if diagnostics.is_damage(error):
                raise
            diagnostics.usage_error(str(error).removeprefix("Invalid Input Error: "))
        notes = in_groups.notes if in_groups else None
        if not rows:
            empty_result.explain(run_here, opened.names(), view, arguments)
        _write_notes(opened.notes(view, arguments) if notes is None else notes)


def _write_notes(notes: Iterable[tuple[TraceKeys, str]]) -> None:
    for trace, message in notes:
        diagnostics.note(f"{'/'.join(trace)}: {message}")


def _keyword(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _option(param: Param) -> Any:
    name = f"--{param.name.replace('_', '-')}"
    needed = "required" if param.required else ""
    is_obvious = param.default in ("-", "NULL") or _is_flag(param)
    default = "" if is_obvious else f"default: {param.default}"
    return typer.Option(
        *dict.fromkeys([name, f"--{param.name}"]),
        metavar=None if _is_flag(param) else param.type,
        help=f"{param.meaning}{_facts(_unit(param), needed, default)}",
        rich_help_panel=TRACES if param.name in SOURCE else PARAMETERS,
    )


def _is_flag(param: Param) -> bool:
    """Whether a parameter is a flag: a boolean that is off by default."""
    return (param.type, param.default) == ("BOOLEAN", "FALSE")


def _version_option(view: Spec) -> Any:
    return typer.Option(
        "--version",
        metavar="N",
        help=f"Version of the view; by default the newest.  [this page: {view.version}]",
    )


def _unit(item: Param | Column) -> str:
    return "" if item.unit in ("-", "key") else item.unit


def _facts(*facts: str) -> str:
    """Return unit, type and default in brackets, to put after the description."""
    known = [fact for fact in facts if fact]
    return f"  [{'; '.join(known)}]" if known else ""


def _page(view: Spec) -> str:
    """Return the summary and the documentation of a view. Tables and lists keep their line breaks."""
    return "\n\n".join([view.summary, *_paragraphs(view.doc)])


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        drawn = re.search(r"^\s|\S {2,}\S|^[-*] ", paragraph, flags=re.MULTILINE)
        if paragraph:
            yield f"\b\n{paragraph}" if drawn else paragraph


def _version(args: list[str]) -> int | None:
    """Return the value of --version; if it is missing, the parser reports it later."""
    for word, following in zip(args, [*args, ""][1:], strict=True):
        found = re.fullmatch(r"--version(?:=(.*))?", word)
        if found and (text := found[1] or following):
            return parse_integer("--version", text.removeprefix("v"), least=1)
    return None
