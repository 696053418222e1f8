"""The suites of the study as they were released: items, twins, and what a model sees in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from cimento.errors import UsageError
from cimento.paradigms.regions.contrast import find_contrast, items_with_other_contexts
from cimento.studies.agreement.twins import paired_items, twins
from cimento.studies.record import Cell, Section, beside, printed_tables
from cimento.suites.reading import CHECKS, NO_LANGUAGE

if TYPE_CHECKING:
    from cimento.studies.agreement.released import LanguageSuite
    from cimento.suites.model import Suite

_ABSTRACT = "Táboas García and Wanner 2025, abstract"


def agreement_materials(found: Sequence[LanguageSuite]) -> Section:
    """Every agreement suite: items, what is compared, its twin, and faults.

    Args:
        found: the suites, language by language.
    """
    languages: dict[str, list[LanguageSuite]] = {}
    for each in found:
        languages.setdefault(each[0], []).append(each)
    cells = [_total(languages)]
    for language, group in languages.items():
        suites = {loaded.suite.name: cast("Suite", loaded.suite) for _, loaded in group}
        pairs = twins(suites)
        items, sentences = _counts(suites.values())
        note = f"{sentences:,} sentences in {len(suites)} suites, {len(pairs)} with a twin"
        cells.append(Cell(what=f"{language}: items", computed=items, note=note))
        for _, loaded in group:
            suite = suites[loaded.suite.name]
            # The language is that of the archive, where a suite does not name it by its code.
            codes = (fault.code for fault in loaded.reading.faults)
            counts = Counter(code for code in codes if code != NO_LANGUAGE)
            faults = [f"{CHECKS[code].title} ({n})" for code, n in sorted(counts.items())]
            twin = pairs.get(suite.name)
            told = [
                *_compared(suite),
                *([_twin(suite, suites[twin])] if twin is not None else []),
                *faults,
            ]
            cells.append(
                Cell(
                    what=f"{language}, {suite.name}: items",
                    computed=len(suite.items),
                    note="; ".join(told),
                )
            )
    return Section(
        name="materials",
        title="Agreement suites: items, what is compared, twins, faults",
        source="Táboas García and Wanner 2025, aclanthology.org/2025.depling-1.4, abstract",
        cells=tuple(cells),
    )


def gym_materials(found: Sequence[LanguageSuite]) -> Section:
    """Items of SyntaxGym's suites beside those that have a published verdict.

    Args:
        found: the suites.
    """
    printed = printed_tables("agreement")["Hu et al. 2020, items of each suite"]["suites"]
    suites = [cast("Suite", loaded.suite) for _, loaded in found]
    return Section(
        name="syntaxgym-materials",
        title="SyntaxGym's suites: items, beside the items with a published verdict",
        source="Hu et al. 2020, test_suites/json and data/raw/sg_results",
        cells=tuple(
            beside(f"{suite.name}: items", len(suite.items), str(printed[suite.name]))
            for suite in suites
        ),
    )


def _total(languages: Mapping[str, Sequence[LanguageSuite]]) -> Cell:
    """All items, beside what the authors say, where all of their languages are there."""
    said = printed_tables("agreement")[_ABSTRACT]
    missing = [language for language in said["languages"] if language not in languages]
    items, sentences = _counts(
        cast("Suite", loaded.suite)
        for language in said["languages"]
        for _, loaded in languages.get(language, ())
    )
    least = int(said["test examples, more than"])
    absent = f"not compared: no suites in {', '.join(missing)}"
    return Cell(
        what="all items",
        computed=items,
        printed=f"more than {least:,}",
        equal=None if missing else items > least,
        note=absent if missing else f"{sentences:,} sentences",
    )


def _counts(suites: Iterable[Suite]) -> tuple[int, int]:
    """How many items and sentences there are."""
    counts = [(len(suite.items), len(suite.condition_names)) for suite in suites]
    return sum(n for n, _ in counts), sum(n * conditions for n, conditions in counts)


def _compared(suite: Suite) -> list[str]:
    """What the predictions compare, and in how many items something else differs too."""
    try:
        contrast = find_contrast(suite)
    except UsageError as error:
        return [error.seen]
    others = len(items_with_other_contexts(suite, contrast))
    wrong = len(contrast.alternatives)
    chance = 1 / (1 + wrong)
    told = [f"{contrast.target} against {wrong}, chance {chance:.3f}"]
    return told + ([f"in {others} items the contexts differ too"] if others else [])


def _twin(suite: Suite, twin: Suite) -> str:
    pairs = len(paired_items(suite, twin))
    alone = len(suite.items) + len(twin.items) - 2 * pairs
    return f"twin {twin.name}: {pairs} items paired" + (f", {alone} unpaired" if alone else "")
