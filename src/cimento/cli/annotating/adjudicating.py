"""``cimento annotate adjudicate``: two annotators, and what is decided where they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note, show


def adjudicate(
    first: Annotated[Path, typer.Argument(metavar="A", help="Judgments of one annotator.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Judgments of another; may be A.")],
    output: Annotated[Path, options.option("-o", "--output", help="Table of what holds.")],
    *,
    one: Annotated[
        str, options.option("--first", help="Whose answers in A, where it has several people's.")
    ] = "",
    other: Annotated[str, options.option("--second", help="Whose answers in B.")] = "",
    by: Annotated[str, options.option("--by", help="Who decides, for the record.")] = "",
    ask: Annotated[
        bool, options.option("--ask/--no-ask", help="Ask, or only say how far they agree.")
    ] = True,
) -> None:
    """Decide, one after the other, where two annotators differ.

    Both answers are shown; 1 or 2 takes one of them, and anything else that somebody answers may be
    typed. Every decision is in the table at once; :quit stops, and the next time it goes on.
    """
    from cimento.people.annotate.adjudicating import agreement_text
    from cimento.people.annotate.adjudicating import decide_differences as decide
    from cimento.people.judgments.adjudication import one_annotator
    from cimento.people.judgments.records import (
        judgments_of,
        read_judgments,
        refuse_overwriting,
        refuse_suffix,
    )

    refuse_suffix(output)
    refuse_overwriting(output, [first, second])
    a = one_annotator(judgments_of(read_judgments(first)), one, where=str(first))
    b = one_annotator(judgments_of(read_judgments(second)), other, where=str(second))
    if ask:
        disputed, left = decide(a, b, output, by=by, read=input, tell=show)
        note(f"{disputed - left} of {disputed} differences are decided: {output}")
    show(agreement_text(a, b, output))
