"""What the page asks of a design: what three crossed factors predict, and sets that are not whole.

A two by two by two design has no one cell that must be the worst: it is asked which level should be
less acceptable in each combination of the others, and of which two factors there should be an
interaction. Nothing is predicted that nobody has chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Literal

from nicegui import ui

from cimento.app.checking import Finding
from cimento.app.conditions import factors_of, named_table
from cimento.app.describing import described_design
from cimento.app.editing import Grid, delete_rows
from cimento.app.findings import button
from cimento.app.frame import Text
from cimento.app.words import Words, said
from cimento.faults import NO_PREDICTIONS
from cimento.intake.numbered import with_items_numbered
from cimento.suites import JsonValue, Prediction, Suite
from cimento.suites.design import UNACCEPTABLE, Square, squares, with_design
from cimento.suites.formula import likelier
from cimento.suites.workbook_words import ITEMS

_FACTORS = 3
_INCOMPLETE = "CIM-S012"
_MOST_NAMED = 12
"""Incomplete sets that are named on the page; more of them are not a few slips."""

Cell = Mapping[str, str]
"""The levels of some factors."""


@dataclass(frozen=True, slots=True)
class DesignQuestion:
    """What is to be asked of a design.

    Attributes:
        kind: ``three`` if three factors are crossed and nothing is predicted; ``incomplete`` if
            some sets lack sentences.
        factors: the levels of each factor.
        rows: the rows of the sets that are incomplete.
        lacking: what each of these sets lacks, in English.
        n_sets: the number of all sets.
    """

    kind: Literal["three", "incomplete"]
    factors: Mapping[str, tuple[str, ...]]
    rows: tuple[int, ...] = ()
    lacking: Mapping[str, str] | None = None
    n_sets: int = 0


def question_of(grid: Grid, findings: Iterable[Finding]) -> DesignQuestion | None:
    """What is to be asked of a design; None for nothing.

    Args:
        grid: the table.
        findings: what the checks have found in it.
    """
    found = [*findings]
    errors = [one for one in found if one.severity == "error"]
    if errors:
        return _of_incomplete(grid, errors)
    if not any(one.code == NO_PREDICTIONS for one in found):
        return None
    factors = factors_of(grid)
    return DesignQuestion("three", factors) if len(factors) == _FACTORS else None


def _of_incomplete(grid: Grid, errors: Collection[Finding]) -> DesignQuestion | None:
    """What is to be asked where all errors are of sets that lack sentences."""
    table = with_items_numbered(named_table(grid))
    item = table.find("item")
    rows = grid.read_rows()
    if item is None or any(one.code != _INCOMPLETE or len(one.rows) != 1 for one in errors):
        return None
    ids = dict(zip(rows, table.stripped(item), strict=True))
    lacking = {ids[one.rows[0]]: one.seen for one in errors if one.rows[0] in ids}
    n_sets = len({*ids.values()})
    if len(lacking) != len(errors) or not 2 * len(lacking) < n_sets or len(lacking) > _MOST_NAMED:
        return None
    gone = tuple(row for row, id_ in ids.items() if id_ in lacking)
    return DesignQuestion("incomplete", {}, gone, lacking, n_sets)


# --- Three factors


@dataclass(frozen=True, slots=True)
class Predicted:
    """What somebody expects of three factors.

    Attributes:
        worse: a factor and the level of it that should be less acceptable, whatever the others are.
        cell: the levels of two factors whose combination should be worse than the two add up to,
            for each level of the third.
        greater: the level of the third factor where that should be so more than elsewhere.
    """

    worse: tuple[str, str] | None = None
    cell: Cell | None = None
    greater: str = ""


def with_predicted(
    grid: Grid, factors: Mapping[str, tuple[str, ...]], predicted: Predicted
) -> Grid:
    """A grid with the predictions of its three factors; a bare table gets a description.

    Args:
        grid: a grid without errors.
        factors: the levels of each factor.
        predicted: what is expected of them.

    Raises:
        CimentoError: no suite can be made of the grid.
    """
    return described_design(grid, lambda suite: _predicting(suite, factors, predicted))


def _predicting(
    suite: Suite, factors: Mapping[str, tuple[str, ...]], predicted: Predicted
) -> Suite:
    """The suite with its factors and what is predicted of them."""
    suite = replace(suite, factors=dict(factors), predictions=())
    names = {
        tuple(condition.columns.get(factor, "") for factor in factors): condition.name
        for _, condition in suite.stimuli()
    }
    made: list[Prediction] = []
    if predicted.cell is not None:
        cell = predicted.cell.items()
        bad: list[JsonValue] = [
            name
            for levels, name in names.items()
            if cell <= dict(zip(factors, levels, strict=True)).items()
        ]
        suite = replace(suite, extra={**suite.extra, "design": {UNACCEPTABLE: bad}})
        made += with_design(suite).predictions
        if predicted.greater:
            made.append(_greater(*squares(suite), where=predicted.greater))
    if predicted.worse is not None:
        factor, level = predicted.worse
        known = {one.formula for one in made}
        more = _each_worse(names, [*factors].index(factor), level)
        made += (one for one in more if one.formula not in known)
    return replace(suite, predictions=tuple(made))


def _each_worse(
    names: Mapping[tuple[str, ...], str], place: int, level: str
) -> Iterator[Prediction]:
    """The predictions that a level is worse than the other one in each combination of the rest.

    Args:
        names: the conditions by their levels.
        place: the place of the factor among the levels.
        level: its worse level.
    """
    better = {
        _without(levels, place): name for levels, name in names.items() if levels[place] != level
    }
    for levels, worse in names.items():
        if levels[place] == level:
            name = better[_without(levels, place)]
            comment = f"{name} is less surprising than {worse}."
            yield Prediction(likelier(name, worse), comment=comment, name=f"{name} over {worse}")


def _without(levels: tuple[str, ...], place: int) -> tuple[str, ...]:
    return (*levels[:place], *levels[place + 1 :])


def _greater(one: Square, other: Square, *, where: str) -> Prediction:
    """The prediction that DD is greater at one level of the third factor than at the other."""
    more, less = (one, other) if one.within == where else (other, one)
    return Prediction(
        f"({_dd(more)}) - ({_dd(less)}) > 0",
        comment=f"DD is greater where the third factor is {more.within} than where it is"
        f" {less.within}.",
        name=f"DD of {more.within} over {less.within}",
    )


def _dd(square: Square) -> str:
    plain, first, second, both = (f"(*;%{name}%)" for name in square.conditions)
    return f"({both} - {second}) - ({first} - {plain})"


# --- On the page

Done = Callable[[Callable[[Grid], Grid]], object]
"""What is called with the edit that an answer asks for."""


def ask(question: DesignQuestion, say: Words, *, done: Done) -> None:
    """Ask in the place where the page is being built.

    Args:
        question: what is asked.
        say: the words of the page.
        done: called with the edit that the answer asks for.
    """
    if question.kind == "incomplete":
        _ask_incomplete(question, say, done)
    else:
        _ask_three(question, say, done)


def _ask_incomplete(question: DesignQuestion, say: Words, done: Done) -> None:
    """A button that goes on without the sets that are not whole."""
    lacking = question.lacking or {}
    ids = ", ".join(lacking)
    ui.label(say("edit.incomplete-what", n=len(lacking), count=question.n_sets))
    for id_, seen in lacking.items():
        Text(f"{id_}: {said(seen, say.language) or seen}").classes("small")
    rows = [*question.rows]
    button(
        say("edit.incomplete-do", sets=ids, left=question.n_sets - len(lacking)),
        partial(done, lambda grid: delete_rows(grid, ITEMS, rows)),
    )


def _ask_three(question: DesignQuestion, say: Words, done: Done) -> None:
    """Menus for what should hold of three factors."""
    factors = question.factors
    named = {name: said(name, say.language) or name for name in factors}
    ui.label(say("edit.three-what", factors=", ".join(named.values())))
    worse = {
        (name, level): f"{named[name]}: {level}"
        for name, levels in factors.items()
        for level in levels
    }
    level, cell, more = (
        ui.select(options, label=say(f"edit.three-{name}"), clearable=True).classes("across")
        for name, options in _menus(worse, _cells(factors, named, say))
    )

    def predicted() -> Predicted:
        return Predicted(level.value, dict(cell.value or ()) or None, more.value or "")

    go = button(
        say("edit.three-do"),
        lambda: done(partial(with_predicted, factors=factors, predicted=predicted())),
    )

    def follow() -> None:
        third = [name for name in factors if name not in dict(cell.value or ())]
        levels = factors[third[0]] if len(third) == 1 else ()
        more.set_options(list(levels), value=None)
        more.set_visibility(bool(levels))
        go.set_enabled(bool(level.value or cell.value))

    level.on_value_change(lambda: go.set_enabled(bool(level.value or cell.value)))
    cell.on_value_change(follow)
    follow()


def _menus(*known: dict[Any, str]) -> Iterator[tuple[str, dict[Any, str]]]:
    """The menus by their names; the last one depends on the second."""
    yield from zip(("worse", "cell", "greater"), (*known, {}), strict=True)


def _cells(
    factors: Mapping[str, tuple[str, ...]], named: Mapping[str, str], say: Words
) -> dict[tuple[tuple[str, str], ...], str]:
    """The cells of each two factors, with what the page says of them and of the third."""
    cells = {}
    for third in factors:
        two = [name for name in factors if name != third]
        for levels in product(*map(factors.__getitem__, two)):
            cell = tuple(zip(two, levels, strict=True))
            shown = ", ".join(f"{named[name]}: {level}" for name, level in cell)
            cells[cell] = say("edit.three-by", cell=shown, third=named[third])
    return cells
