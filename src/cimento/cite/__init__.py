"""What a run rests on: references as BibTeX, and a methods paragraph ready to paste."""

from cimento.cite.library import Reference, bibtex, find_reference
from cimento.cite.methods import ParagraphForm, methods_paragraph, references

__all__ = [
    "ParagraphForm",
    "Reference",
    "bibtex",
    "find_reference",
    "methods_paragraph",
    "references",
]
