"""The printed tables of accuracies: what adds up in them, and BLiMP's figures beside them.

Also: what the authors of the island studies released, found under its own names.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from cimento.errors import InputError
from cimento.io.below import files_below
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.io.values import group_by
from cimento.studies import (
    AbsentError,
    Cell,
    beside,
    cell_number,
    equals_printed,
    first_below,
    need,
    printed_column,
    printed_tables,
    read_rows,
    same_decimals,
    section_of,
)

NEW, PUBLISHED = "custom-wh_complex_np_islands.jsonl", "wh_complex_np.jsonl"
NEW_LATER = "wh_complex_np_islands.jsonl"
"""The new items on the branch py36_compatibility, in ``mdd2``."""

LOOKED_FOR: Mapping[str, str] = {
    "outputs/": "the Italian items, github.com/ml-utils/bert-syntax-it (or `cimento suites get"
    " sprouse-it`)",
    "sprouse2016_en_ratings.csv": "English judgments of Sprouse et al. 2016, with the columns that"
    ' the page "Five published studies, recomputed" names',
    "models_summary.jsonl, human_validation_summary.csv": "raw_results/summary of"
    " github.com/alexwarstadt/blimp",
    "gpt2/whether_*_result.csv, lstm/whether_*_result.csv": "data/results of"
    " github.com/anastasiakobzeva/learning-FGDs-with-NLMs",
    "wh_islands.csv": "scripts of github.com/wilcoxeg/fgd_learnability",
    "adjunct_island.jsonl, complex_NP_island.jsonl, wh_island.jsonl": "for -m, data of"
    " github.com/alexwarstadt/blimp (or `cimento suites get blimp`)",
    "context-none-ratings.csv": "github.com/jhlau/acceptability-prediction-in-context",
}
"""Names of released files to what they are and where they are released."""

WITHOUT = (
    "Without --data, the printed tables are checked, and -m asks your models about it-islands."
)

BLIMP_FILES: Mapping[str, str] = {
    "adjunct island": "adjunct_island.jsonl",
    "complex NP island": "complex_NP_island.jsonl",
    "wh island": "wh_island.jsonl",
}
"""Column of Table 3 to the file of BLiMP that it is about."""

_SUITES: Mapping[str, tuple[str, str, str]] = {
    "adjunct": ("custom-wh_adjunct_islands", "wh_adjunct_islands", "wh_adjunct_island"),
    "complex_np": ("custom-wh_complex_np_islands", "wh_complex_np_islands", "wh_complex_np"),
    "subject": ("custom-wh_subject_islands", "wh_subject_islands", "wh_subject_island"),
    "whether": ("custom-wh_whether_island", "wh_whether_island", "wh_whether_island"),
}
"""Phenomenon to the names of its files: new items, the same later, and published ones."""

_FOLDERS = frozenset({"sprouse", "mdd2", "multiple", "variations", "syntactic_tests_it", "drafts"})


def find_file(data: Path, name: str) -> Path:
    """The one file of a name in a folder or below it; the first of several by path.

    Raises:
        AbsentError: there is none.
    """
    path = first_below(data, name)
    if path is None:
        raise _absent_files(data, [name])
    return path


def _absent_files(data: Path, names: Iterable[str]) -> AbsentError:
    """The error of a folder without some files; it names all that can be there."""
    looked = "; ".join(f"{name}: {what}" for name, what in LOOKED_FOR.items())
    return AbsentError(
        where=str(data),
        seen=f"{', '.join(names)} is neither there nor below",
        todo=f"The study reads these files, each as released. {looked}. {WITHOUT}",
    )


def surprisals(data: Path) -> list[Path]:
    """The files of Kobzeva et al. 2023 on whether-clauses; the folder of each names its model.

    Raises:
        AbsentError: there is none.
    """
    paths = files_below(data, "whether_*_result.csv")
    if not paths:
        raise _absent_files(data, ["whether_*_result.csv"])
    return paths


def item_files(data: Path) -> list[Path]:
    """Every file of items of bert-syntax-it, of either branch.

    Raises:
        AbsentError: there is none.
    """
    paths = files_below(data, "*.jsonl")
    inside = [path for path in paths if path.parent.name in _FOLDERS]
    flat = [path for path in paths if path.name.startswith(("custom-wh_", "wh_", "rc_"))]
    if not (inside or flat):
        raise _absent_files(data, ["outputs/"])
    return inside or flat


def new_items(data: Path) -> dict[str, Path]:
    """Phenomenon to the file of its new items: those of July 2022, else those of ``mdd2``.

    Raises:
        AbsentError: a file is missing.
    """
    later = [path for path in files_below(data, NEW_LATER) if path.parent.name == "mdd2"]
    first = sorted(files_below(data, NEW), key=lambda path: (path.parent.name == "drafts", path))
    if first:
        return _beside(first[0].parent, 0)
    if later:
        return _beside(later[0].parent, 1)
    raise _absent_files(data, [NEW])


def published_items(data: Path) -> dict[str, Path]:
    """Phenomenon to the file of the items of Sprouse et al. 2016.

    Raises:
        AbsentError: a file is missing.
    """
    return _beside(find_file(data, PUBLISHED).parent, 2)


def _beside(folder: Path, state: int) -> dict[str, Path]:
    paths = {name: folder / f"{stems[state]}.jsonl" for name, stems in _SUITES.items()}
    absent = [path.name for path in paths.values() if not path.is_file()]
    if absent:
        raise _absent_files(folder, absent)
    return paths


BLIMP_ERRATUM_PARADIGM = "coordinate_structure_constraint_complex_left_branch"
BLIMP = "Warstadt et al. 2020, doi:10.1162/tacl_a_00321, files of github.com/alexwarstadt/blimp"
MODELS = ("ngram", "lstm", "txl", "gpt2")
ISLANDS = "island_effects"
OVERALL = "overall"
"""The released file also has means under this name; they are what is printed, not data."""
ERRATUM = "the release has it since BLiMP's erratum of August 2021, the paper is of 2020"
ACCEPTED_ABOVE = 0.5


@section_of(
    "blimp",
    title="BLiMP accuracies in %: the released figures beside those of the paper",
    source=f"{BLIMP}; {BLIMP_ERRATUM_PARADIGM} was printed as 42 in 2020",
)
def blimp_models(data: Path) -> Iterator[Cell]:
    """Paradigm, phenomenon and overall means of four models beside the figures first printed."""
    rows = released_accuracies(find_file(data, "models_summary.jsonl"))
    paradigms = [row for row in rows if row["UID"] != OVERALL]
    printed = _released_means([row for row in rows if row["UID"] == OVERALL])
    first = {
        name.lower().replace(" ", "_"): gpt2 for name, (gpt2, _) in _printed(_GPT2_TABLE).items()
    }
    for row in paradigms:
        if row["linguistics_term"] == ISLANDS:
            name, value = row["UID"], 100 * float(row["gpt2"])
            line = beside(f"gpt2, {name}", value, first.get(name.lower()))
            yield replace(line, note=ERRATUM if line.equal is False else "")
    # Unweighted, over the paradigms of a phenomenon and over all.
    groups = {**group_by(paradigms, lambda row: str(row["linguistics_term"])), OVERALL: paradigms}
    for phenomenon, group in groups.items():
        for model in MODELS:
            mean = math.fsum(float(str(row[model])) for row in group) / len(group)
            what = f"{model}, {phenomenon}, mean over paradigms"
            yield beside(what, 100 * mean, printed.get((phenomenon, model)))


@section_of(
    "blimp-people",
    title="BLiMP: accuracy of people, mean over the pairs of a paradigm",
    source=BLIMP,
)
def blimp_people(data: Path) -> Iterator[Cell]:
    """Accuracy of people per paradigm, recomputed from their answers."""
    answers_path = find_file(data, "human_responses_long.csv.gz")
    printed_path = find_file(data, "human_validation_summary.csv")
    answers, printed = read_rows(answers_path), read_rows(printed_path)
    need(answers_path, answers, ("status", "UID", "good", "correct_position", "chosen_position"))
    need(printed_path, printed, ("Condition", "total_mean", "accepted"))
    pairs = _pair_accuracies(answers)
    for row, mean_printed in zip(printed, printed_column(printed, "total_mean"), strict=True):
        values = pairs.get(row["Condition"], [])
        mean = math.fsum(values) / len(values) if values else None
        accepted = sum(value > ACCEPTED_ABOVE for value in values)
        note = f"{accepted} of {len(values)} pairs accepted, {row['accepted']} printed"
        yield beside(row["Condition"], mean, mean_printed, note=note)


def released_accuracies(path: Path) -> list[dict[str, str]]:
    """The rows of BLiMP's released file: paradigms, and means under the name ``overall``.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        rows = [parse_json(line) for line in read_bytes(path).split(b"\n") if line.strip()]
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON Lines ({error})") from error
    names = {"UID", "linguistics_term", *MODELS}
    rows = [row for row in rows if isinstance(row, dict) and names <= row.keys()]
    if not rows:
        raise InputError(where=str(path), seen="has no row with UID and the models' accuracies")
    return rows


