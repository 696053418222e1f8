"""``cimento cite``: BibTeX of what runs rest on, or the methods paragraph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cite.methods import ParagraphForm
from cimento.cli import options


def cite(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    *,
    methods: Annotated[
        bool, options.option("--methods", help="The methods paragraph in place of BibTeX.")
    ] = False,
    form: Annotated[
        ParagraphForm, options.option("--format", help="Of the paragraph: text, markdown or latex.")
    ] = "text",
) -> None:
    r"""Print BibTeX for the suites, measures and methods of stored runs, or how they were made.

    The keys of the entries are those of the paragraph, as [@key] in Markdown (pandoc) and
    \\citep{key} in LaTeX (natbib). As text, the references follow the paragraph.
    """
    from cimento.cite import bibtex, methods_paragraph, references
    from cimento.cli.console import show
    from cimento.errors import UsageError
    from cimento.runs.run import open_runs

    if form != "text" and not methods:
        raise UsageError(
            where="--format",
            seen="it is the form of the methods paragraph, and BibTeX has one form only",
            todo="Add --methods, or leave --format out.",
        )
    opened = open_runs(runs)
    if not methods:
        show(bibtex(references(opened)).rstrip("\n"))
        return
    show(methods_paragraph(opened, form=form))
    if form == "text":
        show("\nReferences\n\n" + "\n".join(f"- {work.line}" for work in references(opened)))
