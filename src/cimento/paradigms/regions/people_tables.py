"""Tables of how people choose, beside models."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.report.formatting import ends_of, number, rate_as_text
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.paradigms.regions.people import ChoiceRate


def people_grid(rates: Sequence[ChoiceRate]) -> Grid:
    """A table of how often people and models choose as predicted, on the same items."""
    # All runs of a suite repeat the same human choices, which are shown once, before the models.
    groups = grouped(((rate.suite, rate.question), rate) for rate in dict.fromkeys(rates))
    ordered = (sorted(rates, key=lambda rate: not rate.of_people) for rates in groups.values())
    return Grid.of(
        list(itertools.chain.from_iterable(ordered)),
        {
            "suite": lambda rate: rate.suite,
            "prediction": lambda rate: rate.question,
            "who": lambda rate: rate.who,
            "items": lambda rate: rate.n,
            "ties": lambda rate: rate.tied,
            "choices": lambda rate: rate.choices,
            "rate": lambda rate: rate_as_text(rate.rate, absent=BLANK),
            "95%": ends_of,
            "rho": lambda rate: number(
                rate.graded.r if rate.graded else None, digits=3, absent=BLANK
            ),
            "95% of rho": lambda rate: ends_of(rate.graded) if rate.graded else BLANK,
            "reason": lambda rate: rate.reason or (rate.graded.reason if rate.graded else None),
        },
        title="How often people choose as is predicted, and models on the same items.",
        grouped=2,
        labels=3,
        remarks=1,
        notes=(
            "most people: the prediction holds of the numbers of people who chose each sentence.",
            "one person: mean over items of the proportion of choices by which it holds.",
            "Choices that decide nothing are left out of the latter.",
            "rho: Spearman's correlation, over items, of the model's margin with that share.",
        ),
    )
