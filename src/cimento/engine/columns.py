"""Which columns a model is asked for: those wanted by name, of its layers, and of its policy."""

from __future__ import annotations

from cimento.answers import ALL_LAYERS, BOUNDARY, LAYER, Column, layer_column
from cimento.errors import UsageError
from cimento.models.base import LayerScorer, Policy, Scorer, TextScorer


def columns_for(
    scorer: Scorer | TextScorer, columns: tuple[Column, ...], *, policy: Policy
) -> tuple[Column, ...]:
    """The columns that a loaded model is asked for.

    Args:
        scorer: the model.
        columns: what is wanted; all layers may be meant by one name.
        policy: the policy it was loaded with.

    Raises:
        UsageError: the model has no such layer, or cannot be corrected for word boundaries.
    """
    return (*_with_layers(columns, scorer), *_boundary_column(scorer, policy))


def _with_layers(columns: tuple[Column, ...], scorer: Scorer | TextScorer) -> tuple[Column, ...]:
    """The columns with those of layers by number, now that it is known how many there are.

    Raises:
        UsageError: the model has not so many, or cannot be looked into.
    """
    asked = [column for column in columns if column.startswith(LAYER)]
    if not asked:
        return columns
    if not isinstance(scorer, LayerScorer):
        raise UsageError(
            where="--layers",
            seen=f"the model {scorer.card.name!r} does not show its layers",
            todo="Leave the option out.",
        )
    known = [layer_column(number) for number in range(scorer.count_layers() + 1)]
    absent = [column for column in asked if column not in {*known, ALL_LAYERS}]
    if absent:
        raise UsageError(
            where="--layers",
            seen=f"the model {scorer.card.name!r} has no layer {absent[0].removeprefix(LAYER)}",
            todo=f"It has the layers 0 to {len(known) - 1}; all means all of them.",
        )
    chosen = known if ALL_LAYERS in asked else asked
    return (*(column for column in columns if column not in asked), *chosen)


def _boundary_column(scorer: Scorer | TextScorer, policy: Policy) -> tuple[Column, ...]:
    """The column that corrects words for their boundaries, where the policy asks for it.

    Raises:
        UsageError: the model has none to give.
    """
    card = scorer.card
    if card.boundary:
        return (BOUNDARY,)
    unknown = isinstance(scorer, TextScorer) and policy.boundary != "none"
    if unknown or (card.kind != "masked" and policy.boundary in ("word-start", "word-end")):
        raise UsageError(
            where=f"--boundary {policy.boundary}",
            seen=f"the model {card.name!r} does not say how probable the end of a word is",
            todo="Leave the option out.",
        )
    return ()
