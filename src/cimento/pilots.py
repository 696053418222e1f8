"""What stored runs show, as pilots from which a suite's size is planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.standings import TWO, Marks
from cimento.statistics.design import Design
from cimento.statistics.planning import Pilot
from cimento.verdicts.accuracy import clusters_of

if TYPE_CHECKING:
    from cimento.results import Run
    from cimento.verdicts.factorial import Factorial

WHERE = "cimento suites power"


def pilot_of_marks(marks: Sequence[Marks], *, chance: float | None) -> Pilot:
    """What one model gets right against chance, or a second one more or less than a first.

    Args:
        marks: of one or two models, on one suite and question.
        chance: the share that one model is tested against.

    Raises:
        UsageError: nothing to test one model against, or two that were scored on no common item.
    """
    first, second = marks[0], marks[-1]
    items = [item for item in first.right if item in second.right]
    clusters = {item: first.clusters.get(item, ("item", item)) for item in items}
    design = Design.of(items, clusters)
    if not items:
        raise UsageError(
            where=WHERE,
            seen="no item was scored in the pilot" + ("s both" if len(marks) == TWO else ""),
            todo="Give runs of one suite that were judged.",
        )
    if len(marks) == TWO:
        gaps = tuple(float(second.right[item]) - float(first.right[item]) for item in items)
        return Pilot(kind="difference", values=gaps, design=design)
    if chance is None:
        raise UsageError(
            where=WHERE,
            seen=f"what chance gives is not known for {first.question!r} of {first.suite}",
            todo="Give the share to test against with --against, or a second --pilot.",
        )
    right = tuple(float(first.right[item]) for item in items)
    return Pilot(kind="rate", values=right, design=design, null=chance)


def pilot_of_margins(run: Run, *, number: int | None) -> Pilot:
    """The margins of a run in bits, against zero.

    Args:
        run: of a suite with predictions.
        number: of the prediction; None for all of them together.

    Raises:
        UsageError: the run has no such margins.
    """
    rows = run.verdicts().select("item", "prediction", "margin_bits").iter_rows()
    known = {item: bits for item, each, bits in rows if each == number and bits is not None}
    if not known:
        raise UsageError(
            where=WHERE,
            seen=f"there are no margins in the run of {run.suite.name} by {run.model}",
            todo="Give a run of a suite with predictions; see --question.",
        )
    clusters = clusters_of(run.suite) if run.suite.cluster else None
    return Pilot(kind="mean", values=tuple(known.values()), design=Design.of(known, clusters))


def pilot_of_dd(result: Factorial, *, phenomenon: str) -> Pilot:
    """The DD of one phenomenon, item by item.

    Args:
        result: of a factorial suite.
        phenomenon: its name; empty where there is only one.

    Raises:
        UsageError: there is no such phenomenon, or several and none was named, or no DD.
    """
    names = [each.name for each in result.phenomena]
    if not phenomenon and len(names) > 1:
        raise UsageError(
            where=WHERE,
            seen=f"{result.suite} has the phenomena {', '.join(names)}",
            todo="Name one of them with --phenomenon.",
        )
    found = next((each for each in result.phenomena if phenomenon in ("", each.name)), None)
    if found is None:
        seen = result.reason or f"{result.suite} has no phenomenon {phenomenon!r}"
        raise UsageError(where=WHERE, seen=seen, todo=did_you_mean(phenomenon, names))
    items = found.effects["raw"].items
    known = {each.item: each.dd for each in items if each.dd is not None}
    if not known:
        raise UsageError(where=WHERE, seen=found.effects["raw"].reason or "no item has a DD")
    design = Design.of(known, found.clusters or None)
    return Pilot(kind="mean", values=tuple(known.values()), design=design)


def chance_of(run: Run, *, number: int | None) -> float | None:
    """What chance gives by one prediction of a run, or by all together; None where undefined."""
    summary = run.summary()
    if number is None:
        return summary.conjunction.chance if summary.conjunction else None
    return next((each.chance for each in summary.predictions if each.index == number), None)
