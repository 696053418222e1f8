"""What statistics take and return, and designs: which observations are independent."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from cimento.errors import UsageError
from cimento.io.clusters import Crossing

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ArrayLike: TypeAlias = "npt.ArrayLike"
"""What numpy makes an array of: a list of numbers, or a column of polars or pandas."""
Floats: TypeAlias = "npt.NDArray[np.float64]"
"""An array of numbers with double precision."""
Integers: TypeAlias = "npt.NDArray[np.int64]"
"""An array of integers."""
Booleans: TypeAlias = "npt.NDArray[np.bool_]"

FloatsOrFloat = TypeVar("FloatsOrFloat", "npt.NDArray[np.float64]", float)

TOO_FEW = "fewer than two observations"
ALL_EQUAL = "all values are equal"
NO_OBSERVATIONS = "no observations"
_MOST_CELLS = 2_000_000

# Here and not in `sequential`, which loads numpy: reports of stored runs name it.
SEQUENCE = "confidence sequence, by betting without replacement"
"""The method of intervals of runs that stop by themselves, as estimates have it."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One number, or the reason why there is none.

    Attributes:
        value: the number; None where it is undefined.
        reason: why it is undefined.
    """

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Significance:
    """The result of a test of significance.

    Attributes:
        statistic: the test statistic, where the test has one.
        p: two-sided unless the method says otherwise; None where the test is undefined.
        method: the test, by its name.
        freedom: degrees of freedom, where the test has them.
        reason: why there is no p.
    """

    statistic: float | None
    p: float | None
    method: str
    freedom: float | None = None
    reason: str | None = None


def floats(values: ArrayLike | Sequence[object], *, name: str) -> Floats:
    """The values as float64, refused where one of them is not a finite number.

    Raises:
        UsageError: not numbers, or NaN or infinity among them.
    """
    import numpy as np

    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise UsageError(
            where=name, seen="not all values are numbers", todo="Leave out what has no value."
        ) from fault
    if not np.isfinite(array).all():
        raise UsageError(
            where=name,
            seen=f"{int((~np.isfinite(array)).sum())} of {array.size} values are NaN or infinite",
            todo="Leave out what has no value, and say how many were left out.",
        )
    return array


def same_length(**columns: Sized) -> int:
    """The number of rows of the columns.

    Raises:
        UsageError: they are not equally long.
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(
            where="columns",
            seen=", ".join(f"{name} has {length} values" for name, length in lengths.items()),
            todo="Give one value a row to each.",
        )
    return next(iter(lengths.values()))


def sum_in_order(values: Iterable[float]) -> float:
    """The float64 sum from left to right, each step rounded.

    `sum` compensates from Python 3.12 on, so that its last digit depends on the interpreter.
    """
    return functools.reduce(operator.add, values, 0.0)


