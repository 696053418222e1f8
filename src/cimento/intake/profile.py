"""What a column holds, from its cells alone: numbers, dates, labels, words or sentences.

The name of a column proposes what it is, and its profile decides: numbers are never sentences, and
what counts the rows is nobody's rating.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from cimento.intake.names import ends_sentence

ABSENT = frozenset({"", "na", "n/a", "#n/a", "nan", "none", "null", "-"})
"""What stands in the cells of tables, without capitals, where there is no number."""

Kind: TypeAlias = Literal["nothing", "numbers", "moments", "words", "sentences"]
"""What most filled cells of a column are."""

_NUMBER = re.compile(
    r"[-+−]?(?:[0-9]{1,3}(?:[ ,.’'][0-9]{3})+(?:[.,][0-9]+)?|[0-9]*[.,]?[0-9]+)"
    r"(?:e[-+]?[0-9]{1,3})?\s*%?",
    re.IGNORECASE,
)
_CLOCK = r"[0-9]{1,2}[:.][0-9]{2}(?:[:.][0-9]{2}(?:[.,][0-9]+)?)?\s*(?:[ap]\.?m\.?)?"
_DAY = (
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{1,2}\.? [^\W\d_]{3,12}\.?,? [0-9]{4}|[^\W\d_]{3,12}\.? [0-9]{1,2},? [0-9]{4})"
)
_ZONE = r"\s*(?:z|utc|gmt|[a-z]{2,4})?\s*(?:[-+][0-9]{1,2}:?(?:[0-9]{2})?)?"
_MOMENT = re.compile(
    rf"{_DAY}(?:[t ,]+{_CLOCK}{_ZONE})?|[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?"
    r"\s*(?:[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_LONGEST = 40
"""Letters of the longest number or date; longer cells are texts."""
_TWO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the cells of a column are.

    Attributes:
        kind: what most filled cells are; see `Kind`.
        n: number of filled cells; what stands for a missing number is none.
        n_distinct: number of different filled cells.
        two: the two values in a column of exactly two, in the order in which they come.
        whole: whether all numbers are whole.
        low: lowest number; NaN where there is none.
        high: highest number; NaN where there is none.
        counts: whether the numbers go through the rows in steps of one, each perhaps for several
            rows, as ids and positions do: 1, 2, 3 or 1, 1, 2, 2.
    """

    kind: Kind
    n: int
    n_distinct: int
    two: tuple[str, ...]
    whole: bool
    low: float
    high: float
    counts: bool

    @property
    def may_be_sentences(self) -> bool:
        """Whether the column may hold the sentences of a suite, or parts of them."""
        return self.kind not in ("numbers", "moments")

    @property
    def numbers_rows(self) -> bool:
        """Whether each row has a number of its own, one after the other."""
        return self.counts and self.n == self.n_distinct > 1


def profile(cells: Iterable[str]) -> Profile:
    """The profile of a column.

    Args:
        cells: its cells, in the order of the rows.
    """
    filled = [cell for cell in map(str.strip, cells) if cell.casefold() not in ABSENT]
    values = [value for value in map(number_of, filled) if value is not None]
    distinct = dict.fromkeys(filled)
    return Profile(
        kind=_kind(filled, len(values)),
        n=len(filled),
        n_distinct=len(distinct),
        two=tuple(distinct) if len(distinct) == _TWO else (),
        whole=bool(values) and all(value.is_integer() for value in values),
        low=min(values, default=math.nan),
        high=max(values, default=math.nan),
        counts=len(values) == len(filled) > 0 and _counts(values),
    )


def _kind(filled: Sequence[str], n_numbers: int) -> Kind:
    if not filled:
        return "nothing"
    if _TWO * n_numbers > len(filled):
        return "numbers"
    if _TWO * sum(map(is_moment, filled)) > len(filled):
        return "moments"
    n_sentences = sum(" " in cell or ends_sentence(cell) for cell in filled)
    return "sentences" if _TWO * n_sentences > len(filled) else "words"


def _counts(values: Sequence[float]) -> bool:
    """Whether whole numbers never fall, and rise by one."""
    steps = {after - before for before, after in pairwise(values)}
    return values[0].is_integer() and {1.0} <= steps <= {0.0, 1.0}


def number_of(cell: str) -> float | None:
    """The number in a cell, perhaps with a decimal comma or a percent sign; None for others."""
    text = cell.strip()
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    text = text.replace("−", "-").rstrip("% ").replace(",", ".")
    try:
        value = float(text)
    except ValueError:  # with marks between thousands
        value = float(re.sub(r"[ .,’']", "", text))
    return value if math.isfinite(value) else None


def is_moment(cell: str) -> bool:
    """Whether a cell is a date or a time of day."""
    text = cell.strip()
    return len(text) <= _LONGEST and _MOMENT.fullmatch(text) is not None


def is_absent(cell: str) -> bool:
    """Whether a cell is empty, or has what stands for a missing number, such as NA."""
    return cell.strip().casefold() in ABSENT
