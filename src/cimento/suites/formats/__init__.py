"""Formats of suites: detection from a path, and readers by name.

Each module reads one format, and writes it if cimento can; `cimento.suites.formats.writing` has the
writers. A reader from a plug-in is registered under the suffix of its files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeGuard

from cimento.errors import Fault, InputError, SuiteError, UsageError, did_you_mean
from cimento.intake.decoding import first_line
from cimento.intake.json_rows import has_rows
from cimento.intake.reading import TableReading
from cimento.intake.sheets import read_sheet
from cimento.intake.table import Table
from cimento.intake.tables import OTHER_WORKBOOKS, RECORDS, SUFFIXES, read_header
from cimento.io.files import read_bytes
from cimento.io.plugins import (
    PluginPackage,
    blamed,
    find_plugin,
    package_of_plugin,
    plugin_names,
    why_skipped,
)
from cimento.suites import Suite
from cimento.suites.formats import (
    blimp,
    coded_cells,
    contexts,
    endings,
    examples,
    factorial,
    lm_eval,
    native,
    pairs,
    region_rows,
    reversed_contexts,
    sentences,
    syntaxgym,
)  # fmt: skip
from cimento.suites.formats.advice import (
    both_in_one,
    is_sentence,
    names_advised,
    no_suite_advised,
    of_brackets_advised,
)
from cimento.suites.formats.words_advice import words_advised
from cimento.suites.reading import TOML, Reading
from cimento.suites.sentence_list import labels_named, list_advised, sentence_list, to_ask
from cimento.suites.shapes import choice_of, condition_columns, key_of

Reader: TypeAlias = Callable[[Path], Reading]
_READER = "a function"


def plugged_reader(suffix: str) -> Reader | None:
    """The plug-in reader of files with a suffix (``.conllu``); None without one."""
    name = _name(suffix)
    reader = find_plugin("cimento.readers", name, expected=_READER, is_right=_is_reader)
    if reader is None:
        return None

    def read(path: Path) -> Reading:
        with blamed("cimento.readers", name):
            reading = reader(path)
            if not isinstance(reading, Reading):
                raise TypeError(
                    f"it returned {type(reading).__name__!r}, and must return a cimento.Reading"
                )
            return reading

    return read


def package_of_reader(suffix: str) -> PluginPackage | None:
    """The package of the plug-in reader of files with a suffix; None where no package has one."""
    name = _name(suffix)
    return package_of_plugin("cimento.readers", name, expected=_READER, is_right=_is_reader)


def plugged_suffixes(suffixes: Iterable[str]) -> set[str]:
    """Those of some suffixes for which a plug-in has a reader, found without loading any."""
    asked = {suffix.lower() for suffix in suffixes if suffix}
    names = plugin_names("cimento.readers") if asked else frozenset()
    return {suffix for suffix in asked if _name(suffix) in names}


def _name(suffix: str) -> str:
    return suffix.lower().removeprefix(".")


def _is_reader(value: object) -> TypeGuard[Reader]:
    return callable(value)


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be read.

    Attributes:
        title: title of the format for people.
        read: the reader of a file, or of a folder in the native format.
    """

    title: str
    read: Reader


