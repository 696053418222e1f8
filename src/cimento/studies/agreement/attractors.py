"""How the drop depends on the attractor: its properties, and the words that it puts between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.regression import Regression, regress
from cimento.studies.agreement.twins import attractor_columns, intervening, paired_items

if TYPE_CHECKING:
    from cimento.studies.agreement.items import AgreementRun

WORDS_BETWEEN = "words between"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttractorRow:
    """Items whose attractors have one property in common.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        suite: the plain one.
        column: name of the property; ``words between`` for the length of what was put in.
        value: of the property.
        n_pairs: items with a ratio in both suites.
        drop: mean of the plain ratio minus the adversarial one.
        low: lower end of its interval.
        high: upper end.
        reason: why there is no interval.
    """

    model: str
    language: str
    suite: str
    column: str
    value: str
    n_pairs: int
    drop: float | None
    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class _Drop:
    item: str
    value: float
    n_words: int


def attractor_rows(plain: AgreementRun, twin: AgreementRun, *, seed: int) -> list[AttractorRow]:
    """The drop by each property of the attractors, as the twin's free columns give them.

    Args:
        plain: the plain suite.
        twin: its adversarial twin, with the same model.
        seed: of the bootstrap.
    """
    drops = list(_drops(plain, twin))
    items = {item.id: item for item in twin.suite.items}
    rows = []
    for column, values in attractor_columns(twin.suite).items():
        for value in values:
            group = [each for each in drops if items[each.item].column(column) == value]
            rows.append(_row(plain, column, value, group, seed=seed))
    lengths = sorted({each.n_words for each in drops if each.n_words})
    for length in lengths if len(lengths) > 1 else ():
        group = [each for each in drops if each.n_words == length]
        rows.append(_row(plain, WORDS_BETWEEN, str(length), group, seed=seed))
    return rows


def drop_by_length(plain: AgreementRun, twin: AgreementRun) -> Regression:
    """A regression of the drop on the number of words between, one observation an item."""
    return _regressed(plain, [each for each in _drops(plain, twin) if each.n_words], {})


def drops_by_property(plain: AgreementRun, twin: AgreementRun) -> dict[str, Regression]:
    """A regression of the drop on each property of the attractors, at equal words between.

    A property has a coefficient for each of its values but the most frequent one, which the
    others are compared with. Properties that do not vary are left out.

    Returns:
        Column to regression.
    """
    drops = list(_drops(plain, twin))
    items = {item.id: item for item in twin.suite.items}
    found = {}
    for column in attractor_columns(twin.suite):
        known = [
            (each, value)
            for each in drops
            if each.n_words and (value := items[each.item].column(column))
        ]
        values = [value for value, _ in Counter(value for _, value in known).most_common()]
        if len(values) > 1:
            levels = {
                f"{column} = {level}": [float(value == level) for _, value in known]
                for level in values[1:]
            }
            found[column] = _regressed(plain, [each for each, _ in known], levels)
    return found


def _regressed(
    plain: AgreementRun, drops: Sequence[_Drop], more: Mapping[str, Sequence[float]]
) -> Regression:
    """The drop on the words between, where they vary, and on other predictors."""
    clusters = plain.suite.clusters()
    lengths = [each.n_words for each in drops]
    own = {WORDS_BETWEEN: lengths} if not more or len(set(lengths)) > 1 else {}
    return regress(
        [each.value for each in drops],
        {**own, **more},
        Design.of((each.item for each in drops), clusters),
    )


def _drops(plain: AgreementRun, twin: AgreementRun) -> Iterator[_Drop]:
    first = {each.item: each.mean for each in plain.ratios}
    second = {each.item: each.mean for each in twin.ratios}
    target, other = plain.contrast.target, twin.contrast.target
    for item, adversarial in paired_items(plain.suite, twin.suite):
        a, b = first.get(item.id), second.get(item.id)
        if a is not None and b is not None:
            between = intervening(item.condition(target), adversarial.condition(other))
            yield _Drop(item.id, a - b, between.n_words)


def _row(
    plain: AgreementRun, column: str, value: str, group: Sequence[_Drop], *, seed: int
) -> AttractorRow:
    design = Design.of((each.item for each in group), plain.suite.clusters())
    drop = mean_of([each.value for each in group], design, seed=seed)
    return AttractorRow(
        model=plain.model,
        language=plain.language,
        suite=plain.suite.name,
        column=column,
        value=value,
        n_pairs=len(group),
        drop=drop.value,
        low=drop.low,
        high=drop.high,
        reason=drop.reason,
    )
