"""Tables of minimal pairs with the mean rating of each sentence beside them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cimento.errors import SuiteError
from cimento.faults import errors
from cimento.intake.decoding import unusable
from cimento.intake.names import split_side, without_noun
from cimento.intake.reading import with_role
from cimento.intake.roles import fits
from cimento.intake.scale_ends import ends_named
from cimento.intake.sheets import read_sheet
from cimento.intake.table import Table
from cimento.intake.tables import RECORDS, SUFFIXES, read_header
from cimento.intake.words import NAMES
from cimento.io.files import read_bytes
from cimento.paradigms.ratings.model_values import faults_of_model_values
from cimento.paradigms.ratings.scale_names import order_faults
from cimento.paradigms.ratings.slips import (
    assumed_faults,
    assumed_scale,
    off_named,
    unrated_faults,
)
from cimento.suites import BAD, GOOD, ItemColumns, JsonValue, Suite
from cimento.suites.builtin import RATED
from cimento.suites.formats import FORMATS, detect_format
from cimento.suites.ratings import rated_of, rating_faults
from cimento.suites.reading import Reading

_RATING = "rating"
_SIDES = (GOOD, BAD)
_WORD = re.compile(r"[^\W\d_]+")
_SCALE = re.compile(r"\s*\([^)]*\d[^)]*\)\s*$")
_WORDS = {_RATING, "mean", *(word for name in NAMES[_RATING] for word in _WORD.findall(name))}
"""The words of names of columns of ratings, of which one alone may say it beside *good*."""
_FORMATS = ("pairs", "factorial-table")
_UNREAD = "CIM-S069"
_FEWEST_GRADES = 3
"""Number of different ratings; two are judgments, which make pairs."""


def is_rated_pairs(path: Path) -> bool:
    """Whether a file is a table of pairs with one rating of each sentence beside it."""
    if path.suffix.lower() not in (*SUFFIXES, *RECORDS) or not path.is_file():
        return False
    data = read_bytes(path)
    try:
        header, _ = read_header(data, path)
        if header is None or not _proposed(header):
            return False
        whole, _ = read_sheet(data, path)
        if whole is None or not (columns := rating_columns(whole)):
            return False
        format_ = detect_format(path)
        return format_ in _FORMATS and _is_of_pairs(FORMATS[format_].read(path).suite, columns)
    except SuiteError:
        return False


def _is_of_pairs(suite: Suite, columns: Mapping[str, str]) -> bool:
    """Whether each item has two sentences that are compared, each with its own cell of ratings."""
    items = ItemColumns.of(suite.items)
    is_apart = len({*columns.values()}) == len(_SIDES)
    is_sided = not is_apart or all({*shape} == {*_SIDES} for shape in items.shapes)
    is_kept = items.free.keys() >= {*columns.values()}
    is_compared = bool(suite.predictions) and {*map(len, items.shapes)} == {len(_SIDES)}
    return is_sided and is_kept and is_compared


def rating_columns(table: Table) -> dict[str, str]:
    """The column with the ratings of each side's sentences; empty for other tables.

    The names propose columns: one for each side, such as ``rating good`` and ``Media agramm.``, or
    one for both where a column has the condition. The cells decide: numbers of three kinds or
    more that may be ratings, and not a model's values unless the name says their scale.
    """
    columns = _proposed(table)
    if not all(fits(table, name, _RATING) for name in columns.values()):
        return {}
    profiles = [table.profile(name) for name in columns.values()]
    if not columns or any(profile.kind != "numbers" for profile in profiles):
        return {}
    ends = [profile.low for profile in profiles] + [profile.high for profile in profiles]
    grades = {cell for name in columns.values() for cell in filter(None, table.stripped(name))}
    name = columns[GOOD]
    is_of_model = not ends_named(name) and faults_of_model_values(ends, name, table.name)
    return {} if is_of_model or len(grades) < _FEWEST_GRADES else columns


def _proposed(table: Table) -> dict[str, str]:
    """The columns that are called as the ratings of each side; empty if none or several are."""
    if table.find("condition"):
        named = [table.find(_RATING), *filter(_is_rating, table.columns)]
        both = list(dict.fromkeys(filter(None, named)))[:1]
        return dict.fromkeys(_SIDES, both[0]) if both else {}
    sides: dict[str, list[str]] = {GOOD: [], BAD: []}
    for name in table.columns:
        side, rest = split_side(_SCALE.sub("", name)) or ("", "")
        if side and _is_rating(rest):
            sides[side].append(name)
    return {side: names[0] for side, names in sides.items()} if _one_each(sides) else {}


def _one_each(sides: Mapping[str, list[str]]) -> bool:
    return all(len(names) == 1 for names in sides.values())


def _is_rating(name: str) -> bool:
    """Whether all words of a name, without the scale and the word for sentences, say *rating*."""
    words = _WORD.findall(without_noun(_SCALE.sub("", name)))
    return bool(words) and _WORDS.issuperset(words)


def read_rated_pairs(path: Path) -> Reading:
    """Pairs with mean ratings as a suite of ratings, on the scale that a name states or assumed.

    Raises:
        InputError: the file is not readable.
        SuiteError: the table has faults, or a rating is not on the scale.
    """
    table, _ = read_sheet(read_bytes(path), path)
    reading = FORMATS[detect_format(path)].read(path)
    if table is None or errors(reading.faults):
        raise unusable(path, reading.faults)
    columns = rating_columns(table)
    name = columns[GOOD]
    faults = [fault for fault in reading.faults if fault.code != _UNREAD]
    suite = _on_scale(
        _with_ratings(reading.suite, columns), -sys.float_info.max, sys.float_info.max
    )
    if wrong := rating_faults(suite, places=reading.places):
        raise unusable(path, [*faults, *wrong])
    # Both sentences of a pair may be in one row.
    rated = {
        f"{place}, {condition.name}": sentence
        for place, (_, condition), sentence in zip(
            reading.places, suite.stimuli(), rated_of(suite).sentences, strict=True
        )
    }
    given = [value for sentence in rated.values() for value in sentence.given]
    named, order = ends_named(name), order_faults(table, name, given)
    if wrong := [*off_named(rated, named), *errors(order)]:
        raise unusable(path, [*faults, *wrong])
    scale = named or assumed_scale(given)
    faults += [*order, *([] if named else assumed_faults(rated, scale, name, path.name))]
    faults += unrated_faults(rated, path.name)
    shown = [table.shown(name) for name in columns.values()]
    read = reading.table and with_role(reading.table, _RATING, shown)
    return replace(reading, suite=_on_scale(suite, *scale), faults=tuple(faults), table=read)


def _with_ratings(suite: Suite, columns: Mapping[str, str]) -> Suite:
    """A suite of pairs whose sentences have, as ``rating``, the cell of their own side's column."""
    items = ItemColumns.of(suite.items)
    sides = [name for shape in items.shapes for name in shape]
    rated = [
        items.free[columns.get(side, columns[GOOD])][number] for number, side in enumerate(sides)
    ]
    free = {name: cells for name, cells in items.free.items() if name not in columns.values()}
    return replace(suite, items=replace(items, free={**free, _RATING: rated}))


def _on_scale(suite: Suite, low: float, high: float) -> Suite:
    """The suite as one of ratings on a scale."""
    extra: dict[str, JsonValue] = {"kind": RATED, "ratings": {"low": low, "high": high}}
    return replace(suite, extra={**suite.extra, **extra})