FORMATS = {
    "native": Format("a folder with suite.toml and items.tsv", native.read_native),
    "syntaxgym": Format("SyntaxGym JSON (.json)", syntaxgym.read_syntaxgym),
    "syntaxgym-rows": Format(
        "rows of SyntaxGym suites (.jsonl with suite_name and conditions)",
        region_rows.read_syntaxgym_rows,
    ),
    "syntaxgym-csv": Format(
        "a table with a region in each row, as SyntaxGym CSV (.csv with item_number,"
        " condition_name, region_number, content)",
        region_rows.read_region_rows,
    ),
    "blimp": Format("BLiMP JSONL (.jsonl with sentence_good and sentence_bad)", blimp.read_blimp),
    "pairs": Format(
        "a table with the columns good and bad, or those of MultiBLiMP, RuBLiMP and others"
        " (.tsv, .csv, .xlsx)",
        pairs.read_pairs,
    ),
    "labeled": Format(
        "a table with a sentence and its label in each row, as those of BLiMP-NL and colorless"
        " green (.csv, .tsv, .tab)",
        sentences.read_labeled,
    ),
    "choices": Format("JSONL with sentence_a, sentence_b and label (.jsonl)", pairs.read_choices),
    "clams": Format("CLAMS (.txt with True or False before each sentence)", pairs.read_clams),
    "zorro": Format("Zorro (two lines a pair, the bad one first)", pairs.read_zorro),
    "lm-eval": Format("a minimal-pair task of lm-evaluation-harness (.yaml)", lm_eval.read_lm_eval),
    "good-first": Format("two lines a pair, the good one first", pairs.read_good_first),
    examples.FORMAT: Format(
        "a list of examples, as (1a), (1b) *",
        examples.read_examples,
    ),
    "factorial": Format(
        "factorial JSONL or JSON (.jsonl with a key for each condition)", factorial.read_factorial
    ),
    "factorial-table": Format(
        "a table with the columns item, condition and sentence, or with a column for each cell of a"
        " design, as short_island (.tsv, .csv, .xlsx)",
        factorial.read_factorial_table,
    ),
    "coded-cells": Format(
        "a workbook with sentences behind codes (.xlsx)",
        coded_cells.read_coded,
    ),
    "minicons": Format(
        "a table with the columns item, condition, prefix and stimulus, or with one of these twice,"
        " as prefix_good and prefix_bad (.tsv, .csv, .xlsx)",
        sentences.read_minicons,
    ),
    "endings": Format(
        "a list of prefixes with a right and a wrong ending, as BHS's (.json)",
        endings.read_endings,
    ),
    "crossed": Format(
        "a table with the columns Context1, Context2, Target1 and Target2, as EWoK's"
        " (.csv, .jsonl, .parquet)",
        contexts.read_crossed,
    ),
    "targets": Format(
        "a table with a context, the expected word and other words in each row (.csv, .tsv, .xlsx)",
        contexts.read_targets,
    ),
    "reversed": Format(
        "a table as ROLE-88's",
        reversed_contexts.read_two_contexts,
    ),
    "choice": Format(
        "a table with the options A, B and C in each row, and a key that names the correct one"
        " (.csv, .tsv, .xlsx)",
        contexts.read_choice,
    ),
    "options": Format(
        "a table with the columns input_prefix and options, the right option first"
        " (.jsonl, .parquet)",
        contexts.read_continuations,
    ),
    "forms": Format(
        "a table with the columns sentences, two with a tab between them, and ratio"
        " (.jsonl, .parquet)",
        contexts.read_forms,
    ),
    "words": Format(
        "a table with the columns sent_index, word_index, word, region and condition "
        "(.csv, .csv.gz)",
        region_rows.read_words,
    ),
}
SUITE_SUFFIXES = (*RECORDS, ".tsv", ".csv", ".tab", ".xlsx", ".parquet")


def detect_format(path: Path) -> str:
    """The name of a path's format, detected from its suffix and content.

    The name of a format that a plug-in reads is the suffix of its files.

    Raises:
        InputError: the path does not exist or is in no known format.
        SuiteError: the file is a table that cannot be read.
    """
    if path.is_dir():
        if (path / TOML).is_file():
            return "native"
        raise _unknown(path, f"is a folder without {TOML}")
    suffix = path.suffix.lower()
    if path.name.startswith("~$"):
        todo = f"Give {path.name[2:]} itself; this file goes when the program closes it."
        raise InputError(where=str(path), seen="is the lock of an open workbook", todo=todo)
    data = read_bytes(path)
    if suffix in RECORDS:
        return _json_format(data, path)
    if suffix in lm_eval.SUFFIXES:
        return "lm-eval"
    if path.name.lower().endswith(region_rows.SUFFIX):
        return _table_format(data, path)
    if suffix in SUFFIXES:
        labeled = suffix == pairs.SUFFIX and pairs.is_clams(data)
        return "clams" if labeled else _table_format(data, path)
    if suffix in OTHER_WORKBOOKS:
        todo = "Open it in your spreadsheet program and save it as .xlsx."
        raise InputError(where=str(path), seen=f"is a workbook that ends in {suffix}", todo=todo)
    if plugged_reader(suffix) is None:
        skipped = why_skipped("cimento.readers", _name(suffix))
        seen = f"has the unknown suffix {suffix!r}" if suffix else "has no suffix"
        raise _unknown(path, f"{seen}, since {skipped}" if skipped else seen)
    return suffix


