"""Tables with one sentence per row: with a label for whether it is grammatical, or with a prefix.

Labeled sentences: BLiMP-NL (Suijkerbuijk et al. 2025, doi:10.1162/coli_a_00559) has two rows for a
pair. So do the tables of Gulordava et al. 2018 (doi:10.18653/v1/N18-1108, "colorless green"), which
also have the words before the target form.

Prefixes and stimuli are the arguments of minicons' ``conditional_score``. minicons itself reads no
files: its users keep stimuli in tables and pass it the columns. Two forms are common: a row for
each condition (item, condition, prefix, stimulus), and a row for each pair, with two columns for
either the prefix or the stimulus (``prefix_acceptable`` and ``prefix_unacceptable`` with one
``property_phrase`` in COMPS, Misra, Rayz and Ettinger 2023, doi:10.18653/v1/2023.eacl-main.213;
``context`` with ``ending_good`` and ``ending_bad`` in BHS, Kryvosheieva and Levy 2025,
aclanthology.org/2025.loreslm-1.30). A column ``suffix`` may hold the text after the stimulus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import Fault, InputError
from cimento.faults import errors, fault
from cimento.intake.decoding import unusable
from cimento.intake.known import Known, forms_of
from cimento.intake.misfits import not_text, wrong_kind
from cimento.intake.names import ends_sentence
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.shapes import BEGUN, IN_ROWS
from cimento.intake.sheets import is_beginning, tabulated
from cimento.intake.table import Table
from cimento.intake.words import CONTEXTS, PREFIXES
from cimento.io.files import write_text
from cimento.suites import (
    BAD,
    GOOD,
    PAIR_PREDICTION,
    Condition,
    Meta,
    Prediction,
    Region,
    Suite,
    sentence,
)
from cimento.suites.formats.blimp import losses_of
from cimento.suites.formats.gathered import Gathered, stripped_cells
from cimento.suites.formats.pairs import pair_in_row
from cimento.suites.formula import RegionNumber, regions_used
from cimento.suites.reading import Reading, name_from

PHENOMENON = "phenomenon"
LABELS = {
    **dict.fromkeys(("correct", "grammatical", "good", "true", "1", "1.0"), GOOD),
    **dict.fromkeys(("wrong", "ungrammatical", "bad", "false", "0", "0.0"), BAD),
}
FORM_PREDICTION = Prediction(
    "(2;%good%) < (2;%bad%)",
    comment="The form that agrees is less surprising than the other.",
    name="good",
)
_EOS = "<eos>"


def is_labeled_table(table: Table) -> bool:
    """Whether a table has a sentence and its label in each row, in the form of a published set."""
    return bool(_forms(table))


def _forms(table: Table) -> list[Known]:
    """The published sets with two rows for a pair in whose form a table is, with all their ids."""
    forms = forms_of(table, IN_ROWS.name, needs=IN_ROWS.needs)
    others = ("item", "prefix", "target")
    return [form for form in forms if all(table.has(*form.roles.get(name, ())) for name in others)]


def read_labeled(path: Path) -> Reading:
    """Read a table of labeled sentences; the file's name becomes the suite's.

    If the table gives the target form, the regions are the words before it, the form and the rest,
    and the prediction is about the form; ``<eos>`` at the end is left out.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or a label is unknown.
    """
    data, table, faults = tabulated(path)
    if not (forms := _forms(table)):
        seen = f"The columns are those of no known table: {', '.join(table.columns)}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    form = forms[0]
    columns = {role: [table.find(name) or "" for name in form.roles[role]] for role in form.roles}
    text, target, label, prefix = (
        next(iter(columns.get(role, ())), "") for role in ("sentence", "target", "label", "prefix")
    )
    texts = list(filter(None, (text, target)))
    faults += [*wrong_kind(table, texts), *not_text(table, texts)]
    # A role that has no column in this form has an empty name, whose cell is empty.
    pairs, taken = Gathered(), {text, target, label, prefix}
    for row in table.rows:
        where = table.where(row)
        cells = {"": "", **stripped_cells(row, where, faults)}
        shown = cells[label]
        if side := LABELS.get(shown.casefold()):
            regions = _regions(cells[text], cells[prefix], cells[target] if target else None)
            free = {column: cell for column, cell in cells.items() if cell and column not in taken}
            if phenomenon := cells[columns[PHENOMENON][0]]:
                free.setdefault(PHENOMENON, phenomenon)
            item = "/".join(cells[name] for name in columns["item"])
            pairs.add(item, Condition(side, regions, free), where)
        else:
            todo = f"Known labels: {', '.join(LABELS)}."
            seen = f"The label {shown!r} is unknown."
            faults.append(fault("CIM-S003", where=where, seen=seen, todo=todo))
    if errors(faults):
        raise unusable(path, faults)
    reading = pairs.reading(
        path,
        data,
        faults,
        meta=Meta(name=name_from(path), language=form.language),
        region_names=("prefix", "form", "rest") if target else ("sentence",),
        predictions=(FORM_PREDICTION if target else PAIR_PREDICTION,),
    )
    n_items, known = len(reading.suite.items), form.title
    return replace(reading, table=reading_of(table, IN_ROWS, columns, n_items=n_items, known=known))


def _regions(sentence: str, prefix: str, target: str | None) -> tuple[Region, ...]:
    words, before = sentence.split(), prefix.split()
    if words[-1:] == [_EOS]:
        words = words[:-1]
    parts = (words,) if target is None else (before, [target], words[len(before) + 1 :])
    return tuple(Region(" ".join(part)) for part in parts)


PREFIX, SUFFIX = "prefix", "suffix"
STIMULUS = ("stimulus", "continuation", "query", "property_phrase", "ending")
ITEM, CONDITION = ("item", "id"), "condition"
SIDES = (("good", "bad"), ("acceptable", "unacceptable"), ("grammatical", "ungrammatical"))
"""Names of the two sides of a pair, in columns and as conditions."""

REGIONS = (PREFIX, "stimulus", SUFFIX)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a table by their roles; empty for a role without a column.

    Attributes:
        item: column of the item's id; empty where items are numbered.
        condition: column of the condition; empty where a row has both sides of a pair.
        parts: columns of prefix, stimulus and suffix, by condition; the name is empty where the
            column of conditions gives it.
    """

    item: str
    condition: str
    parts: Mapping[str, tuple[str, str, str]]

    @property
    def taken(self) -> set[str]:
        """The columns that do not become free columns."""
        return {self.item, self.condition}.union(*self.parts.values())


