"""Alternatives without a good and a bad sentence: contexts with continuations, and wug tests.

EWoK (Ivanova et al. 2024, arXiv:2405.09605) crosses two contexts with two targets, each of which
fits one context. In the entity-tracking task of BabyLM's evaluation (Kim and Schuster 2023,
doi:10.18653/v1/2023.acl-long.213) a context has several continuations, the right one first. In its
wug tests (after Berko 1958, doi:10.1080/00437956.1958.11659661; adjectives: Hofmann et al. 2025,
doi:10.1073/pnas.2423232122) a made-up word has two forms, and people prefer one or the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.suites import Condition, Item, Prediction, Region
from cimento.suites.formats.gathered import Gathered
from cimento.suites.reading import Reading, errors, fault, strip_blanks, unusable
from cimento.suites.tables import Row, Table, read_table

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
    return _read(path, CROSSED_COLUMNS, _crossed, lambda _: CROSSED_PREDICTIONS)


def read_options(path: Path) -> Reading:
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
    return _read(path, FORM_COLUMNS, _forms, lambda _: (FORM_PREDICTION,), ("sentence",))


def _read(
    path: Path,
    needed: Sequence[str],
    conditions: Callable[[Row, Table, str, list[Fault]], tuple[Condition, ...]],
    predictions: Callable[[Sequence[Item]], tuple[Prediction, ...]],
    regions: tuple[str, ...] = REGIONS,
) -> Reading:
    data = read_bytes(path)
    table, faults = read_table(data, path)
    if table is None or not table.has(*needed):
        seen = f"The columns {', '.join(needed)} are not all there."
        missing = [] if table is None else [fault("CIM-S004", where=path.name, seen=seen)]
        raise unusable(path, [*faults, *missing])
    gathered = Gathered()
    for id_, row in zip(_ids(table), table.rows, strict=True):
        where = table.where(row)
        for condition in conditions(row, table, where, faults):
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


def _crossed(row: Row, table: Table, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    contexts, targets = (
        [row.cells[table.find(name) or ""] for name in names] for names in (CONTEXTS, TARGETS)
    )
    free = _free(row, table, CROSSED_COLUMNS, DOMAIN)
    pairs = ((context, target) for target in targets for context in contexts)
    return tuple(
        Condition(name, _regions(*pair, where, faults), free)
        for name, pair in zip(CROSSED, pairs, strict=True)
    )


def _chosen(row: Row, table: Table, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    try:
        options = parse_json(row.cells[table.find(OPTIONS) or ""])
    except ValueError:
        options = None
    texts = options if isinstance(options, list) else []
    if len(texts) < _FEWEST_OPTIONS or not all(isinstance(text, str) for text in texts):
        seen = f"{OPTIONS} is no list of two or more texts."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return ()
    prefix = row.cells[table.find(PREFIX) or ""]
    free = _free(row, table, OPTION_COLUMNS, "phenomenon")
    return tuple(
        Condition(f"option{number}", _regions(prefix, text, where, faults, as_is=True), free)
        for number, text in enumerate(texts, start=1)
    )


def _forms(row: Row, table: Table, where: str, faults: list[Fault]) -> tuple[Condition, ...]:
    sentences = [text.strip() for text in row.cells[table.find(FORMS) or ""].split("\t")]
    try:
        share = float(row.cells[table.find(RATIO) or ""])
    except ValueError:
        share = math.nan
    if len(sentences) != len((FIRST, SECOND)) or not all(sentences) or not 0 <= share <= 1:
        seen = f"{FORMS} is not two texts with a tab between, or {RATIO} no number from 0 to 1."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return ()
    free = _free(row, table, (FORMS,), "phenomenon")
    chosen = (share, 1 - share)
    return tuple(
        Condition(name, (Region(text),), {**free, "chosen_by": f"{part:.6f}"})
        for name, text, part in zip((FIRST, SECOND), sentences, chosen, strict=True)
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


def _regions(
    context: str, target: str, where: str, faults: list[Fault], *, as_is: bool = False
) -> tuple[Region, ...]:
    """The context and what follows it.

    Args:
        context: the text before.
        target: the text after.
        where: the place of the row.
        faults: gets a fault for stray blanks.
        as_is: whether the texts are put together as they are, so that blanks between them count.
    """
    if as_is:
        apart = context[-1:].isspace() or target[:1].isspace()
        return (Region(context.strip()), Region(target.strip(), glued=not apart))
    texts = {"the context": context, "the target": target}
    return tuple(
        Region(strip_blanks(text, what=what, where=where, faults=faults))
        for what, text in texts.items()
    )


def _free(row: Row, table: Table, taken: Sequence[str], phenomenon: str) -> dict[str, str]:
    """The other columns of a row, and the one that names the phenomenon under that name too."""
    names = {table.find(name) for name in taken}
    free = {name: cell for name, cell in row.cells.items() if cell and name not in names}
    named = free.get(table.find(phenomenon) or "")
    return {**({"phenomenon": named} if named else {}), **free}
