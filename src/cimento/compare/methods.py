"""The methods of comparisons and analyses, in a paragraph: what was compared, tested, corrected.

Every sentence is made from the results: a test that was not made is not named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.cite.methods import cited_text
from cimento.cite.sentences import cite_keys, names_in_row
from cimento.errors import counted
from cimento.io.values import grouped

if TYPE_CHECKING:
    from cimento.compare.analysis import Analysis
    from cimento.compare.before_after import BeforeAfter
    from cimento.compare.ranking import Rankings
    from cimento.paired.pairwise import (
        Correction,
        PairedCorrelations,
        PairedValues,
        PairwiseComparison,
    )
    from cimento.report.design_differences import DesignDifference
    from cimento.statistics.planning import Pilot, SizePlan

_SOURCES = {
    "McNemar": "mcnemar1947",
    "Cochran": "cochran1950",
    "Bonett-Price": "bonett2012",
    "CR2": "bell2002",
    "studentized bootstrap": "hall1988",
    "Student": "student1908",
    "Wilson": "wilson1927",
    "jackknife": "efron1993",
}
"""Parts of the names of methods, each mapped to the work behind it."""

_CORRECTED = {
    "holm": "Holm's method [@holm1979]",
    "bh": "Benjamini and Hochberg's [@benjamini1995]",
}
_RANKS = (
    "Ranks are those that the tests of all pairs leave open, corrected by Holm's method [@holm1979;"
    " @mogstad2024]."
)
_COUNTS = 8
"""Most suites or models that are named; more are counted."""


def comparison_methods(comparison: BeforeAfter, *, correction: Correction = "holm") -> str:
    """The methods of a comparison of two runs, or two folders of runs.

    Args:
        comparison: what was compared, with the tests that were made.
        correction: of p over all rates.

    Returns:
        A paragraph with works in parentheses.
    """
    first, second = comparison.sides
    what = f"{first} with {second}" if first != second else f"two runs of {first}"
    shared = sum(pair.shared for pair in comparison.runs)
    left = sum(pair.left_out for pair in comparison.runs)
    missing = f"; {left:,} that only one of them has are left out" if left else ""
    items = f"the same {counted(shared, 'item')}{missing}"
    said = [
        f"We compared {what} with cimento [@cimento], on {items}.",
        *_of_designs(comparison.designs, correction),
        *_of_rates(comparison.rates, correction),
        *_of_values(comparison.values),
        *_of_correlations(comparison.correlations, correction),
    ]
    return cited_text(" ".join(said))


def ranking_methods(ranked: Rankings, *, correction: Correction = "holm") -> str:
    """The methods of a comparison of several models on each suite.

    Args:
        ranked: the rankings, with all pairs.
        correction: of p over all pairs and suites.

    Returns:
        A paragraph with works in parentheses.
    """
    models = dict.fromkeys(one.model for ranking in ranked.rankings for one in ranking.models)
    suites = dict.fromkeys(ranking.suite for ranking in ranked.rankings)
    pairs = [pair for ranking in ranked.rankings for pair in ranking.pairs]
    together = [
        ranking.together.method
        for ranking in ranked.rankings
        if ranking.together is not None and ranking.together.p is not None
    ]
    of_all = "All models of a suite together were tested by {}."
    said = [
        f"We compared {_some([*models], 'models')} on {_some([*suites], 'suites')} with cimento",
        "[@cimento], each suite on the items that all its models were scored on.",
        *_of_rates(pairs, correction),
        *([of_all.format(_methods(together))] if together else []),
        *_of_correlations(ranked.correlations, correction),
        *([_RANKS] if pairs else []),
    ]
    return cited_text(" ".join(said))


def analysis_methods(analysis: Analysis) -> str:
    """The methods of an analysis of items, models and phenomena.

    Args:
        analysis: of the suites with one level of chance, and of others.

    Returns:
        A paragraph with works in parentheses.
    """
    parts = (analysis, *analysis.others)
    said = [
        "We analyzed the answers with cimento [@cimento]"
        + (", suites with different levels of chance apart." if len(parts) > 1 else ".")
    ]
    for one in parts:
        level = f"At a chance level of {one.chance:g}, " if one.chance else "Without such a level, "
        where = level if len(parts) > 1 else ""
        if one.reason is not None:
            text = f"there is no model of items ({one.reason})."
            said.append(f"{where}{text}" if where else text.capitalize())
            continue
        kind = "a Rasch model with random items" if one.kind == "rasch" else "a two-parameter model"
        text = (
            f"{counted(one.answers, 'answer')} to {counted(len(one.items), 'item')} by"
            f" {counted(len(one.models), 'model')} were fitted by {kind}, with phenomena and items"
            " as random effects and intervals from Laplace's approximation."
        )
        said.append(f"{where}{text}")
        if one.two_parameters_p is not None:
            said.append(
                "That all items discriminate alike was tested by likelihood ratio"
                f" (p = {one.two_parameters_p:.3g})."
            )
        if one.undefined:
            said.append(f"Not judged, and left out: {counted(one.undefined, 'answer')}.")
        if one.ties:
            rule = "half right" if one.tie_rule == "half" else "as they were judged"
            said.append(f"Ties counted {rule}: {one.ties:,}.")
        if not one.converged:
            said.append("The optimum was not found, so that these numbers are provisional.")
        said += [*_of_groups(one)]
    said.append("Abilities are over the phenomena given.")
    return cited_text(" ".join(said))


def power_methods(planned: SizePlan, pilot: Pilot, *, title: str, from_pilot: bool) -> str:
    """The methods of a plan of how many items a difference needs.

    Args:
        planned: the plan.
        pilot: what it rests on.
        title: what is tested, as the table of the plan says.
        from_pilot: whether the difference is that of the pilot.

    Returns:
        A paragraph with works in parentheses.
    """
    clusters = f" in {counted(pilot.design.m, 'cluster')}" if pilot.design.clustered else ""
    crossed = f" in {pilot.design.clusters_said} crossed clusters"
    clusters = crossed if pilot.design.crossed else clusters
    which = "as in the pilot" if from_pilot else "the smallest that we want to detect"
    whether = "whether " if pilot.kind == "rate" else ""
    pilots = f"{counted(pilot.design.n, 'item')}{clusters} ({title.rstrip('.')})"
    level = f"two-sided at a level of {planned.alpha:g}"
    said = [
        f"We planned the number of items with cimento [@cimento] from a pilot of {pilots}.",
        f"The test is {whether}{_methods([planned.test])}, {level}.",
        f"The difference is {planned.difference:.3g}, {which}.",
    ]
    said.append(_how_planned(planned, pilot))
    if planned.needed is None:
        said.append(f"No size up to {planned.most:,} items has a power of {planned.power:g}.")
    else:
        needed = planned.needed
        of = f" in {counted(needed.clusters, 'cluster')}" if pilot.design.clustered else ""
        if pilot.design.crossed:
            of = f" with {needed.clusters} levels of the smallest factor"
        said.append(
            f"A power of {planned.power:g} needs {counted(needed.items, 'item')}{of}, if the pilot"
            " is right."
        )
    return cited_text(" ".join(said))


def _how_planned(planned: SizePlan, pilot: Pilot) -> str:
    """The sentence on how the power of a plan was computed."""
    if planned.trials:
        return (
            f"Its power was estimated from {planned.trials:,} data sets of each size, whose items"
            " or whole clusters are drawn from the pilot and moved to this difference"
            " [@efron1993]."
        )
    if pilot.kind == "correlation":
        return "Its power is approximate, by Fisher's z of sentences that stand alone."
    if pilot.design.crossed:
        return (
            "Its power is approximate, by the noncentral t of the variance that the pilot has"
            " between the levels of each factor, and between their cells [@koch1968]."
        )
    return "Its power is exact, by the distribution of single items."


def _of_groups(analysis: Analysis) -> Iterator[str]:
    """Sentences on families of models and languages of items, as far as an analysis has them."""
    families = analysis.families
    if families and analysis.by_family is not None:
        listed = names_in_row([f"{name} ({len(some)} models)" for name, some in families.items()])
        yield (
            f"Models of one family have an effect on each item in common [@bradlow1999]: {listed}."
        )
    elif not families:
        yield "Models are taken to answer independently of each other."
    if analysis.languages:
        yield "A phenomenon in several languages counts as one in each."


def _some(names: Sequence[str], what: str) -> str:
    return names_in_row(names) if len(names) <= _COUNTS else f"{len(names)} {what}"


def _methods(names: Iterable[str]) -> str:
    """The names of methods, each once and with its works."""
    known = dict.fromkeys(names)
    cited = [
        f"{name}{cite_keys(key for part, key in _SOURCES.items() if part in name)}"
        for name in known
    ]
    return " or ".join(cited)


def _of_rates(rates: Sequence[PairwiseComparison], correction: Correction) -> Iterator[str]:
    """Sentences on the tests and intervals of changes of rates, as far as they were made."""
    tested = [rate for rate in rates if rate.test.p is not None]
    bounded = [rate for rate in rates if rate.change.low is not None]
    if tested:
        tests = _methods(rate.test.method for rate in tested)
        yield f"Proportions of correct items were tested by {tests}."
    if bounded:
        yield f"Changes have 95% intervals by {_methods(rate.change.method for rate in bounded)}."
    clusters = {
        suite: sorted({rate.design.m for rate in some})
        for suite, some in grouped((r.suite, r) for r in rates if r.design.clustered).items()
    }
    if clusters:
        known = [f"{' to '.join(map(str, sizes[:1] + sizes[1:][-1:]))} in {suite}"
                 for suite, sizes in clusters.items()]  # fmt: skip
        yield f"Items belong together in clusters: {names_in_row(known)}."
    sizes = sorted({rate.family for rate in tested})
    if sizes and sizes[-1] > 1:
        over = " and ".join(map(str, sizes))
        apart = ", main questions and others apart" if len(sizes) > 1 else ""
        yield f"P values were corrected by {_CORRECTED[correction]} over {over} tests{apart}."
    elif tested:
        yield "One test was made, so that p is not corrected."
    untested = len(rates) - len(tested)
    if untested:
        yield f"{counted(untested, 'comparison')} could not be tested."


def _of_designs(differences: Sequence[DesignDifference], correction: Correction) -> Iterator[str]:
    """A sentence on the tests of differences of DD, as far as they were made."""
    tested = [one for one in differences if one.change.p is not None]
    if tested:
        over = f", with p corrected by {_CORRECTED[correction]} over {len(tested)} tests"
        yield (
            "Differences of DD, the difference of differences, are paired by item and were tested"
            f" by {_methods(one.change.method for one in tested)}{over if len(tested) > 1 else ''}."
        )


def _of_values(values: Sequence[PairedValues]) -> Iterator[str]:
    tested = [one for one in values if one.change.p is not None]
    if tested:
        methods = _methods(one.change.method for one in tested)
        yield (
            f"Mean differences of {counted(len(tested), 'value')} were tested by {methods}, without"
            " correction."
        )


def _of_correlations(
    correlations: Sequence[PairedCorrelations], correction: Correction
) -> Iterator[str]:
    tested = [one for one in correlations if one.change.p is not None]
    if tested:
        methods = _methods(one.change.method for one in tested if one.change.method)
        family = max(one.family for one in tested)
        over = f", with p corrected by {_CORRECTED[correction]} over {family} of them"
        yield (
            f"Differences of {counted(len(tested), 'correlation')} were tested by {methods}"
            f"{over if family > 1 else ''}."
        )
