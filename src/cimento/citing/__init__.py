"""What a run rests on: references as BibTeX, and a methods paragraph ready to paste."""

from cimento.citing.facts import RunFacts, facts_of, read_facts
from cimento.citing.library import Reference, bibtex, find_reference
from cimento.citing.methods import Form, methods_paragraph, references

__all__ = [
    "Form",
    "Reference",
    "RunFacts",
    "bibtex",
    "facts_of",
    "find_reference",
    "methods_paragraph",
    "read_facts",
    "references",
]
