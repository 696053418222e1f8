"""What a comparison of models shows, in the sentences of a report, by the p of its own tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.records.outcomes import STATISTICS
from cimento.records.wrong_side import DD
from cimento.report.design_differences import said_of_differences
from cimento.report.findings import ACCURACY_KIND, heading_of
from cimento.report.findings_pairs import FEW_MODELS, PairTest, differences, leading
from cimento.report.formatting import short_model_names
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.compare.ranking import Rankings
    from cimento.compare.ranking_records import Ranking
    from cimento.paired.pairwise import PairedCorrelations, PairwiseComparison
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
        about = heading_of(ACCURACY_KIND) if question == ALL_PREDICTIONS else question
        lines.append(_line(about, [one.suite for one in of], said))
    for about, changes in _by_kind(correlated).items() if few else ():
        lines.append(_line(about, [one.suite for one in changes], _of_correlations(changes, short)))
    return [*filter(None, lines)]


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
            _tested(pair, short, p=pair.test.p, n=pair.n if one.left_out else None)
            for one in rankings
            for pair in one.pairs
        ]
    )


def _tested(
    pair: PairwiseComparison | PairedCorrelations,
    short: dict[str, str],
    *,
    p: float | None,
    n: int | None = None,
) -> tuple[PairTest, float | None]:
    """The test of two models, first minus second, with its corrected p."""
    first_minus_second = -(pair.change.estimate or 0.0)  # undefined, it has no p
    first, second = short[pair.first], short[pair.second]
    return PairTest(pair.suite, first, second, first_minus_second, p, n), pair.corrected


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
    return differences([_tested(one, short, p=one.change.p) for one in changes])
