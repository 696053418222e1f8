"""Bare tables of rated sentences, which do not say what the ends of their scale are."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import Fault, SuiteError
from cimento.faults import errors, fault
from cimento.intake.alone import with_sentence_named
from cimento.intake.decoding import unusable
from cimento.intake.known import Known, forms_of
from cimento.intake.labels import LABEL, label_column, may_be_label
from cimento.intake.marks import advice_on, is_judgments, sides_of
from cimento.intake.misfits import not_text, wrong_kind
from cimento.intake.numbered import with_items_numbered
from cimento.intake.profile import ABSENT, is_absent
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.roles import find
from cimento.intake.scale_ends import ends_named
from cimento.intake.shapes import ANSWERS, BY_PEOPLE, LABELED, RATINGS
from cimento.intake.sheets import read_sheet, unread_contexts
from cimento.intake.table import Table, place_of_row
from cimento.intake.tables import RECORDS, SUFFIXES, read_header
from cimento.intake.words import NAMES
from cimento.io.files import read_bytes
from cimento.paradigms.ratings.columns import (
    rating_column,
    sentence_column,
    with_label,
    with_spread,
)
from cimento.paradigms.ratings.designs import RatedDesign, design_of
from cimento.paradigms.ratings.gathered import (
    columns_of_people,
    gathered_ratings,
    has_answers,
    has_people,
)
from cimento.paradigms.ratings.marked import is_marked_list
from cimento.paradigms.ratings.rated_pairs import is_rated_pairs
from cimento.paradigms.ratings.scale_names import order_faults
from cimento.paradigms.ratings.slips import (
    assumed_faults,
    assumed_scale,
    off_named,
    unrated_faults,
)
from cimento.suites import Item, JsonValue, Meta, Suite
from cimento.suites.builtin import RATED
from cimento.suites.crossed import CLUSTER, crossed_columns, filled_down, paired
from cimento.suites.filler_rows import without_fillers
from cimento.suites.formats.items import read_items
from cimento.suites.formats.judged_advice import pairs_advised
from cimento.suites.formats.ratings import is_rated_table
from cimento.suites.formats.sentences import is_labeled_table
from cimento.suites.ratings import AUTHOR, OWN_COLUMNS, rated_of, rating_faults
from cimento.suites.reading import Reading, name_from, sha256_of


def is_ratings(path: Path) -> bool:
    """Whether a file is in a format of rated sentences, or a table or list of them or of pairs."""
    readers = (is_rated_table, is_bare_table, is_marked_list, is_rated_pairs)
    return any(reads(path) for reads in readers)


def is_bare_table(path: Path) -> bool:
    """Whether a file is a table of sentences and their ratings, as people make one."""
    if path.suffix.lower() not in (*SUFFIXES, *RECORDS) or not path.is_file():
        return False
    try:
        table, _ = read_header(read_bytes(path), path)
    except SuiteError:
        return False
    if table is None or (table.find("good") and table.find("bad")) or is_labeled_table(table):
        return False
    rating, has_item = rating_column(table), bool(table.find("item"))
    if sentence_column(table) and rating and not has_item:
        return True
    is_named = has_people(table) or any(map(may_be_label, table.columns))
    return bool(rating or is_named or not has_item) and _has_ratings(path, table)


def _has_ratings(path: Path, header: Table) -> bool:
    """Whether the ratings of a table of sentences make the suite, and not its other columns."""
    rating = rating_column(header)
    whole = read_sheet(read_bytes(path), path)[0]
    filled = whole and with_sentence_named(filled_down(without_fillers(whole)[0]))
    if filled is None or not sentence_column(filled):
        return False
    if not rating:
        if columns_of_people(filled) and design_of(filled):
            return True
        if not (columns_of_people(filled) or _is_labeled(filled)):
            return False
        sets = filled if LABEL in filled.chosen else with_items_numbered(filled)
        return not (paired(sets) or crossed_columns(sets))
    if has_answers(filled):
        return True
    # Two judgments in an item are those of a pair; ratings are graded.
    is_graded = not sides_of(rating, filled.cells[rating]) or not paired(filled)
    return is_graded and (not _several_conditions(filled) or design_of(filled) is not None)


def _several_conditions(table: Table) -> str | None:
    """The column of conditions of a table that has more than one; None for any other table."""
    name = table.find("condition")
    return name if name and table.profile(name).n_distinct > 1 else None


def _is_labeled(table: Table) -> bool:
    """Whether each row is a sentence of its own with a label, and no part of a pair or a design."""
    ids = table.stripped(table.find("item") or "") if table.find("item") else []
    label = label_column(table)[0]
    is_whole = LABEL in table.chosen or table.find("condition") in (None, label)
    return bool(label) and is_whole and len({*ids}) == len(ids)


def read_bare(path: Path) -> Reading:
    """A table of sentences and ratings as a suite, with a scale that holds all ratings.

    Its ends are those in the name of the column, as in ``Juicio medio (1-7)``, or 0 and 100 for
    percentages; without them, those that `assumed_scale` gives.

    Raises:
        InputError: the file is not readable.
        SuiteError: the table is not of this kind, or ratings are not numbers.
    """
    data = read_bytes(path)
    table, faults = read_sheet(data, path)
    if table is None:
        raise unusable(path, faults)
    brought, arranged = (table := with_sentence_named(table)), _arranged(table, path, faults)
    whole, table, named, said = arranged.whole, arranged.table, arranged.scale, arranged.faults
    faults += said
    suite, places, more = _items_of(arranged, path)
    if suite is None or errors(said):
        raise unusable(path, [*faults, *more])
    repeated = None if arranged.design else _repeated(suite.items, places, table)
    if other_kind := _odd_mark(table) or repeated or _in_words(table, path):
        raise unusable(path, [*faults, *more, other_kind])
    wrong = rating_faults(suite, places=places)
    rated = {} if wrong else dict(zip(places, rated_of(suite).sentences, strict=True))
    if wrong := wrong or off_named(rated, named):
        raise unusable(path, [*faults, *more, *wrong])
    given = [value for sentence in rated.values() for value in sentence.given]
    if len(set(given)) < 2:  # noqa: PLR2004  # a scale has two ends
        raise unusable(path, [*faults, *more, _without_scale(given, table, path)])
    more += order_faults(whole, rating_column(whole), given)
    if errors(more):
        raise unusable(path, [*faults, *more])
    low, high = named or assumed_scale(given)
    more += [] if named else assumed_faults(rated, (low, high), rating_column(whole), path.name)
    more += unrated_faults(rated, path.name)
    by: dict[str, JsonValue] = {"by": AUTHOR} if _is_expected(whole) else {}
    extra: dict[str, JsonValue] = {"kind": RATED, "ratings": {"low": low, "high": high, **by}}
    is_joined = bool({"people", "participant"} & {*arranged.roles})
    is_apart = is_joined and CLUSTER in table.cells and not arranged.design
    cluster = (CLUSTER,) if is_apart else ()
    meta = replace(suite.meta, language=arranged.form.language if arranged.form else "")
    suite = replace(suite, extra=extra, cluster=cluster or suite.cluster, meta=meta)
    read = _read_as(brought, arranged, n_items=len(suite.items))
    return Reading(suite, sha256_of(data), places, (*faults, *more), read)


def _is_expected(table: Table) -> bool:
    """Whether the name of the ratings says that they are what the author expects."""
    name = " ".join(table.shown(rating_column(table)).casefold().replace("_", " ").split())
    return name.startswith(NAMES["expected_rating"])


def _items_of(arranged: _Arranged, path: Path) -> tuple[Suite | None, Sequence[str], list[Fault]]:
    """The suite of a table on a scale without ends, if it has one, and each sentence's place."""
    ends: dict[str, JsonValue] = {"low": -sys.float_info.max, "high": sys.float_info.max}
    meta = Meta(name=name_from(path))
    extra: dict[str, JsonValue] = {"kind": RATED, "ratings": ends}
    if design := arranged.design:
        return replace(design.suite, meta=meta, extra=extra), design.places, [*design.faults]
    rows, faults = read_items(arranged.table)
    if rows is None:
        return None, (), faults
    suite = Suite(
        meta=meta, region_names=("sentence",), predictions=(), items=rows.items, extra=extra
    )
    return suite, rows.places, faults


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arranged:
    """A table with our names of the columns of ratings, one row for each sentence.

    Attributes:
        whole: the table before the answers of people are put together.
        table: the table after it.
        scale: the scale that it names.
        faults: what is to be said of its columns.
        roles: the columns of its label, spread and people, as they are called in the file.
        form: the published form of the table; None for others.
        design: the design that the sentences are of; None where each stands for itself.
    """

    whole: Table
    table: Table
    scale: tuple[int, int] | None
    faults: list[Fault]
    roles: Mapping[str, Sequence[str]]
    form: Known | None = None
    design: RatedDesign | None = None


