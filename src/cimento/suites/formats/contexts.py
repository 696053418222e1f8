"""Alternatives without a good and a bad sentence: contexts with continuations, and wug tests.

EWoK (Ivanova et al. 2024, arXiv:2405.09605) crosses two contexts with two targets, each of which
fits one context. In the entity-tracking task of BabyLM's evaluation (Kim and Schuster 2023,
doi:10.18653/v1/2023.acl-long.213) a context has several continuations, the correct one first. In
its wug tests (after Berko 1958, doi:10.1080/00437956.1958.11659661; adjectives: Hofmann et al.
2025, doi:10.1073/pnas.2423232122) a made-up word has two forms, and people prefer one or the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq
from pathlib import Path
from typing import TypeAlias

from cimento.errors import Fault
from cimento.faults import errors, fault
from cimento.intake.decoding import unusable
from cimento.intake.misfits import hold_text, not_text, wrong_kind
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.roles import find
from cimento.intake.shapes import CHOICE, CROSSED, EXPECTED, Shape
from cimento.intake.shapes import FORMS as SHAPE_OF_FORMS
from cimento.intake.shapes import OPTIONS as SHAPE_OF_OPTIONS
from cimento.intake.table import Row, Table
from cimento.intake.tables import read_suite_table
from cimento.intake.words import CONTEXTS as WORDS_FOR_CONTEXTS
from cimento.intake.words import NAMES, PREFIXES, SIDES
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.suites import Condition, Item, Prediction, Region
from cimento.suites.formats.articles import with_article
from cimento.suites.formats.gathered import Gathered
from cimento.suites.reading import Reading, strip_blanks
from cimento.suites.shapes import choice_of

CONTEXTS, TARGETS = ("Context1", "Context2"), ("Target1", "Target2")
DOMAIN = "Domain"
REGIONS = ("context", "target")
CROSSED_CONDITIONS = tuple(f"context{c}_target{t}" for t in (1, 2) for c in (1, 2))
"""The conditions of EWoK's items."""
CROSSED_PREDICTIONS = (
    Prediction(
        "(2;%context1_target1%) < (2;%context2_target1%)",
        comment="The first target is less surprising after its own context.",
        name="first target",
    ),
    Prediction(
        "(2;%context2_target2%) < (2;%context1_target2%)",
        comment="The second target is less surprising after its own context.",
        name="second target",
    ),
)

PREFIX, OPTIONS = "input_prefix", "options"
_FEWEST_OPTIONS = 2

FORMS, RATIO = "sentences", "ratio"
FIRST, SECOND = "first", "second"
FORM_PREDICTION = Prediction(
    f"(*;%{FIRST}%) < (*;%{SECOND}%)",
    comment="The first form is less surprising; people differ in which of the two they prefer.",
    name="first form",
)


_TEXTS = (*CONTEXTS, *TARGETS, PREFIX)
"""Columns of one text in each cell; those of several are looked at cell by cell."""

CROSSED_COLUMNS = (*CONTEXTS, *TARGETS)
OPTION_COLUMNS = (PREFIX, OPTIONS)
FORM_COLUMNS = (FORMS, RATIO)
"""The columns by which a table of each kind is known."""


def crossed_columns(table: Table) -> tuple[str, ...]:
    """The columns of two contexts and of the target that fits each; empty for other tables.

    Contexts and targets share what stands behind their names, as in EWoK's ``Context1`` and
    ``Target1``, and in NEG-136's ``context_aff`` and ``target_aff`` (Ettinger 2020,
    doi:10.1162/tacl_a_00298).
    """
    named: dict[str, dict[str, str]] = {"context": {}, "target": {}}
    for name in table.columns:
        if match := _SIDE.fullmatch(name.casefold()):
            named[match["what"]][match["side"]] = name
    sides = sorted(named["context"].keys() & named["target"].keys())
    columns = tuple(named[what][side] for what in named for side in sides)
    return columns if len(sides) == len(CONTEXTS) else ()


