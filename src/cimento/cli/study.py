"""``cimento study``: redo a published study from the data it released."""

from __future__ import annotations

import typer

from cimento.cli.studies import agreement, connectives, islands, portuguese, stories

app = typer.Typer(
    help="Redo a published study: every table, computed beside printed.", no_args_is_help=True
)
app.command("agreement")(agreement.agreement)
app.command("portuguese")(portuguese.portuguese)
app.command("stories")(stories.stories)
app.command("connectives")(connectives.connectives)
app.command("islands")(islands.islands)