def _read_as(given: Table, arranged: _Arranged, *, n_items: int) -> TableReading:
    """What a table of rated sentences was read as.

    Args:
        given: the table of the file.
        arranged: the table as it is read.
        n_items: number of sentences.
    """
    found = dict(arranged.roles)
    shape = (
        LABELED
        if LABEL in found
        else BY_PEOPLE
        if "people" in found
        else ANSWERS
        if "participant" in found
        else RATINGS
    )
    roles: dict[str, str | Sequence[str] | None] = {"sentence": sentence_column(given)}
    is_rated = shape in (RATINGS, ANSWERS)
    roles |= {"rating": rating_column(given)} if is_rated else {}
    roles |= found
    condition = _several_conditions(given)
    roles |= {"item": find(given, "item", "item", "id")}
    roles["condition"] = None if [condition] == found.get(LABEL) else condition
    roles["phenomenon"] = given.find("phenomenon")
    roles |= arranged.design.columns if arranged.design else {}
    known = arranged.form.title if arranged.form else ""
    own = {*OWN_COLUMNS, "row"} & {*given.columns}
    roles |= {name: name for name in OWN_COLUMNS if name in own and name not in roles}
    return reading_of(given, shape, roles, n_items=n_items, known=known, own={"row"})


def _arranged(table: Table, path: Path, faults: Sequence[Fault]) -> _Arranged:
    """A table with our names of the columns of ratings, one row for each sentence.

    Raises:
        SuiteError: columns hold something else than their names say.
    """
    if wrong := _wrong_columns(table):
        raise unusable(path, [*faults, *wrong])
    single = table.find("condition")
    if single and table.find("item") and not _several_conditions(table):
        table = table.with_cells({k: v for k, v in table.cells.items() if k != single})
    said, roles, form = list[Fault](), dict[str, Sequence[str]](), None
    if not (rating_column(table) or columns_of_people(table)):
        forms = forms_of(table, LABELED.name, needs=LABELED.needs)
        form = forms[0] if forms else None
        label, _ = label_column(table)
        roles = {LABEL: [label]} if label else {}
        table, said = with_label(table)
    named = (0, 1) if said else ends_named(rating_column(table))
    if not named and (percent := _percentages(table)):
        named, said = _PERCENT, [percent]
    said += unread_contexts(table)
    whole = table
    table, spread, of_spread = with_spread(table)
    roles |= {role: [name] for role, name in of_spread.items()}
    table, joined, of_people = gathered_ratings(table)
    roles |= of_people
    return _Arranged(
        whole=whole, table=table, scale=named, faults=[*said, *spread, *joined], roles=roles,
        form=form, design=design_of(table),
    )  # fmt: skip


