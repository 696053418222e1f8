"""Designs of suites: two or three factors and their cells.

A two by N design is treated as N - 1 designs of two by two, each with the first level of the longer
factor as its baseline; three factors of two levels, as one of two by two for each level of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from cimento.errors import InputError, did_you_mean
from cimento.intake.marks import sides_of
from cimento.intake.names import meaning
from cimento.suites import BAD, GOOD, Prediction, Suite
from cimento.suites.formula import likelier
from cimento.suites.licensing import licensing_of

UNACCEPTABLE = "unacceptable"
"""Key of ``[design]`` in suite.toml: the condition, or conditions, that are unacceptable."""

WINDOWS = "windows"
"""Key of ``[design]``: named windows of regions by their numbers, for DD by region."""

N_FACTORS = 2
N_LEVELS = 2
ISLAND_FACTORS: Mapping[str, tuple[str, str]] = {
    "distance": ("short", "long"),
    "structure": ("nonisland", "island"),
}
"""The factors of Sprouse, Wagers and Phillips 2012 (doi:10.1353/lan.2012.0004)."""

ISLAND_CONDITIONS = ("short_nonisland", "long_nonisland", "short_island", "long_island")


@dataclass(frozen=True, slots=True)
class DesignCell:
    """One cell of a design.

    Attributes:
        levels: the level of each factor, in the order of the factors.
        condition: the condition of the suite; None where the suite has none.
    """

    levels: tuple[str, str]
    condition: str | None

    @property
    def name(self) -> str:
        """The condition's name, or its levels where there is no condition."""
        return self.condition or " ".join(self.levels)


class Differing(NamedTuple):
    """Good and bad sentences, which should differ more at one level than at the other.

    Attributes:
        good: the level of good sentences.
        bad: that of bad ones.
        more: the level of the other factor where they should differ more.
        less: the level where they should differ less.
    """

    good: str
    bad: str
    more: str
    less: str


@dataclass(frozen=True, slots=True)
class Square:
    """A two by two design.

    The first level of each factor is the plain one. The combination of both second levels should be
    worse than the two separate effects add up to.

    Attributes:
        factors: names of the factors; the first one is on the x axis of figures (distance, for
            example).
        cells: the cells in the order plain, only the first factor changed, only the second changed,
            both changed.
        within: the level of a third factor that all four have; empty without such a factor.
    """

    factors: tuple[str, str]
    cells: tuple[DesignCell, DesignCell, DesignCell, DesignCell]
    within: str = ""

    @property
    def name(self) -> str:
        """What distinguishes the squares of a design: a third level, or a changed one."""
        return self.within or self.cells[3].levels[1]

    @property
    def conditions(self) -> tuple[str | None, ...]:
        """The conditions of the four cells."""
        return tuple(cell.condition for cell in self.cells)

    @property
    def judged(self) -> int:
        """The place, from 1, of the factor that is the judgment itself; 0 without one such."""
        levels = zip(self.cells[0].levels, self.cells[3].levels, strict=True)
        named = enumerate(zip(self.factors, levels, strict=True), start=1)
        places = [place for place, (name, two) in named if are_judgments(name, two)]
        return places[0] if len(places) == 1 else 0

    @property
    def compared(self) -> tuple[tuple[DesignCell, DesignCell], ...]:
        """The cells of which the first should be better than the second.

        They are each other cell and that in which both factors are changed. Where a factor is the
        judgment itself, they are the good and the bad sentences of each level of the other.
        """
        if step := self.judged:  # its two levels are a step of 1, or of 2, apart
            return tuple((self.cells[n], self.cells[n + step]) for n in (0, 3 - step))
        return tuple((cell, self.unacceptable) for cell in self.cells[:3])

    @property
    def bad(self) -> tuple[DesignCell, ...]:
        """The cells that are worse than another: one, or that of bad sentences at each level."""
        return tuple(dict.fromkeys(worse for _, worse in self.compared))

    @property
    def differing(self) -> Differing | None:
        """Of what DD is the difference where one factor is the judgment itself; else None."""
        if not self.judged:
            return None
        ends = (self.cells[0].levels, self.cells[3].levels)
        (good, bad), (less, more) = (
            [two[n] for two in ends] for n in (self.judged - 1, 2 - self.judged)
        )
        return Differing(good, bad, more, less)

    @property
    def unacceptable(self) -> DesignCell:
        """The cell in which both factors are changed."""
        return self.cells[3]


