"""Sentences on how the answers of regions and of rated sentences were judged, and tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cimento.citing.facts import RunFacts, part
from cimento.citing.used import cite_source, counted
from cimento.errors import CimentoError
from cimento.measures import find_measure
from cimento.suites.model import JsonValue
from cimento.verdicts.accuracy import LengthOnly
from cimento.verdicts.chance import COUNTED, NORMAL

_TWO = 2
_FIRST = {
    "drop": "was left out of every sum and length",
    "zero": "counted as a surprisal of 0",
}
_WORDS = {
    "sum": "sum", "mean": "mean", "median": "median", "range": "range", "max": "largest",
    "min": "smallest",
}  # fmt: skip


def sentences(run: RunFacts) -> list[str]:
    """What was compared, and how the shares are told."""
    if not run.predictions:
        return []
    return [
        _compared(run),
        *_conventions(run),
        _ties(run),
        _outcomes(run),
        *_near_ties(run),
        interval(run.cluster),
        *_chance(run),
    ]


def design(run: RunFacts) -> list[str]:
    """Effects of a two by two design and their tests."""
    if len(run.factors) != _TWO:
        return []
    effect = (
        "Super-additivity is the difference of differences (DD) of the four condition means"
        " [@sprouse2012]."
    )
    units = f"clusters (items of one {run.cluster})" if run.cluster else "items"
    tests = (
        f"The mean DD has a 95 % interval and a test over {units}, with CR2 standard errors"
        " [@bell2002]: of 8 to 200 of them by the symmetric studentized bootstrap [@hall1988]"
        f" (9,999 draws, seed {run.judging.seed}), else by Student's t [@student1908]; p-values"
        " are corrected by Holm over all phenomena tested together [@holm1979]."
    )
    return [effect, tests]


def beside_people(run: RunFacts) -> list[str]:
    """Measures of sentences beside ratings."""
    draws = part(part(run.manifest, "options"), "set").get("draws", "1000")
    told = "; ".join(map(measure, run.measures))
    together = f"one {run.cluster}" if run.cluster else "a pair"
    tests = (
        "Each was set beside the ratings by Spearman's [@spearman1904], Pearson's and Kendall's"
        " correlation with jackknife intervals on Fisher's scale [@efron1993], and by Spearman's"
        " partial correlation with length in words (and word frequency, where it is known) held"
        f" constant. Spearman's was tested by permutation ({draws} draws, seed"
        f" {run.judging.seed}; the sentences of {together} together) [@phipson2010], with p-values"
        " corrected by Holm over the measures [@holm1979]."
    )
    return [f"Measures of sentences: {told}.", tests]


def measure(name: str) -> str:
    """A measure with its formula, unit, direction and source."""
    try:
        found = find_measure(name)
    except CimentoError:
        return name  # a plug-in that is not installed here brought it
    unit = f"in {found.unit}, " if found.unit else ""
    better = "higher" if found.higher_is_better else "lower"
    return f"{found.name}, {found.formula} ({unit}{better} is better){cite_source(found.source)}"


def interval(cluster: str) -> str:
    """The interval of shares.

    Args:
        cluster: the column that says which items belong together; empty where each stands alone.
    """
    head = "Shares have Wilson's 95 % interval [@wilson1927]"
    if not cluster:
        return f"{head}."
    return (
        f"{head} at the effective number of verdicts, because items of one {cluster} belong"
        " together [@korn1998; @franco2019]."
    )


def _compared(run: RunFacts) -> str:
    formulas = "; ".join(run.predictions)
    what = (
        f"whole sentences of an item by {measure(run.judging.measure)}"
        if run.judging.measure
        else f"regions of an item by the {_WORDS.get(run.metric, run.metric)} of the surprisals of"
        f" their tokens [@hale2001], in {run.judging.unit}"
    )
    count = len(run.predictions)
    many = "prediction compares" if count == 1 else f"{count} predictions compare"
    return f"The {many} {what} [@hu2020]: {formulas}."


def _conventions(run: RunFacts) -> list[str]:
    judging = run.judging
    found = []
    if judging.compat:
        found.append(f"Conventions were those of {judging.compat}.")
    if judging.unigrams:
        found.append(f"Unigram frequencies were those of {judging.unigrams}.")
    if judging.unscored_first in _FIRST:
        done = _FIRST[judging.unscored_first]
        found.append(f"A first token without left context {done}.")
    return found


def _ties(run: RunFacts) -> str:
    rule = "as a pass" if run.judging.ties == "pass" else "as no pass"
    return f"Two sides that are exactly equal are a tie, which counts {rule}."


def _outcomes(run: RunFacts) -> str:
    total = counted(sum(run.outcomes.values()), "verdict", "verdicts")
    ties = counted(run.outcomes.get("tie", 0), "was a tie", "were ties")
    left = counted(
        run.outcomes.get("unscored", 0),
        "could not be scored and is in no share",
        "could not be scored and are in no share",
    )
    return f"Of {total} {ties}, and {left}."


def _near_ties(run: RunFacts) -> list[str]:
    """How many verdicts the number format may have decided."""
    bits = run.rates.get("near_tie_bits")
    if not isinstance(bits, int | float):
        return []
    near = judged = 0
    for each in _results(run, "predictions"):
        near += _count(each, "near_tied")
        judged += sum(_count(each, name) for name in ("passed", "failed", "tied"))
    have = "has" if near == 1 else "have"
    told = (
        f"Margins below {bits:g} bits are within what another batch or machine may change"
        f" ({run.rates.get('near_tie_reason')}); {near:,} of {judged:,} verdicts {have} one."
    )
    return [told]


def _chance(run: RunFacts) -> list[str]:
    """How chance levels were found, and what length alone would do."""
    found = _results(run, "predictions")
    if len(found) > 1:
        found += _results(run, "conjunction")
    by_method: dict[str, list[str]] = {}
    for each in found:
        level, method = each.get("chance"), each.get("chance_method")
        if isinstance(level, float) and isinstance(method, str):
            by_method.setdefault(method, []).append(f"{level:.3f}")
    told = [
        f"{', '.join(dict.fromkeys(levels))} {_with_source(method)}"
        for method, levels in by_method.items()
    ]
    levels = f": {'; '.join(told)}" if told else ""
    head = (
        "Chance supposes independent values of one distribution, and so conditions of equal"
        f" length{levels}."
    )
    return [head, *_length(found)]


def _with_source(method: str) -> str:
    if method == NORMAL:
        return f"{method} [@sheppard1899]"
    if method == COUNTED:
        return method
    return f"{method.replace('(', 'from standard normal values (')} [@hammersley1956]"


def _length(results: Sequence[Mapping[str, JsonValue]]) -> list[str]:
    """What shares would be by length alone, where that leads away from chance."""
    off = []
    for each in results:
        found, chance = part(each, "length"), each.get("chance")
        counts = {name: _count(found, name) for name in ("passed", "failed", "tied")}
        only = LengthOnly(**counts, accuracy=None) if found else None
        if only is not None and isinstance(chance, float) and only.is_off(chance):
            of = "all predictions" if each.get("index") is None else f"prediction {each['index']}"
            off.append(f"{found['accuracy']:.3f} ({of})")
    if not off:
        return []
    told = (
        "Conditions differ in their number of tokens: if every token cost the same, the shares"
        f" would be {', '.join(off)}."
    )
    return [told]


def _results(run: RunFacts, name: str) -> list[Mapping[str, JsonValue]]:
    """Results that were stored; empty where there are none."""
    found = run.rates.get(name)
    members = found if isinstance(found, list | tuple) else [found]
    return [each for each in members if isinstance(each, dict)]


def _count(result: Mapping[str, JsonValue], name: str) -> int:
    value = result.get(name)
    return value if isinstance(value, int) else 0