_PERCENT = (0, 100)


def _percentages(table: Table) -> Fault | None:
    """What is said of ratings with percent signs, whose scale they name; None for others."""
    rating = rating_column(table)
    cells = [*filter(None, table.stripped(rating))] if rating else []
    if not (cells and all(cell.endswith("%") or is_absent(cell) for cell in cells)):
        return None
    seen = f"The column {rating!r} holds percentages: its scale is from 0 to 100."
    return fault("CIM-S065", where=table.name, seen=seen)


_FEWEST_IDS = 8


def _wrong_columns(table: Table) -> list[Fault]:
    """The faults of columns that are named for sentences or ratings and hold something else."""
    sentence, rating = sentence_column(table), rating_column(table)
    faults = [*wrong_kind(table, [sentence]), *not_text(table, [sentence])]
    if not rating:
        return faults
    of_column = table.profile(rating)
    if of_column.kind == "moments":
        seen = f"The column {rating!r} holds dates or times, and no ratings."
        faults.append(fault("CIM-S081", where=table.name, seen=seen))
    elif of_column.numbers_rows and of_column.n >= _FEWEST_IDS:
        seen = f"The column {rating!r} numbers the rows, and holds no ratings."
        faults.append(fault("CIM-S081", where=table.name, seen=seen))
    return faults


_MOST_ODD = 0.1
"""Largest proportion of judgments that are mistakes among those of two kinds."""


def _odd_mark(table: Table, *, in_pairs: bool = False) -> Fault | None:
    """The fault of the few cells that are not a judgment, where all others are one of two.

    Args:
        table: of sentences and judgments.
        in_pairs: whether each item has two sentences, so that an empty cell is a mistake too, and
            two numbers are judgments.
    """
    column = rating_column(table)
    cells = [cell.strip() for cell in table.cells[column]]
    two = [mark for mark, _ in Counter(filter(None, cells)).most_common(2)]
    odd = [row for row, cell in enumerate(cells) if cell not in two and (cell or in_pairs)]
    if not (odd and sides_of(column, two)) or len(odd) > max(1, _MOST_ODD * len(cells)):
        return None
    has_degrees = is_judgments([*two, *(cells[row] for row in odd)]) or not all(map(_is_word, two))
    if has_degrees and not in_pairs:
        return None
    places = [place_of_row(table.name, table.numbers[row]) for row in odd]
    seen = f"{column} is {cells[odd[0]]!r}, and {two[0]!r} or {two[1]!r} in nearly all other rows."
    return fault("CIM-S037", where=places[0], seen=seen, todo="Correct the cell.", places=places)