ISLAND_SQUARE = Square(
    ("distance", "structure"),
    (
        DesignCell(("short", "nonisland"), ISLAND_CONDITIONS[0]),
        DesignCell(("long", "nonisland"), ISLAND_CONDITIONS[1]),
        DesignCell(("short", "island"), ISLAND_CONDITIONS[2]),
        DesignCell(("long", "island"), ISLAND_CONDITIONS[3]),
    ),
)
"""The design of island studies, for data that come without a suite."""


def squares(suite: Suite) -> tuple[Square, ...]:
    """The two by two designs of a suite; none unless it declares two factors, or three.

    The cells follow the order in which levels are declared, so that the unacceptable condition is
    that of the last levels, unless ``[design] unacceptable`` in suite.toml names another one. Three
    factors are a design only with it: it names two conditions, and the factor in which these differ
    is the one for each level of which there is a square.

    Raises:
        InputError: the declaration cannot be used.
    """
    if len(suite.factors) == N_FACTORS + 1:
        return _within_third(suite)
    if len(suite.factors) != N_FACTORS:
        return ()
    where = f"suite {suite.name!r}, [factors]"
    for factor, levels in suite.factors.items():
        if len(set(levels)) < N_LEVELS:
            raise InputError(
                where=where,
                seen=f"{factor} has fewer than two levels",
                todo="A design needs two factors with two levels each, or one of them with more.",
            )
    if all(len(levels) > N_LEVELS for levels in suite.factors.values()):
        sizes = " x ".join(str(len(levels)) for levels in suite.factors.values())
        raise InputError(
            where=where, seen=f"a design of {sizes}", todo="One factor has two levels."
        )
    conditions = _conditions(suite)
    bad = _declared(suite)
    return tuple(_oriented(suite.factors, suite.name, conditions, bad))


def _within_third(suite: Suite) -> tuple[Square, ...]:
    """The squares of a suite of three factors, one for each level of the third.

    Raises:
        InputError: the conditions declared unacceptable are not one for each level of a factor.
    """
    if not (bad := _declared(suite)):
        return ()
    conditions = _conditions(suite)
    cells = [levels for levels, name in conditions.items() if name in bad]
    differing = [n for n, levels in enumerate(zip(*cells, strict=True)) if len({*levels}) > 1]
    sizes = [*map(len, suite.factors.values())]
    if len(cells) != N_LEVELS or len(differing) != 1 or sizes != [N_LEVELS] * len(sizes):
        raise InputError(
            where=f"suite {suite.name!r}, [design] {UNACCEPTABLE}",
            seen=f"{', '.join(sorted(bad))} are not one for each level of one of three factors",
            todo="Name two conditions that differ in one factor, each factor with two levels.",
        )
    [third] = differing
    by, levels = [*suite.factors.items()][third]
    made = []
    for level in levels:
        within = {
            (*cell[:third], *cell[third + 1 :]): name
            for cell, name in conditions.items()
            if cell[third] == level
        }
        factors = {name: both for name, both in suite.factors.items() if name != by}
        [square] = _oriented(factors, suite.name, within, bad & {*within.values()})
        made.append(replace(square, within=level))
    return tuple(made)


