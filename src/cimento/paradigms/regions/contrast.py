"""The differences between conditions: the wanted one, and those that affect an interaction.

**The contrast** of a suite is the likelier condition, its alternatives, and the region where they
differ. It is read from the predictions: ``(3;%match%) < (3;%mismatch%)`` says that region 3 is the
target, that ``match`` is the grammatical condition and that ``mismatch`` is an alternative to it.

The probability ratio is the grammatical form's proportion of two forms' probability (Táboas García
and Wanner, SyntacticAgreement)::

    ratio = p(target) / (p(target) + p(alternative)) = 1 / (1 + b^(S_target - S_alternative))

S is the summed surprisal of the target region, and b the base of its unit: 2 for bits, e for nats.
The score of an item is the mean over its alternatives, each compared with the target separately;
the score of a suite is the unweighted mean over its items.

**Confounds** are differences between the four conditions of a design that affect its interaction.
A difference that changes with one factor alone, in the same way at both levels of the other,
cancels out of the difference of differences. One that marks a single condition, or is not additive
for another reason, contributes to DD whatever the model knows about islands: for example, a
preposition at the beginning of the unacceptable sentence only, or one more word than the other
three conditions predict.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import UsageError, need_known
from cimento.io.values import BITS_PER_NAT, NoValue, Value, total
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.paradigms.regions.two_by_two import items_by_phenomenon, summed
from cimento.suites import Item, Suite
from cimento.suites.derived import NOTHING, OTHER, closed_class, first_word
from cimento.suites.design import Square, squares
from cimento.suites.formula import Comparison, Junction, Reference
from cimento.suites.naming import named
from cimento.suites.stimuli import count_words

if TYPE_CHECKING:
    from cimento.io.values import Unit
    from cimento.measures.regions import RegionValues
    from cimento.suites import Item, Suite
    from cimento.suites.formula import Formula


@dataclass(frozen=True, slots=True)
class Contrast:
    """The comparison in every item.

    Attributes:
        target: the grammatical condition.
        alternatives: conditions that should be less likely, in the order of the formulas.
        regions: numbers of the regions that differ, from 1.
    """

    target: str
    alternatives: tuple[str, ...]
    regions: tuple[int, ...]


def find_contrast(suite: Suite, *, regions: Sequence[int] = ()) -> Contrast:
    """The contrast that the predictions of a suite make.

    Args:
        suite: suite in which all predictions are ``<`` or ``>`` between one region of two
            conditions,
            alone or joined by ``&``.
        regions: numbers of the target's regions, if the formulas leave the target open
            (they name several, or ``*``).

    Raises:
        UsageError: the predictions do not determine the grammatical condition or the region of the
            target, or the suite has no region with a given number.
        FormulaError: a prediction cannot be read.
    """
    pairs = [
        pair
        for tree, prediction in zip(parse_predictions(suite), suite.predictions, strict=True)
        for pair in _pairs(tree, suite, prediction.formula)
    ]
    if not pairs:
        raise _undefined(suite, "has no predictions", "Add one to the suite.")
    targets = list(dict.fromkeys(low.condition for low, _ in pairs))
    if len(targets) > 1:
        raise _undefined(
            suite,
            f"its predictions favor several conditions: {', '.join(targets)}",
            "Make a suite of the items and predictions of each.",
        )
    return Contrast(
        target=targets[0],
        alternatives=tuple(dict.fromkeys(high.condition for _, high in pairs)),
        regions=_given(regions, suite) or _named(pairs, suite),
    )


def predictions_of_pairs(suite: Suite) -> dict[tuple[str, str], str]:
    """The likelier condition and its alternative to the name of the prediction that compares them.

    Raises:
        UsageError: a prediction is not ``<`` or ``>`` between two conditions.
    """
    trees = parse_predictions(suite)
    questions: dict[tuple[str, str], str] = {}
    for tree, prediction in zip(trees, named(suite.predictions), strict=True):
        pairs = {
            (low.condition, high.condition) for low, high in _pairs(tree, suite, prediction.formula)
        }
        if len(pairs) == 1:
            questions.setdefault(pairs.pop(), prediction.name)
    return questions


def items_with_other_contexts(suite: Suite, contrast: Contrast) -> list[str]:
    """The items whose conditions also differ outside the target.

    In these items the target's probabilities have different contexts, so that their ratio does not
    compare the forms alone.
    """
    return [item.id for item in suite.items if len(set(_contexts(item, contrast))) > 1]


def _contexts(item: Item, contrast: Contrast) -> Iterator[tuple[str, ...]]:
    names = (contrast.target, *contrast.alternatives)
    for condition in item.conditions:
        if condition.name in names:
            yield tuple(
                region.text
                for number, region in enumerate(condition.regions, start=1)
                if number not in contrast.regions
            )


def _pairs(tree: Formula, suite: Suite, formula: str) -> Iterator[tuple[Reference, Reference]]:
    """The pairs of the reference that should be less surprising and the other one."""
    match tree:
        case Junction("&", left, right):
            yield from _pairs(left, suite, formula)
            yield from _pairs(right, suite, formula)
        case Comparison("<", Reference() as low, Reference() as high):
            yield low, high
        case Comparison(">", Reference() as high, Reference() as low):
            yield low, high
        case _:
            raise _undefined(
                suite,
                f"the prediction {formula} is not '<' or '>' between two conditions",
                "Only such predictions, alone or joined by &, name a target and its alternatives.",
            )


def _named(pairs: Sequence[tuple[Reference, Reference]], suite: Suite) -> tuple[int, ...]:
    """The only region that all formulas name."""
    named = list(dict.fromkeys(reference.region for pair in pairs for reference in pair))
    if len(named) == 1 and named[0] != "*":
        return (named[0],)
    numbers = ", ".join(map(str, named))
    shown = ", ".join(f"{n} ({name})" for n, name in enumerate(suite.region_names, start=1))
    raise _undefined(
        suite,
        f"its predictions name the regions {numbers}" if len(named) > 1 else "they name '*'",
        f"Say which make the target with --region; there are {shown}.",
    )


def _given(regions: Sequence[int], suite: Suite) -> tuple[int, ...]:
    count = len(suite.region_names)
    known = [str(number) for number in range(1, count + 1)]
    seen = f"the suite {suite.name!r} has {count} regions"
    for number in regions:
        need_known(str(number), known, where=f"--region={number}", seen=seen)
    return tuple(sorted(set(regions)))


def _undefined(suite: Suite, seen: str, todo: str) -> UsageError:
    return UsageError(where=f"suite {suite.name!r}", seen=seen, todo=todo)


@dataclass(frozen=True, slots=True)
class ItemRatio:
    """The probability ratios of one item.

    Attributes:
        item: id of the item.
        ratios: one for each alternative, in the order of the contrast; None where undefined.
        margins_bits: surprisal of each alternative minus the target's, in bits.
        mean: mean over all alternatives; None if one of them is undefined.
        reason: reason why one is undefined.
    """

    item: str
    ratios: tuple[float | None, ...]
    margins_bits: tuple[float | None, ...]
    mean: float | None
    reason: str | None = None


def probability_ratios(values: RegionValues, contrast: Contrast) -> list[ItemRatio]:
    """The probability ratios of every item.

    Args:
        values: values of all regions by the metric ``sum``, the only one that gives probabilities.
        contrast: the contrast of the suite.

    Raises:
        UsageError: the values have another metric.
    """
    if values.metric != "sum":
        raise UsageError(
            where=f"metric {values.metric}",
            seen="only a sum of surprisals is that of a probability",
            todo="Say --metric=sum.",
        )
    unit, regions, quotients = values.unit, contrast.regions, []
    bits = 1.0 if unit == "bits" else BITS_PER_NAT
    for item, conditions in values.values.items():
        target = _summed(conditions, contrast.target, regions)
        others = [_summed(conditions, name, regions) for name in contrast.alternatives]
        missing = [other.reason for other in (target, *others) if isinstance(other, NoValue)]
        gaps = [
            None if isinstance(target, NoValue) or isinstance(other, NoValue) else other - target
            for other in others
        ]
        ratios = tuple(None if gap is None else _share(gap, unit=unit) for gap in gaps)
        known = [ratio for ratio in ratios if ratio is not None]
        ratio = ItemRatio(
            item=item,
            ratios=ratios,
            margins_bits=tuple(None if gap is None else gap * bits for gap in gaps),
            mean=None if missing else total(known) / len(known),
            reason=missing[0] if missing else None,
        )
        quotients.append(ratio)
    return quotients


def _share(gap: float, *, unit: Unit) -> float:
    """The logistic function of a difference of surprisals; it never overflows."""
    gap_nats = gap * math.log(2) if unit == "bits" else gap
    if gap_nats >= 0:
        return 1 / (1 + math.exp(-gap_nats))
    raised = math.exp(gap_nats)
    return raised / (1 + raised)


def _summed(conditions: Mapping[str, Sequence[Value]], name: str, regions: Sequence[int]) -> Value:
    if name not in conditions:
        return NoValue(f"the item has no condition {name!r}")
    return summed(conditions[name], regions)


SHARE = 0.1
"""Proportion of a phenomenon's items below which a difference is too rare to affect its DD."""

