"""How often predictions hold: counts, the rate, its interval, and what chance would do."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.statistics.intervals import counted_interval
from cimento.verdicts.chance import Chance, chance_level, scale_reason
from cimento.verdicts.judge import parse_predictions
from cimento.verdicts.tallies import Group, Tally, tallied

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from cimento.suites.formula import Formula
    from cimento.suites.model import Suite
    from cimento.verdicts.compact import Verdict
    from cimento.verdicts.formula import Kind

TieRule: TypeAlias = Literal["tie", "pass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthOnly:
    """How often a prediction would hold if every token cost the same: by numbers of tokens alone.

    Attributes:
        passed: items where it would hold.
        failed: items where it would not.
        tied: items where both sides have as many tokens.
        accuracy: passed / (passed + failed + tied), with the rule for ties of the accuracy beside
            it; None where that is 0 / 0.
    """

    passed: int
    failed: int
    tied: int
    accuracy: float | None

    def is_off(self, chance: float | None) -> bool:
        """Whether a chance level is out of reach, however ties are counted.

        Args:
            chance: how often the prediction would hold if lengths were equal.
        """
        n = self.passed + self.failed + self.tied
        if chance is None or n == 0:
            return False
        return not self.passed <= chance * n <= self.passed + self.tied


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How often one prediction, or the conjunction of all, holds.

    Attributes:
        passed: items where it held.
        failed: items where it did not.
        tied: items where the two sides were equal.
        unscored: items that could not be judged; in no other count.
        near_tied: of the passed and the failed ones, those decided by less than the threshold
            of near ties.
        accuracy: passed / (passed + failed + tied), or (passed + tied) / (passed + failed + tied)
            where ties count as passes; None where that is 0 / 0.
        low: lower end of the confidence interval.
        high: upper end.
        interval_method: how the interval was made.
        reason: why the interval is None, and the accuracy where it is.
        chance: how often it would hold by chance; None where that is not defined.
        chance_reason: why it is not.
        chance_method: how it was found.
        length: how often it would hold by numbers of tokens alone; None where that is not defined.
        length_reason: why it is not.
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
    chance_method: str | None
    length: LengthOnly | None
    length_reason: str | None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How verdicts are counted.

    Attributes:
        level: of the confidence intervals.
        ties: whether a tie counts as a ``pass``, or as a ``tie``, which is none.
        near_tie_bits: verdicts decided by less are near ties.
    """

    level: float = 0.95
    ties: TieRule = "tie"
    near_tie_bits: float = 0.0

    @property
    def passes(self) -> frozenset[Kind]:
        """The verdicts that count as a pass."""
        return frozenset({"pass", "tie"}) if self.ties == "pass" else frozenset({"pass"})


PLAIN = Rule()

ByLength: TypeAlias = "Mapping[str, Mapping[str, Group]]"
"""Name of a column to the groups that its values make, counted by length alone."""

PHENOMENON = "phenomenon"


def counted_by_length(suite: Suite, verdicts: Sequence[Verdict], rule: Rule) -> ByLength:
    """What length alone decides of all items, and of each phenomenon; counts without clusters.

    Args:
        suite: that was judged.
        verdicts: on its items with every token at the same cost; they need not be held afterwards.
        rule: what counts as a pass.
    """
    # No interval is made of these, so that clusters are not held.
    plain = dataclasses.replace(suite, cluster="")
    return {
        column: tallied(plain, verdicts, column=column, passes=rule.passes)
        for column in ("", PHENOMENON)
    }


NOT_ASKED = "it was not asked what length alone decides"


def accuracies(
    suite: Suite,
    verdicts: Sequence[Verdict],
    *,
    seed: int,
    predictions: Sequence[str] | None = None,
    rule: Rule = PLAIN,
    lengths: ByLength | str = NOT_ASKED,
) -> Accuracies:
    """How often each prediction holds over all items of a suite.

    Args:
        suite: the suite that was judged; its `cluster` column says which items belong together.
        verdicts: as `judge` gives them.
        seed: of the chance levels that are simulated.
        predictions: formulas that were judged instead of the suite's.
        rule: how verdicts are counted.
        lengths: what `counted_by_length` gives of the same items, or why there is none.

    Raises:
        FormulaError: a prediction cannot be read.
        UsageError: the level is not between 0 and 1.
    """
    judged = _Judged(suite, verdicts, lengths, _expected(suite, predictions, seed=seed), rule)
    found = judged.groups("") if judged.expected else {}
    whole = found.get("") or _accuracies({}, {}, judged, n_items=0)
    return replace(whole, n_items=len(suite.items))


