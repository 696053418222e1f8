"""What a run rests on: references as BibTeX, and a methods paragraph ready to paste."""

from cimento.citing.library import Reference, bibtex, find_reference
from cimento.citing.methods import Form, methods_paragraph, references

__all__ = [
    "Form",
    "Reference",
    "bibtex",
    "find_reference",
    "methods_paragraph",
    "references",
]