def is_minicons(table: Table) -> bool:
    """Whether a table has prefixes and stimuli, in one of the two forms."""
    return _columns(table) is not None


def read_minicons(path: Path) -> Reading:
    """Read a table of prefixes and stimuli; the file's name becomes the suite's.

    The regions are prefix, stimulus and suffix. If the conditions are good and bad (or acceptable,
    grammatical and their opposites), the prediction is that the stimulus is less surprising in the
    good one; otherwise the suite has no prediction.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data, table, faults = tabulated(path)
    columns = _columns(table)
    if columns is None:
        names = ", ".join(table.columns)
        seen = f"The columns prefix, stimulus and condition are missing; there are {names}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    texts = sorted({part for both in columns.parts.values() for part in both if part})
    faults += [*wrong_kind(table, texts), *not_text(table, texts)]
    faults += _said(table, columns)
    items = Gathered()
    for number, row in enumerate(table.rows, start=1):
        where = table.where(row)
        cells = {"": "", **stripped_cells(row, where, faults)}
        free = {name: cell for name, cell in cells.items() if cell and name not in columns.taken}
        for side, parts in columns.parts.items():
            if side and not (cells[parts[1]] or parts[2]):
                ending = f"{where}, item {cells[columns.item] or number}, condition {side}"
                faults.append(fault("CIM-S017", where=ending, seen="There is no text."))
            regions = tuple(Region(cells[part]) for part in parts)
            condition = Condition(side or cells[columns.condition], regions, free)
            items.add(cells[columns.item] if columns.item else str(number), condition, where)
    if errors(faults) and not all(one.code == "CIM-S017" for one in errors(faults)):
        raise unusable(path, faults)
    present = {condition.name for item in items.items for condition in item.conditions}
    reading = items.reading(
        path, data, faults, region_names=REGIONS, predictions=_predictions(present)
    )
    return replace(reading, table=_read_as(table, columns, n_items=len(reading.suite.items)))


def _read_as(table: Table, columns: _Columns, *, n_items: int) -> TableReading:
    """What a table of prefixes and stimuli was read as."""
    parts = columns.parts
    roles: dict[str, str | list[str] | None] = {PREFIX: [both[0] for both in parts.values()]}
    for side, (_, stimulus, _) in parts.items():
        roles[side or "stimulus"] = stimulus
    if len({stimulus for _, stimulus, _ in parts.values()}) < len(parts):
        roles = {f"{PREFIX} ({side})": before for side, (before, _, _) in parts.items()}
        roles["stimulus"] = [stimulus for _, stimulus, _ in parts.values()]
    roles[SUFFIX] = [after for _, _, after in parts.values()]
    roles |= {"item": columns.item, CONDITION: columns.condition}
    roles[PHENOMENON] = table.find(PHENOMENON)
    return reading_of(table, BEGUN, roles, n_items=n_items, own={"row"})


def _columns(table: Table) -> _Columns | None:
    item, condition, suffix = (
        table.find(*names) or "" for names in (ITEM, (CONDITION,), (SUFFIX,))
    )
    prefix, stimulus = table.find(*PREFIXES, *CONTEXTS), table.find(*STIMULUS)
    if prefix and stimulus and condition and item and not _has_between(table, prefix, stimulus):
        return _Columns(item, condition, {"": (prefix, stimulus, suffix)})
    for sides in SIDES:
        names_of_prefixes = (*PREFIXES, *CONTEXTS)
        prefixes, stimuli = (_both(table, names, sides) for names in (names_of_prefixes, STIMULUS))
        if prefixes and stimulus:
            return _Columns(item, "", {side: (prefixes[side], stimulus, suffix) for side in sides})
        if prefix and stimuli:
            return _Columns(item, "", {side: (prefix, stimuli[side], suffix) for side in sides})
    if prefix and (pair := pair_in_row(table)) and _is_begun(table, prefix):
        return _Columns(item, "", {side: (prefix, name, suffix) for side, name in pair.items()})
    return None


def _has_between(table: Table, prefix: str, stimulus: str) -> bool:
    """Whether texts are between two columns: they are the first and a later region of many."""
    first, last = map(table.columns.index, (prefix, stimulus))
    between = table.columns[first + 1 : last]
    return any(
        name.casefold() != SUFFIX and table.profile(name).kind in ("words", "sentences")
        for name in between
        if table.cells.get(name)
    )


def _said(table: Table, columns: _Columns) -> list[Fault]:
    """The fault that says that a column is the beginning of both sentences of a pair.

    Only where the names of the columns leave it open; those of minicons say it.
    """
    stimuli = {stimulus for _, stimulus, _ in columns.parts.values()}
    if columns.condition or not stimuli & {*pair_in_row(table).values()}:
        return []
    prefix = next(prefix for prefix, _, _ in columns.parts.values())
    seen = f"The column {prefix!r} is read as the beginning of both sentences of a pair."
    return [fault("CIM-S065", where=table.name, seen=seen)]


def _is_begun(table: Table, prefix: str) -> bool:
    """Whether a column is the beginning of the sentences beside it, and no sentence of its own."""
    if is_beginning(table, prefix):
        return False  # the sentences have it already
    is_named = prefix == table.find(*PREFIXES)
    return is_named or not table.is_mostly(prefix, ends_sentence)


def _both(table: Table, names: Sequence[str], sides: Sequence[str]) -> dict[str, str]:
    """The columns of both sides, such as ``prefix_good`` and ``prefix_bad``; none without both."""
    for name in names:
        columns = {side: column for side in sides if (column := table.find(f"{name}_{side}"))}
        if len(columns) == len(sides):
            return columns
    return {}


def _predictions(conditions: set[str]) -> tuple[Prediction, ...]:
    """The prediction that the stimulus is less surprising in the good condition, if known."""
    return tuple(
        Prediction(
            f"(2;%{good}%) < (2;%{bad}%)", comment="As minicons' conditional scores.", name=good
        )
        for good, bad in SIDES
        if {good, bad} <= conditions
    )


HEADER = ("item", "condition", PREFIX, "stimulus", SUFFIX)


def write_minicons(suite: Suite, path: Path) -> Path:
    """Write a row for each stimulus, with columns for minicons' ``conditional_score``.

    The stimulus is the region that every prediction names. The text before it is the prefix, the
    text after it the suffix, which only masked models are given. If predictions are about whole
    sentences or name several regions, the stimulus is the whole sentence, for ``sequence_score``.

    Raises:
        InputError: a target is glued to what precedes it, or a text holds a tab.
        FormulaError: a prediction cannot be read.
        StorageError: the file cannot be written.
    """
    columns = [name for name in suite.column_names if name not in HEADER]
    lines = [[*HEADER, *columns], *_rows(suite, target_region(suite), columns)]
    return write_text("".join("\t".join(line) + "\n" for line in lines), path)


def minicons_losses(suite: Suite) -> list[str]:
    """The parts of a suite that a table for minicons cannot hold, as phrases; may be empty."""
    target = target_region(suite)
    pairs = {f"({target or '*'};%{good}%) < ({target or '*'};%{bad}%)" for good, bad in SIDES}
    known = all(prediction.formula in pairs for prediction in suite.predictions)
    others = [] if known else ["predictions other than that the good condition is less surprising"]
    keys = ("version", "language", "license", "citation", "author", "reference")
    of_meta = {key: getattr(suite.meta, key) for key in keys}
    return losses_of(suite, of_meta, others, regions=1 if target is None else len(REGIONS))


def target_region(suite: Suite) -> int | None:
    """The region that all predictions name; None if they name several, or whole sentences.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    used = regions_used(prediction.formula for prediction in suite.predictions)
    named = set[RegionNumber]().union(*used.values())
    region = named.pop() if len(named) == 1 else "*"
    return None if region == "*" or len(suite.region_names) == 1 else region


def _rows(suite: Suite, target: int | None, columns: list[str]) -> Iterator[list[str]]:
    for item, condition in suite.stimuli():
        where = f"item {item.id!r}, condition {condition.name!r}"
        parts = _parts(condition, target, suite, where)
        free = (condition.columns.get(name, "") for name in columns)
        row = [item.id, condition.name, *parts, *free]
        if any("\t" in cell or "\n" in cell for cell in row):
            raise InputError(
                where=where, seen="a text holds a tab or a line end", todo="Remove it."
            )
        yield row


def _parts(condition: Condition, target: int | None, suite: Suite, where: str) -> tuple[str, ...]:
    """The prefix, stimulus and suffix of a condition."""
    if target is None:
        return ("", sentence(condition, rule=suite.join), "")
    before, after = condition.regions[: target - 1], condition.regions[target:]
    named = condition.regions[target - 1]
    if named.glued and any(region.text for region in before):
        raise InputError(
            where=where,
            seen="the target is written together with what precedes it",
            todo="minicons puts a blank between prefix and stimulus; put both into one region.",
        )
    return tuple(
        sentence(Condition(condition.name, regions), rule=suite.join)
        for regions in (before, (named,), after)
    )
