"""Alternatives without a good and a bad sentence: contexts with continuations, and wug tests.

EWoK (Ivanova et al. 2024, arXiv:2405.09605) crosses two contexts with two targets, each of which
fits one context. In the entity-tracking task of BabyLM's evaluation (Kim and Schuster 2023,
doi:10.18653/v1/2023.acl-long.213) a context has several continuations, the right one first. In its
wug tests (after Berko 1958, doi:10.1080/00437956.1958.11659661; adjectives: Hofmann et al. 2025,
doi:10.1073/pnas.2423232122) a made-up word has two forms, and people prefer one or the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from cimento.errors import Fault
from cimento.intake.table import Table
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.suites import Condition, Item, Prediction, Region
from cimento.suites.faults import errors, fault
from cimento.suites.formats.gathered import Gathered
from cimento.suites.reading import Reading, strip_blanks, unusable
from cimento.suites.roles import not_text, wrong_kind
from cimento.suites.tables import read_suite_table

CONTEXTS, TARGETS = ("Context1", "Context2"), ("Target1", "Target2")
DOMAIN = "Domain"
REGIONS = ("context", "target")
CROSSED = tuple(f"context{c}_target{t}" for t in (1, 2) for c in (1, 2))
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


def read_crossed(path: Path) -> Reading:
    """Read contexts crossed with targets, as in EWoK; the file's name becomes the suite's.

    Each target is predicted to be less surprising after its own context than after the other: the
    same words are compared, so their length and frequency cancel out. ``Domain`` becomes the
    phenomenon.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    return _read(path, CROSSED_COLUMNS, _crossed, lambda _: CROSSED_PREDICTIONS, phenomenon=DOMAIN)


def read_continuations(path: Path) -> Reading:
    """Read a context and continuations, the right one first; the file's name becomes the suite's.

    The conditions are ``option1``, ``option2`` and so on; the first is predicted to be less
    surprising than each other.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or a row has fewer than two options.
    """
    return _read(path, OPTION_COLUMNS, _chosen, _first_of)


def read_forms(path: Path) -> Reading:
    """Read two forms of each sentence with people's preferences; the file's name is the suite's.

    The conditions are ``first`` and ``second``. Their column ``chosen_by`` has the share of people
    who prefer the form, so that margins are compared with shares; ``ratio`` is that of the first.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or a row has not two sentences and a share.
    """
    return _read(path, FORM_COLUMNS, _forms, lambda _: (FORM_PREDICTION,), regions=("sentence",))


_Cells: TypeAlias = Mapping[str, str]


def _read(
    path: Path,
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
        needed: the columns by which it is known.
        conditions: makes the conditions of a row of the cells of these columns, the free columns
            and the place; faults are added to a list.
        predictions: makes the predictions of the items.
        regions: names of the regions.
        phenomenon: the column that names the phenomenon, which stays a free column too.
    """
    data = read_bytes(path)
    table, faults = read_suite_table(data, path)
    if table is None or not table.has(*needed):
        seen = f"The columns {', '.join(needed)} are not all there."
        missing = [] if table is None else [fault("CIM-S004", where=path.name, seen=seen)]
        raise unusable(path, [*faults, *missing])
    columns = {name: table.find(name) or "" for name in needed}
    texts = [column for name, column in columns.items() if name in _TEXTS]
    faults = [*faults, *wrong_kind(table, texts), *not_text(table, texts)]
    if errors(faults):
        raise unusable(path, faults)
    named, gathered = table.find(phenomenon) or "", Gathered()
    # The share of people stays a free column.
    taken = {column for name, column in columns.items() if name != RATIO}
    for id_, row in zip(_ids(table), table.rows, strict=True):
        where, free = table.where(row), {n: c for n, c in row.cells.items() if c and n not in taken}
        if named in free:
            free = {"phenomenon": free[named], **free}
        cells = {name: row.cells[column] for name, column in columns.items()}
        for condition in conditions(cells, free, where, faults):
            gathered.add(id_, condition, where)
    if errors(faults):
        raise unusable(path, faults)
    return gathered.reading(
        path, data, faults, region_names=regions, predictions=predictions(gathered.items)
    )


def _ids(table: Table) -> Sequence[str]:
    """The ids of the rows, if they differ; else numbers."""
    column = table.find("item", "id", "pairID")
    ids = table.stripped(column) if column else []
    if ids and all(ids) and len(set(ids)) == len(ids):
        return ids
    return [str(number) for number in range(1, len(table.numbers) + 1)]


def _crossed(cells: _Cells, free: _Cells, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    pairs = ((cells[context], cells[target]) for target in TARGETS for context in CONTEXTS)
    return tuple(
        Condition(name, _regions(*pair, where, faults), free)
        for name, pair in zip(CROSSED, pairs, strict=True)
    )


def _chosen(cells: _Cells, free: _Cells, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    try:
        options = parse_json(cells[OPTIONS])
    except ValueError:
        options = None
    texts = options if isinstance(options, list) else []
    if len(texts) < _FEWEST_OPTIONS or not all(isinstance(text, str) for text in texts):
        seen = f"{OPTIONS} is no list of two or more texts."
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
