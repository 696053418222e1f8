"""Four conditions whose names tell nothing, such as A, B, C and D: their levels of two factors.

The page asks for the factors, for the levels that each condition stands for, and for the one that
should be the least acceptable. Nothing is chosen beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from nicegui import ui

from cimento.app.checking import file_name
from cimento.app.conditions import first_sentences
from cimento.app.describing import describe, with_own_words
from cimento.app.editing import Grid, sheet_of
from cimento.app.findings import button
from cimento.app.frame import Text
from cimento.app.judged_factors import differ_more, differing_in
from cimento.app.opening import open_grid, write_grid
from cimento.app.words import Words
from cimento.errors import InputError
from cimento.intake.marks import sides_of
from cimento.kinds.registry import load_suite, save_suite
from cimento.suites.builtin import WORKBOOK
from cimento.suites.design import N_FACTORS, Differing, with_design
from cimento.suites.workbook_words import ABOUT, CELLS, FACTORS, PREDICTIONS, what_it_is

N_CELLS = 4
_FORBIDDEN = {"|", "."}
"""Signs with which the sheet of the description separates names and levels."""


@dataclass(frozen=True, slots=True)
class Levels:
    """What somebody says of four conditions.

    Attributes:
        factors: the two levels of each of two factors, by their names.
        cells: the level of each factor by condition.
        least: the condition that should be the least acceptable.
    """

    factors: Mapping[str, tuple[str, str]]
    cells: Mapping[str, tuple[str, str]]
    least: str

    def lacking(self, say: Words, taken: Sequence[str] = ()) -> str:
        """What keeps them from being a design, in the words of a page; empty for nothing.

        A design has two named factors of two levels each, and each of its cells is one condition.

        Args:
            say: the words of the page.
            taken: names that no factor may have, such as those of columns.
        """
        return next(chain(self._names_lacking(say, taken), self._cells_lacking(say)), "")

    def _names_lacking(self, say: Words, taken: Sequence[str]) -> Iterator[str]:
        """What is wrong with the names of factors and levels."""
        names = [name.casefold() for name in self.factors]
        told = [*self.factors, *chain(*self.factors.values())]
        if not all(told) or len(self.factors) < N_FACTORS:
            yield say("edit.levels-unnamed")
        yield from (say("edit.levels-sign", name=name) for name in told if _FORBIDDEN & {*name})
        columns = {name.strip().casefold() for name in taken}
        yield from (
            say("edit.levels-taken", name=name)
            for name in self.factors
            if name.casefold() in columns
        )
        pairs = [tuple(map(str.casefold, two)) for two in (names, *self.factors.values())]
        yield from (say("edit.levels-alike", name=one) for one, other in pairs if one == other)

    def _cells_lacking(self, say: Words) -> Iterator[str]:
        """What is wrong with the cells of the conditions, and with the least acceptable one."""
        open_ = [name for name, both in self.cells.items() if not all(both)]
        if open_:
            yield say("edit.levels-open", names=", ".join(open_))
        for (one, cell), (other, same) in combinations(self.cells.items(), 2):
            if cell == same:
                yield say("edit.levels-same", one=one, other=other, cell=", ".join(cell))
        if self.least not in self.expected():
            yield say("edit.levels-expected")

    def expected(self) -> dict[str, Differing | None]:
        """The conditions that may be the cell in which both factors are changed.

        Where a factor says which sentences are good, these are bad, and each is with what DD is
        then the difference of; None for any other.
        """
        judged = differing_in(self.factors)
        if not judged:
            return dict.fromkeys(self.cells)
        place = next(n for n, (name, two) in enumerate(self.factors.items()) if sides_of(name, two))
        return {
            name: judged[both[1 - place]][0]
            for name, both in self.cells.items()
            if both[1 - place] in judged and both[place] == judged[both[1 - place]][0].bad
        }


def with_levels(grid: Grid, levels: Levels) -> Grid:
    """The grid as the design of the levels that somebody says; a bare table is described first.

    Args:
        grid: a grid without errors, with a sentence of each of four conditions in every item.
        levels: levels that make a design.

    Raises:
        CimentoError: no suite can be made of the grid.
    """
    worst = levels.cells[levels.least]
    factors = {
        name: (two[two[0] == level], level)  # the plain level, and the other
        for (name, two), level in zip(levels.factors.items(), worst, strict=True)
    }
    described = grid if grid.described else describe(grid, language="")
    about = described.sheets[ABOUT]
    settings = {**{f"{FACTORS}.{name}": two for name, two in factors.items()},
                **{f"{CELLS}.{name}": two for name, two in levels.cells.items()}}  # fmt: skip
    rows = [[name, " | ".join(two), what_it_is(name)] for name, two in settings.items()]
    said = described.with_sheet(ABOUT, sheet_of([*about.rows, *rows], head=about.head))
    with TemporaryDirectory(prefix="cimento-") as temporary:
        suite = load_suite(write_grid(said, Path(temporary) / f"{file_name(grid)}{WORKBOOK}"))
        if suite.sentences is None:
            raise InputError(where=grid.name, seen="its items do not compare sentences")
        designed = load_suite(with_design(replace(suite.sentences, predictions=())))
        made = open_grid(save_suite(designed, Path(temporary) / "designed.xlsx")).grid
    return with_own_words(said.with_sheet(PREDICTIONS, made.sheets[PREDICTIONS]))


def ask_levels(
    grid: Grid,
    names: Sequence[str],
    say: Words,
    *,
    done: Callable[[Callable[[Grid], Grid]], object],
) -> None:
    """Ask in the place where the page is being built.

    Args:
        grid: the suite.
        names: the names of its four conditions.
        say: the words of the page.
        done: called with the edit that the answer asks for.
    """
    ui.label(say("edit.levels-what"))
    factors = [_factor_fields(number, say) for number in (1, 2)]
    texts = first_sentences(grid)
    with ui.element("div").classes("table-holder"):
        cells = _cell_rows({name: texts.get(name, "") for name in names}, say)
    with ui.element("div").classes("tools"):
        least = ui.select([*names], label=say("edit.levels-least")).classes("across")
        fields = _Fields(factors, cells, least)
        go = button(say("edit.levels-do"), lambda: done(partial(with_levels, levels=fields.told())))
    reason = Text("").classes("small").props("role=status")
    Text(say("edit.levels-either")).classes("small")

    def follow() -> None:
        fields.follow(say)
        lacking = fields.told().lacking(say, grid.items.columns)
        reason.set_text(lacking)
        go.set_enabled(not lacking)

    for field in fields.every():
        field.on_value_change(follow)
    follow()


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of the form.

    Attributes:
        factors: those of the name and the two levels of each factor.
        cells: the menus of the levels of each condition.
        least: the menu of the condition that should be the least acceptable.
    """

    factors: Sequence[tuple[ui.input, ui.input, ui.input]]
    cells: Mapping[str, Sequence[ui.select]]
    least: ui.select

    def every(self) -> Iterator[ui.input | ui.select]:
        """All of them."""
        yield from chain(*self.factors, *self.cells.values(), [self.least])

    def told(self) -> Levels:
        """What is in the fields."""
        return Levels(
            {_text(name): (_text(one), _text(other)) for name, one, other in self.factors},
            {name: (str(one.value or ""), str(other.value or ""))
             for name, (one, other) in self.cells.items()},
            str(self.least.value or ""),
        )  # fmt: skip

    def follow(self, say: Words) -> None:
        """Give the menus what is in the fields before them."""
        for both in self.cells.values():
            for field, (_, *two) in zip(both, self.factors, strict=True):
                _set(field, {level: level for level in map(_text, two) if level})
        expected = self.told().expected()
        options = {
            name: f"{name}: {differ_more(one, say)}" if one else name
            for name, one in expected.items()
        }
        _set(self.least, options or {name: name for name in self.cells})
        what = "more" if any(expected.values()) else "least"
        self.least.props(f'label="{say(f"edit.levels-{what}")}"')


