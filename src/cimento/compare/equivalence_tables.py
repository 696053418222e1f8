"""Tables of equivalence tests: whether two sides differ by less than what would matter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.report import formatting
from cimento.report.formatting import ends_of
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.paired.pairwise import PairwiseComparison
    from cimento.statistics.power import Equivalence

_signed = partial(formatting.signed, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)
_NOT_CORRECTED = "p is not corrected for how many rows there are."


def equivalence_grid(
    pairs: Sequence[PairwiseComparison],
    tests: Sequence[Equivalence],
    *,
    margin: float,
    models: bool = False,
) -> Grid:
    """A table of equivalence tests: whether the two sides differ by less than a margin.

    Args:
        pairs: the comparisons, one per row.
        tests: the equivalence test of each pair.
        margin: the smallest difference that would matter.
        models: whether the rows name the two models.
    """
    methods = "; ".join(dict.fromkeys(test.method for test in tests))
    several = f" {_NOT_CORRECTED}" if len(pairs) > 1 else ""
    return Grid.of(
        list(zip(pairs, tests, strict=True)),
        {
            "suite": lambda row: row[0].suite,
            "right is": lambda row: row[0].question,
            "first": lambda row: row[0].first if models else None,
            "second": lambda row: row[0].second if models else None,
            "items": lambda row: row[0].n,
            "change": lambda row: _signed(row[1].estimate),
            "90%": lambda row: ends_of(row[1]),
            "p": lambda row: _p(row[1].p),
            "so": lambda row: equivalence_words(row[1], margin=margin),
        },
        title=f"Whether the change is smaller than {margin:g} either way.",
        labels=4,
        remarks=1,
        notes=(
            "change: second minus first.",
            f"so: by where the 90% interval lies, within ±{margin:g}, beyond, or across an end.",
            f"p: of equivalence; {methods}, at 5%.{several}",
        ),
    )


def equivalence_words(test: Equivalence, *, margin: float) -> str:
    """The result of an equivalence test, in words: yes, no, or unknown."""
    if test.equivalent:
        return f"equivalent within ±{margin:g}"
    if test.low is not None and test.high is not None and max(test.low, -test.high) > margin:
        return f"differs by more than {margin:g}"
    return "cannot tell" + (f" ({test.reason})" if test.reason else "")
