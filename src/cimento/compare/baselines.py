"""Accuracy beside cheap baselines: on the items that one of them solves, and on the others.

A model that is right where length, word frequency or a few words of context decide has shown less
than one that is right elsewhere. Baselines are of two kinds: formulas evaluated over counts in the
place of surprisals, as in `cimento.compare.covariates`, and n-gram models among the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cimento.compare.covariates import FREQUENCY, TOKENS, WORDS, Frequency, margins_of_costs
from cimento.paradigms.regions.judging import ALL, judged_suite
from cimento.runs.run import Run
from cimento.runs.store import manifest_part
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval

NAMES: Mapping[str, str] = {
    TOKENS: "fewer tokens",
    WORDS: "fewer words",
    FREQUENCY: "more frequent words",
}
"""Baselines that need no model, by the cost that they compare."""
EVERY, ANY, NONE = "all items", "solved by a baseline", "solved by none"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRate:
    """The accuracy of a model on a part of a suite; right are the items that pass all predictions.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        items: the part, such as `EVERY`, `ANY` or `NONE`.
        n: number of judged items in it.
        accuracy: share of them that are right; None if there is none.
        interval: its interval.
    """

    suite: str
    model: str
    items: str
    n: int
    accuracy: float | None
    interval: Interval


def is_baseline(run: Run) -> bool:
    """Whether a run is of an n-gram model."""
    return "order" in manifest_part(run.manifest, "model", "details")


def baseline_rates(
    runs: Sequence[Run], frequency: Callable[[str], Frequency | None]
) -> list[PartRate]:
    """The accuracies of all models that are no baselines, on parts of their suites.

    Args:
        runs: runs of suites that are judged by formulas.
        frequency: from a language to the Zipf frequencies of its words; None where unknown.

    Raises:
        FormulaError: a formula cannot be read.
    """
    ngrams = list(filter(is_baseline, runs))
    return [
        rate
        for run in runs
        if not is_baseline(run)
        for rate in _rates(run, [other for other in ngrams if _same_suite(run, other)], frequency)
    ]


def _same_suite(one: Run, other: Run) -> bool:
    parts = (manifest_part(run.manifest, "suite").get("sha256") for run in (one, other))
    return len(set(parts)) == 1 and one.suite.name == other.suite.name


def _rates(
    run: Run, ngrams: Sequence[Run], frequency: Callable[[str], Frequency | None]
) -> Iterator[PartRate]:
    right = verdicts_of(run)
    solved = solved_by_costs(run, frequency(run.suite.meta.language))
    for other in ngrams:
        verdicts = verdicts_of(other)
        solved[other.model] = {item for item, passed in verdicts.items() if passed}
    any_of = set[str]().union(*solved.values())
    parts = {EVERY: set(right)}
    parts |= {f"solved by {name}": items for name, items in solved.items()}
    parts |= {ANY: any_of, NONE: right.keys() - any_of}
    yield from part_rates(run, right, parts)


def part_rates(
    run: Run, right: Mapping[str, bool], parts: Mapping[str, Collection[str]]
) -> Iterator[PartRate]:
    """The accuracy of a run on parts of its suite.

    Args:
        run: the run.
        right: whether each judged item is right.
        parts: ids of the items of each part, by its name.
    """
    suite = judged_suite(run)
    clusters = suite.clusters() if suite.cluster else None
    for name, items in parts.items():
        judged = [item for item in right if item in items]
        passed = [right[item] for item in judged]
        yield PartRate(
            suite=run.suite.name,
            model=run.model,
            items=name,
            n=len(judged),
            accuracy=sum(passed) / len(passed) if passed else None,
            interval=share_interval(passed, Design.of(judged, clusters)),
        )


def verdicts_of(run: Run) -> dict[str, bool]:
    """Whether each judged item passes all predictions; ties do not pass."""
    outcomes = run.outcomes().filter(question=ALL).drop_nulls("right")
    return dict(outcomes.select("item", "right").iter_rows())


def solved_by_costs(run: Run, frequency: Frequency | None) -> dict[str, set[str]]:
    """The items that pass all predictions over counts, by the name of the count.

    Args:
        run: run of a suite that is judged by formulas.
        frequency: Zipf frequency of a word; None to leave frequencies out.
    """
    solved = {}
    for cost, margins in margins_of_costs(run, frequency).items():
        items = {item for _, item in margins}
        failed = {item for (_, item), margin in margins.items() if not (margin or 0.0) > 0}
        solved[NAMES[cost]] = items - failed
    return solved
