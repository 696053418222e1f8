"""Parameters of which only some are tested quickly."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def some_slow(values: Sequence[object], *, quick: int) -> list[object]:
    """Every so many of some values, and the others for the slow tests.

    It is for variants that go the same way through our code, such as models of other architectures:
    what only one of them does has a quick test of its own.
    """
    return [
        value if place % quick == 0 else pytest.param(value, marks=pytest.mark.slow)
        for place, value in enumerate(values)
    ]