_SIDE = re.compile(r"(?P<what>context|target)(?:[ _.]|(?=[0-9]))(?P<side>[^\W_]+)")


@dataclass(frozen=True, slots=True)
class Targets:
    """The columns of contexts and of what may follow them.

    Attributes:
        contexts: columns of the parts of a context, in order.
        expected: column of what is expected after it.
        others: columns of what is less so.
        is_guess: whether only the cells of these say it, and not their names.
    """

    contexts: tuple[str, ...]
    expected: str
    others: tuple[str, ...]
    is_guess: bool


_OTHERS = {*NAMES["others"], *NAMES["implausible"], "implausible", *SIDES["bad"]}
_NUMBER = re.compile(r"[ _.]?[0-9]+$")
_PART = re.compile(r"(?P<name>.*?)[ _.]?(?:[a-z]?[0-9]+)?")
_MOST_WORDS = 4
_MOST_ALIKE = 0.1


def targets_of(table: Table) -> Targets | None:
    """The columns of contexts with an expected and other continuations; None for other tables.

    The others are texts as short as the expected one, which differ from row to row and from it.
    CPRAG-102 (Ettinger 2020) is such a table.
    """
    parts = {name: _PART.fullmatch(name.casefold()) for name in table.columns}
    contexts = tuple(
        name
        for name, match in parts.items()
        if match and match["name"] in (*WORDS_FOR_CONTEXTS, *PREFIXES) and hold_text(table, [name])
    )
    expected = find(table, "target", "expected", "target")
    known = {*contexts, expected, *map(table.find, ("item", "id", "condition", "phenomenon"))}
    if not (contexts and expected and _are_words(table, expected)):
        return None
    due = table.stripped(expected)
    others = tuple(
        name
        for name in table.columns
        if name not in known
        and _are_words(table, name)
        and sum(map(eq, due, table.stripped(name))) <= _MOST_ALIKE * len(due)
    )
    named = tuple(name for name in others if _NUMBER.sub("", name.casefold()) in _OTHERS)
    return Targets(contexts, expected, named or others, is_guess=not named) if others else None


def _are_words(table: Table, name: str) -> bool:
    """Whether a column has a few words in each row, which are mostly others."""
    held = table.profile(name)
    is_short = table.is_mostly(
        name, lambda cell: len(cell) > 1 and len(cell.split()) <= _MOST_WORDS
    )
    return held.may_be_sentences and is_short and 2 * held.n_distinct > held.n == len(table.numbers)