def expected_of(suite: Suite) -> str:
    """What a design expects, in words: mostly which cell should be the worst; else empty."""
    try:
        known = () if licensing_of(suite) else squares(suite)
        declared = _declared(suite)
    except InputError:
        return ""  # the checks of the suite report faults of the design
    names = [square.unacceptable.name for square in known]
    if not names:
        return ""
    if any(square.judged for square in known):
        if len(known) > 1 or not (told := known[0].differing):
            return ""
        return (
            f"expected to differ more with {told.more} than with {told.less}:"
            f" {told.good} and {told.bad}"
        )
    why = ""
    if not declared and len(known) == 1:
        first, second = known[0].factors
        one, other = known[0].unacceptable.levels
        why = f", where {first} is {one} and {second} is {other}"
    return f"expected to be the least acceptable: {' and '.join(names)}{why}"


def windows_of(suite: Suite) -> dict[str, tuple[int, ...]]:
    """The windows over which DD is taken, with the numbers of their regions from 1.

    They are those of ``[design.windows]`` in suite.toml, or else each region by its name. A suite
    with one region has no windows, because that region is the sentence.

    Raises:
        InputError: the declaration cannot be used.
    """
    design = suite.extra.get("design")
    declared = design.get(WINDOWS) if isinstance(design, dict) else None
    names = suite.region_names
    if declared is None:
        return {name: (k,) for k, name in enumerate(names, start=1)} if len(names) > 1 else {}
    where = f"suite {suite.name!r}, [design.{WINDOWS}]"
    todo = f'Write lines such as "embedded" = [2, 3]; regions are counted from 1 to {len(names)}.'
    if not isinstance(declared, dict):
        raise InputError(where=where, seen="is not a table", todo=todo)
    by_name = {}
    for name, regions in declared.items():
        listed = regions if isinstance(regions, list) else [regions]
        numbers = tuple(n for n in listed if isinstance(n, int) and 1 <= n <= len(names))
        if not listed or len(set(numbers)) < len(listed):
            raise InputError(where=where, seen=f"{name} is {regions!r}", todo=todo)
        by_name[name] = numbers
    return by_name


def are_judgments(factor: str, levels: Sequence[str]) -> bool:
    """Whether the levels of a factor are good and bad, in this order; see `sides_of`."""
    return [*sides_of(factor, levels).values()] == [GOOD, BAD]


def over(better: str, worse: str) -> str:
    """What a comparison is called, by its condition that should be better and by the other."""
    return f"{better} over {worse}"


def predictions_of(square: Square, *, alone: bool = True) -> tuple[Prediction, ...]:
    """The predictions of super-additivity and of each comparison of two cells.

    All predictions are about whole sentences; see Sprouse, Wagers and Phillips 2012. Where a factor
    is the judgment itself, as in studies of attraction (Wagers, Lau and Phillips 2009,
    doi:10.1016/j.jml.2009.04.002), good sentences are compared with bad ones within each level of
    the other.

    Args:
        square: the square.
        alone: whether its design has no other squares, whose names must differ.
    """
    worst = square.cells[3].condition
    within = f", where the third factor is {square.within}" if square.within else ""
    plain, first, second, both = (f"(*;%{name}%)" for name in square.conditions)
    told = f"Super-additivity (DD > 0) of {' and '.join(square.factors)}{within}."
    if square.differing:
        good, bad, more, less = square.differing
        told = f"{good} and {bad} differ more with {more} than with {less} (DD > 0)."
    return (
        Prediction(
            f"({both} - {second}) - ({first} - {plain}) > 0",
            comment=told,
            name="DD" if alone else f"DD of {worst}",
        ),
        *(
            Prediction(
                f"(*;%{cell.condition}%) < (*;%{bad.condition}%)",
                comment=f"{cell.condition} is less surprising than {bad.condition}.",
                name=over(cell.name, bad.name),
            )
            for cell, bad in square.compared
        ),
    )


