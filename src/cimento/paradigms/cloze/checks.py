"""Checks of a cloze suite: from a path to one that can be used, or to everything wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from cimento.errors import Fault, InputError, SuiteError, counted
from cimento.io.files import file_digest
from cimento.io.parsing import filled
from cimento.paradigms.base import SuiteReading
from cimento.paradigms.cloze.judgments import EXPECTED, parse_expectation
from cimento.paradigms.cloze.portuguese import (
    MULTIWORD,
    SHEET,
    SYNTACTIC,
    read_multiwords,
    read_sheet,
    read_templates,
)
from cimento.paradigms.cloze.reading import (
    TOML,
    cloze_fault,
    read_folder,
    read_item_table,
)
from cimento.paradigms.cloze.suite import (
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    SharedForm,
    Template,
    expand_suite,
)
from cimento.suites.model import Meta
from cimento.suites.reading import errors

_SHOWN = 5
"""Ids of items that a fault names."""


def load_cloze(path: Path) -> ClozeSuite:
    """One suite of kind ``cloze`` or ``templates`` that can be used.

    Args:
        path: a suite folder, its suite.toml, a table of items that stands alone, or a file of the
            Brazilian study.

    Raises:
        InputError: the path does not exist or may not be read.
        SuiteError: the suite has faults; the error carries all of them.
    """
    reading = read_cloze(path)
    if reading.suite is None or errors(reading.faults):
        raise SuiteError(where=str(path), faults=reading.faults)
    return reading.suite


def read_cloze(path: Path) -> SuiteReading[ClozeSuite]:
    """Read one suite of kind ``cloze`` or ``templates``, and say what is wrong with it.

    Args:
        path: a suite folder, its suite.toml, a table of items that stands alone, or a file of the
            Brazilian study.

    Raises:
        InputError: the path does not exist or may not be read.
    """
    folder = path.parent if path.name == TOML else path
    read = read_folder if folder.is_dir() else read_item_table
    try:
        reading = read_released(path) if is_released(path) else read(folder)
    except SuiteError as error:
        return SuiteReading(suite=None, faults=error.faults, sha256="", path=path)
    faults = () if reading.suite is None else check_cloze(reading.suite)
    return replace(reading, faults=(*reading.faults, *faults), path=path)


def is_released(path: Path) -> bool:
    """Whether a file is one of the study's whose items can be asked, by its name."""
    return path.name in {SHEET, SYNTACTIC, MULTIWORD} and path.is_file()


def read_released(path: Path) -> SuiteReading[ClozeSuite]:
    """The templates, their instances or the multiword items of the study, as a suite.

    Args:
        path: the sheet of judgments, or one of the notebooks.

    Raises:
        InputError: it cannot be used.
    """
    meta = Meta(path.stem, language="pt")
    if path.name == SYNTACTIC:
        suite = ClozeSuite(meta, templates=tuple(read_templates(path)), cluster="template")
    elif path.name == SHEET:
        items = tuple(instance.item for instance in read_sheet(path)[0])
        suite = ClozeSuite(meta, items=items, cluster="template")
    else:
        suite = ClozeSuite(meta, items=tuple(read_multiwords(path)), cluster="expression")
    return SuiteReading(suite=suite, faults=(), sha256=file_digest(path), path=path)


