"""What a run rests on: references as BibTeX, and a methods paragraph ready to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.cite.library import Reference, bibtex, find_reference
from cimento.cite.methods import ParagraphForm, methods_paragraph, references

if TYPE_CHECKING:
    from cimento.runs.run import RunsLike

Cited: TypeAlias = Literal["bibtex", "methods"]

__all__ = [
    "Cited",
    "ParagraphForm",
    "Reference",
    "bibtex",
    "cite",
    "find_reference",
    "methods_paragraph",
    "references",
]


def cite(runs: RunsLike, what: Cited = "bibtex", *, form: ParagraphForm = "text") -> str:
    """What runs rest on as BibTeX, or the paragraph that says how they were made.

    Args:
        runs: that are cited.
        what: ``bibtex``, or ``methods`` for the paragraph.
        form: of the paragraph: ``text``, ``markdown`` or ``latex``.

    Raises:
        TableError: a run cannot be read.
    """
    from cimento.runs.run import runs_of

    opened = runs_of(runs)
    if what == "methods":
        return methods_paragraph(opened, form=form)
    return bibtex(references(opened))
