"""``cimento annotate apply``: what people answered, in a copy of the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note
from cimento.errors import UsageError


def apply_answers(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The suite that was asked.")],
    judgments: Annotated[list[Path], typer.Argument(metavar="JUDGMENTS...", help="Tables.")],
    output: Annotated[Path, options.option("-o", "--output", help="Folder of the copy.")],
    *,
    scale: Annotated[
        str, options.option("--scale", help="Ends of the scale, as in 1,5; else the suite's.")
    ] = "",
) -> None:
    """Write a copy of a suite with what people said of it, for models to be set beside.

    Ratings become columns of the copy, so that `cimento run` compares them with a model; choices
    among options stand in choices.tsv, for `cimento profile --people`.
    """
    from cimento.cloze.surveying import CHOICES
    from cimento.people.annotate.importing import apply_judgments
    from cimento.people.judgments.records import judgments_of, read_judgments
    from cimento.suites.builtin import find_suite

    found = [each for path in judgments for each in judgments_of(read_judgments(path))]
    applied = apply_judgments(find_suite(suite), found, output, scale=_scale(scale))
    for why, count in applied.passed.items():
        note(f"{count} passed over: {why}")
    if applied.without:
        note(f"{applied.without} items were answered by nobody")
    note(f"{applied.used} answers: {output}")
    if (output / CHOICES).exists():
        note(f"cimento profile RUN --people {output / CHOICES}")
    else:
        note(f"cimento run {output} -m MODEL")


def _scale(text: str) -> tuple[float, float] | None:
    from cimento.people.judgments.records import finite

    if not text:
        return None
    ends = [finite(part) for part in text.split(",")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0] >= ends[1]:  # noqa: PLR2004  # two ends
        raise UsageError(
            where="--scale", seen=f"got {text!r}", todo="Write the worst and the best: 1,5."
        )
    return ends[0], ends[1]
