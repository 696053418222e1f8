"""Write the built-in grammars, with examples and baselines, into the table of docs/grammars.md.

::

    python scripts/grammar_table.py
    python scripts/grammar_table.py --check    # only whether it is up to date, as an exit code

For each grammar: the phenomenon with its example, and the cross-validated accuracy of unigrams and
bigrams on the 200 pairs of seed 0. Factorial designs have none.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cimento.corpus.generation import generate_suites
from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar
from cimento.paradigms.regions.audit import audit_region_suite
from cimento.suites import Suite

PAGE = Path(__file__).parents[1] / "docs" / "grammars.md"
START, END = "<!-- grammars: start -->", "<!-- grammars: end -->"
LANGUAGES = {"en": "English", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "ru": "Russian"}
ITEMS = 200


def main(flags: list[str]) -> int:
    """Write the tables, or with ``--check`` say whether they are up to date."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    tables = "\n".join(table(language, title) for language, title in LANGUAGES.items())
    new = f"{before}{START}\n{tables}{END}{after}"
    if "--check" in flags:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


def table(language: str, title: str) -> str:
    """The table of a language, with a row for each class."""
    names = grammar_names(language)
    grammars = [(name, read_grammar(find_grammar(name))) for name in names]
    lines = [
        f"## {title}: {len(names)} phenomena",
        "",
        "| grammar | generalization and example | unigrams | bigrams |",
        "|---|---|--:|--:|",
    ]
    term = ""
    for name, grammar in sorted(grammars, key=lambda pair: (pair[1].term.casefold(), pair[0])):
        if grammar.term != term:
            term = grammar.term
            lines.append(f"| **{term}** | | | |")
        suite = generate_suites(grammar, n=ITEMS, seed=0)[0]
        cells = (f"`{name}`", grammar.description.replace("*", "\\*"), *baselines(suite))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def baselines(suite: Suite) -> tuple[str, str]:
    """The accuracies of unigrams and bigrams; blanks for a factorial design."""
    known = {ngram.name: ngram.accuracy for ngram in audit_region_suite(suite).ngrams}
    accuracies = (known.get("unigrams"), known.get("bigrams"))
    one, two = ("" if accuracy is None else f"{accuracy:.2f}" for accuracy in accuracies)
    return one, two


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
