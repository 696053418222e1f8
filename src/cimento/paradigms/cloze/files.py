"""Files of cloze suites: checked until one can be used or all faults are known, and written.

The native format is written without loss: tables have tabs and no quoting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from cimento.errors import Fault, InputError, SuiteError
from cimento.faults import errors
from cimento.intake.reading import TableReading
from cimento.io.files import file_digest, write_text
from cimento.io.templates import filled
from cimento.io.values import grouped
from cimento.kinds.base import SuiteReading
from cimento.paradigms.cloze.cluster_checks import cluster_faults, second_cloze_factors
from cimento.paradigms.cloze.codes import cloze_fault
from cimento.paradigms.cloze.connectives import is_connective_blanks, read_connective_blanks
from cimento.paradigms.cloze.detecting import SHEET, SYNTACTIC, is_released
from cimento.paradigms.cloze.judgments import parse_expectation
from cimento.paradigms.cloze.own_tables import read_item_table, read_own_folder
from cimento.paradigms.cloze.portuguese import read_multiwords, read_released_sheet, read_templates
from cimento.paradigms.cloze.reading import ITEMS, SEEDS, mark_between
from cimento.paradigms.cloze.row_checks import WITH_ROWS
from cimento.suites import JsonValue, Meta
from cimento.suites.checks.notation import Lines, notation
from cimento.suites.checks.wording import letter_faults, mixed_apostrophes
from cimento.suites.cloze import (
    EXPECTED,
    ROLES,
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    Option,
    OptionRole,
    SharedForm,
    Template,
    expand_suite,
)
from cimento.suites.formats.lm_eval import ChoiceTask
from cimento.suites.formats.native import meta_table
from cimento.suites.letters import one_spelling
from cimento.suites.reading import TOML

_SHOWN = 5
"""Ids of items that a fault names."""
_Record = Mapping[str, str]

_CODES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}


def load_cloze(path: Path) -> ClozeSuite:
    """One suite of kind ``cloze`` or ``templates`` that can be used.

    Args:
        path: a suite folder, its suite.toml, a table of items that stands alone, a file of the
            Brazilian study, or the cloze section of the connectives resource.

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
        path: a suite folder, its suite.toml, a table of items that stands alone, a file of the
            Brazilian study, or the cloze section of the connectives resource.

    Raises:
        InputError: the path does not exist or may not be read.
    """
    folder = path.parent if path.name == TOML else path
    read: Callable[[Path], SuiteReading[ClozeSuite]] = read_item_table
    if folder.is_dir():
        read = read_own_folder
    elif is_released(folder):
        read = read_released
    elif is_connective_blanks(folder):
        read = read_connective_blanks
    try:
        reading = read(folder)
    except SuiteError as error:
        return SuiteReading(suite=None, faults=error.faults, sha256="", path=path)
    known = {fault.code for fault in reading.faults} & WITH_ROWS
    faults = () if reading.suite is None else check_cloze(reading.suite)
    faults = tuple(fault for fault in faults if fault.code not in known)
    return replace(reading, faults=(*reading.faults, *faults), path=path)


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
        items = tuple(instance.item for instance in read_released_sheet(path)[0])
        suite = ClozeSuite(meta, items=items, cluster="template")
    else:
        suite = ClozeSuite(meta, items=tuple(read_multiwords(path)), cluster="expression")
    read = TableReading(
        shape=f"a file of the Brazilian study ({path.name})",
        roles={},
        n_items=suite.n_written,
        what="template" if suite.templates else "item",
    )
    return SuiteReading(suite=suite, faults=(), sha256=file_digest(path), path=path, table=read)


def check_cloze(suite: ClozeSuite) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes."""
    expansion = expand_suite(suite)
    faults = [
        *_check_templates(suite.templates),
        *_check_multiwords(suite.multiwords),
        *_check_shared(expansion.shared),
        *_check_items(expansion.items),
        *_check_bars(expansion.items),
        *_check_notation(expansion.items),
        *_check_letters(suite),
    ]
    if not expansion.items and not any(fault.code == "CIM-C002" for fault in faults):
        faults.append(cloze_fault("CIM-C009", where=suite.name, seen="The suite has no items."))
    if not suite.meta.language:
        seen = "The suite does not name a language."
        faults.append(cloze_fault("CIM-C010", where=suite.name, seen=seen))
    faults += [*cluster_faults(suite), *second_cloze_factors(suite)]
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
        elif words == 1 != len(item.expression.split()):
            seen = f"Only one word is marked in {item.text!r}."
        elif not all(word.strip() for word in item.words):
            seen = f"There are braces with no word in {item.text!r}."
        else:
            continue
        yield cloze_fault("CIM-C006", where=f"item {item.id!r}", seen=seen)