def read_targets(path: Path) -> Reading:
    """Read contexts with an expected and other continuations; the file's name is the suite's.

    The conditions are ``expected`` and the names of the other columns; the expected continuation is
    predicted to be less surprising than each other.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data = read_bytes(path)
    table, faults = read_suite_table(data, path)
    columns = None if table is None else targets_of(table)
    if table is None or columns is None:
        seen = "There are no columns of contexts, of expected words and of others."
        wrong = [] if table is None else [fault("CIM-S004", where=path.name, seen=seen)]
        raise unusable(path, [*faults, *wrong])
    texts = (*columns.contexts, columns.expected, *columns.others)
    faults += [*not_text(table, texts), *_with_alternatives(table, texts)]
    if errors(faults):
        raise unusable(path, faults)
    if columns.is_guess:
        seen = f"These columns are read as what is less expected: {', '.join(columns.others)}."
        todo = "If one of them is not, leave it out; names such as alternative 1 say it."
        faults.append(fault("CIM-S065", where=path.name, seen=seen, todo=todo))
    names = dict(zip((columns.expected, *columns.others), _conditions(columns), strict=True))
    gathered, phenomenon = Gathered(), table.find("phenomenon") or ""
    for id_, row in zip(_ids(table), table.rows, strict=True):
        where = table.where(row)
        free = _free(row, texts, phenomenon=phenomenon)
        context = " ".join(filter(None, (row.cells[name].strip() for name in columns.contexts)))
        for column, condition in names.items():
            regions = _regions(context, row.cells[column], where, faults)
            gathered.add(id_, Condition(condition, regions, free), where)
    first, *others = names.values()
    predictions = tuple(
        Prediction(
            f"(2;%{first}%) < (2;%{other}%)",
            comment="What is expected after the context is less surprising.",
            name=f"before {other}",
        )
        for other in others
    )
    reading = gathered.reading(path, data, faults, region_names=REGIONS, predictions=predictions)
    roles = {"context": columns.contexts, "expected": columns.expected, "others": columns.others}
    return replace(reading, table=_read_as(table, EXPECTED, roles))


def read_choice(path: Path) -> Reading:
    """Read rows of several options and a key that names the correct one.

    The conditions are ``right``, ``other1``, ``other2`` and so on, in the order of the columns. A
    column of contexts comes before each option. The correct one is predicted to be less surprising
    than each other.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or a key names no option.
    """
    data = read_bytes(path)
    table, faults = read_suite_table(data, path)
    key = None if table is None else choice_of(table)
    if table is None or key is None:
        seen = "There are no columns of options, as A, B and C, with a column that names one."
        faults += [] if table is None else [fault("CIM-S004", where=path.name, seen=seen)]
        raise unusable(path, faults)
    options = [*key.options.values()]
    context = find(table, "context", *WORDS_FOR_CONTEXTS, *PREFIXES)
    texts = [*options, *filter(None, [context])]
    faults += [*not_text(table, texts), *_with_alternatives(table, texts)]
    gathered, phenomenon = Gathered(), table.find("phenomenon") or ""
    for id_, row in zip(_ids(table), table.rows, strict=True):
        where, label = table.where(row), row.cells[key.column].strip().casefold()
        if label not in key.options:
            seen = f"The column {key.column!r} has {label!r} and names none of the options."
            todo = f"Write {' or '.join(key.options).upper()} there."
            faults.append(fault("CIM-S003", where=where, seen=seen, todo=todo))
            continue
        right = key.options[label]
        free = _free(row, {*texts, key.column}, phenomenon=phenomenon)
        before = row.cells[context].strip() if context else ""
        for n, name in enumerate([right, *(name for name in options if name != right)]):
            regions = _regions(before, row.cells[name], where, faults)
            regions = regions if context else regions[1:]
            gathered.add(id_, Condition(f"other{n}" if n else "right", regions, free), where)
    if errors(faults):
        raise unusable(path, faults)
    place, comment = 2 if context else "*", "The right option is less surprising."
    predictions = tuple(
        Prediction(
            f"({place};%right%) < ({place};%other{n}%)", comment=comment, name=f"before other {n}"
        )
        for n in range(1, len(options))
    )
    names = REGIONS if context else ("sentence",)
    reading = gathered.reading(path, data, faults, region_names=names, predictions=predictions)
    roles = {"context": context or "", "options": options, "key": key.column}
    return replace(reading, table=_read_as(table, CHOICE, roles))


def _conditions(columns: Targets) -> list[str]:
    """The name of the condition of each continuation: ``expected``, and those of the others."""
    return ["expected", *(re.sub(r"\W+", "-", name).strip("-") for name in columns.others)]


def _with_alternatives(
    table: Table, columns: Iterable[str], *, following: Sequence[str] = ()
) -> list[Fault]:
    """The faults of cells with several words to choose from, of which none can be scored.

    Args:
        table: the table.
        columns: those that are scored.
        following: the columns of words after contexts, which choose the article before them.
    """
    faults = list[Fault]()
    for name in columns:
        open_ = [row for row, cell in enumerate(table.cells[name]) if "|" in cell]
        after = [table.cells[other] for other in following if name not in following]
        rows = [
            row
            for row in open_
            if not after
            or any("|" in with_article(table.cells[name][row], words[row]) for words in after)
        ]
        if open_ and not rows:
            seen = f"In {name!r}, (a|an) is written as the word that follows it needs."
            faults.append(fault("CIM-S065", where=table.name, seen=seen, todo=""))
        if rows:
            seen = f"{name!r} has words to choose from: {table.cells[name][rows[0]].strip()!r}."
            todo = "Write the one that fits in each row."
            places = [table.place(row) for row in rows]
            faults.append(fault("CIM-S003", where=places[0], seen=seen, todo=todo, places=places))
    return faults


def _read_as(table: Table, shape: Shape, roles: Mapping[str, str | Sequence[str]]) -> TableReading:
    """What a table of this module was read as."""
    others = {"item": _id_column(table), "phenomenon": table.find("phenomenon")}
    n_items = len(table.numbers)
    return reading_of(table, shape, {**others, **roles}, n_items=n_items, own={"row"})


def read_crossed(path: Path) -> Reading:
    """Read contexts crossed with targets, as in EWoK; the file's name becomes the suite's.

    Each target is predicted to be less surprising after its own context than after the other: the
    same words are compared, so their length and frequency cancel out. ``Domain`` becomes the
    phenomenon. The conditions are those of EWoK, whatever the columns are called.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    return _read(
        path, CROSSED, CROSSED_COLUMNS, _crossed, lambda _: CROSSED_PREDICTIONS, phenomenon=DOMAIN
    )


