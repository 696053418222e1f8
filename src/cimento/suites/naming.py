"""The names of predictions: the questions of all tables, and the texts that choose a prediction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cimento.suites import Prediction

ALL_PREDICTIONS = "all predictions"
"""The question whether an item passes every prediction of its suite, where there are several."""

_NUMBER = re.compile(r"(?:prediction )?(\d+)")


def numbered(number: int) -> str:
    """What a prediction without a name is called; predictions are counted from 0."""
    return f"prediction {number}"


def is_number(text: str) -> bool:
    """Whether a text chooses a prediction by its number: ``0``, ``prediction 0``."""
    return _NUMBER.fullmatch(text) is not None


def named(predictions: Sequence[Prediction]) -> tuple[Prediction, ...]:
    """The predictions of a suite, each with the name by which all tables call it.

    It is the name that the author gave. A prediction without one is called by its number, and so is
    one whose name would be mistaken for another question; see `mistaken`.

    Args:
        predictions: all predictions of the suite, as its author wrote them.
    """
    reasons = mistaken(predictions)
    return tuple(
        replace(
            prediction,
            name=prediction.name.strip() if reason == "" else numbered(number),
        )
        for number, (prediction, reason) in enumerate(zip(predictions, reasons, strict=True))
    )


def mistaken(predictions: Sequence[Prediction]) -> list[str | None]:
    """Why the name of each prediction would be mistaken for another question.

    Args:
        predictions: all predictions of a suite.

    Returns:
        The reasons; empty for a name that can be used, None for a prediction without a name.
    """
    names = [prediction.name.strip() for prediction in predictions]
    counts = Counter(names)
    return [_mistaken(name, counts[name]) if name else None for name in names]


def _mistaken(name: str, count: int) -> str:
    if count > 1:
        return f"{count} predictions have the name {name!r}"
    if name == ALL_PREDICTIONS:
        return f"{name!r} is what tables call all predictions together"
    if is_number(name):
        return f"the name {name!r} reads like the number of a prediction"
    return ""


def find_prediction(text: str, predictions: Sequence[Prediction]) -> Prediction | None:
    """The prediction that a text chooses: by its name, its number or its formula.

    Args:
        text: such as ``gender``, ``1``, ``prediction 1`` or ``(2;%match%) < (2;%mismatch%)``.
        predictions: all predictions of the suite.

    Returns:
        The prediction with the name of `named`; None where there is none.
    """
    known, text = named(predictions), text.strip()
    if match := _NUMBER.fullmatch(text):
        number = int(match[1])
        return known[number] if number < len(known) else None
    return next(
        (prediction for prediction in known if text in (prediction.name, prediction.formula)), None
    )
