"""Tables of runs compared: before and after, or several models of one suite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.report import formatting
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.compare.pairwise import PairedCorrelations, PairedValues, PairwiseComparison
    from cimento.compare.ranking import RankedModel, Ranking
    from cimento.statistics.agreement import Agreement
    from cimento.statistics.correlation import CorrelationDifference
    from cimento.statistics.differences import Difference
    from cimento.statistics.intervals import Interval
    from cimento.statistics.means import Mean
    from cimento.statistics.power import Equivalence

_share = partial(formatting.rate, absent=BLANK)
_number = partial(formatting.number, digits=4, absent=BLANK)
_signed = partial(formatting.signed, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)

_ABOUT_SIZES = (
    "kappa: whether both are right about the same items, beyond chance. detectable: the smallest"
    " change that McNemar's exact test of as many items would find with a power of 0.8 (of"
    " clustered items, of their effective number)."
)
_ABOUT_PAIRS = (
    "change: second minus first. h: of Cohen. detectable: the smallest change these items would"
    " show with a power of 0.8."
)
_NOT_CORRECTED = "p is not corrected for how many rows there are."
CHANGES_SHOWN = 12
"""Items that are named; the table of items has them all."""


def ranking_grids(ranking: Ranking, *, correction: str) -> dict[str, Grid]:
    """The tables of several models of one suite, by name.

    Args:
        ranking: of the models.
        correction: name of the correction of p.
    """
    from cimento.report.robustness import reliability_grid

    title = f"{ranking.suite}, {ranking.question}: every pair."
    grids = {
        "models": models_grid(ranking),
        "pairs": pairs_grid(ranking.pairs, title=title, correction=correction),
        "reliability": reliability_grid(ranking),
    }
    if ranking.checkpoints:
        title = f"{ranking.models[0].family} over training, {ranking.suite}."
        grids["checkpoints"] = checkpoints_grid(ranking.checkpoints, title=title)
    return grids


def rates_grid(rates: Sequence[PairwiseComparison], *, correction: str) -> Grid:
    """How much is right before and after, with one interval and one test, and what flipped.

    Args:
        rates: each a row.
        correction: name of the correction of p.
    """
    rows = tuple(
        (
            rate.suite,
            rate.question,
            str(rate.n),
            _share(rate.first_share),
            _share(rate.second_share),
            _signed(rate.change.estimate),
            _interval(rate.change),
            str(len(rate.gained)),
            str(len(rate.lost)),
            _p(rate.test.p),
            _p(rate.corrected),
        )
        for rate in rates
    )
    notes = [f"change: {_methods(rates)}.", *_family(rates, correction)]
    notes += dict.fromkeys(rate.note for rate in rates if rate.note)
    reasons = [reason for rate in rates for reason in (rate.change.reason, rate.test.reason)]
    notes += [f"Not there: {reason}." for reason in dict.fromkeys(reasons) if reason]
    for rate in rates:
        for what, items in (("gained", rate.gained), ("lost", rate.lost)):
            if items:
                more = (
                    f" and {len(items) - CHANGES_SHOWN} more"
                    if len(items) > CHANGES_SHOWN
                    else BLANK
                )
                named = f"{rate.suite}, {rate.question}, {what}"
                notes.append(f"{named}: {', '.join(items[:CHANGES_SHOWN])}{more}.")
    return Grid(
        title="Right before and after, over the items scored in both.",
        header=(
            "suite", "right is", "items", "first", "second", "change", "95 %", "gained", "lost",
            "p", f"p ({correction})",
        ),
        rows=rows,
        labels=2,
        notes=tuple(notes),
    )  # fmt: skip


def sizes_grid(rates: Sequence[PairwiseComparison]) -> Grid:
    """How large the change is, how alike the two are, and what these items could show at all."""
    rows = tuple(
        (
            rate.suite,
            rate.question,
            _signed(rate.effect),
            _number(rate.odds.value),
            _number(rate.values.effect.value) if rate.values else BLANK,
            _share(rate.kappa.value),
            _interval(rate.kappa),
            _share(rate.detectable),
            "; ".join(reason for reason in (rate.odds.reason, rate.kappa.reason) if reason),
        )
        for rate in rates
    )
    return Grid(
        title="How large the change is, and how alike the two are.",
        header=(
            "suite", "right is", "h", "gained / lost", "d_z of margins", "kappa", "95 %",
            "detectable", "reason",
        ),
        rows=rows,
        labels=2,
        remarks=1,
        notes=(f"h: of Cohen. {_ABOUT_SIZES}",),
    )  # fmt: skip


def _methods(tested: Sequence[PairwiseComparison]) -> str:
    """How the intervals and the p of changes were made."""
    names = [pair.change.method for pair in tested] + [pair.test.method for pair in tested]
    return "; ".join(dict.fromkeys(names))


def pairs_grid(pairs: Sequence[PairwiseComparison], *, title: str, correction: str) -> Grid:
    """Every two models of a suite.

    Args:
        pairs: each a row.
        title: what they are.
        correction: name of the correction of p.
    """
    rows = tuple(
        (
            pair.first,
            pair.second,
            str(pair.n),
            _signed(pair.change.estimate),
            _interval(pair.change),
            _signed(pair.effect),
            f"{len(pair.gained)}/{len(pair.lost)}",
            _p(pair.test.p),
            _p(pair.corrected),
            _share(pair.kappa.value),
            _share(pair.detectable),
            pair.test.reason or pair.change.reason or BLANK,
        )
        for pair in pairs
    )
    return Grid(
        title=title,
        header=(
            "first", "second", "items", "change", "95 %", "h", "gained/lost", "p",
            f"p ({correction})", "kappa", "detectable", "reason",
        ),
        rows=rows,
        labels=2,
        remarks=1,
        notes=(
            f"{_ABOUT_PAIRS} Intervals and p: {_methods(pairs)}.",
            "An interval and a p of two methods may disagree near 0.05.",
            *_family(pairs, correction),
            *dict.fromkeys(pair.note for pair in pairs if pair.note),
        ),
    )  # fmt: skip


def _family(
    tested: Sequence[PairwiseComparison] | Sequence[PairedCorrelations], correction: str
) -> list[str]:
    """Over how many comparisons p-values are corrected; nothing where there is one."""
    most = max((one.family for one in tested), default=1)
    if most == 1:
        return []
    return [f"p ({correction}): over the {most} comparisons that were made together."]


def equivalence_grid(
    pairs: Sequence[PairwiseComparison],
    tests: Sequence[Equivalence],
    *,
    margin: float,
    models: bool = False,
) -> Grid:
    """Whether the two of each pair differ by less than a margin.

    Args:
        pairs: each a row.
        tests: of each pair, whether they do.
        margin: the smallest difference that would matter.
        models: with the names of the two models in place of suite and question.
    """
    rows = tuple(
        (
            pair.first if models else pair.suite,
            pair.second if models else pair.question,
            str(pair.n),
            _signed(test.estimate),
            formatting.interval(test.low, test.high, absent=BLANK),
            _p(test.p),
            equivalence_words(test, margin=margin),
        )
        for pair, test in zip(pairs, tests, strict=True)
    )
    methods = "; ".join(dict.fromkeys(test.method for test in tests))
    several = f" {_NOT_CORRECTED}" if len(rows) > 1 else ""
    return Grid(
        title=f"Whether the change is smaller than {margin:g} either way.",
        header=(
            *(("first", "second") if models else ("suite", "right is")),
            "items", "change", "90 %", "p", "so",
        ),
        rows=rows,
        labels=2,
        remarks=1,
        notes=(f"p: {methods}, at 5 %.{several}",),
    )  # fmt: skip


def equivalence_words(test: Equivalence, *, margin: float) -> str:
    """What a test of equivalence says, in words."""
    if test.equivalent:
        return f"equivalent within ±{margin:g}"
    return "not shown to be equivalent" + (f" ({test.reason})" if test.reason else "")


def models_grid(ranking: Ranking) -> Grid:
    """The models of one suite, the best first, with the places that each could hold."""
    rows = tuple(
        (
            model.model,
            _share(model.accuracy),
            _interval(model.interval),
            BLANK if model.rank is None else str(model.rank.place),
            BLANK if model.rank is None else _places(model.rank.best, model.rank.worst),
        )
        for model in ranking.models
    )
    return Grid(
        title=f"{ranking.suite}, {ranking.question}: {ranking.n} items that all were scored on.",
        header=("model", "accuracy", "95 %", "place", "could be"),
        rows=rows,
        notes=tuple(_ranking_notes(ranking)),
    )


def checkpoints_grid(steps: Sequence[RankedModel], *, title: str) -> Grid:
    """Revisions of one model in the order of training."""
    rows = tuple(
        (str(step.step), _share(step.accuracy), _interval(step.interval), str(step.n), step.model)
        for step in steps
    )
    return Grid(
        title=title, header=("step", "accuracy", "95 %", "items", "model"), rows=rows, remarks=1
    )


def _places(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _ranking_notes(ranking: Ranking) -> list[str]:
    notes = []
    if ranking.left_out:
        notes.append(
            f"Without {formatting.items(ranking.left_out)} that some model was not scored on."
        )
    if ranking.together is not None:
        test = ranking.together
        stated = f"p {_p(test.p)}" if test.p is not None else test.reason
        notes.append(f"All models together, {test.method}: {stated}.")
    alpha = ranking.alpha
    stated = (
        f"{alpha.value:.3f} {_interval(alpha)}".rstrip()
        if alpha.value is not None
        else f"undefined ({alpha.reason})"
    )
    notes.append(f"Agreement on which items are right, {alpha.coefficient}: {stated}.")
    reasons = dict.fromkeys(model.interval.reason for model in ranking.models)
    notes += [f"No interval: {reason}." for reason in reasons if reason]
    notes += [ranking.note] if ranking.note else []
    return notes


def values_grid(values: Sequence[PairedValues], *, title: str) -> Grid:
    """Means before and after, with the interval and test of their difference.

    Args:
        values: each a row.
        title: what they are.
    """
    rows = tuple(
        (
            value.suite,
            value.name,
            value.unit,
            str(value.n),
            _number(value.first),
            _number(value.second),
            _signed(value.change.value),
            _interval(value.change),
            _p(value.change.p),
            value.reason or value.change.reason or BLANK,
        )
        for value in values
    )
    methods = dict.fromkeys(v.change.method for v in values if v.change.value is not None)
    return Grid(
        title=title,
        header=(
            "suite", "of", "unit", "items", "first", "second", "change", "95 %", "p", "reason",
        ),
        rows=rows,
        labels=2,
        remarks=1,
        notes=(f"Intervals and p: {'; '.join(methods)}. {_NOT_CORRECTED}",) if methods else (),
    )  # fmt: skip


def correlations_grid(changes: Sequence[PairedCorrelations], *, correction: str) -> Grid:
    """How well the values of two models go with one reference, such as ratings.

    Args:
        changes: each a row.
        correction: name of the correction of p.
    """
    rows = tuple(
        (
            one.suite,
            one.question,
            one.coefficient,
            one.first,
            one.second,
            str(one.change.n),
            _signed(one.change.first),
            _signed(one.change.second),
            _signed(one.change.estimate),
            _interval(one.change),
            _p(one.change.p),
            _p(one.corrected),
            one.change.reason or BLANK,
        )
        for one in changes
    )
    methods = "; ".join(dict.fromkeys(one.change.method for one in changes))
    return Grid(
        title="Correlations with the same reference, over the items that both have.",
        header=(
            "suite", "of", "coefficient", "first", "second", "items", "r of first", "r of second",
            "change", "95 %", "p", f"p ({correction})", "reason",
        ),
        rows=rows,
        labels=5,
        remarks=1,
        notes=(f"Intervals and p: {methods}.", *_family(changes, correction)),
    )  # fmt: skip


def changes_grid(values: Sequence[PairedValues]) -> Grid:
    """Second minus first for every item, the largest fall first."""
    rows = [
        (value.suite, value.name, item, _signed(change))
        for value in values
        for item, change in sorted(value.items.items(), key=lambda pair: pair[1])
    ]
    return Grid(
        title="Change of every item, second minus first.",
        header=("suite", "of", "item", "change"),
        rows=tuple(rows),
        labels=3,
    )


def _interval(
    interval: Mean | Difference | Interval | Agreement | CorrelationDifference,
) -> str:
    return formatting.interval(interval.low, interval.high, absent=BLANK)