def check_cloze(suite: ClozeSuite) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes."""
    expansion = expand_suite(suite)
    faults = [
        *_check_templates(suite.templates),
        *_check_multiwords(suite.multiwords),
        *_check_shared(expansion.shared),
        *_check_items(expansion.items),
    ]
    if not expansion.items:
        faults.append(cloze_fault("CIM-C009", where=suite.name, seen="The suite has no items."))
    if not suite.meta.language:
        seen = "The suite does not name a language."
        faults.append(cloze_fault("CIM-C010", where=suite.name, seen=seen))
    without = [item.id for item in expansion.items if suite.cluster not in item.columns]
    if suite.cluster and without:
        shown = ", ".join(map(repr, without[:_SHOWN]))
        seen = (
            f"The column {suite.cluster!r} is missing in {counted(len(without), 'item')}: {shown}."
        )
        faults.append(cloze_fault("CIM-C014", where="suite.toml [options] cluster", seen=seen))
    return tuple(sorted(faults, key=attrgetter("code")))


def _check_templates(templates: Iterable[Template]) -> Iterator[Fault]:
    for template in templates:
        where = f"template {template.id!r}"
        marked = [sentence for sentence in template.sentences if sentence.has_seed]
        forms = [form for seeds in template.seeds for form in seeds.forms]
        written = len(list(filter(None, forms)))
        if marked and not forms:
            seen = f"There is a <SEED> in {marked[0].text!r} but no forms to put there."
            yield cloze_fault("CIM-C002", where=where, seen=seen)
        if written and not marked:
            seen = "There are forms but no sentence with a <SEED>."
            yield cloze_fault("CIM-C003", where=where, seen=seen)
        for seeds in template.seeds:
            for form, times in _repeated(seeds.forms):
                seen = f"The form {form!r} is listed {times} times under {seeds.category!r}."
                yield cloze_fault("CIM-C011", where=where, seen=seen)


def _repeated(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Those that are there more than once, and how often."""
    return [(text, times) for text, times in Counter(texts).items() if times > 1]


def _check_multiwords(items: Iterable[MultiwordItem]) -> Iterator[Fault]:
    for item in items:
        words, opened = len(item.words), item.text.count("{")
        if not words == opened == item.text.count("}"):
            seen = f"The braces in {item.text!r} do not pair up."
        elif words == 1:
            seen = f"Only one word is marked in {item.text!r}."
        elif not all(word.strip() for word in item.words):
            seen = f"There are braces with no word in {item.text!r}."
        else:
            continue
        yield cloze_fault("CIM-C006", where=f"item {item.id!r}", seen=seen)


def _check_shared(shared: Iterable[SharedForm]) -> Iterator[Fault]:
    forms: dict[str, list[str]] = {}
    for seed in shared:
        shown = f"{seed.form} ({', '.join(seed.categories)})"
        forms.setdefault(seed.template, []).append(shown)
    for template, shown_forms in forms.items():
        listed = "; ".join(shown_forms)
        seen = f"These forms are in several categories: {listed}."
        yield cloze_fault("CIM-C012", where=f"template {template!r}", seen=seen)


def _check_items(items: Sequence[ClozeItem]) -> Iterator[Fault]:
    for name, times in _repeated(item.id for item in items):
        yield cloze_fault("CIM-C004", where=f"item {name!r}", seen=f"The id is used {times} times.")
    first_with: dict[tuple[str, str], str] = {}
    for item in items:
        where = f"item {item.id!r}"
        spellings = (text for option in item.options for text in set(option.spellings))
        for text, times in _repeated(spellings):
            yield cloze_fault(
                "CIM-C007", where=where, seen=f"{text!r} is listed under {times} roles."
            )
        expected = item.columns.get(EXPECTED, "")
        try:
            if expected:
                parse_expectation(filled(expected, item.columns))
        except (InputError, KeyError, ValueError) as error:
            unread = f"{error.seen}." if isinstance(error, InputError) else ""
            seen = unread or f"{expected!r} names a column that does not exist."
            yield cloze_fault("CIM-C013", where=where, seen=seen)
        if "  " in item.text:
            seen = f"There are several spaces in a row in {item.text!r}."
            yield cloze_fault("CIM-C015", where=where, seen=seen)
        first = first_with.setdefault((item.before, item.after), item.id)
        if first != item.id:
            seen = f"Its text is that of item {first!r}: {item.text!r}."
            yield cloze_fault("CIM-C016", where=where, seen=seen)
