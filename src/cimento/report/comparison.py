"""Tables of runs compared: two, before and after, or several models of one suite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.report import wording
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.standings import Duel, Standing, Table
    from cimento.statistics.agreement import Agreement
    from cimento.statistics.differences import Difference
    from cimento.statistics.intervals import Interval
    from cimento.statistics.means import Mean
    from cimento.statistics.power import Equivalence
    from cimento.verdicts.comparing import Flips, Paired

_share = partial(wording.rate, absent=BLANK)
_number = partial(wording.number, digits=4, absent=BLANK)
_signed = partial(wording.signed, absent=BLANK)
_p = partial(wording.p_number, absent=BLANK)

_ABOUT_SIZES = (
    "kappa: whether both are right about the same items, beyond chance. detectable: the smallest"
    " change that McNemar's exact test of as many items would find with a power of 0.8 (of"
    " clustered items, of their effective number)."
)
_ABOUT_DUELS = (
    "change: second minus first. h: of Cohen. detectable: the smallest change these items would"
    " show with a power of 0.8."
)
_NOT_CORRECTED = "p is not corrected for how many rows there are."
SHOWN = 12
"""Flipped items that are named; the table of items has them all."""


def flips_grid(flips: Sequence[Flips], *, note: str | None = None) -> Grid:
    """Accuracy before and after, with one interval and one test, and the items that flipped.

    Args:
        flips: each prediction.
        note: on models of two kinds; None where they are of one.
    """
    rows = tuple(
        (
            _name(each),
            str(each.n),
            _share(each.first),
            _share(each.second),
            _signed(each.change.estimate),
            _interval(each.change),
            str(len(each.gained)),
            str(len(each.lost)),
            _p(each.test.p),
            _signed(each.margins.change.value),
            _interval(each.margins.change),
            _p(each.margins.change.p),
        )
        for each in flips
    )
    notes = [f"Change: {_methods(flips)}. {_NOT_CORRECTED}", *([note] if note else [])]
    if note is None:
        methods = dict.fromkeys(each.margins.change.method for each in flips)
        notes.insert(1, f"Margins: {'; '.join(methods)}.")
    reasons = [reason for each in flips for reason in (each.change.reason, each.test.reason)]
    notes += [f"Not there: {reason}." for reason in dict.fromkeys(reasons) if reason]
    for each in flips:
        for what, items in (("gained", each.gained), ("lost", each.lost)):
            if items:
                more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else BLANK
                notes.append(f"{_name(each)}, {what}: {', '.join(items[:SHOWN])}{more}.")
    return Grid(
        title="Accuracy before and after, over the items scored in both.",
        header=(
            "prediction", "items", "first", "second", "change", "95 %", "gained", "lost", "p",
            "margin, bits", "95 %", "p",
        ),
        rows=rows,
        notes=tuple(notes),
    )  # fmt: skip


def sizes_grid(flips: Sequence[Flips]) -> Grid:
    """How large the change is, how alike the two are, and what these items could show at all."""
    rows = tuple(
        (
            _name(each),
            _number(each.odds.value),
            _number(each.margins.effect.value),
            _share(each.kappa.value),
            _interval(each.kappa),
            _share(each.detectable),
            "; ".join(
                reason
                for reason in (each.odds.reason, each.margins.effect.reason, each.kappa.reason)
                if reason
            ),
        )
        for each in flips
    )
    return Grid(
        title="How large the change is, and how alike the two are.",
        header=(
            "prediction", "gained / lost", "d_z of margins", "kappa", "95 %", "detectable",
            "reason",
        ),
        rows=rows,
        remarks=1,
        notes=(_ABOUT_SIZES,),
    )  # fmt: skip


def _methods(tested: Sequence[Flips] | Sequence[Duel]) -> str:
    """How the intervals and the p of changes were made."""
    names = [each.change.method for each in tested] + [each.test.method for each in tested]
    return "; ".join(dict.fromkeys(names))


def _name(flips: Flips) -> str:
    return "all together" if flips.prediction is None else f"prediction {flips.prediction}"


def duels_grid(duels: Sequence[Duel], *, title: str, correction: str, pairs: bool = False) -> Grid:
    """Two models on each suite, right or wrong.

    Args:
        duels: each a row.
        title: what they are.
        correction: name of the correction of p.
        pairs: with the names of the two models in place of suite and question.
    """
    rows = tuple(
        (
            each.first if pairs else each.suite,
            each.second if pairs else each.question,
            str(each.n),
            _signed(each.change.estimate),
            _interval(each.change),
            _signed(each.effect),
            f"{len(each.gained)}/{len(each.lost)}",
            _p(each.test.p),
            _p(each.corrected),
            _share(each.kappa.value),
            _share(each.detectable),
            each.test.reason or each.change.reason or BLANK,
        )
        for each in duels
    )
    heads = ("first", "second") if pairs else ("suite", "right is")
    return Grid(
        title=title,
        header=(
            *heads, "items", "change", "95 %", "h", "gained/lost", "p", f"p ({correction})",
            "kappa", "detectable", "reason",
        ),
        rows=rows,
        labels=2,
        remarks=1,
        notes=(
            f"{_ABOUT_DUELS} Intervals and p: {_methods(duels)}.",
            "An interval and a p of two methods may disagree near 0.05.",
            *_family(duels, correction),
            *dict.fromkeys(duel.note for duel in duels if duel.note),
        ),
    )  # fmt: skip


def _family(duels: Sequence[Duel], correction: str) -> list[str]:
    """Over how many comparisons p-values are corrected; nothing where there is one."""
    sizes = {duel.family for duel in duels}
    if sizes <= {1}:
        return []
    return [f"p ({correction}): over the {max(sizes)} comparisons that were made together."]


def equivalence_grid(
    duels: Sequence[Duel], found: Sequence[Equivalence], *, margin: float, pairs: bool = False
) -> Grid:
    """Whether the two of each duel differ by less than a margin.

    Args:
        duels: each a row.
        found: of each duel, whether they do.
        margin: the smallest difference that would matter.
        pairs: with the names of the two models in place of suite and question.
    """
    rows = tuple(
        (
            duel.first if pairs else duel.suite,
            duel.second if pairs else duel.question,
            str(duel.n),
            _signed(each.estimate),
            wording.interval(each.low, each.high, absent=BLANK),
            _p(each.p),
            equivalence_words(each, margin=margin),
        )
        for duel, each in zip(duels, found, strict=True)
    )
    methods = "; ".join(dict.fromkeys(each.method for each in found))
    several = f" {_NOT_CORRECTED}" if len(rows) > 1 else ""
    return Grid(
        title=f"Whether the change is smaller than {margin:g} either way.",
        header=(
            *(("first", "second") if pairs else ("suite", "right is")),
            "items", "change", "90 %", "p", "so",
        ),
        rows=rows,
        labels=2,
        remarks=1,
        notes=(f"p: {methods}, at 5 %.{several}",),
    )  # fmt: skip


def equivalence_words(found: Equivalence, *, margin: float) -> str:
    """What a test of equivalence says, in words."""
    if found.equivalent:
        return f"equivalent within ±{margin:g}"
    return "not shown to be equivalent" + (f" ({found.reason})" if found.reason else "")


def standings_grid(table: Table) -> Grid:
    """The models of one suite, the best first, with the places that each could hold."""
    rows = tuple(
        (
            each.model,
            _share(each.accuracy),
            _interval(each.interval),
            BLANK if each.rank is None else str(each.rank.place),
            BLANK if each.rank is None else _places(each.rank.best, each.rank.worst),
        )
        for each in table.standings
    )
    return Grid(
        title=f"{table.suite}, {table.question}: {table.n} items that all were scored on.",
        header=("model", "accuracy", "95 %", "place", "could be"),
        rows=rows,
        notes=tuple(_table_notes(table)),
    )


def checkpoints_grid(steps: Sequence[Standing], *, title: str) -> Grid:
    """Revisions of one model in the order of training."""
    rows = tuple(
        (str(each.step), _share(each.accuracy), _interval(each.interval), str(each.n), each.model)
        for each in steps
    )
    return Grid(
        title=title, header=("step", "accuracy", "95 %", "items", "model"), rows=rows, remarks=1
    )


def _places(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _table_notes(table: Table) -> list[str]:
    notes = []
    if table.left_out:
        notes.append(f"Without {wording.items(table.left_out)} that some model was not scored on.")
    if table.together is not None:
        test = table.together
        told = f"p {_p(test.p)}" if test.p is not None else test.reason
        notes.append(f"All models together, {test.method}: {told}.")
    alpha = table.alpha
    told = (
        f"{alpha.value:.3f} {_interval(alpha)}".rstrip()
        if alpha.value is not None
        else f"undefined ({alpha.reason})"
    )
    notes.append(f"Agreement on which items are right, {alpha.coefficient}: {told}.")
    reasons = dict.fromkeys(each.interval.reason for each in table.standings)
    notes += [f"No interval: {reason}." for reason in reasons if reason]
    notes += [table.note] if table.note else []
    return notes


def paired_grid(values: Sequence[Paired], *, title: str) -> Grid:
    """Means before and after, with the interval and test of their difference.

    Args:
        values: conditions, or phenomena.
        title: what they are.
    """
    rows = tuple(
        (
            each.name,
            str(each.n),
            _number(each.first),
            _number(each.second),
            _signed(each.change.value),
            _interval(each.change),
            _p(each.change.p),
            each.reason or each.change.reason or BLANK,
        )
        for each in values
    )
    methods = dict.fromkeys(v.change.method for v in values if v.change.value is not None)
    return Grid(
        title=title,
        header=(
            "of", "items", "first", "second", "change", "95 %", "p", "reason",
        ),
        rows=rows,
        remarks=1,
        notes=(f"Intervals and p: {'; '.join(methods)}. {_NOT_CORRECTED}",) if methods else (),
    )  # fmt: skip


def changes_grid(values: Sequence[Paired]) -> Grid:
    """Second minus first for every item, the largest fall first."""
    rows = [
        (each.name, item, _signed(change))
        for each in values
        for item, change in sorted(each.items.items(), key=lambda pair: pair[1])
    ]
    return Grid(
        title="Change of every item, second minus first.",
        header=("of", "item", "change"),
        rows=tuple(rows),
        labels=2,
    )


def _interval(found: Mean | Difference | Interval | Agreement) -> str:
    return wording.interval(found.low, found.high, absent=BLANK)
