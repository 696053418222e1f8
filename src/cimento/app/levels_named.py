"""Four conditions whose names tell nothing, such as A, B, C and D: their levels of two factors.

The page asks for the factors, for the levels that each condition stands for, and for the one that
should be the least acceptable. Nothing is chosen beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from nicegui import ui

from cimento.app.checking import file_name
from cimento.app.describing import describe, with_own_words
from cimento.app.editing import Grid, sheet_of
from cimento.app.findings import button
from cimento.app.opening import open_grid, write_grid
from cimento.app.words import Words
from cimento.errors import InputError
from cimento.kinds.registry import load_suite, save_suite
from cimento.suites.builtin import WORKBOOK
from cimento.suites.design import with_design
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

    def are_whole(self, taken: Sequence[str] = ()) -> bool:
        """Whether they make a design: two named factors, and each cell is one condition.

        Args:
            taken: names that no factor may have, such as those of columns.
        """
        names = [name.casefold() for name in self.factors]
        told = [*self.factors, *(level for two in self.factors.values() for level in two)]
        return (
            len({*names}) == len(self.factors) == 2  # noqa: PLR2004  # two by two
            and all(told)
            and not any(_FORBIDDEN & {*name} for name in told)
            and all(one.casefold() != other.casefold() for one, other in self.factors.values())
            and not {*names} & {name.strip().casefold() for name in taken}
            and self.least in self.cells
            and {*self.cells.values()} == {*product(*self.factors.values())}
        )


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
    with ui.element("div").classes("tools"):
        cells = {name: _cell_fields(name, say) for name in names}
    with ui.element("div").classes("tools"):
        least = ui.select([*names], label=say("edit.levels-least")).classes("short")
        go = button(say("edit.levels-do"), lambda: done(partial(with_levels, levels=told())))

    def text(field: ui.input) -> str:
        return str(field.value or "").strip()

    def told() -> Levels:
        return Levels(
            {text(name): (text(one), text(other)) for name, one, other in factors},
            {name: (both[0].value or "", both[1].value or "") for name, both in cells.items()},
            str(least.value or ""),
        )

    def follow() -> None:
        for both in cells.values():
            for field, (_, *two) in zip(both, factors, strict=True):
                options = list(dict.fromkeys(filter(None, map(text, two))))
                if options != field.options:
                    field.set_options(
                        options, value=field.value if field.value in options else None
                    )
        go.set_enabled(told().are_whole(grid.items.columns))

    chosen = [field for both in cells.values() for field in both]
    for field in (*(one for fields in factors for one in fields), *chosen, least):
        field.on_value_change(follow)
    follow()


def _factor_fields(number: int, say: Words) -> tuple[ui.input, ui.input, ui.input]:
    """The fields for the name and the two levels of a factor."""
    with ui.element("div").classes("tools"):
        name = ui.input(say("edit.levels-factor", n=number)).classes("short")
        one, other = (
            ui.input(say("edit.levels-level", n=number, level=level)).classes("short")
            for level in (1, 2)
        )
    return name, one, other


def _cell_fields(name: str, say: Words) -> list[ui.select]:
    """The menus for the levels of a condition."""
    return [
        ui.select([], label=say("edit.levels-cell", name=name, n=number)).classes("short")
        for number in (1, 2)
    ]