def with_design(suite: Suite) -> Suite:
    """The suite with the predictions of its design, if it has no predictions.

    Conditions called as good and bad sentences are called (``grammaticale`` and ``agrammaticale``)
    are compared as such.
    """
    try:
        known = squares(suite)
    except InputError:
        return suite  # the checks of the suite report faults of the design
    if suite.predictions or any(None in square.conditions for square in known):
        return suite
    names = {meaning(name): name for name in suite.condition_names}
    if names.keys() == {"good", "bad"} and len(suite.condition_names) == len(names):
        prediction = Prediction(
            likelier(names["good"], names["bad"]),
            comment=f"{names['good']} is less surprising than {names['bad']}.",
            name=names["good"],
        )
        return replace(suite, predictions=(prediction,))
    alone = len(known) == 1
    predictions = chain.from_iterable(predictions_of(square, alone=alone) for square in known)
    return replace(suite, predictions=tuple(predictions))


def _conditions(suite: Suite) -> dict[tuple[str, ...], str]:
    """The conditions by the levels of the factors in their columns."""
    names: dict[tuple[str, ...], str] = {}
    for _, condition in suite.stimuli():
        levels = tuple(condition.columns.get(factor, "") for factor in suite.factors)
        name = names.setdefault(levels, condition.name)
        if name != condition.name:
            raise InputError(
                where=f"suite {suite.name!r}, [factors]",
                seen=f"{name} and {condition.name} are both {' '.join(levels)}",
                todo="Give each condition its own levels.",
            )
    return names


def _declared(suite: Suite) -> frozenset[str]:
    """The conditions that the suite declares unacceptable; empty without a declaration."""
    design = suite.extra.get("design")
    value = design.get(UNACCEPTABLE) if isinstance(design, dict) else None
    if value is None:
        return frozenset()
    names = value if isinstance(value, list) else [value]
    for name in names:
        if name not in suite.condition_names:
            raise InputError(
                where=f"suite {suite.name!r}, [design] {UNACCEPTABLE}",
                seen=f"there is no condition {name!r}",
                todo=did_you_mean(str(name), suite.condition_names),
            )
    return frozenset(map(str, names))


def _oriented(
    factors: Mapping[str, tuple[str, ...]],
    suite: str,
    conditions: Mapping[tuple[str, ...], str],
    bad: frozenset[str],
) -> Iterator[Square]:
    """The squares with the unacceptable cell last; the factor with two levels comes first."""
    names = tuple(factors)
    swapped = len(factors[names[0]]) > N_LEVELS
    first, second = reversed(names) if swapped else names
    if bad:
        known = _levels_of(factors, suite, conditions, bad)
    else:
        known = {name: (levels[0], levels[1:]) for name, levels in factors.items()}
    plain_first, (changed_first, *_) = known[first]
    plain_second, changed = known[second]
    for level in changed:
        cells = tuple(
            DesignCell((x, y), conditions.get((y, x) if swapped else (x, y)))
            for y in (plain_second, level)
            for x in (plain_first, changed_first)
        )
        yield Square((first, second), (cells[0], cells[1], cells[2], cells[3]))


def _levels_of(
    factors: Mapping[str, tuple[str, ...]],
    suite: str,
    conditions: Mapping[tuple[str, ...], str],
    bad: frozenset[str],
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Each factor's plain level and changed levels, as follows from the unacceptable conditions."""
    oriented = {}
    for index, (factor, levels) in enumerate(factors.items()):
        changed = {key[index] for key, name in conditions.items() if name in bad}
        plain = [level for level in levels if level not in changed]
        if len(plain) != 1:
            raise InputError(
                where=f"suite {suite!r}, [design] {UNACCEPTABLE}",
                seen=f"{', '.join(sorted(bad))} leave no single plain level of {factor}",
                todo="Name the condition, of each comparison, in which both factors are changed.",
            )
        oriented[factor] = (plain[0], tuple(level for level in levels if level in changed))
    return oriented
