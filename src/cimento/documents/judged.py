"""Notes below a table on what its numbers were judged by, where that is not the usual way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.cite.brief import PLL_IN_BRIEF
from cimento.cite.sentences import MEASURES_IN_WORDS
from cimento.io.values import grouped
from cimento.records.outcomes import STATISTICS
from cimento.records.store import manifest_part

if TYPE_CHECKING:
    from cimento.kinds.run import Run


def judged_notes(runs: Sequence[Run], short: Mapping[str, str]) -> tuple[str, ...]:
    """What some headline numbers were judged by, with the runs if it is not all of them.

    Args:
        runs: the runs of a table.
        short: labels of models, each mapped to its name in the table.
    """
    by_way = grouped((way, run) for run in runs for way in _ways(run))
    return tuple(
        f"{way}." if len(some) == len(runs) else f"{way}: {_which(some, runs, short)}."
        for way, some in by_way.items()
    )


def _ways(run: Run) -> Iterator[str]:
    headline = next((one for one in run.estimates() if one.role == "headline"), None)
    options = run.options.model_dump(mode="json")
    measure = str(options.get("measure") or "")
    if headline is not None and not headline.is_share and headline.question:
        name = STATISTICS.get(headline.statistic, headline.statistic)
        yield f"{name}: {_words(headline.question)} beside the ratings"
    elif measure:
        several = ", ".join((measure, *options.get("also", ())))
        first = f", the first of {several}" if several != measure else ""
        yield f"Judged on {_words(measure)}{first}"
    metric = options.get("metric")
    if metric not in (None, "sum") and not measure:
        yield f"The value of a region is the {metric} of its tokens"
    rule = str(manifest_part(run.manifest, "asking", "policy").get("pll", ""))
    if run.model_kind == "masked" and rule in PLL_IN_BRIEF and rule != "within-word-l2r":
        yield f"Pseudo-log-likelihoods by {PLL_IN_BRIEF[rule].partition(' [')[0]} ({rule})"


def _words(measure: str) -> str:
    return MEASURES_IN_WORDS.get(measure, measure)


def _which(some: Sequence[Run], runs: Sequence[Run], short: Mapping[str, str]) -> str:
    """Some runs of a table, by model or by suite if these tell them, or else by both."""
    models = dict.fromkeys(run.model for run in some)
    if len(some) == sum(run.model in models for run in runs):
        return ", ".join(short[model] for model in models)
    suites = dict.fromkeys(run.suite.name for run in some)
    if len(some) == sum(run.suite.name in suites for run in runs):
        return ", ".join(suites)
    return ", ".join(f"{short[run.model]} on {run.suite.name}" for run in some)