def draws_at_once(n: int, *, most: int) -> int:
    """The number of draws held at a time, so that large samples do not fill the memory.

    Args:
        n: values of the sample.
        most: draws, however few values there are.
    """
    return max(1, min(most, _MOST_CELLS // max(n, 1)))


def codes(labels: Sequence[Hashable]) -> tuple[Integers, int]:
    """Labels as whole numbers in order of first appearance, and how many there are."""
    import numpy as np

    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    coded = map(numbers.__getitem__, labels)
    return np.fromiter(coded, dtype=np.int64, count=len(labels)), len(numbers)


def kept_together(labels: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """What must be in one fold of a cross-validation: clusters, of crossed ones the first factor.

    No folds keep the clusters of two crossed factors whole: all items hang together.
    """
    return tuple(one.labels[0] if isinstance(one, Crossing) else one for one in labels)


FEWEST_CLUSTERS = 5
"""The fewest independent units from which an interval or a test of a mean is made."""
WORKING_CORRELATION = 0.3
"""The assumed correlation within clusters behind degrees of freedom (docs/statistics.md)."""


@dataclass(frozen=True, slots=True)
class Design:
    """The units behind a number and the clusters in which they come.

    Every interval and every test takes one, so that none can forget what a suite declares. Two
    columns over one design are paired: row i of both is the same unit.

    Attributes:
        units: name of each observation, such as its item; a name may occur more than once.
        clusters: what each unit belongs to; units of one cluster may depend on each other,
            and a unit that stands alone is a cluster of its own. In a crossed design this is a
            `Crossing`: units that share the label of any factor may depend on each other.
    """

    units: tuple[Hashable, ...]
    clusters: tuple[Hashable, ...]

    @classmethod
    def independent(cls, units: int | Iterable[Hashable]) -> Design:
        """The design of units that stand alone.

        Args:
            units: names of the units, or how many there are.
        """
        names = tuple(range(units) if isinstance(units, int) else units)
        return cls(names, tuple(range(len(names))))

    @classmethod
    def of(
        cls, units: Iterable[Hashable], clusters: Mapping[str, Hashable] | None = None
    ) -> Design:
        """The design of named units.

        Args:
            units: names of the units.
            clusters: unit to what it belongs to; None where each stands alone.
        """
        names = tuple(units)
        if clusters is None:
            return cls.independent(names)
        return cls(names, tuple(clusters[str(name)] for name in names))

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.clusters)

    @property
    def m(self) -> int:
        """Number of clusters: of independent units. In a crossed design, of the smaller factor."""
        if self.crossed:
            return min(factor.m for factor in self.factors())
        return len(set(self.clusters))

    @property
    def crossed(self) -> bool:
        """Whether units belong to clusters of two factors or more."""
        return isinstance(next(iter(self.clusters), None), Crossing)

    def factors(self) -> tuple[Design, ...]:
        """The design of each factor alone; of an ordinary design, itself.

        Raises:
            UsageError: some units have labels for other factors than the rest.
        """
        if not self.crossed:
            return (self,)
        labels = [one.labels if isinstance(one, Crossing) else () for one in self.clusters]
        if len({len(one) for one in labels}) > 1:
            raise UsageError(
                where="design",
                seen="some units have clusters of more factors than others",
                todo="Give each unit one label for each factor.",
            )
        return tuple(Design(self.units, column) for column in zip(*labels, strict=True))

    def parts(self) -> tuple[tuple[int, Design], ...]:
        """The designs whose variances make that of a crossed design, each with its sign.

        With two factors: the first and the second, and less what is in both, the cells. In general
        the intersections of every set of factors, added if it is odd and taken away if it is even
        (Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136, section 2.3). The last
        part is the finest one, the cells of all factors. `crossed_variance` adds them up.
        """
        factors = self.factors()
        return tuple(
            (
                1 if size % 2 else -1,
                Design(self.units, tuple(zip(*(one.clusters for one in chosen), strict=True)))
                if size > 1
                else chosen[0],
            )
            for size in range(1, len(factors) + 1)
            for chosen in combinations(factors, size)
        )

    @property
    def clustered(self) -> bool:
        """Whether some units belong together."""
        return self.m < self.n

    @property
    def clusters_said(self) -> int | str | None:
        """How many clusters there are: of each factor if crossed; None if no units have one."""
        if self.crossed:
            return " × ".join(str(one.m) for one in self.factors())
        return self.m if self.clustered else None

    @property
    def described(self) -> str:
        """How many units there are, and how they belong together."""
        units = f"{self.n} {'item' if self.n == 1 else 'items'}"
        if self.crossed:
            return f"{units} in {self.clusters_said} crossed clusters"
        if self.clustered:
            return f"{units} in {self.m} {'cluster' if self.m == 1 else 'clusters'}"
        return units.replace(" ", " single ")

    @property
    def shortage(self) -> str | None:
        """The reason why units are too few for an interval; None if they are enough."""
        return shortage(self.m, clustered=self.clustered)

    def codes(self) -> tuple[Integers, int]:
        """Number of each observation's cluster, and the number of clusters; of one factor."""
        return codes(self.clusters)

    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom of a mean over this design (`mean_freedom`).

        In a crossed design, those of the factor that has fewest.
        """
        return min(
            mean_freedom(Counter(Counter(factor.clusters).values())) for factor in self.factors()
        )

    def take(self, kept: Sequence[int]) -> Design:
        """The design of some of the observations, by their places."""
        return Design(
            tuple(self.units[place] for place in kept),
            tuple(self.clusters[place] for place in kept),
        )


def crossed_variance(parts: Sequence[tuple[int, FloatsOrFloat]]) -> FloatsOrFloat:
    """The variance over a crossed design, from those over its parts (`Design.parts`).

    ``V_a + V_b - V_ab`` for two factors (Cameron, Gelbach and Miller 2011), and never less than
    the variance over the cells, which the difference may fall below by chance.

    Args:
        parts: sign and variance of each part, the finest last.
    """
    import numpy as np

    if len(parts) == 1:
        return parts[0][1]
    total = sum(sign * variance for sign, variance in parts)
    least = np.maximum(total, parts[-1][1])
    return cast("FloatsOrFloat", least if least.ndim else float(least))


def shortage(m: int, *, clustered: bool) -> str | None:
    """The reason why m independent units are too few for an interval; None if they are enough.

    Args:
        m: clusters, or units that stand alone.
        clustered: whether units come in clusters.
    """
    if m >= FEWEST_CLUSTERS:
        return None
    noun = "cluster" if clustered else "value"
    if m == 0:
        return "nothing was scored"
    return f"{m} {noun}{'s' if m > 1 else ''}: an interval needs {FEWEST_CLUSTERS} or more"


def mean_freedom(sizes: Mapping[int, int]) -> float:
    """Satterthwaite's degrees of freedom of the CR2 variance of a mean.

    ``(Σ λ)² / Σ λ²`` of the quadratic form that the variance is (Bell and McCaffrey 2002, Survey
    Methodology 28, 169-181, section 3; Imbens and Kolesár 2016, doi:10.1162/REST_a_00552), with a
    correlation of 0.3 between observations of one cluster. Where clusters have one size this is
    their number less one.

    Args:
        sizes: size of a cluster to the number of clusters that have it; two clusters or more.
    """
    return _freedom(tuple(sorted(sizes.items())))


@functools.cache
def _freedom(sizes: tuple[tuple[int, int], ...]) -> float:
    n = sum(size * count for size, count in sizes)
    if len(sizes) == 1:
        return float(sizes[0][1] - 1)
    # Of a cluster of s observations: a² = 1 / (1 - s/n), the CR2 adjustment; v = s/n; w, the
    # variance of its sum under the working correlation. The form's matrix is
    # a_g a_h (δ w_g - w_g v_h - v_g w_h + v_g v_h W), so that all sums are over clusters alone.
    rows = [(count, 1 / (1 - size / n), size / n, _variance_of_sum(size)) for size, count in sizes]
    whole = sum(count * w for count, _, _, w in rows)
    trace = sum(count * a * (w - 2 * w * v + v * v * whole) for count, a, v, w in rows)
    ww = sum(count * a * w * w for count, a, _, w in rows)
    vv = sum(count * a * v * v for count, a, v, _ in rows)
    wv = sum(count * a * w * v for count, a, v, w in rows)
    # All pairs as if no two were the same cluster, then what the diagonal has more.
    squares = 2 * ww * vv + whole**2 * vv**2 + 2 * wv**2 - 4 * whole * wv * vv
    for count, a, v, w in rows:
        off = v * v * whole - 2 * w * v
        squares += count * a * a * ((w + off) ** 2 - off**2)
    return trace**2 / squares


def _variance_of_sum(size: int) -> float:
    return size * (1 - WORKING_CORRELATION) + size * size * WORKING_CORRELATION
