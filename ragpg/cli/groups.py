"""Groups of commands: the list of a group has the whole first sentence of each command."""

from __future__ import annotations

import click

#: More than any first sentence; the terminal's width breaks it into lines.
_WHOLE = 1000


class Group(click.Group):
    """A group whose list of commands is wrapped, where click's own is cut off."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with what each does."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(_WHOLE))
            for name, command in found
            if command is not None and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)