SHARE_OF_TOKENS = 0.5
"""Likewise for counts of tokens, which vary with the words of every item."""

N_CELLS = 4
_ONE = {"words": "word", "punctuation marks": "punctuation mark", "tokens": "token"}
_APART = frozenset("'’-")  # apostrophes and hyphens are parts of words

RegionTokens: TypeAlias = Mapping[tuple[str, str], Sequence[int]]
"""Item and condition, mapped to the number of tokens in each region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confound:
    """A difference that affects the interaction of a design.

    Attributes:
        phenomenon: name of the phenomenon.
        condition: the condition, of the four, that is marked.
        region: number of the region, from 1.
        region_name: name of the region.
        what: kind of difference: ``beginning``, ``words``, ``punctuation marks`` or ``tokens``.
        detail: the difference in words.
        items: ids of the items that show it.
        n_items: number of items of the phenomenon.
    """

    phenomenon: str
    condition: str
    region: int
    region_name: str
    what: str
    detail: str
    items: tuple[str, ...]
    n_items: int


@dataclass(frozen=True, slots=True)
class _Place:
    """The phenomenon and region that are searched."""

    suite: Suite
    square: Square
    phenomenon: str
    items: Sequence[Item]
    region: int

    def texts(self, item: Item) -> list[str]:
        """The text of the region in the four conditions."""
        regions = (item.condition(name or "").regions for name in self.square.conditions)
        return [row[self.region - 1].text if self.region <= len(row) else "" for row in regions]

    def confound(self, cell: int, what: str, detail: str, items: Sequence[str]) -> Confound:
        """A confound found here."""
        return Confound(
            phenomenon=self.phenomenon,
            condition=self.square.cells[cell].name,
            region=self.region,
            region_name=self.suite.region_names[self.region - 1],
            what=what,
            detail=detail,
            items=tuple(items),
            n_items=len(self.items),
        )


def find_confounds(suite: Suite, tokens: RegionTokens | None = None) -> tuple[Confound, ...] | None:
    """The differences that mark one condition of a two-by-two design, region by region.

    Three properties of a region are compared: the class of its first word
    (`cimento.suites.derived`; in languages without lists, words that begin the region in at least
    half of the items), its number of words and punctuation marks, and, if given, its number of
    tokens.

    Args:
        suite: any suite.
        tokens: number of tokens of a model by region.

    Returns:
        One entry for each phenomenon, region and kind of difference; None if the suite does not
        cross two factors.

    Raises:
        InputError: the declaration of factors cannot be used.
    """
    designs = squares(suite)
    if not designs:
        return None
    by_id = {item.id: item for item in suite.items}
    confounds: list[Confound] = []
    for name, ids in items_by_phenomenon(suite).items():
        for square in designs:
            items = [by_id[id_] for id_ in ids if _is_whole(by_id[id_], square)]
            phenomenon = f"{name} {square.name}" if len(designs) > 1 else name
            for region in range(1, len(suite.region_names) + 1):
                place = _Place(suite, square, phenomenon, items, region)
                texts = {item.id: place.texts(item) for item in items}
                confounds += _beginnings(place, texts)
                for what, count in _COUNTED.items():
                    counts = {item: list(map(count, some)) for item, some in texts.items()}
                    confounds += _counts(place, what, counts, SHARE)
                if tokens is not None:
                    counts = {
                        item: [tokens[item, name or ""][region - 1] for name in square.conditions]
                        for item in texts
                    }
                    confounds += _counts(place, "tokens", counts, SHARE_OF_TOKENS)
    return tuple(confounds)


def _is_whole(item: Item, square: Square) -> bool:
    return set(square.conditions) <= {condition.name for condition in item.conditions}


def _marks(text: str) -> int:
    return sum(unicodedata.category(mark).startswith("P") and mark not in _APART for mark in text)


_COUNTED: Mapping[str, Callable[[str], int]] = {"words": count_words, "punctuation marks": _marks}
"""The units that are counted in the text of a region."""


def _beginnings(place: _Place, texts: Mapping[str, Sequence[str]]) -> list[Confound]:
    """Classes of first words that only one of the four conditions has, or that only one lacks."""
    firsts = {item: list(map(first_word, some)) for item, some in texts.items()}
    kinds = _kinds(place, firsts)
    marked: dict[tuple[str, ...], list[str]] = {}
    for item, pattern in kinds.items():
        if 1 in Counter(pattern).values():
            marked.setdefault(tuple(pattern), []).append(item)
    confounds = []
    for marks, items in marked.items():
        if len(items) >= SHARE * len(place.items):
            cell = max(k for k in range(N_CELLS) if marks.count(marks[k]) == 1)
            forms = [
                Counter(firsts[item][k] for item in items).most_common(1)[0][0]
                for k in range(N_CELLS)
            ]
            detail = _beginning(place.square, cell, marks, forms)
            confounds.append(place.confound(cell, "beginning", detail, items))
    return confounds


def _kinds(place: _Place, firsts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The class of each first word; if there are no lists, the word itself if it is frequent."""
    often = {
        word
        for cell in range(N_CELLS)
        for word, n in Counter(words[cell] for words in firsts.values()).items()
        if n >= len(firsts) / 2
    }
    language = place.suite.meta.language or ""
    kinds = {}
    for item, words in firsts.items():
        classes = [closed_class(word, language, initial=place.region == 1) for word in words]
        kinds[item] = [
            kind if kind is not None else word if word in often else ""
            for kind, word in zip(classes, words, strict=True)
        ]
    return kinds