def _repeated(items: Sequence[Item], places: Sequence[str], table: Table) -> Fault | None:
    """The fault of a table of ratings in which an item has several sentences; None without one."""
    first = 0
    for item in items:
        count = len(item.conditions)
        if count > 1:
            break
        first += count
    else:
        return None
    column = rating_column(table)
    if slip := _odd_mark(table, in_pairs=True) or _doubled(items, places):
        return slip
    seen = (
        f"The column {column!r} makes this a suite of ratings, in which each item has one sentence;"
        f" item {item.id!r} has {count}."
    )
    pairs = pairs_advised(table, column)
    texts = table.cells[sentence_column(table) or column]
    if len({*map(str.strip, texts)}) * 2 <= len(texts):
        todo = (
            "If several people rated each sentence, add a column that says who gave each rating, or"
            " write one row for each sentence, with the mean."
        )
        return fault("CIM-S011", where=places[first], seen=seen, todo=todo)
    todo = "To have the pairs or the design of the other columns, delete that column."
    ways = [
        *([] if pairs else [todo]),
        "To correlate with the ratings, give each sentence the number of an item of its own.",
    ]
    places = places[first : first + count]
    return fault("CIM-S011", where=places[0], seen=seen, todo=" ".join(ways) + pairs, places=places)


def _doubled(items: Sequence[Item], places: Sequence[str]) -> Fault | None:
    """The fault of the few items that have several rows, where nearly all others have one."""
    counts = [len(item.conditions) for item in items]
    several = [number for number, count in enumerate(counts) if count > 1]
    if len(several) > max(1, _MOST_ODD * len(counts)) or len(counts) <= 2 * len(several):
        return None
    first = sum(counts[: several[0]])
    places = places[first : first + counts[several[0]]]
    seen = (
        f"Item {items[several[0]].id!r} has {len(places)} sentences, and nearly all other"
        " items have one."
    )
    todo = "Correct one of these cells, or delete a row that is there twice."
    return fault("CIM-S011", where=places[-1], seen=seen, todo=todo, places=places)


def _in_words(table: Table, path: Path) -> Fault | None:
    """The fault of a table whose ratings are mostly words or marks; None for numbers."""
    column = rating_column(table)
    cells = [cell.strip() for cell in table.cells[column]]
    absent = ABSENT - ({"-"} if "+" in cells else set())
    cells = ["" if cell.casefold() in absent else cell for cell in cells]
    rows = [n for n, cell in zip(table.numbers, cells, strict=True) if cell and _is_word(cell)]
    counts = Counter(cell for cell in cells if cell and _is_word(cell))
    if len(rows) < 2 or 2 * len(rows) <= sum(map(bool, cells)):  # noqa: PLR2004  # no slip
        return None
    seen = ", ".join(f"{cell!r} ({count})" for cell, count in counts.most_common(_SHOWN))
    more = f" and {len(counts) - _SHOWN} others" if len(counts) > _SHOWN else ""
    as_pairs = " For pairs, give both sentences of a pair one number in a column item."
    if not sides_of(column, cells):
        as_pairs = ""
    return fault(
        "CIM-S037",
        where=f"{place_of_row(path.name, rows[0])}, column {column}",
        seen=f"Judgments are words or marks, and not numbers: {seen}{more}.",
        todo=f"{advice_on(counts, has_blanks=not all(cells))}{as_pairs}",
    )


_SHOWN = 6
"""Largest number of different words or marks that a message lists."""


def _is_word(cell: str) -> bool:
    return not any(map(str.isdigit, cell))


def _without_scale(given: Sequence[float], table: Table, path: Path) -> Fault:
    """The fault of a table whose ratings do not differ, or that has none."""
    column = rating_column(table) or "rating"
    return fault(
        "CIM-S003",
        where=f"{path.name}: column {column}",
        seen=f"The ratings are all {given[0]:g}." if given else "No sentence has a rating.",
        todo="A run correlates a model's values with the ratings, so the ratings must differ: check"
        " that this is the column of ratings, and add sentences that are better or worse.",
    )