def _released_means(rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], str]:
    """Phenomenon and model to the released mean, a share with ten decimals, in %."""
    keys = [(row["linguistics_term"], model) for row in rows for model in MODELS]
    shares = same_decimals(str(row[model]) for row in rows for model in MODELS)
    return {key: str(Decimal(share).scaleb(2)) for key, share in zip(keys, shares, strict=True)}


def _pair_accuracies(answers: Sequence[Mapping[str, str]]) -> dict[str, list[float]]:
    """Paradigm to the accuracy of each of its pairs over the people who judged it."""
    judged: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in answers:
        right, chosen = cell_number(row["correct_position"]), cell_number(row["chosen_position"])
        if row["status"] == "Approved" and right is not None and chosen is not None:
            judged[row["UID"]][row["good"]].append(right == chosen)
    return {
        paradigm: [sum(marks) / len(marks) for marks in pairs.values()]
        for paradigm, pairs in judged.items()
    }


SOURCE = "bert-syntax-it 2022, tables 1 to 4 (github.com/ml-utils/bert-syntax-it)"
TENTHS = ".1f"
"""How the tables of accuracies are printed."""
ITEMS: Mapping[int, Mapping[str, int]] = {1: {"": 50, "Wh-whether": 59}, 2: {"": 8}}
"""Table to the items of a phenomenon, and under "" of all others."""
INVALID = "GilBERTo"
INVALID_NOTE = "masked with strings that its tokenizer lacks: not a valid expectation"

