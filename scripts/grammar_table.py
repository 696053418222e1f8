"""Write how much words alone reveal in the built-in grammars: docs/data/grammar-baselines.tsv.

::

    python scripts/grammar_table.py
    python scripts/grammar_table.py --check    # only whether it is up to date, as an exit code

For each grammar: the cross-validated accuracy of unigrams and of bigrams on the 200 pairs of seed
0. Factorial designs have none. scripts/site/grammars.py makes a page of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cimento.corpus.generation import generate_suites
from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar
from cimento.paradigms.regions.audit import audit_region_suite
from cimento.suites import Suite

BASELINES = Path(__file__).parents[1] / "docs" / "data" / "grammar-baselines.tsv"
ITEMS = 200


def main(flags: list[str]) -> int:
    """Write the accuracies, or with ``--check`` say whether they are up to date."""
    lines = ["grammar\tunigrams\tbigrams"]
    for name in sorted(grammar_names()):
        suite = generate_suites(read_grammar(find_grammar(name)), n=ITEMS, seed=0)[0]
        lines.append("\t".join([name, *baselines(suite)]))
    new = "\n".join(lines) + "\n"
    if "--check" in flags:
        return int(new != BASELINES.read_text(encoding="utf-8"))
    BASELINES.write_text(new, encoding="utf-8")
    return 0


def baselines(suite: Suite) -> tuple[str, str]:
    """The accuracies of unigrams and bigrams; blanks for a factorial design."""
    known = {ngram.name: ngram.accuracy for ngram in audit_region_suite(suite).ngrams}
    accuracies = (known.get("unigrams"), known.get("bigrams"))
    one, two = ("" if accuracy is None else f"{accuracy:.2f}" for accuracy in accuracies)
    return one, two


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