def _json_format(data: bytes, path: Path) -> str:
    """The format of a JSON or JSON Lines file, by its keys."""
    if region_rows.is_rows(data):
        return "syntaxgym-rows"
    if pairs.is_choices(data):
        return "choices"
    if endings.is_endings(data):
        return "endings"
    default = "syntaxgym" if path.suffix.lower() == ".json" else "blimp"
    if default == "blimp" and blimp.is_blimp(first_line(data)):
        return default
    if default == "syntaxgym" and b'"region_meta"' in data:  # it may be one long line
        return default
    table, faults = read_header(data, path)
    name = "" if table is None else _named_format(table, data, path)
    # A design has a key for each condition, which may look like the two sides of a pair.
    name = name or ("factorial" if factorial.is_factorial(data) else "")
    is_pair = table is not None and any(map(table.find, blimp.SENTENCES.values()))
    if not (name or is_pair) and table is not None and has_rows(data):
        whole, more = read_sheet(data, path)
        raise _no_known_table(whole or table, more or faults, data, path)
    return name or default


def _named_format(table: Table, data: bytes, path: Path) -> str:
    """The format of a table by its names, and by its cells where these decide; empty for none.

    Args:
        table: the table, which may lack its rows.
        data: the content of the file.
        path: its name.
    """
    name = _fitting(table)
    if name in ("pairs", "minicons", "") and pairs.depends_on_cells(table):
        whole, _ = read_sheet(data, path)
        return _fitting(whole) if whole is not None else ""
    return name


def _fitting(table: Table) -> str:
    if table.conditions:
        return "factorial-table"
    return next((name for name, fits in _TABLES.items() if fits(table)), "")


_TABLES: Mapping[str, Callable[[Table], bool]] = {
    "reversed": lambda table: reversed_contexts.form_of_table(table) is not None,
    "syntaxgym-csv": region_rows.is_region_rows,
    "minicons": sentences.is_minicons,
    "pairs": pairs.is_pair_table,
    "labeled": sentences.is_labeled_table,
    "words": region_rows.is_words_table,
    "factorial-table": factorial.is_factorial_table,
    "crossed": lambda table: bool(contexts.crossed_columns(table)),
    "options": lambda table: table.has(*contexts.OPTION_COLUMNS),
    "forms": lambda table: table.has(*contexts.FORM_COLUMNS),
}
"""The test of each format of tables; a table is in the first format whose test succeeds."""


_BY_CELLS: Mapping[str, Callable[[Table], object]] = {
    "choice": choice_of,
    "pairs": key_of,
    "syntaxgym-csv": region_rows.is_region_rows,
    "targets": contexts.targets_of,
    "factorial-table": factorial.is_factorial_table,
}
"""The tests that need the rows of a table, such as which columns are crossed in them."""


def _table_format(data: bytes, path: Path) -> str:
    """The format of a table, by its columns."""
    packed = path.name.lower().endswith(region_rows.SUFFIX)
    table, faults = region_rows.open_words(data, path) if packed else read_header(data, path)
    if table is not None:
        if name := _fitting(table) if packed else _named_format(table, data, path):
            return name
        if not packed:
            table, faults = read_sheet(data, path)
    if path.suffix.lower() == ".xlsx" and coded_cells.is_coded(data, path.name):
        return "coded-cells"
    if table is None:
        raise SuiteError(where=str(path), faults=faults)
    if name := next((name for name, fits in _BY_CELLS.items() if fits(table)), ""):
        return name
    wide = condition_columns(table)
    if wide and all(table.is_mostly(name, is_sentence) for name in wide):
        return "factorial-table"
    is_of_items = table.has("condition", "text") and not words_advised(table)
    if is_of_items and sentence_list(path) is None:
        raise InputError(
            where=str(path),
            seen=f"is a table of items without a {TOML} beside it",
            todo=f"Put both in one folder, the table named items{path.suffix.lower()},"
            " and give the folder. If there is no such file, call the column of the sentences"
            " sentence.",
        )
    raise _no_known_table(table, faults, data, path)