def read_continuations(path: Path) -> Reading:
    """Read a context and continuations, the correct one first; the file's name becomes the suite's.

    The conditions are ``option1``, ``option2`` and so on; the first is predicted to be less
    surprising than each other.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or a row has fewer than two options.
    """
    return _read(path, SHAPE_OF_OPTIONS, OPTION_COLUMNS, _chosen, _first_of)


def read_forms(path: Path) -> Reading:
    """Read two forms of each sentence with people's preferences; the file's name is the suite's.

    The conditions are ``first`` and ``second``. Their column ``chosen_by`` has the proportion of
    people who prefer the form, so that margins are compared with shares; ``ratio`` is that of the
    first.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or a row has not two sentences and a share.
    """
    predictions = (FORM_PREDICTION,)
    return _read(
        path, SHAPE_OF_FORMS, FORM_COLUMNS, _forms, lambda _: predictions, regions=("sentence",)
    )


_Cells: TypeAlias = Mapping[str, str]


def _read(
    path: Path,
    shape: Shape,
    needed: Sequence[str],
    conditions: Callable[[_Cells, _Cells, str, list[Fault]], tuple[Condition, ...]],
    predictions: Callable[[Sequence[Item]], tuple[Prediction, ...]],
    *,
    regions: tuple[str, ...] = REGIONS,
    phenomenon: str = "phenomenon",
) -> Reading:
    """Read a table of alternatives.

    Args:
        path: the file.
        shape: what the table is.
        needed: the columns by which it is known.
        conditions: makes a row's conditions of these cells, the free ones, the place, and faults.
        predictions: makes the predictions of the items.
        regions: names of the regions.
        phenomenon: the column that names the phenomenon, which stays a free column too.
    """
    data = read_bytes(path)
    table, faults = read_suite_table(data, path)
    crossed = crossed_columns(table) if table is not None and shape is CROSSED else ()
    if table is None or not (crossed or table.has(*needed)):
        seen = f"The columns {', '.join(needed)} are not all there."
        faults += [] if table is None else [fault("CIM-S004", where=path.name, seen=seen)]
        raise unusable(path, faults)
    found = crossed or [table.find(name) or "" for name in needed]
    columns = dict(zip(needed, found, strict=True))
    texts = [columns[name] for name in needed if name in _TEXTS]
    faults += [*wrong_kind(table, texts), *not_text(table, texts)]
    faults += _with_alternatives(table, crossed, following=crossed[len(CONTEXTS) :])
    if errors(faults):
        raise unusable(path, faults)
    named, gathered = table.find(phenomenon) or "", Gathered()
    # The proportion of people stays a free column.
    taken = {column for name, column in columns.items() if name != RATIO}
    for id_, row in zip(_ids(table), table.rows, strict=True):
        where, free = table.where(row), _free(row, taken, phenomenon=named)
        cells = {name: row.cells[column] for name, column in columns.items()}
        for condition in conditions(cells, free, where, faults):
            gathered.add(id_, condition, where)
    if errors(faults):
        raise unusable(path, faults)
    made = predictions(gathered.items)
    reading = gathered.reading(path, data, faults, region_names=regions, predictions=made)
    several = (found[:2], found[2:]) if shape is CROSSED else found
    roles = dict(zip((*shape.needs, "phenomenon"), (*several, named), strict=True))
    return replace(reading, table=_read_as(table, shape, roles))