Cells = dict[str, dict[tuple[str, str], float]]
"""Column to phenomenon and condition to accuracy in %."""


@section_of("tables", title="Tables 1 and 2 against themselves", source=SOURCE)
def tables(_: Path) -> Iterator[Cell]:
    """Tables 1 and 2: averages against cells, cells against the number of items."""
    for table, items in ITEMS.items():
        yield from checked_table(f"table{table}", *printed_accuracies(table), items)


def checked_table(
    label: str, cells: Cells, averages: Mapping[str, str], items: Mapping[str, int]
) -> Iterator[Cell]:
    """What one table of accuracies says against itself.

    Args:
        label: of the table.
        cells: its accuracies.
        averages: column to the printed average.
        items: phenomenon to its number of items; under "" that of all others.
    """
    for column, values in cells.items():
        mean = math.fsum(values.values()) / len(values)
        note = INVALID_NOTE if column.startswith(INVALID) else ""
        yield beside(f"{label} {column}: average", mean, averages.get(column), note=note)
    yield from _copied_rows(label, cells, averages)
    yield from _item_lines(label, cells, items)


CAPTION_SLIP = (
    "The paper's caption names Long-NonIsland on both sides, and its text calls it the unacceptable"
    " form several times; Long-Island is meant."
)


@section_of(
    "variations",
    title="Table 4: PenLP of GePpeTto, Long-NonIsland minus Long-Island",
    source=f"{SOURCE}. {CAPTION_SLIP.removesuffix('.')}",
)
def variations(_: Path) -> Iterator[Cell]:
    """Table 4: the difference of PenLP between acceptable and unacceptable sentence."""
    for good, good_value, bad, bad_value, printed in printed_variations().values():
        notes = [
            f"{name}: {fault}"
            for name, text in (("long_nonisland", good), ("long_island", bad))
            for fault in sentence_faults(text)
        ]
        difference = float(good_value) - float(bad_value)
        yield beside(good, difference, printed, note="; ".join(notes))


@section_of(
    "pseudo-likelihoods",
    title="BLiMP islands by PLL, mean over paradigms in %, against Salazar et al. 2020",
    source="bert-syntax-it 2022; Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240",
)
def pseudo_likelihoods(_: Path) -> Iterator[Cell]:
    """Eight BLiMP island paradigms for four masked models, averaged as Salazar et al. do."""
    paradigms = _printed(_MASKED_TABLE)
    for model, printed in printed_tables("islands")["Salazar 2020, table 7"].items():
        values = [float(value) for value in paradigms[model].values()]
        mean = math.fsum(values) / len(values)
        yield beside(model, mean, printed, note=f"{len(values)} paradigms")


