"""Plug-ins that fail in every way they can."""

from __future__ import annotations

from collections.abc import Callable

from cimento.io.values import UndefinedValueError
from cimento.measures import Measure, Sentence

NUMBER = 3


def fails(*_arguments: object) -> float:
    """Fails when it is used."""
    raise KeyError("weights")


def gives_text(*_arguments: object) -> str:
    """Gives something else than it should."""
    return "a model"


def is_undefined(*_arguments: object) -> float:
    """Has no value, and says so as it should."""
    raise UndefinedValueError("it always is")


def _measure(name: str, function: Callable[[Sentence], float]) -> Measure:
    return Measure(
        name=name,
        formula="-",
        unit="",
        higher_is_better=True,
        source="-",
        function=function,
    )


FAILING = _measure("failing", fails)
UNDEFINED = _measure("undefined", is_undefined)
