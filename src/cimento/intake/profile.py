"""What a column holds, from its cells alone: numbers, dates, codes, words or sentences.

The name of a column proposes what it is, and its profile decides: numbers are never sentences, and
what counts the rows is nobody's rating.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from cimento.intake.names import ends_sentence

ABSENT = frozenset({"", "na", "n/a", "#n/a", "nan", "none", "null", "-"})
"""What is in the cells of tables, without capitals, where there is no number."""

Kind: TypeAlias = Literal["nothing", "numbers", "moments", "objects", "codes", "words", "sentences"]
"""What most filled cells of a column are: numbers; dates, times or durations; lists and objects of
JSON; codes such as *R_2aX* and addresses; words; or sentences, which are several words each."""

_NUMBER = re.compile(
    r"[-+−]?(?:[0-9]{1,3}(?:[ ,.’'][0-9]{3})+(?:[.,][0-9]+)?|[0-9]*[.,]?[0-9]+)"
    r"(?:e[-+]?[0-9]{1,3})?\s*%?",
    re.IGNORECASE,
)
_HALF = (
    r"(?:[ap]\.?\s?m\b\.?|[дп]\.?п\b\.?|утра|дня|вечера|ночи"
    r"|(?:d[aei]l?|de la|della)[\s’']+(?:manhã|tarde|noite|madrugada|mañana|noche|mediodía"
    r"|mattin[ao]|pomeriggio|sera|notte))"
)
"""The half or the part of a day behind a time, as programs write it in five languages (CLDR)."""
_CLOCK = rf"[0-9]{{1,2}}[:.][0-9]{{2}}(?:[:.][0-9]{{2}}(?:[.,][0-9]+)?)?(?:\s*{_HALF})?"
_DAY = (
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{1,2}\.? [^\W\d_]{3,12}\.?,? [0-9]{4}|[^\W\d_]{3,12}\.? [0-9]{1,2},? [0-9]{4})"
)
_ZONE = r"\s*(?:z|utc|gmt|[^\W\d_]{2,4})?\s*(?:[-+−][0-9]{1,2}:?(?:[0-9]{2})?)?"
_INSTANT = re.compile(rf"{_DAY}[t\s,]+(?P<clock>{_CLOCK}){_ZONE}", re.IGNORECASE)
_NOT_MIDNIGHT = re.compile("[1-9]")
_MOMENT = re.compile(
    rf"{_DAY}(?:[t\s,]+{_CLOCK}{_ZONE})?|[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?"
    rf"(?:\s*{_HALF})?",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"(?:[0-9]+(?:[.,][0-9]+)?\s*(?:h|hours?|ore|horas?|min|minut[eoi]s?|minutes?|m|s|sec|seconds?"
    r"|secondi|segundos?|ms|ч|мин|сек|с)\.?\s*)+",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z_])[A-Za-z0-9_]+(?:[-.:/][A-Za-z0-9_]+)*|https?://\S+"
    r"|[^\s@]+@[^\s@]+\.[a-z]{2,8}|[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
)
_LONGEST = 40
"""Letters of the longest number, date or code; longer cells are texts."""
_LONGEST_CODE = 200
_LONGEST_ABSENT = max(map(len, ABSENT))
_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:\n-?[0-9]{1,15}(?:\.[0-9]{1,15})?)*+")
"""Numbers in lines, as programs write them."""
_BEGINS_OBJECT = "[{"
_OBJECT = re.compile(r"""\{.*:.*\}|\[\s*(?:['"\[{\d-].*)?\]""", re.DOTALL)
"""An object, or a list of texts, lists, objects or numbers; ``[MASK]`` is a token of a model."""
_HAS_DIGIT = re.compile(r"\d")
_BEGINS_NUMBER = "0123456789+-−.,"
_TWO = 2
_MOST_VALUES = 12
"""Number of different cells up to which a column may be one of levels, labels or judgments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the cells of a column are.

    Attributes:
        kind: what most filled cells are; see `Kind`.
        shares: the proportion of the filled cells that are of each kind, the largest first.
        n: number of filled cells; what marks a missing number is not one.
        n_distinct: number of different filled cells.
        values: the different filled cells in the order in which they come, if they are few.
        whole: whether all numbers are whole.
        low: lowest number; NaN where there is none.
        high: highest number; NaN where there is none.
        counts: whether the numbers go through the rows in steps of one, each perhaps for several
            rows, as ids and positions do: 1, 2, 3 or 1, 1, 2, 2.
    """

    kind: Kind
    shares: Mapping[Kind, float]
    n: int
    n_distinct: int
    values: tuple[str, ...]
    whole: bool
    low: float
    high: float
    counts: bool

    @property
    def two(self) -> tuple[str, ...]:
        """The two values in a column of exactly two; empty for any other."""
        return self.values if len(self.values) == _TWO else ()

    @property
    def may_be_sentences(self) -> bool:
        """Whether the column may hold the sentences of a suite, or parts of them."""
        return self.kind in ("nothing", "words", "sentences")

    @property
    def may_be_levels(self) -> bool:
        """Whether the column may hold the levels of a factor in words or codes."""
        return self.kind not in ("numbers", "moments", "objects")

    @property
    def is_codes(self) -> bool:
        """Whether the column holds codes, which are levels only where no words are."""
        return self.kind == "codes"

    @property
    def numbers_rows(self) -> bool:
        """Whether each row has a number of its own, one after the other."""
        return self.counts and self.n == self.n_distinct > 1


def profile(cells: Iterable[str]) -> Profile:
    """The profile of a column.

    Args:
        cells: its cells, in the order of the rows.
    """
    stripped = map(str.strip, cells)
    order = [
        cell for cell in stripped if len(cell) > _LONGEST_ABSENT or cell.casefold() not in ABSENT
    ]
    distinct = Counter(order)  # each different cell is looked at once
    # Cells of several words that are long, or begin with a letter and with no date, are sentences,
    # which is seen sooner than what others are.
    others = [
        cell
        for cell in distinct
        if (blank := cell.find(" ")) < 0
        or (
            (not cell[0].isalpha() or cell[blank + 1].isdigit())
            and (len(cell) <= _LONGEST or cell[0] in _BEGINS_OBJECT)
        )
    ]
    numbers = _numbers_in(others)
    times = Counter[Kind]()
    times["sentences"] = len(order) - sum(map(distinct.__getitem__, others))
    for cell in others:
        times["numbers" if cell in numbers else _kind_of(cell)] += distinct[cell]
    shares = {kind: count / len(order) for kind, count in times.most_common() if count}
    is_numeric = len(order) > 0 and len(numbers) == len(distinct)
    return Profile(
        kind=_kind(shares),
        shares=shares,
        n=len(order),
        n_distinct=len(distinct),
        values=tuple(distinct) if len(distinct) <= _MOST_VALUES else (),
        whole=bool(numbers) and all(map(float.is_integer, numbers.values())),
        low=min(numbers.values(), default=math.nan),
        high=max(numbers.values(), default=math.nan),
        counts=is_numeric and _counts([numbers[cell] for cell in order]),
    )


def _numbers_in(distinct: Collection[str]) -> dict[str, float]:
    """The numbers among different cells; in most columns all of them are plain, or none is."""
    if _PLAIN.fullmatch("\n".join(distinct)):
        return dict(zip(distinct, map(float, distinct), strict=True))
    begun = (cell for cell in distinct if cell[0] in _BEGINS_NUMBER)
    return {cell: value for cell in begun if (value := number_of(cell)) is not None}


def _kind_of(cell: str) -> Kind:
    """What a cell is that is not a number."""
    if len(cell) <= _LONGEST and _HAS_DIGIT.search(cell) and is_moment(cell):
        return "moments"
    if cell[0] in _BEGINS_OBJECT and _OBJECT.fullmatch(cell):
        return "objects"
    if " " in cell or ends_sentence(cell):
        return "sentences"
    return "codes" if len(cell) <= _LONGEST_CODE and _CODE.fullmatch(cell) else "words"


def _kind(shares: Mapping[Kind, float]) -> Kind:
    """The kind of most cells; of those of texts together, sentences if most of them are."""
    if not shares:
        return "nothing"
    for kind in ("numbers", "moments", "objects", "codes"):
        if shares.get(kind, 0) > 1 / _TWO:
            return kind
    return "sentences" if shares.get("sentences", 0) > 1 / _TWO else "words"


def _counts(values: Sequence[float]) -> bool:
    """Whether whole numbers never fall, and rise by one."""
    rise = values[-1] - values[0]
    if not values[0].is_integer() or not 0 < rise < len(values):
        return False
    return {after - before for before, after in pairwise(values)} in ({1.0}, {0.0, 1.0})


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
    """Whether a cell is a date, a time of day or a duration with its unit."""
    text = cell.strip()
    is_short = len(text) <= _LONGEST and _HAS_DIGIT.search(text) is not None
    return is_short and bool(_MOMENT.fullmatch(text) or _DURATION.fullmatch(text))


def are_instants(cells: Iterable[str]) -> bool:
    """Whether all filled cells are a day and a time of day, as the times of submissions are.

    Days alone, which workbooks may show with midnight, are also those of births.
    """
    filled = [*filter(None, map(str.strip, cells))]
    found = (_INSTANT.fullmatch(cell) for cell in filled if len(cell) <= _LONGEST)
    clocks = [match["clock"] for match in found if match]
    return len(clocks) == len(filled) and any(map(_NOT_MIDNIGHT.search, clocks))


def is_absent(cell: str) -> bool:
    """Whether a cell is empty, or has what stands for a missing number, such as NA."""
    text = cell.strip()
    return len(text) <= _LONGEST_ABSENT and text.casefold() in ABSENT
