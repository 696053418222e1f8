"""The faults of tables and suites: every kind by its code (docs/checks), and lists of faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, overload

from cimento.errors import Fault, Severity


@dataclass(frozen=True, slots=True)
class Check:
    """A kind of fault that is checked for.

    Attributes:
        title: short description of the fault.
        severity: ``error`` if the suite cannot be used with it, else ``warning``.
        todo: advice, unless a fault has more precise advice.
    """

    title: str
    severity: Severity
    todo: str


def _error(title: str, todo: str) -> Check:
    return Check(title, "error", todo)


def _warning(title: str, todo: str) -> Check:
    return Check(title, "warning", todo)


NO_LANGUAGE = "CIM-S033"
SEVERAL_LANGUAGES = "CIM-S094"
WITHOUT_LANGUAGE = (NO_LANGUAGE, "CIM-C010")
"""The codes of a missing language: of sentences, and of blanks."""
UNUSABLE_NAME = "CIM-S015"
NO_PREDICTIONS = "CIM-S023"
NO_PLAIN_LEVEL = "CIM-S067"
EXAMPLE = "For example, "
"""How the sentence of advice begins that has an example from the file."""

CHECKS: Mapping[str, Check] = {
    # Files
    "CIM-S001": _error("wrong encoding", "Save the file as UTF-8."),
    "CIM-S002": _error(
        "cannot be read as its format", "Was it cut short, or saved in another format?"
    ),
    "CIM-S003": _error("a field is missing or of the wrong kind", "Correct the field."),
    "CIM-S004": _error("a table with the wrong columns", "Correct the header line or the row."),
    "CIM-S005": _error("no items", "Add at least one item."),
    "CIM-S006": _warning("the encoding was guessed", "Save the file as UTF-8 to be sure."),
    "CIM-S007": _error("a key that is misspelled or in the wrong table", "Rename or move it."),
    "CIM-S008": _warning(
        "a field of a task that is ignored",
        'The page "Measures" lists the supported fields.',
    ),
    "CIM-S009": _warning("rows that are not part of the table", "Move it off the sheet."),
    "CIM-S062": _warning(
        "sheets of a workbook that are not read",
        "Put the sheet with the sentences first if that is not the correct one.",
    ),
    "CIM-S063": _warning(
        "pairs put together from a table",
        "Convert the table to a design of two factors if their interaction counts.",
    ),
    "CIM-S065": _warning(
        "how columns or rows are read",
        "If that is wrong, name the columns with --columns, or join the cells yourself.",
    ),
    "CIM-S066": _warning("hidden rows", "Delete them if they are none of your items."),
    NO_PLAIN_LEVEL: _warning(
        "a design that does not say which condition is the baseline",
        "Add a word that says it to the name of a level, such as control.",
    ),
    "CIM-S068": _warning("a context that is not read", "Name it with --context-column."),
    "CIM-S069": _warning(
        "ratings that are not read",
        "Put people's answers beside them with `cimento annotate import` and `apply`.",
    ),
    "CIM-S070": _warning(
        "words joined by a bar", "Write blanks around a bar between words: La zia | canta."
    ),
    "CIM-S081": _error(
        "a column whose cells do not fit its name",
        "Rename the column, or correct its cells.",
    ),
    "CIM-S082": _error(
        "formulas without a stored value",
        "Open the workbook in your spreadsheet program, which computes them, and save it.",
    ),
    "CIM-S084": _warning(
        "a quotation mark left open", "If it ends a cell, write it; if cells look right, leave it."
    ),
    "CIM-S085": _warning(
        "glosses or translations below sentences",
        "If one of them is an item, complete its row, or move it away from the sentence above.",
    ),
    "CIM-S083": _error(
        "a value of JSON that is not text", 'Write the text itself, as "The text.".'
    ),
    "CIM-S092": _warning(
        "a byte order mark inside a file", "Look whether a second header row follows it."
    ),
    SEVERAL_LANGUAGES: _warning(
        "several languages in one table",
        "Make one file for each language.",
    ),
    # Items and conditions
    "CIM-S010": _error("an item id used twice", "Give every item its own id."),
    "CIM-S011": _error("a condition twice in an item", "Rename or remove one of the two."),
    "CIM-S012": _error("items with different conditions", "Give every item the same conditions."),
    "CIM-S013": _error("the wrong number of regions", "Add or remove a bar ( | )."),
    "CIM-S014": _error("regions out of order", "Number the regions 1, 2, 3 and so on."),
    UNUSABLE_NAME: _error(
        "a condition name that formulas cannot use", "Use only letters, digits, _ and -."
    ),
    "CIM-S016": _error("an item or a condition without a name", "Fill in the name."),
    "CIM-S017": _error("an empty stimulus", "Write the sentence, or remove the row."),
    # Predictions and design
    "CIM-S020": _error("a formula that cannot be read", ""),
    "CIM-S021": _error("a formula names an unknown condition", ""),
    "CIM-S022": _error("a formula names an unknown region", ""),
    NO_PREDICTIONS: _warning(
        "no predictions",
        "Add a prediction to have the items judged: [[predictions]] in suite.toml, or a row of the"
        ' sheet "predictions" in a workbook. A table becomes a workbook with'
        " `cimento suites convert FILE -o NAME.xlsx`.",
    ),
    "CIM-S024": _warning(
        "a formula needs a region that is empty", "Compare a region that has words in every item."
    ),
    "CIM-S025": _warning(
        "predictions that contradict each other",
        "Look at each separately; together they always fail.",
    ),
    "CIM-S026": _error(
        "a name that does not identify a prediction",
        'Give it a name of its own, such as "number", or none.',
    ),
    "CIM-S030": _error("a factor whose column is missing", "Add the column, or fill in the cell."),
    "CIM-S031": _error("an unknown factor level", "Correct the cell, or add the level."),
    "CIM-S032": _error("a cluster column that does not cluster", "Fill in one value per item."),
    NO_LANGUAGE: _warning(
        "no language", 'Write its ISO 639-1 code, such as language = "it", or give --language.'
    ),
    "CIM-S034": _warning("an incomplete design", "Add the condition, or correct [factors]."),
    "CIM-S035": _warning("a canary that is not unique", "Write a random one, such as a UUID."),
    "CIM-S086": _warning(
        "words that recur in many items", "If such items may behave alike, declare them."
    ),
    "CIM-S087": _warning("a label spelled in two ways", "If they mean the same, write them alike."),
    "CIM-S036": _warning(
        "no scale for the ratings",
        "If that is not the scale, convert the table to a workbook (`cimento suites convert`), and"
        ' correct ratings.low and ratings.high on its sheet "about".',
    ),
    "CIM-S075": _warning(
        "ratings that look like values of a model",
        "If people gave them, name the scale in the heading, as in rating (0 to 100).",
    ),
    "CIM-S038": _warning(
        "sentences without a rating", "Rate them, or leave them: they are in no correlation."
    ),
    "CIM-S037": _error("a rating that cannot be used", "Correct the cell."),
    # Text
    "CIM-S040": _warning("stray spaces", "They were removed; remove them from the file too."),
    "CIM-S041": _warning("several spaces in a row", "Write a single space."),
    "CIM-S042": _error("a character that does not belong in text", "Retype the word."),
    "CIM-S043": _warning("an invisible character", "Remove it, or write an ordinary space."),
    "CIM-S044": _warning("mixed apostrophes", "Use one of them throughout."),
    "CIM-S045": _warning("accents as separate characters (not NFC)", "Normalize the text to NFC."),
    "CIM-S046": _warning("text decoded wrongly", "Export the file again as UTF-8."),
    "CIM-S047": _warning("a bar with a space on one side", "Write ' | ' or '|'."),
    "CIM-S048": _warning("a lone backslash", "Write \\\\ for a backslash."),
    "CIM-S049": _warning(
        "a cell quoted by a spreadsheet program", "Save as items.csv or items.xlsx instead."
    ),
    # Comparisons
    "CIM-S050": _warning("conditions that are identical", "Such an item can only tie; change it."),
    "CIM-S051": _warning(
        "one side of a comparison is longer",
        "A longer text costs more bits: balance the lengths, compare regions of equal length, or"
        " use a measure that corrects for length. DD is not affected where the same words differ in"
        " both pairs of a design.",
    ),
    "CIM-S052": _warning("a repeated item", "Remove all but one, or put them in one cluster."),
    "CIM-S058": _warning(
        "conditions that differ elsewhere too",
        "Make them equal there, or leave them if the difference is intended.",
    ),
    "CIM-S060": _warning(
        "a pair with hardly a word in common",
        "Are these the two sentences of one pair? Look for rows that slipped.",
    ),
    # Wording
    "CIM-S053": _warning("no final mark", "Add the mark; models notice when it is missing."),
    "CIM-S054": _warning("a small letter at the beginning", "Write a capital letter."),
    "CIM-S055": _warning("a doubled word", "Remove one, unless the repetition is intended."),
    "CIM-S056": _warning(
        "items with the same lexical material",
        "Use another word in one, or put them in one cluster.",
    ),
    "CIM-S076": _warning(
        "items made after few sentences",
        "Vary more words, or declare items of one template as a cluster.",
    ),
    "CIM-S057": _warning(
        "a sentence in several items", "Write a different sentence, or put them in one cluster."
    ),
    "CIM-S061": _error("a judgment mark in a sentence", "Delete it from the sentence."),
    "CIM-S071": _error(
        "an example number before a sentence",
        "Delete the numbers from the sentences; they may have a column of their own.",
    ),
    "CIM-S072": _warning(
        "optional words or alternatives",
        "Write out one of the variants, or an item for each of them.",
    ),
    "CIM-S073": _warning(
        "letters or marks typed differently", "Type the same in all conditions of an item."
    ),
    "CIM-S074": _warning(
        "a special token of models in a sentence",
        "Write a word in its place; a blank to be filled is ___ in a suite of blanks.",
    ),
    "CIM-S064": _warning(
        "bars in the sentences of pairs",
        "Delete the bars; regions need a row for each sentence, with the columns item, condition"
        " and sentence.",
    ),
}


def fault(
    code: str, *, where: str, seen: str, todo: str | None = None, places: Iterable[str] = ()
) -> Fault:
    """A fault with a known code; its advice is that of the code unless `todo` is given."""
    check = CHECKS[code]
    advice = check.todo if todo is None else todo
    return Fault(code, check.severity, where, named_blanks(seen), advice, tuple(places))


_BLANKS: Mapping[str, str] = {
    "xa0": "no-break space",
    "xad": "soft hyphen",
    "u2009": "thin space",
    "u200b": "zero width space",
    "u202f": "narrow no-break space",
    "ufeff": "byte order mark",
}
_ESCAPED_BLANK = re.compile(rf"(?<!\\)((?:\\\\)*)\\({'|'.join(_BLANKS)})")


def named_blanks(seen: str) -> str:
    r"""A message in which invisible characters have their names, not the codes of Python.

    >>> named_blanks(f"{'sul tavolo.' + chr(160)!r} has spaces at its ends.")
    "'sul tavolo.[no-break space]' has spaces at its ends."
    """
    if "\\" not in seen:
        return seen
    return _ESCAPED_BLANK.sub(lambda match: f"{match[1]}[{_BLANKS[match[2]]}]", seen)


FaultChange: TypeAlias = Callable[[Sequence[Fault]], Sequence[Fault]]
"""A function that leaves faults out or says them in other words, each for itself."""


class Faults(Sequence[Fault]):
    """The faults of a suite, most warnings of which are looked for when they are first read.

    Only errors are needed before a suite is run, and warnings while a model answers.

    Args:
        early: the faults known so far, among them every error.
        find: finds all faults; it must be picklable, because another process may call it.
    """

    def __init__(self, early: Sequence[Fault], find: Callable[[], Sequence[Fault]]) -> None:
        self.early = tuple(early)
        self._find = find
        self._all: tuple[Fault, ...] | None = None

    def __len__(self) -> int:
        return len(self.all)

    def __repr__(self) -> str:
        return repr(self.all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Faults | tuple) and self.all == tuple(other)

    def __hash__(self) -> int:
        return hash(self.all)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.all)

    @overload
    def __getitem__(self, index: int) -> Fault: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Fault]: ...
    def __getitem__(self, index: int | slice) -> Fault | Sequence[Fault]:
        return self.all[index]

    @property
    def all(self) -> tuple[Fault, ...]:
        """All faults."""
        if self._all is None:
            self._all = tuple(self._find())
        return self._all


def changed(faults: Sequence[Fault], change: FaultChange) -> Sequence[Fault]:
    """Faults after a change, made late if they are looked for late.

    Args:
        faults: the faults.
        change: the change; see `Faults` on pickling.
    """
    if isinstance(faults, Faults):
        return Faults(change(faults.early), partial(change, faults))
    return change(faults)


def errors(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults that keep a suite from being used."""
    known = faults.early if isinstance(faults, Faults) else faults
    return tuple(fault for fault in known if fault.severity == "error")


def warnings(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults that do not keep a suite from being used."""
    return tuple(fault for fault in faults if fault.severity == "warning")


def summarize(faults: Iterable[Fault]) -> list[str]:
    """One line for each code with its count and first place, for short messages."""
    groups: dict[str, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(fault.code, []).append(fault)
    lines = []
    for code, group in sorted(groups.items()):
        first = group[0]
        if len(group) == 1:
            lines.append(str(first))
        else:
            lines.append(f"{code} {CHECKS[code].title}, {len(group)} times; first {first.where}")
    return lines