def accuracies_by(
    suite: Suite,
    verdicts: Sequence[Verdict],
    *,
    seed: int,
    column: str = PHENOMENON,
    predictions: Sequence[str] | None = None,
    rule: Rule = PLAIN,
    lengths: ByLength | str = NOT_ASKED,
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
        rule: as for `accuracies`.
        lengths: as for `accuracies`.

    Raises:
        FormulaError: a prediction cannot be read.
        UsageError: the level is not between 0 and 1.
    """
    if column not in suite.column_names:
        return {}
    expected = _expected(suite, predictions, seed=seed)
    return _Judged(suite, verdicts, lengths, expected, rule).groups(column)


@dataclass(frozen=True, slots=True)
class _Expected:
    """What is expected of a prediction without a model.

    Attributes:
        chance: how often it holds by chance.
        scale: why it depends on the scale of the values; None where it does not.
    """

    chance: Chance
    scale: str | None


def _expected(
    suite: Suite, predictions: Sequence[str] | None, *, seed: int
) -> dict[int | None, _Expected]:
    """By number of the prediction; under None, of the conjunction."""
    trees = parse_predictions(suite, predictions)
    if not trees:
        return {}
    n_regions = len(suite.region_names)
    parts: dict[int | None, tuple[Formula, ...]] = {
        number: (tree,) for number, tree in enumerate(trees)
    }
    parts[None] = trees
    return {
        number: _Expected(
            chance_level(part, n_regions=n_regions, seed=seed),
            next(filter(None, map(scale_reason, part)), None),
        )
        for number, part in parts.items()
    }


@dataclass(frozen=True, slots=True)
class _Judged:
    """Verdicts with all that is needed to count them."""

    suite: Suite
    verdicts: Sequence[Verdict]
    lengths: ByLength | str
    expected: Mapping[int | None, _Expected]
    rule: Rule

    def groups(self, column: str) -> dict[str, Accuracies]:
        """The accuracies of each group of items."""
        found = tallied(
            self.suite,
            self.verdicts,
            column=column,
            passes=self.rule.passes,
            near_tie_bits=self.rule.near_tie_bits,
        )
        lengths = {} if isinstance(self.lengths, str) else self.lengths.get(column, {})
        return {
            name: _accuracies(
                group.tallies,
                lengths[name].tallies if name in lengths else {},
                self,
                n_items=group.n_items,
            )
            for name, group in found.items()
        }


def clusters_of(suite: Suite) -> dict[str, Hashable]:
    """Item to what it belongs to: the value of the cluster column, else the item alone."""
    labels: dict[str, Hashable] = {}
    for item in suite.items:
        value = item.column(suite.cluster) if suite.cluster else None
        labels[item.id] = ("cluster", value) if value else ("item", item.id)
    return labels


def _accuracies(
    tallies: Mapping[int | None, Tally],
    lengths: Mapping[int | None, Tally],
    judged: _Judged,
    *,
    n_items: int,
) -> Accuracies:
    results = {
        number: _accuracy(
            tallies.get(number, Tally()), lengths.get(number, Tally()), expected, judged
        )
        for number, expected in judged.expected.items()
    }
    return Accuracies(
        n_items=n_items,
        predictions=tuple(each for number, each in results.items() if number is not None),
        conjunction=results.get(None),
    )


def _accuracy(tally: Tally, lengths: Tally, expected: _Expected, judged: _Judged) -> Accuracy:
    interval = counted_interval(tally.clusters(), level=judged.rule.level)
    share = _share(tally)
    reason = judged.lengths if isinstance(judged.lengths, str) else expected.scale
    return Accuracy(
        passed=tally.kinds["pass"],
        failed=tally.kinds["fail"],
        tied=tally.kinds["tie"],
        unscored=tally.kinds["unscored"],
        near_tied=tally.near_tied,
        accuracy=share,
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=interval.reason,
        chance=expected.chance.level,
        chance_reason=expected.chance.reason,
        chance_method=expected.chance.method,
        length=None
        if reason
        else LengthOnly(
            passed=lengths.kinds["pass"],
            failed=lengths.kinds["fail"],
            tied=lengths.kinds["tie"],
            accuracy=_share(lengths),
        ),
        length_reason=reason,
    )


def _share(tally: Tally) -> float | None:
    """The share of scored verdicts that pass; None where there are none."""
    clusters = tally.clusters()
    scored = sum(size * times for (_, size), times in clusters.items())
    return sum(held * times for (held, _), times in clusters.items()) / scored if scored else None
