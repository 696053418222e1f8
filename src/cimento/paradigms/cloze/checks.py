"""Checks of a cloze suite: from a path to one that can be used, or to everything wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import Fault, InputError, SuiteError
from cimento.io.parsing import filled
from cimento.paradigms.base import SuiteReading
from cimento.paradigms.cloze.judgments import EXPECTED, parse_expectation
from cimento.paradigms.cloze.portuguese import is_released, read_released
from cimento.paradigms.cloze.reading import TOML, fault, read_folder, read_item_table
from cimento.paradigms.cloze.suite import (
    ClozeItem,
    ClozeSuite,
    Expansion,
    MultiwordItem,
    Template,
    expand_suite,
)
from cimento.suites.faults import errors, warnings


@dataclass(frozen=True, slots=True)
class LoadedCloze:
    """A cloze suite with what is known about where it came from.

    Attributes:
        suite: without faults that would keep it from being used.
        warnings: other faults, as reading and checking found them.
        sha256: of the bytes read, hexadecimal.
        path: file or folder.
    """

    suite: ClozeSuite
    warnings: tuple[Fault, ...]
    sha256: str
    path: Path


def load_cloze(path: Path) -> LoadedCloze:
    """Read and check one suite of kind ``cloze`` or ``templates``.

    Args:
        path: a suite folder, its suite.toml, a table of items that stands alone, or a file of the
            Brazilian study.

    Raises:
        InputError: the path does not exist or may not be read.
        SuiteError: the suite has faults; the error carries all of them.
    """
    reading = read_cloze(path)
    found = reading.faults
    if reading.suite is None or errors(found):
        raise SuiteError(where=str(path), faults=found)
    return LoadedCloze(reading.suite, warnings(found), reading.sha256, path)


def read_cloze(path: Path) -> SuiteReading[ClozeSuite]:
    """Read one suite of kind ``cloze`` or ``templates``, and say what is wrong with it.

    Args:
        path: a suite folder, its suite.toml, a table of items that stands alone, or a file of the
            Brazilian study.

    Raises:
        InputError: the path does not exist or may not be read.
    """
    try:
        reading = _read(path)
    except SuiteError as error:
        return SuiteReading(suite=None, faults=error.faults, sha256="", path=path)
    faults = () if reading.suite is None else check_cloze(reading.suite)
    return replace(reading, faults=(*reading.faults, *faults), path=path)


def _read(path: Path) -> SuiteReading[ClozeSuite]:
    if path.name == TOML:
        path = path.parent
    if is_released(path):
        return read_released(path)
    return read_folder(path) if path.is_dir() else read_item_table(path)


_SHOWN = 5


def check_cloze(suite: ClozeSuite) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes."""
    expansion = expand_suite(suite)
    found = [
        *_check_templates(suite.templates),
        *_check_multiwords(suite.multiwords),
        *_check_ids(expansion),
        *_check_options(expansion.items),
        *_check_shared(expansion),
        *_check_expectations(expansion.items),
        *_check_texts(expansion.items),
        *_check_clusters(suite, expansion.items),
    ]
    if not expansion.items:
        found.append(fault("CIM-C009", where=suite.name, seen="The suite has no items."))
    if not suite.meta.language:
        found.append(
            fault("CIM-C010", where=suite.name, seen="The suite does not name a language.")
        )
    return tuple(sorted(found, key=lambda each: each.code))


def _check_templates(templates: Iterable[Template]) -> Iterator[Fault]:
    for template in templates:
        where = f"template {template.id!r}"
        marked = [sentence for sentence in template.sentences if sentence.has_seed]
        forms = [form for each in template.seeds for form in each.forms]
        said = [form for form in forms if form]
        if marked and not forms:
            seen = f"There is a <SEED> in {marked[0].text!r} and no forms to put there."
            yield fault("CIM-C002", where=where, seen=seen)
        if said and not marked:
            seen = f"There are {len(said)} forms and no sentence with a <SEED>."
            yield fault("CIM-C003", where=where, seen=seen)
        for each in template.seeds:
            for form, times in Counter(each.forms).items():
                if times > 1:
                    seen = f"The form {form!r} is {times} times in the category {each.category!r}."
                    yield fault("CIM-C011", where=where, seen=seen)


def _check_multiwords(items: Iterable[MultiwordItem]) -> Iterator[Fault]:
    for item in items:
        where = f"item {item.id!r}"
        braces = item.text.count("{"), item.text.count("}")
        if len(item.words) != braces[0] or braces[0] != braces[1]:
            seen = f"The braces in {item.text!r} do not pair up."
            yield fault("CIM-C006", where=where, seen=seen)
        elif len(item.words) == 1:
            seen = f"Only one word is marked in {item.text!r}."
            yield fault("CIM-C006", where=where, seen=seen)
        elif not all(word.strip() for word in item.words):
            seen = f"There are braces with no word in {item.text!r}."
            yield fault("CIM-C006", where=where, seen=seen)


def _check_ids(expansion: Expansion) -> Iterator[Fault]:
    for name, times in Counter(item.id for item in expansion.items).items():
        if times > 1:
            seen = f"The id is there {times} times."
            yield fault("CIM-C004", where=f"item {name!r}", seen=seen)


def _check_options(items: Iterable[ClozeItem]) -> Iterator[Fault]:
    for item in items:
        texts = Counter(text for option in item.options for text in set(option.spellings))
        for text, times in texts.items():
            if times > 1:
                seen = f"{text!r} is {times} of its options."
                yield fault("CIM-C007", where=f"item {item.id!r}", seen=seen)


def _check_shared(expansion: Expansion) -> Iterator[Fault]:
    forms: dict[str, list[str]] = {}
    for each in expansion.shared:
        told = f"{each.form} ({', '.join(each.categories)})"
        forms.setdefault(each.template, []).append(told)
    for template, shared in forms.items():
        seen = f"{len(shared)} of its forms are in several categories: {'; '.join(shared)}."
        yield fault("CIM-C012", where=f"template {template!r}", seen=seen)


def _check_expectations(items: Iterable[ClozeItem]) -> Iterator[Fault]:
    for item in items:
        text = item.columns.get(EXPECTED, "")
        if not text:
            continue
        try:
            parse_expectation(filled(text, item.columns))
        except (InputError, KeyError, ValueError) as error:
            told = f"{error.seen}." if isinstance(error, InputError) else ""
            seen = told or f"{text!r} names no column."
            yield fault("CIM-C013", where=f"item {item.id!r}", seen=seen)


def _check_texts(items: Iterable[ClozeItem]) -> Iterator[Fault]:
    seen_before: dict[tuple[str, str], str] = {}
    for item in items:
        if "  " in item.text:
            seen = f"There are several blanks in a row in {item.text!r}."
            yield fault("CIM-C015", where=f"item {item.id!r}", seen=seen)
        first = seen_before.setdefault((item.before, item.after), item.id)
        if first != item.id:
            seen = f"Its text is that of item {first!r}: {item.text!r}."
            yield fault("CIM-C016", where=f"item {item.id!r}", seen=seen)


def _check_clusters(suite: ClozeSuite, items: Iterable[ClozeItem]) -> Iterator[Fault]:
    if not suite.cluster:
        return
    without = [item.id for item in items if suite.cluster not in item.columns]
    if without:
        shown = ", ".join(map(repr, without[:_SHOWN]))
        seen = f"The column {suite.cluster!r} is missing in {len(without)} items: {shown}."
        yield fault("CIM-C014", where="suite.toml [options] cluster", seen=seen)