def _text(field: ui.input) -> str:
    return str(field.value or "").strip()


def _set(menu: ui.select, options: dict[str, str]) -> None:
    """Give a menu its options; what is chosen stays if it is one of them."""
    if options != menu.options:
        menu.set_options(options, value=menu.value if menu.value in options else None)


def _factor_fields(number: int, say: Words) -> tuple[ui.input, ui.input, ui.input]:
    """The fields for the name and the two levels of a factor."""
    with ui.element("div").classes("tools"):
        name = ui.input(say("edit.levels-factor", n=number)).classes("short")
        one, other = (
            ui.input(say("edit.levels-level", n=number, level=level)).classes("short")
            for level in (1, 2)
        )
    return name, one, other


def _cell_rows(texts: Mapping[str, str], say: Words) -> dict[str, list[ui.select]]:
    """A row for each condition: its name, its first sentence, and the menus for its levels."""
    menus = dict[str, list[ui.select]]()
    with ui.element("table").classes("plain-table"):
        for name, text in texts.items():
            with ui.element("tr"):
                Text(name, "th")
                Text(text, "td")
                menus[name] = [_cell_field(name, number, say) for number in (1, 2)]
    return menus


def _cell_field(name: str, number: int, say: Words) -> ui.select:
    """The menu for one level of a condition, in a cell of the table."""
    with ui.element("td"):
        return ui.select([], label=say("edit.levels-cell", name=name, n=number)).classes("short")
