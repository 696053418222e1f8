"""What a comparison of models shows, in the sentences of a report, by the p of its own tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.paired.pairwise import PairedCorrelations, PairwiseComparison
from cimento.records.outcomes import STATISTICS
from cimento.records.wrong_side import DD
from cimento.report.design_differences import said_of_differences
from cimento.report.findings import ACCURACY_KIND, heading_of
from cimento.report.findings_pairs import FEW_MODELS, PairTest, differences, leading
from cimento.report.formatting import short_model_names
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.compare.before_after import BeforeAfter
    from cimento.compare.ranking import Rankings
    from cimento.compare.ranking_records import Ranking
    from cimento.report.design_differences import DesignDifference


def verdicts(
    ranked: Rankings,
    designs: Sequence[DesignDifference] = (),
    *,
    main: Collection[tuple[str, str]],
) -> list[str]:
    """Which models differ, a line for each kind of number; of many models, which could be first.

    Args:
        ranked: the models of some suites.
        designs: the differences of their DDs.
        main: suite and question of what sums up each suite; nothing is said of others.
    """
    rankings = [one for one in ranked.rankings if (one.suite, one.question) in main]
    correlated = [one for one in ranked.correlations if (one.suite, one.question) in main]
    labels = dict.fromkeys(model.model for one in rankings for model in one.models)
    labels |= dict.fromkeys(name for one in correlated for name in (one.first, one.second))
    labels |= dict.fromkeys(name for one in designs for name in (one.first, one.second))
    short = short_model_names(labels)
    few = len(short) <= FEW_MODELS
    lines = []
    for suite, pairs in grouped((one.suite, one) for one in designs).items() if few else ():
        lines.append(_line(DD, [suite], said_of_differences(pairs)))
    for question, of in grouped((one.question, one) for one in rankings).items():
        said = _of_rates(of, short) if few else _of_many(of, short)
        lines.append(_line(_about(question), [one.suite for one in of], said))
    for about, changes in _by_kind(correlated).items() if few else ():
        lines.append(_line(about, [one.suite for one in changes], _of_correlations(changes, short)))
    return [*filter(None, lines)]


def verdicts_of_two(comparison: BeforeAfter) -> list[str]:
    """Whether the two sides of a comparison differ, a line for each kind of number.

    Of several models, each before and after, there is a line for each model.

    Args:
        comparison: two models, or one or several before and after.
    """
    short = short_model_names(comparison.sides)
    first, second = (short[side] for side in comparison.sides)
    rates, correlated = comparison.summed_up, comparison.correlated
    models = {one.first for one in rates} | {one.first for one in correlated}
    partial = any(pair.left_out or pair.only_second for pair in comparison.runs)
    lines = [
        _line(DD, [suite], said_of_differences(pairs))
        for suite, pairs in grouped((one.suite, one) for one in comparison.designs).items()
    ]
    for (model, question), of in grouped(((one.first, one.question), one) for one in rates).items():
        about = f"{_about(question)} of {model}" if len(models) > 1 else _about(question)
        tested = [_tested(one, first, second, partial=partial) for one in of]
        lines.append(_line(about, [one.suite for one in of], differences(tested)))
    for model, given in grouped((one.first, one) for one in correlated).items():
        for kind, changes in _by_kind(given).items():
            about = f"{kind}, {model}" if len(models) > 1 else kind
            tested = [_tested(one, first, second, partial=partial) for one in changes]
            lines.append(_line(about, [one.suite for one in changes], differences(tested)))
    return [*filter(None, lines)]


def _about(question: str) -> str:
    """What a proportion of correct items is about."""
    return heading_of(ACCURACY_KIND) if question == ALL_PREDICTIONS else question


def _line(about: str, suites: Sequence[str], said: Iterator[str]) -> str:
    """The sentences on one kind of number, after what they are about; empty if there are none."""
    names = list(dict.fromkeys(suites))
    where = names[0] if len(names) == 1 else f"{len(names)} suites"
    sentences = " ".join(f"{one}." for one in said)
    return f"{about}, {where}. {sentences}" if sentences else ""


def _of_rates(rankings: Sequence[Ranking], short: dict[str, str]) -> Iterator[str]:
    """Which of few models get more items right."""
    return differences(
        [
            _tested(pair, short[pair.first], short[pair.second], partial=one.left_out > 0)
            for one in rankings
            for pair in one.pairs
        ]
    )


def _tested(
    pair: PairwiseComparison | PairedCorrelations,
    first: str,
    second: str,
    *,
    partial: bool = False,
) -> tuple[PairTest, float | None]:
    """The test of two models, first minus second, with its corrected p.

    Args:
        pair: the two models on one suite.
        first: short name of the one.
        second: of the other.
        partial: whether a model lacks items, so that their number is said.
    """
    first_minus_second = -(pair.change.estimate or 0.0)  # undefined, it has no p
    if isinstance(pair, PairwiseComparison):
        p, n = pair.test.p, pair.n
    else:
        p, n = pair.change.p, pair.change.n
    shared = n if partial else None
    return PairTest(pair.suite, first, second, first_minus_second, p, shared), pair.corrected


def _of_many(rankings: Sequence[Ranking], short: dict[str, str]) -> Iterator[str]:
    """Which of many models could be first."""
    leaders = {
        one.suite: [
            short[model.model] for model in one.models if model.rank and model.rank.best == 1
        ]
        for one in rankings
    }
    return leading(leaders, list(leaders), len(short))


def _by_kind(correlated: Sequence[PairedCorrelations]) -> dict[str, list[PairedCorrelations]]:
    """The correlations by what they are of, such as ``Spearman's rho of lp``: a main one each."""
    first = {(one.suite, one.question): one.coefficient for one in reversed(correlated)}
    return grouped(
        (f"{STATISTICS.get(one.coefficient, one.coefficient)} of {one.question}", one)
        for one in correlated
        if one.coefficient == first[one.suite, one.question]
    )


def _of_correlations(changes: Sequence[PairedCorrelations], short: dict[str, str]) -> Iterator[str]:
    """Which of few models correlate more with the same ratings."""
    return differences([_tested(one, short[one.first], short[one.second]) for one in changes])