def _check_shared(shared: Iterable[SharedForm]) -> Iterator[Fault]:
    forms = grouped(
        (seed.template, f"{seed.form} ({', '.join(seed.categories)})") for seed in shared
    )
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
        spellings = (text for option in item.options for text in _as_compared(option))
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


def _as_compared(option: Option) -> set[str]:
    """The spellings of an option as they are compared with others."""
    return set(map(one_spelling, option.spellings))


def _check_letters(suite: ClozeSuite) -> Iterator[Fault]:
    """Invisible characters, separate accents and mixed apostrophes, each text looked at once."""
    texts = [(f"item {item.id!r}", "", item.text) for item in suite.items]
    texts += [(f"item {item.id!r}", "", item.text) for item in suite.multiwords]
    options = [(f"item {item.id!r}", item.options) for item in suite.items]
    for template in suite.templates:
        where = f"template {template.id!r}"
        texts += [(where, "", sentence.text) for sentence in template.sentences]
        texts += [(where, "", form) for seeds in template.seeds for form in seeds.forms]
        options.append((where, template.options))
        options += [(where, seeds.options) for seeds in template.seeds]
    spelled = [
        (where, f"The {_OPTION_NAMES[option.role]}", text)
        for where, several in options
        for option in several
        for text in option.spellings
    ]
    for where, what, text in dict.fromkeys([*texts, *spelled]):
        yield from letter_faults(text, where, what=what)
    # Other spellings of an option are given to count as equal.
    texts += [(where, "", option.text) for where, several in options for option in several]
    yield from mixed_apostrophes([text for _, _, text in texts], lambda number: texts[number][0])


_OPTION_NAMES: Mapping[OptionRole, str] = {
    "target": "target", "plausible": "plausible option", "implausible": "implausible option",
}  # fmt: skip


def _check_bars(items: Sequence[ClozeItem]) -> Iterator[Fault]:
    """An option that looks like several, in a suite that has no role with several options."""
    others = [
        (item, option)
        for item in items
        for option in item.options
        if mark_between(option.spellings[0])
    ]
    roles = (Counter(option.role for option in item.options) for item in items)
    if others and all(count == 1 for counts in roles for count in counts.values()):
        item, option = others[0]
        seen = f"{option.spellings[0]!r} is one option, and no item has a bar between options."
        yield cloze_fault("CIM-C017", where=f"item {item.id!r}", seen=seen)


def _check_notation(items: Sequence[ClozeItem]) -> list[Fault]:
    """What is in texts or in options and is not part of them, such as judgment marks.

    The texts of a suite are compared with one another, and the options of an item by their roles.
    """
    places = [f"item {item.id!r}" for item in items]
    texts = Lines([item.text for item in items], ["text"] * len(items), places, places)
    options = [
        (item, option.role, text)
        for item in items
        for option in item.options
        for text in option.spellings
    ]
    told = Lines(
        texts=[text for _, _, text in options],
        conditions=[role for _, role, _ in options],
        items=[item.id for item, _, _ in options],
        places=[f"item {item.id!r}, {role} {text!r}" for item, role, text in options],
    )
    return [*notation(texts), *notation(told)]


def write_cloze(suite: ClozeSuite, folder: Path) -> Path:
    """Write a suite as a folder with suite.toml, items.tsv and, where there are seeds, seeds.tsv.

    Raises:
        StorageError: the folder cannot be written.
    """
    import tomli_w

    write_text(tomli_w.dumps(_settings(suite)), folder / TOML)
    sets = _named_sets(suite.templates)
    items = [
        *map(_item, suite.items),
        *map(_multiword, suite.multiwords),
        *(row for template in suite.templates for row in _template(template, sets)),
    ]
    write_text(as_tsv(items), folder / f"{ITEMS}.tsv")
    seeds = _seeds(suite.templates, sets)
    if seeds:
        write_text(as_tsv(seeds), folder / f"{SEEDS}.tsv")
    else:
        (folder / f"{SEEDS}.tsv").unlink(missing_ok=True)
    return folder


def as_tsv(rows: Iterable[_Record]) -> str:
    """Rows whose cells are written already as a table with a header line."""
    records = list(rows)
    columns = list(dict.fromkeys(name for row in records for name in row))
    lines = [columns, *([row.get(name, "") for name in columns] for row in records)]
    return "".join("\t".join(line) + "\n" for line in lines)


