"""``cimento study``: published studies, recomputed from their released data."""

from __future__ import annotations

import typer

from cimento.cli import (
    study_agreement,
    study_italian,
    study_portuguese,
    study_stories,
)

app = typer.Typer(
    help="Repeat a published study: every table, computed and as printed.", no_args_is_help=True
)
app.command("agreement")(study_agreement.agreement)
app.command("portuguese")(study_portuguese.portuguese)
app.command("stories")(study_stories.stories)
app.command("connectives")(study_italian.connectives)
app.command("islands")(study_italian.islands)
