"""Chance levels of predictions, and margins too small for the number format of the scores.

"By chance" means that the values of all regions are drawn independently from one standard normal
distribution. This is meaningful only for predictions that do not depend on the scale and the mean
of the values. So there is no chance level if a formula contains ``=``, whose tolerance is absolute,
or a number other than 0, or compares sums of different numbers of regions.

Comparisons without a common region are independent of each other. Most levels are exact:

- A single comparison holds in half of the draws, because x and -x are equally probable.
- If comparisons order single regions, or sums of equally many regions that do not overlap, all
orders are equally probable, and those in which the formulas hold are counted. This is true of
independent continuous values from any single distribution.
- Two comparisons that overlap in another way hold together with probability
  ``1/4 + arcsin(r) / 2 pi``, r the correlation of their differences (Sheppard 1899,
  doi:10.1098/rsta.1899.0003).

All other levels are simulated, with draws in antithetic pairs, x and -x (Hammersley and
Morton 1956, doi:10.1017/S0305004100031455).

Near ties are verdicts whose margin is below the largest change of a margin that was measured on the
demo models between batches of different shapes, and relative to a wider number format
(docs/scoring.md has the numbers and the command). ``cimento models check --precision`` measures it
for the model at hand.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from cimento.measures.errors import ROUNDING_BITS
from cimento.suites.formula import Comparison, Junction, Number, Reference, comparisons, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    import numpy as np

    from cimento.suites import JsonValue
    from cimento.suites.formula import Formula, Quantity


BoolArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"

Truth = TypeVar("Truth", bool, "BoolArray")

COUNTED = "counted over all orders"
NORMAL = "exact for normal values"

ANTITHETIC_PAIRS = 1 << 17
"""The number of antithetic pairs; the standard error of a simulated level is then below 0.001."""

_MOST_ORDERED = 10
_MOST_OUTCOMES = 20_000
"""Most sums put into all orders, and most outcomes enumerated; beyond them, draws are used."""

_PAIR = 2

_Region: TypeAlias = tuple[str, int]
"""A condition and the number of one of its regions."""

_Difference: TypeAlias = tuple[tuple[_Region, int], ...]
"""Sorted regions, each with its coefficient; that of the first region is positive."""

_Outcomes: TypeAlias = "Mapping[frozenset[_Difference], Fraction]"
"""The sets of differences above 0 (the others are below), each with its probability."""


@dataclass(frozen=True, slots=True)
class Chance:
    """The probability that a prediction holds by chance.

    Attributes:
        level: probability, from 0 to 1; None if it is undefined.
        reason: reason why it is undefined.
        method: how it was determined: ``counted over all orders``, ``exact for normal values``, or
            ``simulated`` with the number of draws and the seed.
    """

    level: float | None
    reason: str | None = None
    method: str | None = None


@functools.lru_cache(maxsize=512)
def chance_level(formulas: tuple[Formula, ...], *, n_regions: int, seed: int) -> Chance:
    """The probability that some formulas all hold by chance; cached, since suites repeat them.

    Args:
        formulas: one prediction, or all predictions of a conjunction.
        n_regions: number of regions in each condition, over which ``*`` sums.
        seed: seed of the simulation, if there is no exact level.
    """
    if not formulas:
        return Chance(None, "there is no prediction")
    for formula in formulas:
        reason = _undefined(formula, n_regions)
        if reason:
            return Chance(None, reason)
    compared = [comparison for formula in formulas for comparison in comparisons(formula)]
    whole = functools.reduce(lambda left, right: Junction("&", left, right), formulas)
    # None marks the difference of a sum from itself, which is neither above nor below 0.
    signed = {comparison: _signed(_difference(comparison, n_regions)) for comparison in compared}
    differences = {difference[0] for difference in signed.values() if difference}
    parts = [(part, _outcomes(part)) for part in _independent(differences)]
    known = [outcomes for _, outcomes in parts if outcomes is not None]
    if len(known) < len(parts) or math.prod(map(len, known)) > _MOST_OUTCOMES:
        level = _simulated(whole, signed, seed=seed)
        return Chance(level, method=f"simulated ({2 * ANTITHETIC_PAIRS:,} draws, seed {seed})")
    counted = all(len(part) != _PAIR or _blocks(part) for part, _ in parts)
    return Chance(float(_summed(whole, signed, known)), method=COUNTED if counted else NORMAL)


_Signed: TypeAlias = "Mapping[Comparison, tuple[_Difference, int] | None]"


def _summed(whole: Formula, signed: _Signed, parts: Iterable[_Outcomes]) -> Fraction:
    """The probability of all outcomes of all parts in which the formulas hold."""
    total = Fraction(0)
    for outcome in product(*(part.items() for part in parts)):
        above = frozenset[_Difference]().union(*(differences for differences, _ in outcome))

        def holds(comparison: Comparison, above: Collection[_Difference] = above) -> bool:
            pair = signed[comparison]
            return pair is not None and (pair[0] in above) == (pair[1] > 0)

        if _holds(whole, holds):
            total += math.prod((probability for _, probability in outcome), start=Fraction(1))
    return total


def _simulated(whole: Formula, signed: _Signed, *, seed: int) -> float:
    """The proportion of draws in which the formulas hold."""
    import numpy as np

    generator = np.random.default_rng(seed)
    differences = {pair[0] for pair in signed.values() if pair}
    regions = {region for difference in differences for region, _ in difference}
    # Sorted, so that the draws depend on the seed and not on the order of a set.
    draws = {region: generator.standard_normal(ANTITHETIC_PAIRS) for region in sorted(regions)}
    totals = {
        difference: np.sum([times * draws[region] for region, times in difference], axis=0)
        for difference in differences
    }
    held = 0
    for antithetic in (1, -1):

        def holds(comparison: Comparison, antithetic: int = antithetic) -> BoolArray:
            pair = signed[comparison]
            if pair is None:
                return np.zeros(ANTITHETIC_PAIRS, dtype=bool)
            above: BoolArray = np.greater(antithetic * pair[1] * totals[pair[0]], 0)
            return above

        held += int(_holds(whole, holds).sum())
    return held / (2 * ANTITHETIC_PAIRS)


def scale_reason(formula: Formula) -> str | None:
    """The reason why a formula depends on the scale of the values; None if it does not."""
    seen = ""
    if any(number != 0 for number in numbers(formula)):
        seen = "a number in it"
    elif any(comparison.operator == "=" for comparison in comparisons(formula)):
        seen = "an '='"
    return f"the prediction has {seen}, so it depends on the scale of the values" if seen else None


def _undefined(formula: Formula, n_regions: int) -> str | None:
    """The reason why a formula has no chance level."""
    reason = scale_reason(formula)
    if reason:
        return reason
    for comparison in comparisons(formula):
        if sum(_difference(comparison, n_regions).values()):
            return (
                "the prediction compares sums of different numbers of regions, "
                "so its chance depends on the mean of the values"
            )
    return None


def _difference(comparison: Comparison, n_regions: int) -> dict[_Region, int]:
    """The side that should be greater minus the other side: the coefficient of each region."""
    regions: Counter[_Region] = Counter()
    greater = -1 if comparison.operator == "<" else 1
    for node, sign in ((comparison.left, greater), (comparison.right, -greater)):
        for region, times in _terms(node, sign, n_regions):
            regions[region] += times
    return {region: times for region, times in regions.items() if times}


def _terms(node: Quantity, sign: int, n_regions: int) -> Iterator[tuple[_Region, int]]:
    """The regions in a sum, each with its sign."""
    match node:
        case Number():
            return
        case Reference(region="*", condition=condition):
            yield from (((condition, number), sign) for number in range(1, n_regions + 1))
        case Reference(region=region, condition=condition):
            yield (condition, int(region)), sign
        case _:
            yield from _terms(node.left, sign, n_regions)
            yield from _terms(node.right, sign if node.operator == "+" else -sign, n_regions)


def _signed(difference: Mapping[_Region, int]) -> tuple[_Difference, int] | None:
    """A difference in which the first region is added, and the sign that it should have."""
    terms = sorted(difference.items())
    if not terms:
        return None
    sign = 1 if terms[0][1] > 0 else -1
    return tuple((region, sign * times) for region, times in terms), sign


def _independent(differences: Iterable[_Difference]) -> list[list[_Difference]]:
    """The differences in groups that share no region."""
    groups: list[tuple[set[_Region], list[_Difference]]] = []
    for difference in sorted(differences):
        regions, members = {region for region, _ in difference}, [difference]
        apart = []
        for group in groups:
            if regions.isdisjoint(group[0]):
                apart.append(group)
            else:
                regions |= group[0]
                members += group[1]
        groups = [*apart, (regions, members)]
    return [members for _, members in groups]


def _outcomes(part: list[_Difference]) -> _Outcomes | None:
    """The outcomes of overlapping differences, with probabilities; None if these are unknown."""
    if len(part) == 1:
        return {frozenset(): Fraction(1, 2), frozenset(part): Fraction(1, 2)}
    blocks = _blocks(part)
    if blocks:
        return _orders(part, blocks) if len(blocks) <= _MOST_ORDERED else None
    return _quadrants(*part) if len(part) == _PAIR else None


_Block: TypeAlias = frozenset[_Region]


def _sides(difference: _Difference) -> tuple[_Block, _Block]:
    """The regions that are added, and the regions that are subtracted."""
    return (
        frozenset(region for region, times in difference if times > 0),
        frozenset(region for region, times in difference if times < 0),
    )


def _blocks(part: Iterable[_Difference]) -> list[_Block]:
    """The sums that differences compare, if no two of them overlap; otherwise none."""
    part = list(part)
    blocks = {side for difference in part for side in _sides(difference)}
    once = all(abs(times) == 1 for difference in part for _, times in difference)
    apart = sum(map(len, blocks)) == len(frozenset().union(*blocks))
    return sorted(blocks, key=sorted) if once and apart else []


def _orders(part: Iterable[_Difference], blocks: list[_Block]) -> _Outcomes | None:
    """The outcomes of differences of some sums, counted over all orders of the sums.

    The order is built up one sum at a time. For each set of sums ordered so far, only the outcomes
    of its orders are kept, not the orders. None if even these outcomes are too many.
    """
    place = {block: 1 << number for number, block in enumerate(blocks)}
    over: dict[int, list[tuple[int, _Difference]]] = {}
    for difference in part:
        added, subtracted = _sides(difference)
        over.setdefault(place[added], []).append((place[subtracted], difference))
    full = (1 << len(blocks)) - 1
    ways: dict[int, Counter[frozenset[_Difference]]] = {0: Counter({frozenset(): 1})}
    for below in range(full):
        if sum(map(len, ways.values())) > _MOST_OUTCOMES:
            return None
        for above, times in ways.pop(below).items():
            for top in place.values():
                if top & below:
                    continue
                new = above.union(upper for low, upper in over.get(top, ()) if low & below)
                ways.setdefault(top | below, Counter())[new] += times
    orders = math.factorial(len(blocks))
    return {above: Fraction(times, orders) for above, times in ways[full].items()}


def _quadrants(one: _Difference, other: _Difference) -> _Outcomes:
    """The outcomes of two differences of normal values, with their probabilities."""
    times = dict(other)
    product_ = sum(count * times.get(region, 0) for region, count in one)
    squares = (sum(count**2 for _, count in counter) for counter in (one, other))
    same = Fraction(1, 4) + Fraction(
        math.asin(product_ / math.sqrt(math.prod(squares))) / (2 * math.pi)
    )
    apart = Fraction(1, 2) - same
    return {
        frozenset(): same,
        frozenset({one, other}): same,
        frozenset({one}): apart,
        frozenset({other}): apart,
    }


def _holds(formula: Formula, holds: Callable[[Comparison], Truth]) -> Truth:
    """Whether a formula without ``=`` holds, or in which draws; a tie does not count."""
    if isinstance(formula, Comparison):
        return holds(formula)
    left, right = _holds(formula.left, holds), _holds(formula.right, holds)
    return left & right if formula.operator == "&" else left | right


_UNKNOWN = "float32"


@dataclass(frozen=True, slots=True)
class NearTies:
    """The threshold for near ties.

    Attributes:
        bits: verdicts with a smaller margin are near ties.
        reason: origin of the threshold.
    """

    bits: float
    reason: str


def near_tie_threshold(manifest: Mapping[str, JsonValue], given: float | None) -> NearTies:
    """The near-tie threshold of a run.

    Args:
        manifest: manifest of the run, whose model card names the number format.
        given: threshold in bits that overrides all others; None if there is none.
    """
    if given is not None:
        return NearTies(given, "given for this run")
    model, asking = manifest.get("model"), manifest.get("asking")
    dtype = str(model.get("dtype") or "") if isinstance(model, dict) else ""
    policy = asking.get("policy") if isinstance(asking, dict) else None
    args = policy.get("model_args") if isinstance(policy, dict) else None
    if isinstance(args, dict) and "quantization_config" in args:
        return NearTies(ROUNDING_BITS["bfloat16"], "weights quantized, as for bfloat16")
    measured = model.get("rounding_bits") if isinstance(model, dict) else None
    if isinstance(measured, float):
        return NearTies(measured, f"the error of {dtype}, measured with this model")
    if dtype in ROUNDING_BITS:
        return NearTies(ROUNDING_BITS[dtype], f"the error of {dtype}")
    return NearTies(ROUNDING_BITS[_UNKNOWN], f"number format unknown, as for {_UNKNOWN}")
