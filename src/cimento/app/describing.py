"""Tables with a description: sheets for what the suite is and what it predicts, beside the table.

The table itself stays in place of the rows that were made of it, as far as it reads the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.app.checking import check_grid, file_name
from cimento.app.columns import roles_in
from cimento.app.columns_made import lacked
from cimento.app.editing import (
    Grid,
    Sheet,
    delete_column,
    rename_column,
    set_cells,
    sheet_of,
    with_roles_said,
)
from cimento.app.opening import converted, open_grid, write_grid
from cimento.app.words import said
from cimento.errors import CimentoError, InputError, UsageError
from cimento.faults import errors
from cimento.intake.decoding import reading_language
from cimento.intake.labels import LABEL
from cimento.intake.profile import number_of
from cimento.intake.reading import TableReading
from cimento.intake.roles import FACTORS, FORCED, ROLES, alone, numbered
from cimento.kinds.registry import load_suite, paradigm_of, save_suite
from cimento.suites import Suite
from cimento.suites.builtin import WORKBOOK
from cimento.suites.design import with_design
from cimento.suites.formats.items import read_regions
from cimento.suites.languages import LANGUAGE_CODE
from cimento.suites.ratings import OWN_COLUMNS
from cimento.suites.renamed_factors import with_factors_called
from cimento.suites.suite_workbook import SETTINGS
from cimento.suites.workbook_words import (
    ABOUT,
    ENGLISH,
    HOW_TO,
    ITEMS,
    PREDICTIONS,
    heading,
    setting_meant,
    what_it_is,
)

_EMPTY = "CIM-S017"
"""The code of a sentence that is missing."""


def describe(grid: Grid, *, language: str, path: Path | None = None) -> Grid:
    """A suite that says its language; a bare table gets a sheet *about* for it.

    Args:
        grid: a grid, with or without faults.
        language: ISO 639-1 code of the sentences; empty to leave it open.
        path: the file that the grid was opened from, whose letters may be others in that language.

    Raises:
        UsageError: it is not a code, or a table of beginnings lacks some of its sentences.
    """
    if grid.described:
        about = grid.sheets[ABOUT].rows
        labels = [setting_meant(row[0].strip()) for row in about]
        row = labels.index("language") if "language" in labels else len(about)
        return set_cells(grid, ABOUT, {(row, 0): "language", (row, 1): language})
    if path is not None and path.is_file():
        grid = _as_in(language, grid, path)
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_grid(grid, Path(temporary) / f"{file_name(grid)}{WORKBOOK}")
        if language and not LANGUAGE_CODE.fullmatch(language):
            raise UsageError(
                where=repr(language),
                seen="it is not an ISO 639-1 code",
                todo="Give two letters: it.",
            )
        try:
            loaded = load_suite(path, language=language, columns=grid.roles)
            written = save_suite(loaded, Path(temporary) / "described.xlsx")
            described = _with_own_table(grid, open_grid(written).grid)
        except CimentoError:
            if "prefix" in grid.roles and _EMPTY in _error_codes(grid):
                seen, todo = "some sentences are empty", "Write them first."
                raise UsageError(where=grid.name, seen=seen, todo=todo) from None
            with reading_language(language, grid.roles):
                faulty = _read_with_faults(grid, path, language)
            described = faulty or _with_description(grid, language)
    # The suite is called as its file is, which may have marks that a place in a message has not.
    about = described.sheets[ABOUT].rows
    named = {(n, 1): grid.name for n, row in enumerate(about) if row[0] == "name"}
    described = replace(set_cells(described, ABOUT, named), name=grid.name, words=grid.words)
    return _with_headings(with_own_words(described), grid)


_MADE = (
    "item", "condition", "text", "sentence", "good", "bad", "target", "plausible", "implausible",
    "phenomenon",
)  # fmt: skip
"""The columns that have other headings in other languages; those of ratings keep their names."""


def _with_headings(described: Grid, grid: Grid) -> Grid:
    """A grid in whose table the columns that another lacks have headings in its language.

    They stay in English where the table would then be read as another suite.
    """
    if grid.words == ENGLISH:
        return described
    own = {name.strip() for name in grid.items.columns}
    head = {
        n: heading(name, grid.words)
        for n, name in enumerate(described.items.columns)
        if name not in own and name in _MADE
    }
    at = described.items.head
    made = set_cells(described, ITEMS, {(at, n): name for n, name in head.items()})
    if made == described or _reads_as(made, described):
        return made
    if (rows := _as_made(described)) is None:
        return described
    kept = described
    for n, name in head.items():
        told = set_cells(kept, ITEMS, {(at, n): name})
        kept = told if _reads_as(told, rows[0]) else kept
    return kept


_PREDICTED = ("name", "comment")
"""The columns of predictions that are for people to read."""


def with_own_words(grid: Grid) -> Grid:
    """A grid whose predictions are named and explained in its language, as far as we wrote them."""
    sheet = grid.sheets.get(PREDICTIONS)
    if sheet is None or grid.words == ENGLISH:
        return grid
    cells = {
        (row, column): own
        for column, name in enumerate(sheet.columns)
        if name in _PREDICTED
        for row in sheet.body
        if (own := said(sheet.rows[row][column], grid.words))
    }
    return set_cells(grid, PREDICTIONS, cells)


def with_plain_levels(
    grid: Grid, factors: Mapping[str, tuple[str, str]], names: Mapping[str, str] | None = None
) -> Grid:
    """A grid as a two by two design, with its factors and predictions; a table is described first.

    Args:
        grid: a grid without errors, in whose items the levels of two columns are crossed.
        factors: the plain and the other level of each of the two columns.
        names: new names of the factors, by those that they have.

    Raises:
        CimentoError: no suite can be made of the grid.
    """

    def designed(suite: Suite) -> Suite:
        plain = with_design(replace(suite, factors=dict(factors), predictions=()))
        return with_factors_called(plain, names or {})

    return described_design(grid, designed)


def with_names_of_factors(grid: Grid, names: Mapping[str, str]) -> Grid:
    """A grid whose design calls its factors by other names; a table is described first.

    Args:
        grid: a grid without errors that is a design.
        names: the new names of the factors, by those that they have.

    Raises:
        CimentoError: no suite can be made of the grid.
    """
    return described_design(grid, lambda suite: with_factors_called(suite, names))


def described_design(grid: Grid, change: Callable[[Suite], Suite]) -> Grid:
    """A grid with the factors and predictions that its suite gets; a table is described first.

    Args:
        grid: a grid without errors.
        change: what gives the suite its factors and predictions.

    Raises:
        CimentoError: no suite of sentences can be made of the grid.
    """
    described = grid if grid.described else describe(grid, language="")
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_grid(described, Path(temporary) / f"{file_name(grid)}{WORKBOOK}")
        suite = load_suite(path).sentences
        if suite is None:
            raise InputError(where=grid.name, seen="its items do not compare sentences")
        designed = load_suite(change(suite))
        made = open_grid(save_suite(designed, Path(temporary) / "designed.xlsx")).grid
    kept = _with_own_table(grid, made)
    sheets = {**described.sheets, **kept.sheets}
    kept = replace(kept, sheets=sheets, name=grid.name, words=grid.words)
    return _with_headings(with_own_words(kept), grid)


def _with_own_table(grid: Grid, described: Grid) -> Grid:
    """A description with the table itself in place of the rows that were made of it.

    The table stays as it is, with its headings, if it reads the same beside the description, or
    once *about* says which column has which role. What the description needs and the table lacks,
    such as names of conditions that are made of three factors, comes in as few columns behind it as
    will do. Headings above the table, sums and what is below it are left out.
    """
    own = sheet_of([grid.items.columns, *(grid.items.rows[n] for n in grid.read_rows())])
    sheets = {name: sheet for name, sheet in described.sheets.items() if name != HOW_TO}
    made = _without_own_name(described, own)
    # How to is about the rows that were made of the table.
    kept = replace(described, sheets={**sheets, ITEMS: own})
    read = roles_in(check_grid(grid).read)
    with_roles = {name for names in read.values() for name in names}
    fits = partial(_reads_as, other=made, with_roles=with_roles)
    if fits(kept):
        return kept
    ways = [*_ways_to_say(grid.roles, read)]
    for roles in ways:
        if fits(with_roles_said(kept, roles)):
            return _with_fewest_roles(kept, roles, fits)
    if _reads_as(kept, made):
        return kept
    told = with_roles_said(kept, ways[0]) if ways else kept
    for base in (told, kept):
        new = lacked(own, made.items)
        if new and _reads_as(full := _beside(base, own, new), made):
            return _with_fewest_columns(base, own, new, full, made)
    return _with_own_names(grid, described)


def _ways_to_say(
    chosen: Mapping[str, str], read: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, str]]:
    """The columns of a table by their roles, for *about* to say.

    Of two columns that make pairs for each level of one of them, one is that of labels.

    Args:
        chosen: the columns that somebody has chosen, by their roles.
        read: what the others were read as.
    """
    roles = dict(chosen)
    taken = {name.removesuffix(FORCED) for name in roles.values()}
    for role, names in read.items():
        for name in names:
            if role in ROLES and name not in taken:
                taken.add(name)
                roles[numbered(role, roles)] = name
    if not roles:
        return
    yield roles
    factors = [name for role, name in roles.items() if alone(role) == FACTORS]
    rest = {role: name for role, name in roles.items() if alone(role) != FACTORS}
    for name in factors:
        yield {**rest, LABEL: name}


def _with_fewest_roles(kept: Grid, roles: Mapping[str, str], fits: Callable[[Grid], bool]) -> Grid:
    """A description that says the role of no column that is found all the same."""
    for kind in dict.fromkeys(map(alone, roles)):
        fewer = {role: name for role, name in roles.items() if alone(role) != kind}
        if fits(with_roles_said(kept, fewer)):
            roles = fewer
    return with_roles_said(kept, roles)


def _with_fewest_columns(
    base: Grid, own: Sheet, new: Mapping[str, Sequence[str]], kept: Grid, made: Grid
) -> Grid:
    """A description whose table has no column behind its own that is not needed."""
    for name in [*new]:
        fewer = {other: cells for other, cells in new.items() if other != name}
        if fewer and _reads_as(less := _beside(base, own, fewer), made):
            kept, new = less, fewer
    return kept


_OURS: Mapping[str, Sequence[str]] = {
    "item": ("item",),
    "condition": ("condition",),
    "sentence": ("text",),
    "participant": ("participants",),
    "rating": ("rating", "ratings"),
}
"""What our tables call the columns of roles."""


def _with_own_names(grid: Grid, described: Grid) -> Grid:
    """A description whose rows are not those of the table, with the table's names of its columns.

    Columns of ours that the table lacks go too, where the suite is the same without them.

    Args:
        grid: the table.
        described: its description.
    """
    roles = roles_in(check_grid(grid).read)
    names = {
        ours: columns[0]
        for role, columns in roles.items()
        for ours in _OURS.get(role, ())
        if len(columns) == 1
    }
    lacking = {"item", "condition"} - names.keys()
    steps = [
        *(partial(_without_column, name=name) for name in sorted(lacking)),
        *(partial(_renamed, name=name, own=own) for name, own in names.items()),
    ]
    kept = described
    for step in steps:
        named = step(kept)
        if named != kept and _reads_as(named, described):
            kept = named
    return kept


def _without_column(grid: Grid, *, name: str) -> Grid:
    place = grid.items.column(name)
    if place is None or grid.items.columns[place] != name:
        return grid
    return delete_column(grid, ITEMS, place)


def _renamed(grid: Grid, *, name: str, own: str) -> Grid:
    columns = [column.strip() for column in grid.items.columns]
    if name not in columns or own in columns:
        return grid
    return rename_column(grid, ITEMS, columns.index(name), own)


def _without_own_name(described: Grid, own: Sheet) -> Grid:
    """A description whose items are not said to be of a phenomenon called as the suite."""
    items = described.items
    place = items.column("phenomenon")
    named = {cell.strip() for cell in items.values(place)} if place is not None else set()
    if own.column("phenomenon") is not None or place is None or len(named) != 1:
        return described
    if named != {described.settings().get("name", "")}:
        return described
    rows = tuple((*row[:place], *row[place + 1 :]) for row in items.rows)
    return described.with_sheet(ITEMS, replace(items, rows=rows))


def _beside(described: Grid, own: Sheet, new: Mapping[str, Sequence[str]]) -> Grid:
    """A description whose table has some columns behind its own."""
    added = [[*new], *map(list, zip(*new.values(), strict=True))]
    both = zip(own.rows, added, strict=True)
    return described.with_sheet(ITEMS, sheet_of([*row, *cells] for row, cells in both))


def _reads_as(grid: Grid, other: Grid, with_roles: Collection[str] = ()) -> bool:
    """Whether a grid is the suite of another one; it may have more columns of its items.

    Args:
        grid: the grid.
        other: the rows that were made of the other one, with their description.
        with_roles: columns that have to have a role, whether or not the suite needs it.
    """
    if (as_made := _as_made(grid)) is None:
        return False
    again, read = as_made
    apart = {name: other.sheets[name] for name in other.sheets if name not in (ITEMS, HOW_TO)}
    same = {name: again.sheets.get(name) for name in apart} == apart
    is_used = read is None or not {*with_roles} & {*read.unused}
    return same and is_used and _columns(other.items).items() <= _columns(again.items).items()


def _as_made(grid: Grid) -> tuple[Grid, TableReading | None] | None:
    """The rows that are made of a grid with a description, and what it was read as.

    None where it has errors.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = Path(temporary) / f"{file_name(grid)}{WORKBOOK}"
        try:
            loaded = load_suite(write_grid(grid, path))
            made = open_grid(save_suite(loaded, Path(temporary) / "again.xlsx")).grid
        except CimentoError:
            return None
    return made, loaded.reading.table


