"""The answer over many checkpoints of one training: which of them tables show, and the curve."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from cimento.compare.training_courses import training_of
from cimento.report.figures import Figure, drawable
from cimento.report.figures_rates import steps_frame, training_figure

if TYPE_CHECKING:
    from cimento.compare.beside_sets import BesideSet
    from cimento.compare.phenomena import Disagreement, PhenomenonRate
    from cimento.compare.set_results import Example, SetResult
    from cimento.documents.language_answer import LanguageAnswer
    from cimento.kinds.run import Run

_MOST_STEPS = 4
"""Checkpoints up to which tables show all."""

_OfModel = TypeVar(
    "_OfModel", "PhenomenonRate", "Disagreement", "SetResult", "BesideSet", "Example"
)


def steps_of_models(runs: Sequence[Run], models: Sequence[str]) -> tuple[int, ...]:
    """The step of training of each model; empty unless all are checkpoints of one model.

    Args:
        runs: of the models, in the order of the steps.
        models: their labels, in this order.
    """
    training = training_of(runs)
    return training.steps if training and len(training.steps) == len(models) else ()


def has_many_steps(answer: LanguageAnswer) -> bool:
    """Whether the models of an answer are more checkpoints of one model than tables show.

    Args:
        answer: the answer.
    """
    return len(answer.steps) > _MOST_STEPS


def as_shown(answer: LanguageAnswer) -> LanguageAnswer:
    """The answer itself, or of many checkpoints what it says of the first and the last.

    What was corrected over all of them stays so.

    Args:
        answer: the answer.
    """
    if not has_many_steps(answer):
        return answer
    models = (answer.models[0], answer.models[-1])

    def kept(some: Sequence[_OfModel]) -> tuple[_OfModel, ...]:
        return tuple(one for one in some if one.model in models)

    return replace(
        answer,
        models=models,
        changes=tuple(one for one in answer.changes if {one.first, one.second} <= {*models}),
        phenomena=kept(answer.phenomena), disagreements=kept(answer.disagreements),
        sets=kept(answer.sets), published=kept(answer.published), starter=kept(answer.starter),
        generated=kept(answer.generated), examples=kept(answer.examples),
    )  # fmt: skip


def steps_in_words(answer: LanguageAnswer, models: Collection[str]) -> str:
    """At how many steps, or from which step on, something holds, in words.

    Args:
        answer: over checkpoints of one model.
        models: labels of those of which it holds.
    """
    steps = [
        step for model, step in zip(answer.models, answer.steps, strict=True) if model in models
    ]
    if not steps:
        return "no"
    if steps == [*answer.steps[-len(steps) :]]:
        return f"from step {steps[0]:,}"
    return f"{len(steps)} of {len(answer.steps)} steps"


def curves(answer: LanguageAnswer, rates: Sequence[PhenomenonRate]) -> Sequence[Figure]:
    """The curve of each phenomenon over many checkpoints; none of few, or without altair.

    Args:
        answer: over the models.
        rates: of each model on each phenomenon.
    """
    if not has_many_steps(answer) or not rates:
        return ()
    step_of = dict(zip(answer.models, answer.steps, strict=True))
    rows = [
        (
            one.phenomenon, step_of[one.model], one.model, one.value, one.low, one.high,
            one.n_items, one.chance,
        )
        for one in rates
    ]  # fmt: skip
    return drawable(lambda: training_figure(steps_frame(rows)))
