"""Write how often the dictionary's judgments are the linguist's, from the released files.

::

    python scripts/portuguese_judge.py FOLDER
    python scripts/portuguese_judge.py FOLDER --check    # only whether they are up to date

FOLDER is the authors' repository of the study of Brazilian Portuguese. The counts by template of
the default dictionary are shipped, for the estimates of new models; docs/data/portuguese-judge.tsv
has the rates by template, those of UNITEX-PB's tags in the release beside them.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from cimento.corpus.morphology.dictionaries import dictionary_for
from cimento.io.values import group_by
from cimento.paradigms.cloze.judgments import dictionary_readings
from cimento.paradigms.cloze.requests import Candidate
from cimento.studies.portuguese.accuracy import (
    COUNTED,
    PAIRS,
    SHIPPED,
    Compared,
    compared,
)
from cimento.studies.portuguese.data import load_study
from cimento.studies.portuguese.grammar import readings as tagged

ROOT = Path(__file__).parents[1]
COUNTS = ROOT / "src" / "cimento" / "data" / "studies" / SHIPPED
RATES = ROOT / "docs" / "data" / "portuguese-judge.tsv"
DEFAULT, TAGS = "rules:pt", "released tags"


def main(arguments: list[str]) -> int:
    """Write both tables, or with ``--check`` say whether they are up to date."""
    folder = next(one for one in arguments if not one.startswith("--"))
    data = load_study(Path(folder))
    rules = dictionary_readings(dictionary_for(DEFAULT, "pt"))
    known = functools.cache(lambda text: rules(Candidate("", 1, text)))
    by_rules = compared(data, lambda one: known(one.text), DEFAULT)
    # The verbs of subject agreement were not tagged; the rules read them.
    by_tags = compared(data, lambda one: tagged(one) if one.tags else known(one.text), TAGS)
    made = {COUNTS: counts(by_rules), RATES: rates([*by_rules, *by_tags])}
    if "--check" in arguments:
        return int(any(text != path.read_text(encoding="utf-8") for path, text in made.items()))
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return 0


def _places(pairs: Iterable[Compared]) -> dict[tuple[str, str, str, str], list[Compared]]:
    return group_by(pairs, lambda one: (one.dictionary, one.dimension, one.template, one.depth))


def counts_of(pairs: Iterable[Compared]) -> dict[str, int]:
    """How often each pair of verdicts occurs, by the names of their columns."""
    counted = Counter((one.said, one.fits) for one in pairs)
    return {name: counted[pair] for name, pair in zip(COUNTED, PAIRS, strict=True)}


def counts(pairs: Iterable[Compared]) -> str:
    """The counts as the package reads them."""
    lines = [("dictionary", "dimension", "template", "depth", *COUNTED)]
    for place, some in _places(pairs).items():
        lines.append((*place, *map(str, counts_of(some).values())))
    return "".join("\t".join(line) + "\n" for line in lines)


def rates(pairs: Iterable[Compared]) -> str:
    """Coverage, precision and recall of each template in percent, each after its n."""
    names = (
        "judged",
        "decided_percent",
        "passed",
        "precision_percent",
        "fitting",
        "recall_percent",
    )
    lines = [("dictionary", "test", "template", "candidates", *names)]
    for place, some in _places(pairs).items():
        n = counts_of(some)
        decided = sum(n[name] for name in COUNTED[:4])
        passed, fitting = (n["fits_fits"] + n[other] for other in ("fits_not", "not_fits"))
        cells = (
            len(some), percent(decided, len(some)),
            passed, percent(n["fits_fits"], passed),
            fitting, percent(n["fits_fits"], fitting),
        )  # fmt: skip
        lines.append((*place, *map(str, cells)))
    return "".join("\t".join(line) + "\n" for line in lines)


def percent(part: int, whole: int) -> str:
    """A proportion in percent; blank of nothing."""
    return f"{100 * part / whole:.2f}" if whole else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
