"""The list of the built-in grammars, and how much the words of their sentences reveal."""

from __future__ import annotations

import csv

from cells import DOCS, filled, table

from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar

PAGE = "grammars.md"
BASELINES = DOCS / "data" / "grammar-baselines.tsv"
"""The accuracies of unigrams and bigrams, which scripts/grammar_table.py takes a minute to make."""
LANGUAGES = {"en": "English", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "ru": "Russian"}


def grammars_page() -> str:
    """The page in Markdown.

    Raises:
        KeyError: there are no accuracies for a grammar.
    """
    with BASELINES.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        known = {row["grammar"]: (row["unigrams"], row["bigrams"]) for row in rows}
    sections = (_section(language, title, known) for language, title in LANGUAGES.items())
    return filled(PAGE, {"grammars": "\n".join(sections)})


def _section(language: str, title: str, known: dict[str, tuple[str, str]]) -> str:
    """The grammars of a language, by class."""
    grammars = [(read_grammar(find_grammar(name)), name) for name in grammar_names(language)]
    rows = list[tuple[str, ...]]()
    term = ""
    for grammar, name in sorted(grammars, key=lambda pair: (pair[0].term.casefold(), pair[1])):
        if grammar.term != term:
            term = grammar.term
            rows.append((f"**{term}**", "", "", ""))
        text = " ".join(filter(None, (grammar.description, grammar.norm))).replace("*", "\\*")
        rows.append((f"`{name}`", text, *known[name]))
    head = ("grammar", "generalization and example", "unigrams", "bigrams")
    return f"## {title}: {len(grammars)} phenomena\n\n{table(head, rows, numbers=2)}"
