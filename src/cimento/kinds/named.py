"""What was asked of tables and figures that a kind makes by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cimento.measures.normalizing import Normalization, Scope

if TYPE_CHECKING:
    from cimento.suites.derived import Frequency

Bars: TypeAlias = Literal["se", "means-removed", "cousineau-morey", "loftus-masson"]
"""The kinds of error bars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """What was asked of a table beside its name; a table ignores what does not concern it.

    Attributes:
        measures: names of measures of sentences; empty for what each run is judged on.
        seed: seed of the resampling in tests.
        scale: scale of effects; None for all scales as records, or raw scores.
        records: whether a program reads the table, and not the readers of a paper.
        these_suites: whether means over suites also have the interval for other items of them.
        frequency: function from a language to the frequencies of its words; None where there are
            none.
    """

    measures: tuple[str, ...] = ()
    seed: int = 0
    scale: Normalization | None = None
    records: bool = True
    these_suites: bool = False
    frequency: Callable[[str], Frequency | None] = lambda _language: None


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSettings:
    """What was asked of a figure beside its name; a figure ignores what does not concern it.

    Attributes:
        measure: name of the measure that is drawn; empty for what each run is judged on.
        scale: scale of effects.
        scope: set of scores that are pooled for scales.
        bars: kind of error bars; None for the usual ones of the figure.
        item: id of the item, for figures of one.
        length: number of tokens, for figures of sentences of one length; None for all.
        seed: seed of the resampling in tests.
        beside: the results of people on the same design, in the form of the kind's own, or their
            judgments; None for those that the suite itself has.
    """

    measure: str = ""
    scale: Normalization = "z"
    scope: Scope = "suite"
    bars: Bars | None = None
    item: str = ""
    length: int | None = None
    seed: int = 0
    beside: Any = None
