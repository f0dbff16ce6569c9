"""Help pages: plain text as wide as the terminal, with options in named sections.

Typer's boxes take a fifth of a second to draw and read brackets in our texts as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

from tracewh.cli.commands.conversion import convert_directly
from tracewh.cli.diagnostics.errors import EXIT_CODES

#: Pages are as wide as the terminal, up to this width: longer lines are hard to read.
CONTEXT = {"max_content_width": 100, "help_option_names": ["-h", "--help"]}

#: Text below the main help page.
EPILOG = "\n".join(["\b", "Exit status:", *(f"  {code:>3}  {text}" for code, text in EXIT_CODES)])

#: The title of a section and one of its lines: a name and its description.
Row = tuple[str, tuple[str, str]]


class Command(TyperCommand):
    """A command whose options are listed under their `rich_help_panel`."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes["context_settings"] = CONTEXT | (attributes.get("context_settings") or {})
        super().__init__(*args, **attributes)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take an SQL query that begins with a comment for what it is: no option."""
        convert_directly(self.get_params(ctx))
        return super().parse_args(ctx, [re.sub(r"^--(?=\s)", " --", word) for word in args])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, written as everywhere else: PATH..., [RUN]."""
        params = self.get_params(ctx)
        return ["[OPTIONS]", *(_argument(p) for p in params if p.param_type_name == "argument")]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections below the description."""
        write_sections(formatter, option_rows(self, ctx))


class Group(TyperGroup):
    """A command with subcommands, listed in sections. Without a subcommand it prints its help page."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes["context_settings"] = CONTEXT | (attributes.get("context_settings") or {})
        super().__init__(*args, **attributes)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help page if there is no subcommand; this is not an error."""
        convert_directly(self.get_params(ctx))
        return super().parse_args(ctx, args or (["--help"] if not ctx.resilient_parsing else []))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in their sections, then the options."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        write_sections(
            formatter,
            [
                (getattr(command, "rich_help_panel", None) or "Commands", _summary(name, command))
                for name, command in named
                if command is not None and not command.hidden
            ],
        )
        write_sections(formatter, option_rows(self, ctx))


#: All commands, in the order in which a user needs them.
ORDER = (
    "ingest",
    "watch",
    "demo",
    "summary",
    "show",
    "what-if",
    "diff",
    "runs",
    "views",
    "query",
    "report",
    "serve",
    "shell",
    "export",
    "spark-sql",
    "check",
    "link-captures",
    "compact",
    "drop",
    "relink",
)


class Commands(Group):
    """The commands of tracewh, sorted by `ORDER`."""

    def list_commands(self, ctx: object) -> list[str]:
        """Return the names in order."""
        return sorted(self.commands, key=ORDER.index)


def option_rows(command: Any, ctx: Any) -> list[Row]:
    """Return the arguments and options of a command, each with the title of its section."""
    return [
        (_section(param), _record(param))
        for param in command.get_params(ctx)
        if not getattr(param, "hidden", False)
    ]


def write_sections(formatter: Any, rows: Iterable[Row]) -> None:
    """Write rows under their titles; titles appear in the order of their first row."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for title, row in rows:
        grouped.setdefault(title, []).append(row)
    for title, records in grouped.items():
        with formatter.section(title):
            formatter.write_dl(records, col_max=36)


def _summary(name: str, command: Any) -> tuple[str, str]:
    text = command.short_help or (command.help or "").split("\n\n")[0]
    return name, " ".join(text.split())


def _section(param: Any) -> str:
    default = "Arguments" if param.param_type_name == "argument" else "Options"
    return getattr(param, "rich_help_panel", None) or default


def _argument(param: Any) -> str:
    """Return an argument as ``RUN``, ``[RUN]`` if it can be left out, or ``PATH...`` if it can be repeated."""
    name = param.metavar if param.required else f"[{param.metavar}]"
    return name if param.nargs == 1 else f"{name}..."


def _record(param: Any) -> tuple[str, str]:
    """Return an option as ``-o, --output FILE``, and its description with its default."""
    if param.param_type_name == "argument":
        return _argument(param), param.help or ""
    spelled = dict.fromkeys(name.replace("_", "-") for name in (*param.opts, *param.secondary_opts))
    name = ", ".join(sorted(spelled, key=len))
    if not param.is_flag:
        name += f" {param.metavar or 'TEXT'}"
    extra = []
    if param.envvar:
        extra.append(f"env var: {param.envvar}")
    if param.show_default is True and param.default is not None and not param.is_flag:
        extra.append(f"default: {getattr(param.default, 'value', param.default)}")
    if param.required:
        extra.append("required")
    return name, (param.help or "") + (f"  [{'; '.join(extra)}]" if extra else "")
