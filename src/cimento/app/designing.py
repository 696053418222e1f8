"""What the page asks of a design: what its factors predict and are called, and incomplete sets.

Of two factors it is asked which of the four cells should be the least acceptable. A two by two by
two design has no one cell that must be the worst: it is asked which level should be less acceptable
in each combination of the others, and of which two factors there should be an interaction. Nothing
is predicted that nobody has chosen. Factors whose levels are in the names of conditions alone have
no names, which are asked too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Literal

from nicegui import ui

from cimento.app import pairing
from cimento.app.checking import Finding
from cimento.app.columns import with_role
from cimento.app.conditions import cells_in, factors_of, named_table, sentence_column
from cimento.app.describing import (
    describe,
    described_design,
    with_names_of_factors,
    with_plain_levels,
)
from cimento.app.editing import Grid, delete_rows
from cimento.app.findings import button
from cimento.app.frame import Text
from cimento.app.judged_factors import differ_more, differing_in, quoted_levels
from cimento.app.marked import as_read
from cimento.app.words import Words, said
from cimento.faults import NO_PREDICTIONS
from cimento.intake.numbered import with_items_numbered
from cimento.intake.roles import FACTORS
from cimento.suites import JsonValue, Prediction, Suite
from cimento.suites.crossed import crossed_columns, paired
from cimento.suites.design import N_FACTORS, UNACCEPTABLE, Square, over, squares, with_design
from cimento.suites.formula import likelier
from cimento.suites.level_words import UNNAMED_FACTORS
from cimento.suites.workbook_words import ITEMS

_FACTORS = 3
_INCOMPLETE = "CIM-S012"
_MOST_NAMED = 12
"""Incomplete sets that are named on the page; more of them are not a few slips."""

Cell = Mapping[str, str]
"""The levels of some factors."""
Done = Callable[[Callable[[Grid], Grid]], object]
"""What is called with the edit that an answer asks for."""


@dataclass(frozen=True, slots=True)
class DesignQuestion:
    """What is to be asked of a design.

    Attributes:
        kind: ``worst`` if two factors are crossed and nothing says which of the four cells should
            be the least acceptable; ``pairs`` likewise if its sentences are read as pairs for now;
            ``three`` if three are and nothing is predicted; ``called`` if two have no names;
            ``incomplete`` if some sets lack sentences.
        factors: the levels of each factor.
        rows: the rows of the sets that are incomplete.
        lacking: what each of these sets lacks, in English.
        n_sets: the number of all sets.
    """

    kind: Literal["worst", "pairs", "three", "called", "incomplete"]
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
        if factors := _unnamed(grid):
            return DesignQuestion("called", factors)
        factors = {} if grid.described else _paired_within(grid)
        return DesignQuestion("pairs", factors) if factors else None
    factors = factors_of(grid)
    if cells_in(factors):
        return DesignQuestion("worst", factors)
    return DesignQuestion("three", factors) if len(factors) == _FACTORS else None


def _unnamed(grid: Grid) -> dict[str, tuple[str, ...]]:
    """Two factors, with their levels, of which one has no name; empty for other designs."""
    settings = grid.settings()
    factors = factors_of(grid) if not grid.described else {
        name: tuple(settings[f"factors.{name}"].split(" | "))
        for name in UNNAMED_FACTORS
        if f"factors.{name}" in settings
    }  # fmt: skip
    is_known = len(factors) <= N_FACTORS and not {*factors} & {*UNNAMED_FACTORS[N_FACTORS:]}
    return factors if is_known and {*factors} & {*UNNAMED_FACTORS} else {}


def _paired_within(grid: Grid) -> dict[str, tuple[str, ...]]:
    """The levels of two crossed factors, one of which says which sentences are good.

    Empty for tables that are not read as pairs of these for each level of the other.
    """
    table = with_items_numbered(named_table(grid))
    made = None if FACTORS in grid.roles else paired(table)
    makers = {*made.makers} if made is not None else {*()}
    factors = crossed_columns(table) if makers else ()
    if len(factors) != N_FACTORS or makers != {*factors}:
        return {}
    return {name: tuple(dict.fromkeys(table.stripped(name))) for name in factors}


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


# --- Two factors


def _ask_worst(grid: Grid, question: DesignQuestion, say: Words, done: Done) -> None:
    """A button for each cell of a design that may be the least acceptable one."""
    names_shown = ", ".join(map(say.quoted, question.factors))
    judged = differing_in(question.factors)
    if judged:
        ui.label(say("edit.judged-what", **quoted_levels(next(iter(judged.values()))[0], say)))
    else:
        ui.label(say(f"edit.{question.kind}-what", columns=names_shown))
    _first_rows(grid, question, say)
    names = _name_fields(grid, question.factors, say)
    with ui.element("div").classes("tools"):
        told = {differ_more(one, say): cell for one, cell in judged.values()} or {
            say("edit.worst-do", cell=cell): factors
            for cell, factors in cells_in(question.factors).items()
        }
        for text, factors in told.items():
            button(
                text,
                lambda factors=factors: done(  # type: ignore[misc]
                    lambda grid: with_factors(grid, question, factors, names())
                ),
            )
        if question.kind == "pairs":
            button(say("edit.pairs-keep"), lambda: done(partial(describe, language="")))


def with_factors(
    grid: Grid,
    question: DesignQuestion,
    factors: Mapping[str, tuple[str, str]],
    names: Mapping[str, str],
) -> Grid:
    """The grid as the design that an answer makes of it.

    Args:
        grid: the grid of which it was asked.
        question: what was asked; sentences that are read as pairs get their factors first.
        factors: the plain and the other level of each factor.
        names: new names of the factors, by those that they have.

    Raises:
        CimentoError: no suite can be made of the grid.
    """
    for name in question.factors if question.kind == "pairs" else ():
        grid = with_role(grid, name, FACTORS)
    return with_plain_levels(grid, factors, names)


def _ask_called(grid: Grid, question: DesignQuestion, say: Words, done: Done) -> None:
    """Fields for the names of two factors that have none."""
    ui.label(say("edit.called-what"))
    names = _name_fields(grid, question.factors, say)
    button(say("edit.called-do"), lambda: done(lambda grid: with_names_of_factors(grid, names())))


def _name_fields(
    grid: Grid, factors: Mapping[str, tuple[str, ...]], say: Words
) -> Callable[[], dict[str, str]]:
    """Two fields for the names of factors that have none, and what gives the names in them.

    A field that is empty, or has the name of another column, leaves its factor as it is.
    """
    unnamed = [name for name in factors if name in UNNAMED_FACTORS]
    taken = {name.strip().casefold() for name in grid.items.columns}
    free = {say("edit.called-taken"): lambda text: str(text or "").strip().casefold() not in taken}
    with ui.element("div").classes("tools"):
        fields = {
            name: ui.input(
                say("edit.called-as", levels=" / ".join(factors[name])), validation=free
            ).classes("named")
            for name in unnamed
        }

    def names() -> dict[str, str]:
        given = {name: str(field.value or "").strip() for name, field in fields.items()}
        new = {name: text for name, text in given.items() if text and text.casefold() not in taken}
        return new if len({*map(str.casefold, new.values())}) == len(new) else {}

    return names


def _first_rows(grid: Grid, question: DesignQuestion, say: Words) -> None:
    """The first rows of the columns of factors and of sentences, where factors have columns."""
    sheet = as_read(grid)
    places = [sheet.column(name) for name in question.factors]
    columns = [place for place in (*places, sentence_column(sheet)) if place is not None]
    if None not in places:
        pairing.first_rows(sheet, tuple(columns), say)


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
            yield Prediction(likelier(name, worse), comment=comment, name=over(name, worse))


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


def ask(grid: Grid, question: DesignQuestion, say: Words, *, done: Done) -> None:
    """Ask in the place where the page is being built.

    Args:
        grid: the suite.
        question: what is asked.
        say: the words of the page.
        done: called with the edit that the answer asks for.
    """
    if question.kind == "incomplete":
        _ask_incomplete(question, say, done)
    elif question.kind == "three":
        _ask_three(question, say, done)
    else:
        (_ask_called if question.kind == "called" else _ask_worst)(grid, question, say, done)


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
