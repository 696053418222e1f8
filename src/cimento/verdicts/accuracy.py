"""How often predictions hold: counts, the rate, its interval, and what chance would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.statistics.intervals import NOTHING_SCORED, counted_interval
from cimento.verdicts.chance import Chance, chance_level
from cimento.verdicts.judge import parse_predictions
from cimento.verdicts.tallies import Tally, tallied

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from cimento.judging import TieRule
    from cimento.suites.model import Suite
    from cimento.verdicts.compact import Verdict
    from cimento.verdicts.formula import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How often one prediction, or the conjunction of all, holds.

    Attributes:
        passed: items where it held.
        failed: items where it did not.
        tied: items where the two sides were equal.
        unscored: items that could not be judged; in no other count.
        near_tied: of the passed and the failed ones, those decided by less than 1e-5 bits.
        accuracy: passed / (passed + failed + tied), or (passed + tied) / (passed + failed + tied)
            where ties count as passes; None where that is 0 / 0.
        low: lower end of the confidence interval.
        high: upper end.
        interval_method: how the interval was made.
        reason: why accuracy and interval are None.
        chance: how often it would hold by chance; None where that is not defined.
        chance_reason: why it is not.
    """

    passed: int
    failed: int
    tied: int
    unscored: int
    near_tied: int
    accuracy: float | None
    low: float | None
    high: float | None
    interval_method: str | None
    reason: str | None
    chance: float | None
    chance_reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracies:
    """How often each prediction holds over some items, and how often all of them together.

    Attributes:
        n_items: number of items, judged or not.
        predictions: one each, in order.
        conjunction: of all predictions; None where there is none.
    """

    n_items: int
    predictions: tuple[Accuracy, ...]
    conjunction: Accuracy | None


def accuracies(
    suite: Suite,
    verdicts: Sequence[Verdict],
    *,
    seed: int,
    predictions: Sequence[str] | None = None,
    level: float = 0.95,
    ties: TieRule = "tie",
) -> Accuracies:
    """How often each prediction holds over all items of a suite.

    Args:
        suite: the suite that was judged; its `cluster` column says which items belong together.
        verdicts: as `judge` gives them.
        seed: of the simulated chance levels.
        predictions: formulas that were judged instead of the suite's.
        level: of the confidence intervals.
        ties: whether a tie counts as a ``pass``, or as a ``tie``, which is none.

    Raises:
        FormulaError: a prediction cannot be read.
        UsageError: the level is not between 0 and 1.
    """
    chances = _chances(suite, predictions, seed=seed)
    found = tallied(suite, verdicts, passes=_passes(ties)) if chances else {}
    tallies = found[""].tallies if found else {}
    return _accuracies(tallies, chances, n_items=len(suite.items), level=level)


def accuracies_by(
    suite: Suite,
    verdicts: Sequence[Verdict],
    *,
    seed: int,
    column: str = "phenomenon",
    predictions: Sequence[str] | None = None,
    level: float = 0.95,
    ties: TieRule = "tie",
) -> dict[str, Accuracies]:
    """The same for each value of a free column, in order of first appearance.

    Items without one value of that column are under the empty name; where no item has one, the
    result is empty.

    Args:
        suite: as for `accuracies`.
        verdicts: as for `accuracies`.
        seed: as for `accuracies`.
        column: whose values make the groups.
        predictions: as for `accuracies`.
        level: as for `accuracies`.
        ties: as for `accuracies`.

    Raises:
        FormulaError: a prediction cannot be read.
        UsageError: the level is not between 0 and 1.
    """
    found = tallied(suite, verdicts, column=column, passes=_passes(ties))
    chances = _chances(suite, predictions, seed=seed) if found else {}
    return {
        name: _accuracies(group.tallies, chances, n_items=group.n_items, level=level)
        for name, group in found.items()
    }


def _passes(ties: TieRule) -> frozenset[Kind]:
    """The verdicts that count as a pass."""
    return frozenset({"pass", "tie"}) if ties == "pass" else frozenset({"pass"})


def _chances(
    suite: Suite, predictions: Sequence[str] | None, *, seed: int
) -> dict[int | None, Chance]:
    """Number of the prediction to its chance level; under None, that of the conjunction."""
    trees = parse_predictions(suite, predictions)
    if not trees:
        return {}
    n_regions = len(suite.region_names)
    chances: dict[int | None, Chance] = {
        number: chance_level((tree,), n_regions=n_regions, seed=seed)
        for number, tree in enumerate(trees)
    }
    chances[None] = chance_level(trees, n_regions=n_regions, seed=seed)
    return chances


def clusters_of(suite: Suite) -> dict[str, Hashable]:
    """Item to what it belongs to: the value of the cluster column, else the item alone."""
    labels: dict[str, Hashable] = {}
    for item in suite.items:
        value = item.column(suite.cluster) if suite.cluster else None
        labels[item.id] = ("cluster", value) if value else ("item", item.id)
    return labels


def _accuracies(
    tallies: Mapping[int | None, Tally],
    chances: Mapping[int | None, Chance],
    *,
    n_items: int,
    level: float,
) -> Accuracies:
    results = {
        number: _accuracy(tallies.get(number, Tally()), chance, level=level)
        for number, chance in chances.items()
    }
    return Accuracies(
        n_items=n_items,
        predictions=tuple(each for number, each in results.items() if number is not None),
        conjunction=results.get(None),
    )


def _accuracy(tally: Tally, chance: Chance, *, level: float) -> Accuracy:
    clusters = tally.clusters()
    interval = counted_interval(clusters, level=level)
    held = sum(passes * times for (passes, _), times in clusters.items())
    scored = sum(size * times for (_, size), times in clusters.items())
    return Accuracy(
        passed=tally.kinds["pass"],
        failed=tally.kinds["fail"],
        tied=tally.kinds["tie"],
        unscored=tally.kinds["unscored"],
        near_tied=tally.near_tied,
        accuracy=held / scored if scored else None,
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=None if scored else NOTHING_SCORED,
        chance=chance.level,
        chance_reason=chance.reason,
    )