def _free(row: Row, taken: Collection[str], *, phenomenon: str) -> dict[str, str]:
    """The filled cells of a row's free columns, that of the phenomenon under our name too."""
    free = {name: cell for name, cell in row.cells.items() if cell and name not in taken}
    return {"phenomenon": free[phenomenon], **free} if phenomenon in free else free


def _ids(table: Table) -> Sequence[str]:
    """The ids of the rows, if they differ; else numbers."""
    column = _id_column(table)
    return table.stripped(column) if column else [str(n + 1) for n in range(len(table.numbers))]


def _id_column(table: Table) -> str:
    """The column of ids that differ; empty without one."""
    column = find(table, "item", "item", "id", "pairID")
    ids = table.stripped(column) if column else []
    return column if column and all(ids) and len({*ids}) == len(ids) else ""


def _crossed(cells: _Cells, free: _Cells, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    both = ((cells[context], cells[target]) for target in TARGETS for context in CONTEXTS)
    pairs = ((with_article(context, target), target) for context, target in both)
    return tuple(
        Condition(name, _regions(*pair, where, faults), free)
        for name, pair in zip(CROSSED_CONDITIONS, pairs, strict=True)
    )


def _chosen(cells: _Cells, free: _Cells, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    try:
        options = parse_json(cells[OPTIONS])
    except ValueError:
        options = None
    texts = options if isinstance(options, list) else []
    if len(texts) < _FEWEST_OPTIONS or not all(isinstance(text, str) for text in texts):
        seen = f"{OPTIONS} is not a list of two or more texts."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return ()
    # The texts are put together as they are, so that blanks between them count.
    apart = [cells[PREFIX][-1:].isspace() or text[:1].isspace() for text in texts]
    context = Region(cells[PREFIX].strip())
    return tuple(
        Condition(f"option{n}", (context, Region(text.strip(), glued=not is_apart)), free)
        for n, (text, is_apart) in enumerate(zip(texts, apart, strict=True), start=1)
    )


def _forms(cells: _Cells, free: _Cells, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    sentences = list(map(str.strip, cells[FORMS].split("\t")))
    try:
        share = float(cells[RATIO])
    except ValueError:
        share = math.nan
    if len(sentences) != len((FIRST, SECOND)) or not all(sentences) or not 0 <= share <= 1:
        seen = f"{FORMS} is not two texts with a tab between, or {RATIO} no number from 0 to 1."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return ()
    sides = zip((FIRST, SECOND), sentences, (share, 1 - share), strict=True)
    return tuple(
        Condition(name, (Region(text),), {**free, "chosen_by": f"{part:.6f}"})
        for name, text, part in sides
    )


def _first_of(items: Sequence[Item]) -> tuple[Prediction, ...]:
    """The predictions that the first option is less surprising than each other."""
    count = max((len(item.conditions) for item in items), default=0)
    return tuple(
        Prediction(
            f"(2;%option1%) < (2;%option{number}%)",
            comment="The right continuation is less surprising.",
            name=f"before option {number}",
        )
        for number in range(2, count + 1)
    )


def _regions(context: str, target: str, where: str, faults: list[Fault]) -> tuple[Region, ...]:
    """The context and what follows it; faults are added for stray blanks."""
    texts = {"the context": context, "the target": target}
    return tuple(
        Region(strip_blanks(text, what=what, where=where, faults=faults))
        for what, text in texts.items()
    )