def _columns(sheet: Sheet) -> dict[str, tuple[float | str, ...]]:
    """The cells of each column by its name, which is one for phenomena in all languages.

    So it is for ratings, which are numbers, whatever their decimal mark is.
    """
    called = {place: name for name in _IN_ANY if (place := sheet.column(name)) is not None}
    names = (called.get(n, name) for n, name in enumerate(sheet.columns))
    return {
        name: tuple(map(_as_number if name in OWN_COLUMNS else str, sheet.values(n)))
        for n, name in enumerate(names)
    }


_IN_ANY = ("phenomenon", "rating")
"""The columns that a description has under the author's heading in any language."""


def _as_number(cell: str) -> float | str:
    number = number_of(cell)
    return cell if number is None else number


def _as_in(language: str, grid: Grid, path: Path) -> Grid:
    """A grid whose cells are as its file has them in a language; those that were edited stay."""
    read = (open_grid(path).grid, open_grid(path, language=language).grid)
    guessed, known = ([cell for row in one.items.rows for cell in row] for one in read)
    if len(guessed) != len(known) or guessed == known:
        return grid
    other = dict(zip(guessed, known, strict=True))
    rows = tuple(tuple(other.get(cell, cell) for cell in row) for row in grid.items.rows)
    return replace(grid, sheets={**grid.sheets, ITEMS: replace(grid.items, rows=rows)})


