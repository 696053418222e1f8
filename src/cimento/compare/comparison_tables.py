"""Tables of compared runs: two models, one model before and after, or several models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from cimento.compare.robustness_tables import reliability_grid, why_apart
from cimento.report import formatting
from cimento.report.cells import Shown
from cimento.report.formatting import ends_of
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.compare.ranking_records import Ranking
    from cimento.paired.pairwise import PairedCorrelations, PairedValues, PairwiseComparison
    from cimento.report.sides import Sides

_share = partial(formatting.rate_as_text, absent=BLANK)
_number = partial(formatting.number, digits=4, absent=BLANK)
_signed = partial(formatting.signed, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)

_H = "h: Cohen's h."
_KAPPA = "kappa: whether both are correct on the same items, beyond chance."
_DETECTABLE = (
    "detectable: the smallest change that McNemar's exact test of as many items would find with a"
    " power of 0.8 (of clustered items, of their effective number)."
)
_SUITE_COLUMNS = ("suite", "right is")
"""The columns that say what a comparison is about; a table about one suite has it in its title."""
_NOT_CORRECTED = "p is not corrected for how many rows there are."
CHANGES_SHOWN = 12
"""The number of changed items that are named; the table of items lists all of them."""


def ranking_grids(
    rankings: Sequence[Ranking],
    correlations: Sequence[PairedCorrelations] = (),
    *,
    correction: str,
) -> dict[str, Grid]:
    """The tables that compare several models, by name: one of each, however many suites there are.

    Args:
        rankings: the models, ranked by suite and question.
        correlations: correlations of the values of every two models with their references.
        correction: name of the correction of p-values.
    """
    correlated = (
        {"correlations": correlations_grid(correlations, correction=correction)}
        if correlations
        else {}
    )
    if not rankings:
        return correlated
    pairs = [pair for ranking in rankings for pair in ranking.pairs]
    alone = rankings[0] if len(rankings) == 1 else None
    title = f"{alone.suite}, {alone.question}: every pair." if alone else "Every pair of models."
    grids = {
        "models": models_grid(rankings),
    }
    if pairs:
        grids["pairs"] = _pairs_grid(
            pairs, title=title, correction=correction, suites=alone is None
        )
    grids["reliability"] = reliability_grid(rankings)
    return grids | correlated


def rate_grids(
    rates: Sequence[PairwiseComparison], *, correction: str, sides: Sides
) -> dict[str, Grid]:
    """The tables of accuracies on both sides, and of how large their difference is, by name.

    Args:
        rates: the comparisons; there are no tables without any.
        correction: name of the correction of p-values.
        sides: the two sides.
    """
    known = _with_hits(rates)
    grids = {"rates": rates_grid(rates, correction=correction, sides=sides)} if rates else {}
    return grids | ({"sizes": sizes_grid(known, sides=sides)} if known else {})


def _with_hits(rates: Iterable[PairwiseComparison]) -> list[PairwiseComparison]:
    """The comparisons but for those of hits that are undefined, as no answer can be found."""
    return [rate for rate in rates if rate.n or not rate.reach]


def rates_grid(rates: Sequence[PairwiseComparison], *, correction: str, sides: Sides) -> Grid:
    """A table of accuracies on both sides, with the change, its interval, its test, and flips.

    Args:
        rates: the comparisons, one per row.
        correction: name of the correction of p-values.
        sides: the two sides.
    """
    more, less = sides.more, sides.less
    notes = [
        *sides.directions,
        *_methods([rate for rate in rates if rate.n]),
        *_family(rates, correction),
    ]
    notes += notes_of(rates)
    reasons = [
        reason for rate in _with_hits(rates) for reason in (rate.change.reason, rate.test.reason)
    ]
    notes += [f"Not there: {reason}." for reason in dict.fromkeys(reasons) if reason]
    for rate in rates:
        for what, items in ((more, rate.gained), (less, rate.lost)):
            if items:
                left = len(items) - CHANGES_SHOWN
                others = f" and {left} more" if left > 0 else BLANK
                named = f"{rate.suite}, {rate.question}, {what}"
                notes.append(f"{named}: {', '.join(items[:CHANGES_SHOWN])}{others}.")
    return Grid.of(
        rates,
        {
            "suite": lambda rate: rate.suite,
            "right is": lambda rate: rate.question,
            "items": lambda rate: rate.n,
            sides.one: lambda rate: _share(rate.first_share),
            sides.other: lambda rate: _share(rate.second_share),
            sides.change: lambda rate: _signed(rate.change.estimate),
            "95%": lambda rate: ends_of(rate.change),
            more: lambda rate: len(rate.gained),
            less: lambda rate: len(rate.lost),
            "p": lambda rate: _p(rate.test.p),
            f"p ({correction})": lambda rate: _p(rate.corrected),
        },
        title=f"Proportion of correct items {sides.phrase}, over the items scored in both.",
        labels=2,
        notes=tuple(notes),
    )


def sizes_grid(rates: Sequence[PairwiseComparison], *, sides: Sides) -> Grid:
    """A table of effect sizes, agreement between the two sides, and detectable differences."""
    about = _about_sizes(rates, sides)
    return Grid.of(
        rates,
        {
            "suite": lambda rate: rate.suite,
            "right is": lambda rate: rate.question,
            "h": lambda rate: _signed(rate.effect),
            "odds": lambda rate: _number(rate.odds.value),
            "d_z of margins": lambda r: _number(r.values.effect.value) if r.values else BLANK,
            "kappa": lambda rate: _share(rate.kappa.value),
            "95%": lambda rate: ends_of(rate.kappa),
            "detectable": lambda rate: _share(rate.detectable),
            "reason": lambda rate: "; ".join(
                filter(None, (rate.odds.reason, rate.kappa.reason, rate.no_detectable))
            ),
        },
        title=f"How large the {sides.change} is, and on how many items the two agree.",
        labels=2,
        remarks=1,
        notes=about,
    )


def _about_sizes(
    rates: Sequence[PairwiseComparison], sides: Sides | None = None
) -> tuple[str, ...]:
    """What the columns of effect sizes mean, a sentence each; empty columns are hidden.

    Args:
        rates: the comparisons.
        sides: the two sides, in a table that has odds and effects on margins.
    """
    columns = {_H: [rate.effect for rate in rates]}
    if sides is not None:
        columns |= {
            sides.odds: [rate.odds.value for rate in rates],
            f"d_z: the mean {sides.change} of margins, in its standard deviations.": [
                rate.values.effect.value if rate.values else None for rate in rates
            ],
        }
    columns |= {
        _KAPPA: [rate.kappa.value for rate in rates],
        _DETECTABLE: [rate.detectable for rate in rates],
    }
    return tuple(about for about in columns if any(v is not None for v in columns[about]))


_WIDENED = "Where McNemar's test does not reject 0, Bonett and Price's interval is widened to it."


def _methods(tested: Sequence[PairwiseComparison]) -> list[str]:
    """Notes on the methods behind the intervals and p-values of changes, and why these."""
    by_method: dict[str, list[PairwiseComparison]] = {}
    for pair in tested:
        names = "; ".join(dict.fromkeys((pair.change.method, pair.test.method)))
        by_method.setdefault(names, []).append(pair)
    notes = [f"Intervals and p of {designs_said(those)}: {m}." for m, those in by_method.items()]
    if any(pair.test.p is not None for pair in tested):
        notes.append("A 95% interval leaves out 0 exactly where p, uncorrected, is 0.05 or less.")
    if any(pair.test.p is not None and not pair.design.clustered for pair in tested):
        notes.append(_WIDENED)
    return notes


def designs_said(compared: Sequence[PairwiseComparison]) -> str:
    """What decides the test of some comparisons, such as ``24 single items``."""
    said = dict.fromkeys(pair.design_said for pair in compared)
    if len(said) == 1:
        return next(iter(said))
    designs = [pair.design for pair in compared]
    kinds = {"crossed clusters" if one.crossed else "clusters" for one in designs if one.clustered}
    alone = ["single items"] if any(not design.clustered for design in designs) else []
    return " and ".join([*alone, *(f"items in {kind}" for kind in sorted(kinds))])


def _pairs_grid(
    pairs: Sequence[PairwiseComparison], *, title: str, correction: str, suites: bool = False
) -> Grid:
    """A table of all pairs of models.

    Args:
        pairs: the comparisons, one per row.
        title: title of the table.
        correction: name of the correction of p-values.
        suites: whether the rows name suite and question.
    """
    return Grid.of(
        pairs,
        {
            "suite": lambda pair: pair.suite,
            "right is": lambda pair: pair.question,
            "first": lambda pair: pair.first,
            "second": lambda pair: pair.second,
            "items": lambda pair: pair.n,
            "change": lambda pair: _signed(pair.change.estimate),
            "95%": lambda pair: ends_of(pair.change),
            "h": lambda pair: _signed(pair.effect),
            "gained/lost": lambda pair: Shown(
                f"{len(pair.gained)}/{len(pair.lost)}",
                {"_gained": len(pair.gained), "_lost": len(pair.lost)},
            ),
            "p": lambda pair: _p(pair.test.p),
            f"p ({correction})": lambda pair: _p(pair.corrected),
            "kappa": lambda pair: _share(pair.kappa.value),
            "detectable": lambda pair: _share(pair.detectable),
            "reason": lambda pair: pair.test.reason or pair.change.reason,
        },
        without=() if suites else _SUITE_COLUMNS,
        title=title,
        labels=4 if suites else 2,
        remarks=1,
        notes=(
            "change: second minus first; above 0, the second is right more often.",
            "gained/lost: items that only the second, and that only the first, gets right.",
            *_about_sizes(pairs),
            *_methods(pairs),
            *_family(pairs, correction),
            *notes_of(pairs),
        ),
    )


def notes_of(compared: Sequence[PairwiseComparison] | Sequence[Ranking]) -> list[str]:
    """What is to be said of the kinds of models and of the answers that they can find, each once.

    Args:
        compared: by one question each.
    """
    kinds = (one.note for one in compared if one.note)
    return [*dict.fromkeys(chain(kinds, *(one.reach for one in compared)))]


def _family(
    tested: Sequence[PairwiseComparison] | Sequence[PairedCorrelations], correction: str
) -> list[str]:
    """A note on how many tests p-values are corrected for; none for a single test.

    Tests of main questions and of others are corrected apart, and each has the size of its family:
    more tests of one size than that are of both.
    """
    counts = Counter(one.family for one in tested if one.family and one.corrected is not None)
    sizes = [size for size, n in counts.items() for _ in range(math.ceil(n / size))]
    if sum(sizes) <= 1:
        return []
    over = f"over the {sizes[0]} tests that were made together"
    if len(sizes) > 1:
        families = " and ".join(map(str, sorted(sizes)))
        over = f"main questions and others apart, in families of {families} tests"
    return [f"p ({correction}): {over}."]


def models_grid(rankings: Sequence[Ranking]) -> Grid:
    """A table of the models of each suite, the best first, with their ranges of possible ranks."""
    alone = rankings[0] if len(rankings) == 1 else None
    return Grid.of(
        [(ranking, model) for ranking in rankings for model in ranking.models],
        {
            "suite": lambda row: row[0].suite,
            "right is": lambda row: row[0].question,
            "model": lambda row: row[1].model,
            "items": lambda row: row[0].n,
            "accuracy": lambda row: _share(row[1].accuracy),
            "95%": lambda row: ends_of(row[1].interval),
            "rank": lambda row: row[1].rank.place if row[1].rank else None,
            "rank interval": lambda row: (
                formatting.places(row[1].rank.best, row[1].rank.worst) if row[1].rank else None
            ),
        },
        without=(*_SUITE_COLUMNS, "items") if alone else (),
        title=f"{alone.suite}, {alone.question}: {alone.n} items scored by all models."
        if alone
        else "Models by suite, over the items scored by all of them.",
        labels=1 if alone else 3,
        notes=tuple(_ranking_notes(rankings)),
    )


def _ranking_notes(rankings: Sequence[Ranking]) -> list[str]:
    """The notes on some rankings; what holds for one of several begins with its suite."""
    notes = []
    for ranking in rankings:
        place = f"{ranking.suite}, {ranking.question}: " if len(rankings) > 1 else BLANK
        if ranking.left_out:
            notes.append(
                f"{place}Without {formatting.items(ranking.left_out)} that some model was not"
                " scored on."
            )
        if place:
            continue  # tests and agreement are in the table of reliability
        if ranking.together is not None:
            test = ranking.together
            stated = f"p {_p(test.p)}" if test.p is not None else test.reason
            notes.append(f"All models together, {test.method}: {stated}.")
            notes += filter(None, [why_apart(ranking)])
        alpha = ranking.alpha
        stated = f"undefined ({alpha.reason})"
        if alpha.value is not None:
            stated = f"{alpha.value:.3f} {ends_of(alpha)}".rstrip()
        notes.append(f"Agreement on which items are right, {alpha.coefficient}: {stated}.")
    reasons = (model.interval.reason for ranking in rankings for model in ranking.models)
    notes += [f"No interval: {reason}." for reason in dict.fromkeys(reasons) if reason]
    if any(model.rank for ranking in rankings for model in ranking.models):
        notes.append(
            "rank interval: the ranks that tests of all pairs leave possible, corrected by Holm's"
            " method; all hold simultaneously in 95% of cases."
        )
    return [*notes, *notes_of(rankings)]


def values_grid(values: Sequence[PairedValues], *, title: str, sides: Sides) -> Grid:
    """A table of the means of both sides, with the interval and test of their difference.

    Args:
        values: the comparisons, one per row.
        title: title of the table.
        sides: the two sides.
    """
    methods = dict.fromkeys(v.change.method for v in values if v.change.value is not None)
    return Grid.of(
        values,
        {
            "suite": lambda value: value.suite,
            "of": lambda value: value.name,
            "unit": lambda value: value.unit,
            "items": lambda value: value.n,
            sides.one: lambda value: _number(value.first),
            sides.other: lambda value: _number(value.second),
            sides.change: lambda value: _signed(value.change.value),
            "95%": lambda value: ends_of(value.change),
            "p": lambda value: _p(value.change.p),
            "reason": lambda value: value.reason or value.change.reason,
        },
        title=title,
        labels=2,
        remarks=1,
        notes=(
            f"{sides.direction}.",
            f"Intervals and p: {'; '.join(methods)}. {_NOT_CORRECTED}",
        )
        if methods
        else (),
    )


def correlations_grid(changes: Sequence[PairedCorrelations], *, correction: str) -> Grid:
    """A table of how well the values of two models correlate with one reference, such as ratings.

    Args:
        changes: the comparisons, one per row.
        correction: name of the correction of p-values.
    """
    methods = "; ".join(dict.fromkeys(one.change.method for one in changes))
    return Grid.of(
        changes,
        {
            "suite": lambda one: one.suite,
            "of": lambda one: one.question,
            "coefficient": lambda one: one.coefficient,
            "first": lambda one: one.first,
            "second": lambda one: one.second,
            "items": lambda one: one.change.n,
            "clusters": lambda one: one.change.m if one.change.m < one.change.n else None,
            "r of first": lambda one: _signed(one.change.first),
            "r of second": lambda one: _signed(one.change.second),
            "change": lambda one: _signed(one.change.estimate),
            "95%": lambda one: ends_of(one.change),
            "p": lambda one: _p(one.change.p),
            f"p ({correction})": lambda one: _p(one.corrected),
            "reason": lambda one: one.change.reason,
        },
        title="Correlations with the same reference, over the items that both have.",
        labels=5,
        remarks=1,
        notes=(
            "change: r of second minus r of first.",
            f"Intervals and p: {methods}.",
            *([_CLUSTERS] if any(one.change.m < one.change.n for one in changes) else []),
            *(
                [_FEW]
                if any(one.change.p is not None and one.change.m < _TO_RELY_ON for one in changes)
                else []
            ),
            *_family(changes, correction),
        ),
    )


_TO_RELY_ON = 10
"""Fewest independent units whose difference of correlations comes without a caution."""
_CLUSTERS = "clusters: independent units; all sentences of one count as one in intervals and p."
_FEW = (
    f"With fewer than {_TO_RELY_ON} independent items or clusters, p is valid, but one more may"
    " change the result: confirm it with more."
)


def changes_grid(values: Sequence[PairedValues], *, sides: Sides) -> Grid:
    """A table of the differences (second minus first) by item, the largest fall first."""
    changes = [
        (value, *pair)
        for value in values
        for pair in sorted(value.items.items(), key=lambda pair: pair[1])
    ]
    none = dict.fromkeys(
        value.change.reason or value.reason or "no item has both"
        for value in values
        if not value.items
    )
    return Grid.of(
        changes,
        {
            "suite": lambda row: row[0].suite,
            "of": lambda row: row[0].name,
            "item": lambda row: row[1],
            sides.change: lambda row: _signed(row[2]),
        },
        title=f"{sides.change.capitalize()} of every item, {sides.other} minus {sides.one}.",
        labels=3,
        notes=tuple(f"Some have no {sides.change}s: {reason}." for reason in none)
        if changes
        else tuple(f"There are none: {reason}." for reason in none),
    )
