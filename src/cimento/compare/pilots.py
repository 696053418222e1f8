"""Pilots of a plan, made from the outcomes of runs: rates, margins, DD, correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.errors import UsageError, need_known
from cimento.statistics.planning import Pilot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cimento.kinds.run import Run
    from cimento.paired.item_outcomes import ItemOutcomes

WHERE = "cimento analyze power"


def pilot_of_rates(outcomes: Sequence[ItemOutcomes], *, chance: float | None) -> Pilot:
    """The pilot of a rate: of one model against chance, or of two models.

    Args:
        outcomes: of one or two models, on one suite and question.
        chance: the share that one model is tested against.

    Raises:
        UsageError: nothing to test one model against, or two that were scored on no common item.
    """
    first, second = outcomes[0], outcomes[-1]
    items = [item for item in first.right if item in second.right]
    _refuse_rated(outcomes)
    if not items:
        raise UsageError(
            where=WHERE,
            seen="no item was scored in the pilot" + ("s both" if len(outcomes) > 1 else ""),
            todo="Give runs of one suite that were judged.",
        )
    design = first.design(items)
    if len(outcomes) > 1:
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


def pilot_of_margins(outcomes: ItemOutcomes) -> Pilot:
    """The margins of a run, against zero.

    Args:
        outcomes: of the run, on one question.

    Raises:
        UsageError: the run has no such margins.
    """
    _refuse_rated([outcomes])
    if not outcomes.values:
        raise UsageError(
            where=WHERE,
            seen=f"there are no margins in the run of {outcomes.suite} by {outcomes.model}",
            todo="Give a run of a suite with predictions; see --question.",
        )
    return _pilot_of_values(outcomes, outcomes.values)


def _refuse_rated(outcomes: Sequence[ItemOutcomes]) -> None:
    """Refuse questions without right and wrong, whose scores are set beside people's ratings.

    Raises:
        UsageError: there is one.
    """
    for one in outcomes:
        if one.references and not one.right:
            raise UsageError(
                where=WHERE,
                seen=f"{one.question!r} has no right and wrong answers: it is correlated with"
                " people's ratings",
                todo="Add --of correlation, and with --difference the smallest correlation that"
                " matters, as in --difference 0.3.",
            )


def pilot_of_correlations(outcomes: Sequence[ItemOutcomes], *, question: str) -> Pilot:
    """Spearman's correlation of a run's scores with people's ratings.

    Args:
        outcomes: of the run, on all its questions.
        question: a measure.

    Raises:
        UsageError: nothing was correlated, or not this.
    """
    rated = {one.question: one for one in outcomes if one.references}
    if not rated:
        raise UsageError(
            where=WHERE,
            seen="the pilot has no ratings to correlate scores with",
            todo="Give a run of a suite with people's ratings (cimento annotate apply).",
        )
    need_known(question, rated, where=WHERE, seen=f"{question!r} is correlated with no ratings")
    one = rated[question]
    items = [item for item in one.values if item in one.references]
    return Pilot(
        kind="correlation",
        values=tuple(one.values[item] for item in items),
        references=tuple(one.references[item] for item in items),
        design=one.design(items),
    )


def pilot_of_interactions(
    interactions: Mapping[str, Mapping[str, float]], outcomes: ItemOutcomes, *, phenomenon: str
) -> Pilot:
    """The difference of differences of one phenomenon, item by item, against zero.

    Args:
        interactions: phenomenon to item to its difference (`paired.scores.interactions_of`).
        outcomes: of the same run, for what belongs together.
        phenomenon: its name; empty where there is only one.

    Raises:
        UsageError: there is no such phenomenon, or several and none was named, or no difference.
    """
    if not interactions:
        raise UsageError(where=WHERE, seen=f"{outcomes.suite} crosses no two factors")
    names = list(interactions)
    if not phenomenon and len(names) > 1:
        raise UsageError(
            where=WHERE,
            seen=f"{outcomes.suite} has the phenomena {', '.join(names)}",
            todo="Name one of them with --phenomenon.",
        )
    name = phenomenon or names[0]
    seen = f"{outcomes.suite} has no phenomenon {phenomenon!r}"
    need_known(name, names, where=WHERE, seen=seen)
    return _pilot_of_values(outcomes, interactions[name])


def _pilot_of_values(outcomes: ItemOutcomes, values: Mapping[str, float]) -> Pilot:
    design = outcomes.design(list(values))
    return Pilot(kind="mean", values=tuple(values.values()), design=design)


def chance_of_rates(run: Run, question: str) -> float | None:
    """The chance level of one question of a run; None where it is undefined."""
    return next((e.chance for e in run.estimates() if e.question == question and not e.group), None)