def _read_with_faults(given: Grid, path: Path, language: str) -> Grid | None:
    """A table that was read as a suite with errors, as that suite with a description.

    None if it is not one, or where an error of the file, such as a date among texts, would be lost.

    Args:
        given: the table.
        path: a file with it.
        language: ISO 639-1 code of the sentences.
    """
    try:
        before = errors(paradigm_of(path).reader.read(path).faults)
        made = describe(converted(path, path.stem), language=language)
    except CimentoError:
        return None
    grid = _with_own_table(given, made)
    if grid is made:  # which reads no table with errors again
        sheets = {name: sheet for name, sheet in made.sheets.items() if name != HOW_TO}
        rows = [given.items.columns, *(given.items.rows[n] for n in given.read_rows())]
        kept = replace(made, sheets={**sheets, ITEMS: sheet_of(rows)})
        kept = with_roles_said(kept, given.roles)
        if _error_codes(kept) == _error_codes(made):
            return kept
    after = {finding.code for finding in check_grid(grid).findings}
    return grid if after.issuperset(fault.code for fault in before) else None


def _error_codes(grid: Grid) -> list[str]:
    """The codes of the errors of a grid."""
    found = check_grid(grid).findings
    return sorted(finding.code for finding in found if finding.severity == "error")


def _with_description(grid: Grid, language: str) -> Grid:
    """A table that is not a suite yet, with a description and a place for predictions.

    Headings, sums and what is below the table are left out, since only tables without a
    description may have them.
    """
    column = grid.items.column("text")
    cells = grid.items.values(column) if column is not None else []
    counts = Counter(len(read_regions(cell)[0]) for cell in cells if "|" in cell)
    usual = counts.most_common(1)[0][0] if counts else 0
    regions = " | ".join(f"region {number}" for number in range(1, usual + 1))
    known = {"name": grid.name, "language": language, "regions": regions}
    about = [[name, known.get(name, ""), what_it_is(name)] for name in SETTINGS]
    sheets = {
        ABOUT: sheet_of([["setting", "value", "what it is"], *about]),
        ITEMS: sheet_of([grid.items.columns, *(grid.items.rows[n] for n in grid.read_rows())]),
        PREDICTIONS: sheet_of([["name", "formula", "comment"]]),
    }
    described = replace(grid, sheets=sheets, described=True, roles={})
    return with_roles_said(described, grid.roles)