def _beginning(square: Square, cell: int, kinds: Sequence[str], forms: Sequence[str]) -> str:
    def said(k: int) -> str:
        if kinds[k] in {NOTHING, OTHER, forms[k], ""}:
            return kinds[k] or OTHER
        return f"a {kinds[k]} ({forms[k]})"

    others = [k for k in range(N_CELLS) if k != cell]
    if len({kinds[k] for k in others}) == 1:
        return f"begins with {said(cell)}, the other three with {said(others[0])}"
    rest = ", ".join(f"{square.cells[k].name} with {said(k)}" for k in others)
    return f"begins with {said(cell)}; {rest}"


def _counts(
    place: _Place, what: str, by_item: Mapping[str, Sequence[int]], share: float
) -> list[Confound]:
    """Counts in which one condition is above or below what the other three predict."""
    above: dict[bool, list[tuple[str, int, int]]] = {True: [], False: []}
    for item, counts in by_item.items():
        a, b, c, d = counts
        excess = (d - c) - (b - a)
        if excess:
            odd = [k for k in range(N_CELLS) if counts.count(counts[k]) == 1]
            cell = odd[0] if len(set(counts)) == 2 and len(odd) == 1 else N_CELLS - 1  # noqa: PLR2004
            above[excess > 0].append((item, cell, excess))
    more = len(above[True]) > len(above[False])
    chosen = above[more]
    if not chosen or len(chosen) - len(above[not more]) < share * len(place.items):
        return []
    cell = Counter(cell for _, cell, _ in chosen).most_common(1)[0][0]
    # One extra item in the middle of the design makes the difference of differences smaller.
    size = Counter(abs(n) for _, _, n in chosen).most_common(1)[0][0]
    has_more = more if cell in {0, N_CELLS - 1} else not more
    unit = what if size > 1 else _ONE[what]
    detail = f"has {size} {unit} {'more' if has_more else 'fewer'} than the other three add up to"
    return [place.confound(cell, what, detail, [item for item, _, _ in chosen])]
