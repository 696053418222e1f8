"""Names that somebody gives to the factors of a design, such as those of levels in headings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cimento.suites import Suite
from cimento.suites.design import with_design


def with_factors_called(suite: Suite, names: Mapping[str, str]) -> Suite:
    """The suite whose factors have other names, in the predictions of its design too.

    Args:
        suite: a suite with factors.
        names: the new names by those that they have; others stay.
    """
    items = tuple(
        replace(
            item,
            conditions=tuple(
                replace(one, columns={names.get(k, k): cell for k, cell in one.columns.items()})
                for one in item.conditions
            ),
        )
        for item in suite.items
    )
    factors = {names.get(name, name): levels for name, levels in suite.factors.items()}
    called = replace(suite, items=items, factors=factors)
    formulas = [one.formula for one in with_design(replace(suite, predictions=())).predictions]
    if [one.formula for one in suite.predictions] != formulas:
        return called  # they are somebody's own
    return with_design(replace(called, predictions=()))