@section_of(
    "blimp-table",
    title="Table 3: BLiMP islands in %, against the table by paradigm and the released figures",
    source=SOURCE,
)
def blimp_table(data: Path) -> Iterator[Cell]:
    """Table 3: accuracies on three BLiMP islands against the table by paradigm and the release."""
    paradigms = _printed(_MASKED_TABLE)
    released = {
        str(row["UID"]).lower(): 100 * float(row["gpt2"])
        for row in released_accuracies(find_file(data, "models_summary.jsonl"))
    }
    for name, row in printed_blimp().items():
        column = next((model for model in paradigms if name.lower().startswith(model)), "")
        for paradigm, shown in row.items():
            computed, note = None, ""
            if "Warstadt" in name:
                computed, note = released.get(paradigm.replace(" ", "_").lower()), ERRATUM
            elif column:
                computed = float(paradigms[column][paradigm])
                note = _OTHER_SCORE if "(PLL)" in name else ""
            line = beside(f"{name}: {paradigm}", computed, shown)
            yield replace(line, note=note if line.equal is False else "")


_MASKED_TABLE = "text table below table 3: masked models"
_GPT2_TABLE = "text table below table 3: GPT-2 and people"
_OTHER_SCORE = (
    "would be explained by another score (a penalized logistic one) or a run with wrong masks"
)


def _printed(table: str) -> Mapping[str, Any]:
    return printed_tables("islands")[f"bert-syntax-it 2022, {table}"]


def printed_blimp() -> Mapping[str, Mapping[str, str]]:
    """The accuracies of Table 3: model to paradigm of BLiMP to what is printed."""
    return _printed("table 3")


def printed_variations() -> Mapping[str, Sequence[str]]:
    """The pairs of Table 4: the sentence without an island, its PenLP, the other, its, Diff."""
    return _printed("table 4")


AVERAGE = "Average"


def printed_accuracies(number: int) -> tuple[Cells, dict[str, str]]:
    """The accuracies of Table 1 (new items) or 2 (published ones), and the averages below them."""
    columns = _printed(f"table {number}")
    cells: Cells = {
        column: {
            (phenomenon, kind): float(value)
            for phenomenon, row in rows.items()
            if phenomenon != AVERAGE
            for kind, value in row.items()
        }
        for column, rows in columns.items()
    }
    return cells, {column: rows[AVERAGE] for column, rows in columns.items()}


def _copied_rows(label: str, cells: Cells, printed: Mapping[str, str]) -> Iterator[Cell]:
    """Where the printed average is not that of the cells: the mean that one row would need.

    An inference, and no comparison: nobody printed the mean of a row.
    """
    for column, values in cells.items():
        average = printed.get(column)
        mean = math.fsum(values.values()) / len(values)
        if average is None or equals_printed(mean, average):
            continue
        for phenomenon, twin in _twins(values):
            row = [value for (name, _), value in values.items() if name == phenomenon]
            others = math.fsum(values.values()) - math.fsum(row)
            implied = (float(average) * len(values) - others) / len(row)
            yield Cell(
                what=f"{label} {column}: mean of {phenomenon} that would give the average",
                computed=implied,
                note=f"the printed row has {math.fsum(row) / len(row):.2f} and equals that of"
                f" {twin} up to one item; copied from there, it would explain the difference",
            )


def _twins(values: Mapping[tuple[str, str], float]) -> Iterator[tuple[str, str]]:
    """Phenomena whose row is another one's, each cell within one item of fifty."""
    names = list(dict.fromkeys(name for name, _ in values))
    for index, name in enumerate(names):
        for other in names[:index]:
            pairs = [(v, values[other, cell]) for (n, cell), v in values.items() if n == name]
            if all(abs(one - two) <= 2.0 for one, two in pairs):  # noqa: PLR2004 - 1 of 50 in %
                yield name, other


def _item_lines(label: str, cells: Cells, items: Mapping[str, int]) -> Iterator[Cell]:
    """Cells that are not a multiple of one over the number of items."""
    for column, values in cells.items():
        odd = []
        for (phenomenon, condition), value in values.items():
            n = items.get(phenomenon, items[""])
            nearest = 100 * round(value * n / 100) / n
            if not equals_printed(nearest, format(value, TENTHS)):
                odd.append(f"{phenomenon} {condition} {value} is not a multiple of 1/{n}")
        if odd:
            yield Cell(
                what=f"{label} {column}: cells that the items cannot give",
                computed=float(len(odd)),
                note="; ".join(odd),
            )


def sentence_faults(text: str) -> list[str]:
    """Slips in a sentence that a model sees."""
    words = text.lower().split()
    doubled = [f"doubled {one!r}" for one, two in pairwise(words) if one == two]
    return doubled + ([] if text.endswith(("?", ".")) else ["no final mark"])