def _no_known_table(table: Table, faults: Sequence[Fault], data: bytes, path: Path) -> InputError:
    """The error of a table whose columns are those of no format."""
    shown = ", ".join(map(table.shown, table.columns[:_SHOWN]))
    more = f" and {len(table.columns) - _SHOWN:,} more" if len(table.columns) > _SHOWN else ""
    seen = f"is a table with the columns {shown}{more}"
    begun = table.beginning(_LOOKED_AT, _MOST_COLUMNS)
    if todo := no_suite_advised(begun) or of_brackets_advised(begun):
        return InputError(where=str(path), seen=seen, todo=todo)
    if both := both_in_one(begun, begun.columns):
        return InputError(where=str(path), seen=seen, todo=both)
    if todo := examples.examples_advised(data, path) or list_advised(path):
        return InputError(where=str(path), seen="is one list of sentences", todo=todo)
    todo = names_advised(begun, faults)
    if (listed := sentence_list(path)) is not None:
        shown = ", ".join(map(repr, labels_named(listed)))
        todo = f"{to_ask(path)} The labels in {shown} are kept, and not shown to people. {todo}"
    return InputError(where=str(path), seen=seen, todo=todo)


_SHOWN, _MOST_COLUMNS, _LOOKED_AT = 8, 40, 5_000
"""Most columns that a message names, and numbers of columns and rows that advice is based on."""


_WITHOUT_COLUMNS: Mapping[str, str] = {
    "syntaxgym": "SyntaxGym JSON",
    "syntaxgym-rows": "rows of SyntaxGym suites",
    "clams": "lines of CLAMS",
    "zorro": "pairs of lines, the bad one first",
    "endings": "prefixes, each with a right and a wrong ending",
    "good-first": "pairs of lines, the good one first",
    examples.FORMAT: "a list of sentences, each followed by the bad one with its mark",
}
"""What the forms are called in which nothing has to be found out, as their readings say it."""


def form_reading(suite: Suite, format_: str) -> TableReading:
    """What a file in a form without columns was read as.

    Args:
        suite: the suite that came of it.
        format_: as `detect_format` returned it.
    """
    of_plugin = f"a file in the format {format_} of another package"
    return TableReading(
        shape=_WITHOUT_COLUMNS.get(format_, of_plugin),
        roles={},
        n_items=len(suite.items),
        n_conditions=len(suite.condition_names),
    )


def find_reader(format_: str) -> Reader:
    """The reader of a format that `detect_format` returned."""
    if format_ in FORMATS:
        return FORMATS[format_].read
    reader = plugged_reader(format_)
    if reader is None:
        raise UsageError(
            where=f"format {format_!r}",
            seen="there is no such format",
            todo=did_you_mean(format_, FORMATS),
        )
    return reader


_DOCUMENT_SUFFIXES = {".doc", ".docx", ".odt", ".rtf", ".pdf", ".pages"}


def _unknown(path: Path, seen: str) -> InputError:
    if (suffix := path.suffix.lower()) in _DOCUMENT_SUFFIXES:
        todo = "Copy its table into a spreadsheet, one row for each pair or sentence."
        return InputError(where=str(path), seen=f"is a text that ends in {suffix}", todo=todo)
    return InputError(where=str(path), seen=seen, todo=formats_named())


def formats_named() -> str:
    """The formats of suites, one per line, since a single line would be too long to be shown."""
    lines = ";\n".join(f"  {form.title}" for form in FORMATS.values())
    return f"Suites are:\n{lines}."
