"""Help pages: plain text in the terminal's own width, with options in named sections.

Typer's boxes cost a fifth of a second to draw and read brackets in our texts as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

#: Pages are as wide as the terminal, but lines longer than this are hard to read.
CONTEXT = {"max_content_width": 100, "help_option_names": ["-h", "--help"]}

Rows = Sequence[tuple[str, str]]


class Command(TyperCommand):
    """A command whose options are listed under their `rich_help_panel`."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes["context_settings"] = CONTEXT | (attributes.get("context_settings") or {})
        super().__init__(*args, **attributes)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write every section of the page below the description."""
        write_options(self, ctx, formatter)


class Group(TyperGroup):
    """A command of commands, listed like options."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes["context_settings"] = CONTEXT | (attributes.get("context_settings") or {})
        super().__init__(*args, **attributes)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in their sections, then the options."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        sections(
            formatter,
            (
                (getattr(c, "rich_help_panel", None) or "Commands", (name, c.get_short_help_str(100)))
                for name, c in commands
                if c is not None and not c.hidden
            ),
        )
        write_options(self, ctx, formatter)


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the arguments and options of a command, one section per panel."""
    shown = [p for p in command.get_params(ctx) if not getattr(p, "hidden", False)]
    sections(formatter, ((_section(param), _record(param)) for param in shown))


def sections(formatter: Any, rows: Iterable[tuple[str, tuple[str, str]]]) -> None:
    """Write rows under the titles they come with, in the order of first appearance."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for title, row in rows:
        grouped.setdefault(title, []).append(row)
    for title, records in grouped.items():
        with formatter.section(title):
            formatter.write_dl(records)


def _section(param: Any) -> str:
    default = "Arguments" if param.param_type_name == "argument" else "Options"
    return getattr(param, "rich_help_panel", None) or default


def _record(param: Any) -> tuple[str, str]:
    """An option as ``-o, --output FILE`` and its text with what else there is to know."""
    if param.param_type_name == "argument":
        name = param.metavar or param.name.upper()
        return name + ("..." if param.nargs != 1 and not name.endswith("...") else ""), param.help or ""
    name = ", ".join(sorted([*param.opts, *param.secondary_opts], key=len))
    if not param.is_flag:
        choices = "|".join(str(choice.value) for choice in param.type_descriptor.choices or ())
        name += f" {choices or param.metavar or 'TEXT'}"
    extra = []
    if param.envvar:
        extra.append(f"env var: {param.envvar}")
    if param.show_default is True and param.default is not None and not param.is_flag:
        extra.append(f"default: {getattr(param.default, 'value', param.default)}")
    if param.required:
        extra.append("required")
    return name, f"{param.help or ''}{f'  [{'; '.join(extra)}]' if extra else ''}"
