"""What runs show, from their estimates and from paired tests of their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.compare.ranking import Places, places_of
from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.paired.item_outcomes import item_outcomes
from cimento.records.outcomes import best_constant
from cimento.report.findings import Findings, Headline, findings
from cimento.report.findings_pairs import PairTest
from cimento.report.formatting import short_model_names

if TYPE_CHECKING:
    from cimento.kinds.run import Run


def findings_of(runs: Sequence[Run]) -> Findings:
    """What some runs show.

    Args:
        runs: of any paradigms; several of one model on a suite have labels that tell them apart.
    """
    short = short_model_names(dict.fromkeys(run.model for run in runs))
    return findings_among(
        [
            Headline(short[run.model], one, best_constant(one, estimates))
            for run in runs
            for estimates in [run.estimates()]
            for one in estimates
            if one.role == "headline"
        ],
        _places(runs) if len(short) > 1 else {},
        short,
    )


def findings_among(
    headlines: Sequence[Headline], places: Mapping[str, Places], short: Mapping[str, str]
) -> Findings:
    """What some headlines and comparisons show.

    Args:
        headlines: of all runs.
        places: suites, each mapped to the places of its models, with the tests behind them.
        short: labels of models, each mapped to the name to show.
    """
    tests = [
        PairTest(
            suite,
            short[pair.first],
            short[pair.second],
            pair.difference,
            pair.p,
            several.n if several.left_out else None,
        )
        for suite, several in places.items()
        for pair in several.pairs
    ]
    leaders = {
        suite: [short[label] for label, rank in several.ranks.items() if rank.best == 1]
        for suite, several in places.items()
    }
    return findings(headlines, tests, leaders)


def _places(runs: Sequence[Run]) -> dict[str, Places]:
    """The places of the models of every suite that two of them were run on."""
    by_suite = grouped((run.suite.name, run) for run in runs)
    several = [run for suite_runs in by_suite.values() if len(suite_runs) > 1 for run in suite_runs]
    try:
        outcomes = [one for one in item_outcomes(several) if one.headline]
    except UsageError:
        return {}  # one run was given twice, and a model is not compared with itself
    groups = grouped(((one.suite, one.question), one) for one in outcomes)
    return {suite: places_of(group) for (suite, _), group in groups.items() if len(group) > 1}