def _settings(suite: ClozeSuite) -> dict[str, JsonValue]:
    meta = {**meta_table(suite.meta), **suite.meta.extra}
    settings: dict[str, JsonValue] = {"kind": suite.kind, "meta": meta}
    if suite.cluster:
        columns: list[JsonValue] = [*suite.cluster]
        settings["options"] = {"cluster": columns if len(columns) > 1 else columns[0]}
    return {**settings, **suite.extra}


def _item(item: ClozeItem) -> _Record:
    return {
        "item": write_cell(item.id),
        "text": write_blank(item.before, item.after),
        **_answers(item.options, none=item.none_option),
        **_free(item.columns),
    }


def _multiword(item: MultiwordItem) -> _Record:
    return {
        "item": write_cell(item.id),
        "expression": write_cell(item.expression),
        "text": write_cell(item.text, signs="_"),
        **_free(item.columns),
    }


def _template(template: Template, sets: Mapping[str, str]) -> list[_Record]:
    named = sets.get(template.id, template.id)
    return [
        {
            "item": write_cell(template.id),
            "text": write_blank(sentence.before, sentence.after),
            **({"seeds": write_cell(named)} if named != template.id else {}),
            **_answers(template.options, none=template.none_option),
            **_free({**template.columns, **sentence.columns}),
        }
        for sentence in template.sentences
    ]


def _named_sets(templates: Sequence[Template]) -> dict[str, str]:
    """Each template with seeds to the first template that has the same ones."""
    by_template: dict[str, str] = {}
    for number, template in enumerate(templates):
        if template.seeds:
            same = (first.id for first in templates[: number + 1] if first.seeds == template.seeds)
            by_template[template.id] = next(same)
    return by_template


def _seeds(templates: Sequence[Template], sets: Mapping[str, str]) -> list[_Record]:
    return [
        {
            "set": write_cell(template.id),
            "category": write_cell(seed.category),
            "form": write_cell(form),
            **_answers(seed.options, none=False),
            **_free(seed.columns),
        }
        for template in templates
        if sets.get(template.id) == template.id
        for seed in template.seeds
        for form in seed.forms
    ]


def _answers(options: Sequence[Option], *, none: bool) -> dict[str, str]:
    cells = {
        role: write_options(option for option in options if option.role == role) for role in ROLES
    }
    return {
        **{role: cell for role, cell in cells.items() if cell},
        **({"none": "yes"} if none else {}),
    }


def _free(columns: Mapping[str, str]) -> dict[str, str]:
    return {name: write_cell(text) for name, text in columns.items() if text}


# --- Cells


def write_cell(text: str, *, signs: str = "") -> str:
    """A text as a cell.

    Args:
        text: anything.
        signs: those that would mean something in this cell.
    """
    return _end(_start(_coded(text, signs)))


def write_blank(before: str, after: str) -> str:
    """A text with its blank as a cell."""
    return f"{_start(_coded(before, '_{}'))}___{_end(_coded(after, '_{}'))}"


def write_options(options: Iterable[Option]) -> str:
    """Options of one role as a cell."""
    return " | ".join(
        "/".join(write_cell(text, signs="|/") or "\\e" for text in option.spellings)
        for option in options
    )


def _coded(text: str, signs: str) -> str:
    return "".join(
        _CODES.get(character) or (f"\\{character}" if character in signs else character)
        for character in text
    )


def _start(cell: str) -> str:
    return "\\s" + cell[1:] if cell.startswith(" ") else cell


def _end(cell: str) -> str:
    return cell[:-1] + "\\s" if cell.endswith(" ") else cell


def choice_task(suite: ClozeSuite) -> ChoiceTask:
    """The blanks of a suite that have options, as a task of lm-evaluation-harness.

    The prompt is what comes before a blank, and a text is an option with what comes after it, so
    that the order of the texts is that of the filled sentences.

    Raises:
        InputError: no blank has options with a target among them.
    """
    rows: list[dict[str, JsonValue]] = []
    for item in expand_suite(suite).items:
        roles = [option.role for option in item.options]
        if len(roles) > 1 and roles.count("target") == 1:
            prompt = item.before.rstrip()
            blank = item.before[len(prompt) :]
            choices = [f"{blank}{option.text}{item.after}" for option in item.options]
            rows.append(
                {
                    **item.columns,
                    "item": item.id,
                    "prompt": prompt,
                    "choices": [*choices],
                    "gold": roles.index("target"),
                }
            )
    if not rows:
        raise InputError(
            where=f"suite {suite.name!r}",
            seen="no blank has one target and other options, so there is nothing to choose among",
            todo="Add options; the harness cannot ask for open candidates.",
        )
    return ChoiceTask(suite.name, tuple(rows))
