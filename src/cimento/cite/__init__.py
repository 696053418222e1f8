"""Citations for runs: references in BibTeX, a methods paragraph, and its appendix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cimento.cite.library import bibtex
from cimento.cite.methods import ParagraphForm, cited_works, methods_paragraph
from cimento.errors import need_known

if TYPE_CHECKING:
    from cimento.kinds.run import RunsLike

Cited: TypeAlias = Literal["bibtex", "methods", "appendix"]
"""What `cite` returns: entries of BibTeX, a methods paragraph, or an appendix."""

__all__ = [
    "Cited",
    "ParagraphForm",
    "bibtex",
    "cite",
    "cited_works",
    "methods_paragraph",
]


def cite(runs: RunsLike, what: Cited = "bibtex", *, form: ParagraphForm = "text") -> str:
    """Write the references of runs in BibTeX, or their methods, in brief or in full.

    Args:
        runs: the runs to cite.
        what: ``bibtex``, ``methods`` for the paragraph of a paper, or ``appendix`` for the full
            protocol.
        form: form of a paragraph: ``text``, ``markdown`` or ``latex``.

    Returns:
        The text, in the format that was asked for.

    Raises:
        TableError: a run cannot be read.
        UsageError: there is no such text to cite runs by.

    Example:
        >>> run = evaluate("it-subject-verb", "demo-causal")
        >>> cite(run, "methods")[:25]
        'We evaluated demo-causal '
    """
    from cimento.kinds.run import runs_of

    need_known(what, get_args(Cited), where="what", seen=f"got {what!r}")
    opened = runs_of(runs)
    if what != "bibtex":
        return methods_paragraph(opened, form=form, appendix=what == "appendix")
    return bibtex(cited_works(opened))
