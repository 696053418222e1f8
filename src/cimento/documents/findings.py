"""What runs show, from their estimates and from paired tests of their models."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.compare.ranking import Places, places_of
from cimento.corpus.generation import TWIN
from cimento.errors import UsageError
from cimento.io.tables import REQUESTS
from cimento.io.values import grouped
from cimento.kinds.alike import estimates_alike, headline_of
from cimento.paired.designs import design_differences
from cimento.paired.item_outcomes import item_outcomes
from cimento.records.blanks import FIRST_HIT, REACHABLE, Reach, reach_of
from cimento.records.outcomes import GROUP, beside_ratings, best_constant
from cimento.report.findings import Finding, Findings, Headline, findings
from cimento.report.findings_designs import NO_DESIGNS, DesignResult, Designs
from cimento.report.findings_pairs import FEW_MODELS, PairTest, joined
from cimento.report.findings_people import same_verdict_said
from cimento.report.formatting import short_model_names

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.effects import DesignEffect


def findings_of(runs: Sequence[Run], *, percent: bool = False) -> Findings:
    """What some runs show.

    Args:
        runs: of any kinds; several of one model on a suite have labels that tell them apart.
        percent: whether shares are said in percent, as in the tables of the same document.
    """
    short = short_model_names(dict.fromkeys(run.model for run in runs))
    effects = [(run, tuple(run.paradigm.presenter.design_effects(run))) for run in runs]
    designs = designs_of([(run, some) for run, some in effects if some], short)
    others = [run for run in runs if run.suite.name not in designs.suites]
    headlines = [
        Headline(short[run.model], one, best_constant(one, estimates), percent)
        for run, estimates in zip(runs, estimates_alike(runs), strict=True)
        # Nobody counts the items of a design on which all of its predictions hold.
        if (one := headline_of(estimates)) is not None
        and (run.suite.name not in designs.suites or not one.is_of_predictions)
    ]
    beside = [
        Headline(short[run.model], one, percent=percent, beside=True)
        for run in runs
        if (one := beside_ratings(run.estimates())) is not None
    ]
    questions = {(one.suite, one.estimate.question) for one in beside}
    places, places_beside = _places(others, questions) if len(short) > 1 else ({}, {})
    lost = tuple(_not_findable(runs, short))
    by_hits = {one.suite for one in headlines if one.estimate.question == FIRST_HIT}
    for suite, of_suite in grouped((run.suite.name, run) for run in runs).items():
        if suite in by_hits and _reach_differs(of_suite):
            places.pop(suite, None)  # a test would compare how many answers each can find
    said = findings_among(
        [*headlines, *beside],
        places,
        short,
        designs=designs,
        twins=_twins(runs),
        beside=places_beside,
    )
    return replace(said, parts=(*said.parts, *lost, *_same_as_people(others, short)))


def _not_findable(runs: Sequence[Run], short: Mapping[str, str]) -> Iterator[Finding]:
    """Of suites with blanks, how many of the expected answers each model can find, if not all."""
    for suite, of_suite in grouped((run.suite.name, run) for run in runs).items():
        found: dict[str, Reach] = {}
        for run in of_suite:
            if (reach := reach_of(run.estimates())) is not None:
                found[short[run.model]] = reach
        if not found:
            continue
        each = joined([f"{model} {reach.found} of {reach.n}" for model, reach in found.items()])
        if len(found) > FEW_MODELS:
            counts = [reach.found for reach in found.values()]
            ends = dict.fromkeys(str(end(counts)) for end in (min, max))
            each = f"{' to '.join(ends)} by {len(found)} models"
        lost = "the others count as misses"
        if not all(reach.found for reach in found.values()):
            lost = f"{lost}, and where none can be found, hits are undefined"
        sentences = [f"Expected answers that can be found: {each}; {lost}."]
        if _reach_differs(of_suite):
            sentences.append("So the hits of models are not compared by a test.")
        yield Finding("Answers within reach", (suite,), tuple(sentences), tuple(sentences))


def _reach_differs(runs: Sequence[Run]) -> bool:
    """Whether some models cannot find answers that others can, so that no test compares hits."""
    return len({_out_of_reach(run) for run in runs}) > 1


def _out_of_reach(run: Run) -> frozenset[str]:
    """The items whose expected answers a model cannot find."""
    outcomes, name = run.outcomes(), f"{GROUP}{REACHABLE}"
    if name not in outcomes.columns:
        return frozenset()
    asked = outcomes["question"] == FIRST_HIT
    return frozenset(outcomes.filter(asked & (outcomes[name] == "no"))["item"])


def _same_as_people(runs: Sequence[Run], short: Mapping[str, str]) -> Iterator[Finding]:
    """On how many items of each suite models have the verdict of people together."""
    by_suite = grouped((run.suite.name, run) for run in runs)
    for suite, of_suite in by_suite.items():
        said = [same_verdict_said(short[run.model], run.estimates()) for run in of_suite]
        if sentences := tuple(filter(None, said)):
            yield Finding("Same verdict as people", (suite,), sentences, sentences)


def designs_of(
    designs: Sequence[tuple[Run, tuple[DesignEffect, ...]]], short: Mapping[str, str]
) -> Designs:
    """The DDs of runs of factorial designs, and of few models their paired differences.

    Args:
        designs: the runs, each with its DDs.
        short: labels of models, each mapped to the name to show.
    """
    few = len({run.model for run, _ in designs}) <= FEW_MODELS
    differences = design_differences([run for run, _ in designs]) if few else ()
    return Designs(
        tuple(DesignResult(short[run.model], some) for run, some in designs),
        tuple(
            replace(one, first=short[one.first], second=short[one.second]) for one in differences
        ),
        {
            run.suite.name: run.paradigm.presenter.design_effects(run, of_people=True)
            for run, _ in designs
        },
    )


def findings_among(
    headlines: Sequence[Headline],
    places: Mapping[str, Places],
    short: Mapping[str, str],
    *,
    designs: Designs = NO_DESIGNS,
    twins: Mapping[str, str] | None = None,
    beside: Mapping[str, Places] | None = None,
) -> Findings:
    """What some headlines and comparisons show.

    Args:
        headlines: of all runs.
        places: suites, each mapped to the places of its models, with the tests behind them.
        short: labels of models, each mapped to the name to show.
        designs: DDs of factorial designs.
        twins: suites of plain sentences, each mapped to the one with attractors.
        beside: suites of rated pairs, each mapped to the places of its models by correlation.
    """
    in_percent = {one.suite for one in headlines if one.percent and one.estimate.is_share}
    tests = [
        PairTest(
            suite,
            short[pair.first],
            short[pair.second],
            pair.difference,
            pair.p,
            several.n if several.left_out else None,
            percent=suite in in_percent and by is places,
            beside=by is not places,
        )
        for by in (places, beside or {})
        for suite, several in by.items()
        for pair in several.pairs
    ]
    leaders = {
        suite: [short[label] for label, rank in several.ranks.items() if rank.best == 1]
        for suite, several in places.items()
    }
    return findings(headlines, tests, leaders, designs=designs, twins=twins)


def _twins(runs: Sequence[Run]) -> dict[str, str]:
    """The suites of plain sentences, each mapped to the one with attractors.

    A twin is called like its suite, and its sentences are those of the suite with words added.
    """
    by_suite = {run.suite.name: run for run in runs}
    named = ((name, f"{name}{TWIN}") for name in by_suite)
    return {
        name: twin
        for name, twin in named
        if twin in by_suite and _adds_words(by_suite[name], by_suite[twin])
    }


def _adds_words(plain: Run, twin: Run) -> bool:
    """Whether every sentence of a run is one of another run with words left out."""
    texts, longer = _first_sentences(plain), _first_sentences(twin)
    return (
        bool(texts)
        and texts.keys() == longer.keys()
        and all(_is_within(words, longer[item]) for item, words in texts.items())
    )


def _first_sentences(run: Run) -> dict[str, list[str]]:
    """The words of the first sentence of each item; nothing where no texts were asked about."""
    if REQUESTS.name not in run.tables:
        return {}
    first: dict[str, list[str]] = {}
    for item, text in run.table(REQUESTS.name).select("item", "text").iter_rows():
        first.setdefault(item, str(text).lower().split())
    return first


def _is_within(words: Sequence[str], longer: Sequence[str]) -> bool:
    """Whether words are others with some left out."""
    rest = iter(longer)
    return len(words) < len(longer) and all(word in rest for word in words)


def _places(
    runs: Sequence[Run], beside: Collection[tuple[str, str]]
) -> tuple[dict[str, Places], dict[str, Places]]:
    """The places of the models of every suite that two of them were run on.

    Args:
        runs: of any suites.
        beside: suite and question of correlations that are said beside an accuracy.

    Returns:
        By the question that sums up each suite, and by those correlations.
    """
    by_suite = grouped((run.suite.name, run) for run in runs)
    several = [run for suite_runs in by_suite.values() if len(suite_runs) > 1 for run in suite_runs]
    try:
        outcomes = item_outcomes(several)
    except UsageError:
        return {}, {}  # one run was given twice, and a model is not compared with itself
    main = grouped(((one.suite, one.question), one) for one in outcomes if one.headline)
    others = grouped(
        ((one.suite, one.question), one)
        for one in outcomes
        if (one.suite, one.question) in beside and not one.headline
    )
    first, second = (
        {suite: places_of(group) for (suite, _), group in groups.items() if len(group) > 1}
        for groups in (main, others)
    )
    return first, second
