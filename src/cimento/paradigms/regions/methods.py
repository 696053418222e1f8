"""The methods of region suites: comparisons, rules of judging, and tests, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cite.sentences import measure_phrase
from cimento.errors import counted
from cimento.kinds.base import MethodFacts
from cimento.measures.normalizing import MODEL
from cimento.paradigms.regions.chance import COUNTED, NORMAL
from cimento.paradigms.regions.judging import judged_suite, options_of, suite_of
from cimento.statistics.means import (
    CLUSTERED_T,
    CROSSED_T,
    FEWEST_DRAWN,
    STUDENT,
    STUDENTIZED,
    STUDENTIZED_CLUSTERED,
)
from cimento.suites import PAIR_PREDICTION, Suite
from cimento.suites.design import N_FACTORS
from cimento.suites.formula import parse, references
from cimento.suites.formula_words import in_words
from cimento.suites.licensing import licensing_of
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate

_FIRST = {
    "drop": "was excluded from every sum and length",
    "zero": "was given a surprisal of 0",
}
_METRICS = {
    "sum": "sum", "mean": "mean", "median": "median", "range": "range", "max": "largest",
    "min": "smallest",
}  # fmt: skip


def region_methods(run: Run) -> MethodFacts:
    """The comparisons in a run, the rules of judging, and the tests.

    Args:
        run: of a region suite.
    """
    suite, options = suite_of(run), options_of(run)
    conditions = len(suite.condition_names)
    many = f" in {conditions} conditions" if conditions > 1 else ""
    crossed = " and ".join(
        f"{name} ({', '.join(levels)})" for name, levels in suite.factors.items()
    )
    return MethodFacts(
        counted=f"{counted(len(suite.items), 'item')}{many}",
        design=f"cross the factors {crossed}" if crossed else "",
        sentences=(*_judged(run), *_design(run)),
        brief=tuple(_in_brief(run)),
        together=f"items of one {' or one '.join(suite.cluster)}" if suite.cluster else "",
        measures=options.measure_names,
    )


def _in_brief(run: Run) -> list[str]:
    """Sentences on what was compared and what counts as right, as in a paper."""
    suite, options = judged_suite(run), options_of(run)
    if not suite.predictions:
        return []
    whole = _what_is_summed(suite)
    design = _crossed_in_brief(suite)
    if options.measure:
        measure = measure_phrase(options.measure, brief=True)
        compared = f"We compared the sentences of each item{design} by {measure}."
    else:
        done = _DONE.get(suite.metric, f"took the {_METRICS.get(suite.metric, suite.metric)} of")
        compared = (
            f"For each item{design} we {done} the token surprisals [@hale2001; @shannon1948] of"
            f" {whole}, in {options.unit}."
        )
    if design:  # a design is reported by its effects
        return [compared, *_effects(run)]
    met = (
        _met(suite, measured=bool(options.measure))
        if len(suite.predictions) == 1
        else "Each prediction is an inequality of them; an item is correct on one that holds, and"
        " correct as a whole if all of them hold."
    )
    return [compared, met]


def _crossed_in_brief(suite: Suite) -> str:
    """The factors that the sentences of an item cross; empty unless there are two."""
    if len(suite.factors) != N_FACTORS:
        return ""
    return f", a design of {' by '.join(suite.factors)},"


def _what_is_summed(suite: Suite) -> str:
    """What the predictions compare: whole sentences, regions of them, or both."""
    named = {one.region for p in suite.predictions for one in references(parse(p.formula))}
    whole, regions = "each sentence", "each critical region"
    if len(suite.region_names) == 1 or named == {"*"}:
        return whole
    return f"{regions} and {whole}" if "*" in named else regions


def _met(suite: Suite, *, measured: bool) -> str:
    """When an item is correct, for a suite with one prediction.

    Args:
        suite: the suite.
        measured: whether sentences are compared by a measure and not by surprisal.
    """
    formula = suite.predictions[0].formula
    if formula == PAIR_PREDICTION.formula:
        better = "better value" if measured else "lower surprisal"
        return f"An item is correct if the grammatical sentence has the {better}."
    predicted = formula if measured else in_words(formula, suite.region_names)
    return f"An item is correct if what the suite predicts holds ({predicted})."


_DONE = {"sum": "summed", "mean": "averaged"}


def _effects(run: Run) -> list[str]:
    """Sentences on the effects of a two-by-two design and their intervals."""
    if len(judged_suite(run).factors) != N_FACTORS:
        return []
    effect = "The effect is the difference of differences (DD) [@sprouse2012]"
    if untested := _untested(run):
        return [f"{effect}. {untested}"]
    made = _ways(run)
    drawn = bool(made & {STUDENTIZED, STUDENTIZED_CLUSTERED})
    crossed = CROSSED_T in made
    by_t = [one.n for one in _of_dd(run) if one.interval_method == STUDENT]
    few = f", used for fewer than {FEWEST_DRAWN}" if by_t and max(by_t) < FEWEST_DRAWN else ""
    ways = [
        *(["studentized bootstrap [@hall1988], used for 8 to 200 of them"] if drawn else []),
        *([f"Student's t{few}"] if STUDENT in made else []),
        *(["t with CR2 errors [@bell2002]"] if CLUSTERED_T in made else []),
        *(["t with CR2 errors [@cameron2011]"] if crossed else []),
    ]
    over = "clusters" if made & {STUDENTIZED_CLUSTERED, CLUSTERED_T} else "items"
    over = "crossed clusters" if crossed else over
    intervals = f" with 95% intervals over {over} ({' or '.join(ways)}) and" if ways else " with"
    return [f"{effect},{intervals} Holm-corrected p [@holm1979]."]


_EFFECTS = ("DD", "licensing effect")


def _of_dd(run: Run) -> list[Estimate]:
    """The effects of a design that a test was asked of: of filler and gap, those of licensing."""
    return [one for one in run.estimates() if one.statistic in _EFFECTS and one.p_method]


def _ways(run: Run) -> set[str]:
    """The methods of the intervals of effects that were made."""
    tested = (one for one in _of_dd(run) if one.low is not None)
    return {one.interval_method for one in tested if one.interval_method}


def _untested(run: Run) -> str:
    """A sentence on why no effect of a run was tested; empty where one was."""
    every = _of_dd(run)
    if any(one.p_corrected is not None for one in every):
        return ""
    reasons = "; ".join(dict.fromkeys(one.reason for one in every if one.reason))
    return f"It has neither an interval nor a test{f' ({reasons})' if reasons else ''}."


def _judged(run: Run) -> list[str]:
    """Sentences on predictions, conventions, ties and chance; none if nothing is predicted."""
    if not judged_suite(run).predictions:
        return []
    return [_compared(run), *_conventions(run), _ties(run), _near_ties(run), _chance(run)]


def _compared(run: Run) -> str:
    suite, options = judged_suite(run), options_of(run)
    formulas = "; ".join(prediction.formula for prediction in suite.predictions)
    parts = {"each sentence": "whole sentences", "each critical region": "regions"}
    named = parts.get(_what_is_summed(suite), "regions and whole sentences")
    metric = _METRICS.get(suite.metric, suite.metric)
    what = (
        f"whole sentences of an item by {measure_phrase(options.measure)}"
        if options.measure
        else f"{named} of an item by the {metric} of their token surprisals [@hale2001] in"
        f" {options.unit} [@shannon1948]"
    )
    count = len(suite.predictions)
    many = (
        "prediction [@hu2020] compares" if count == 1 else f"{count} predictions [@hu2020] compare"
    )
    also = f" Items were also judged by {'; '.join(map(measure_phrase, options.also))}."
    return f"The {many} {what}: {formulas}.{also if options.also else ''}"


def _conventions(run: Run) -> list[str]:
    options = options_of(run)
    stated = []
    if options.compat:
        stated.append(f"Conventions were those of {options.compat}.")
    if options.unigrams:
        source = (
            "the model itself, given no context" if options.unigrams == MODEL else options.unigrams
        )
        stated.append(f"Unigram frequencies were those of {source}.")
    if options.unscored_first in _FIRST:
        done = _FIRST[options.unscored_first]
        stated.append(f"A first token without left context {done}.")
    return stated


def _ties(run: Run) -> str:
    rule = "successes" if options_of(run).ties == "pass" else "failures"
    return f"Ties, in which both sides are exactly equal, count as {rule}."


def _accuracies(run: Run) -> list[Estimate]:
    """The accuracies over all items, on the measure that the run is judged on."""
    method = options_of(run).measure
    return [
        estimate
        for estimate in run.estimates()
        if not estimate.group and estimate.is_of_predictions
        and (not method or estimate.method == method)
    ]  # fmt: skip


def _near_ties(run: Run) -> str:
    """A sentence on how many verdicts the number format may have decided."""
    accuracies = _accuracies(run)
    single = [one for one in accuracies if one.question != ALL_PREDICTIONS] or accuracies
    known = [one for one in single if one.near_tied is not None]
    if not known:
        return "".join(f"N{(one.near_tie_method or 'n')[1:]}." for one in single[:1])
    near = sum(one.near_tied or 0 for one in known)
    judged = sum(one.n for one in known)
    have = "has" if near <= 1 else "have"
    return (
        f"A margin below {known[0].near_tie_bits:g} bits may depend on the batch size or the"
        f" machine ({known[0].near_tie_method}); {near or 'none'} of the {judged:,} verdicts"
        f" {have} such a margin."
    )


def _chance(run: Run) -> str:
    """Sentences on how chance levels were determined."""
    by_method: dict[str, list[str]] = {}
    for estimate in _accuracies(run):
        if estimate.chance is not None and estimate.chance_method:
            levels = by_method.setdefault(estimate.chance_method, [])
            levels.append(f"{estimate.chance:.3f}")
    stated = "; ".join(
        f"{', '.join(dict.fromkeys(levels))}, {_with_source(method)}"
        for method, levels in by_method.items()
    )
    return (
        "Chance levels assume independent values from one distribution, and thus conditions of"
        f" equal length{f': {stated}' if stated else ''}."
    )


def _with_source(method: str) -> str:
    if method == NORMAL:
        return f"{method} [@sheppard1899]"
    return method if method == COUNTED else method.replace("(", "from standard normal values (")


def _design(run: Run) -> list[str]:
    """Sentences on the effects of a two-by-two design and their tests."""
    suite = suite_of(run)
    if len(suite.factors) != N_FACTORS:
        return []
    effect = (
        "Super-additivity is the difference of differences (DD) of the four condition means"
        " [@sprouse2012]."
    )
    if untested := _untested(run):
        return [effect, untested]
    crossed = len(suite.cluster) > 1
    units = "crossed clusters" if crossed else "clusters" if suite.cluster else "items"
    method = (
        " 95% confidence interval and p value are those of Student's t [@student1908], with the"
        " variances of all factors combined [@cameron2011] and the fewest degrees of freedom of any"
        if crossed
        else _drawn_or_not(_ways(run), units, options_of(run).seed)
    )
    every = "all phenomena and measures of a model on the suite"
    whose, its = "The mean DD was", "Its"
    if licensing_of(suite):
        every = "all effects of a model on the suite, in all windows"
        whose, its = "Filler effects and wh-licensing were", "Their"
    tests = (
        f"{whose} tested over {units}, with CR2 standard errors [@bell2002]. {its}{method}."
        f" P values were corrected by Holm's method over {every} [@holm1979]."
    )
    return [effect, tests]


def _drawn_or_not(made: set[str], units: str, seed: int) -> str:
    """How the intervals and tests of DD were made: by the bootstrap, by Student's t, or by both."""
    whose = " 95% confidence interval and p value are those of"
    bootstrap = "the symmetric studentized bootstrap [@hall1988]"
    draws = f"9,999 draws, seed {seed}"
    drawn = made & {STUDENTIZED, STUDENTIZED_CLUSTERED}
    if not drawn:
        return (
            f"{whose} Student's t [@student1908]: {units} were fewer than 8 or more than 200, or"
            " samples drawn of them had hardly any spread"
        )
    if drawn == made:
        return f"{whose} {bootstrap}, used for 8 to 200 {units} ({draws})"
    return (
        f"{whose} {bootstrap} for 8 to 200 {units} ({draws}), and those of Student's t"
        " [@student1908] otherwise"
    )
