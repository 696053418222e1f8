"""The connectives study as sections: printed tables, released data, and treebanks.

Computed statistics of released data can be compared with expected ones, number by number. Table 6,
how often the eighteen connectives are in treebanks, is counted in those of a folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.corpus.conllu import ReadingProblem
from cimento.corpus.connectives.frequencies import Counts, count_connectives
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.connectives.matching import open_rule
from cimento.corpus.treebanks import SAMPLE, TreebankFile, open_treebanks
from cimento.errors import InputError
from cimento.io.below import files_below
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.studies import Cell, Section, beside
from cimento.studies.connectives import TABLE_6
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from cimento.studies.connectives import StudyCheck
    from cimento.studies.connectives.released import ReleasedStatistics


TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class NumberComparison:
    """One number, computed and expected.

    Attributes:
        where: the keys that lead to it, with dots between.
        computed: None where nothing was computed.
        expected: as the file has it.
        equal: within 1e-9; None where nothing was computed.
    """

    where: str
    computed: JsonValue
    expected: JsonValue
    equal: bool | None


def read_expected(path: Path) -> dict[str, JsonValue]:
    """A JSON file of expected statistics, of the shape that `released.released` computes.

    Raises:
        InputError: it cannot be read or is not a JSON object.
    """
    try:
        data: JsonValue = parse_json(read_bytes(path))
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON ({error})") from error
    if not isinstance(data, dict):
        raise InputError(where=str(path), seen="is not a JSON object", todo="Give one.")
    return data


def compare_statistics(computed: JsonValue, expected: JsonValue) -> list[NumberComparison]:
    """Every number and text of the expected statistics beside the computed one."""
    mine = dict(_numbered(computed))
    return [
        NumberComparison(
            where, mine.get(where), value, _equal(mine[where], value) if where in mine else None
        )
        for where, value in _numbered(expected)
    ]


def _numbered(value: JsonValue, where: str = "") -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        children = [(str(key), child) for key, child in value.items()]
    elif isinstance(value, list):
        children = [(str(number), child) for number, child in enumerate(value)]
    else:
        yield where, value
        return
    for key, child in children:
        yield from _numbered(child, f"{where}.{key}" if where else key)


def _equal(first: JsonValue, second: JsonValue) -> bool:
    numbers = (int, float)
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, numbers) and isinstance(second, numbers):
        return abs(first - second) <= TOLERANCE * max(1.0, abs(second))
    return first == second


_EQUAL = {"right": True, "wrong": False, "open": None}


def printed_section(checks: Sequence[StudyCheck]) -> Section:
    """What adds up in the printed tables."""
    right, wrong, unclear = (
        sum(check.verdict == verdict for check in checks) for verdict in ("right", "wrong", "open")
    )
    return Section(
        name="printed",
        title="The printed tables against themselves",
        source=f"{right} of {len(checks)} figures follow from others, {wrong} do not, {unclear} can"
        " be read in two ways",
        cells=tuple(
            Cell(
                what=f"{check.where}: {check.what}",
                computed=check.computed,
                printed=check.printed,
                equal=_EQUAL[check.verdict],
                note=f"open: {check.note}" if check.verdict == "open" else check.note,
            )
            for check in checks
        ),
    )


def released_sections(released: ReleasedStatistics) -> list[Section]:
    """Statistics of released data, a section for each."""
    return [
        Section(
            name=name,
            title=f"Statistics of {name}",
            source="Released data",
            cells=tuple(Cell(what=where, computed=value) for where, value in _leaves(values)),
        )
        for name, values in released.values.items()
    ]


def expected_section(compared: Sequence[NumberComparison]) -> Section:
    """Statistics that somebody else computed and these are not equal to."""
    equal = sum(cell.equal is True for cell in compared)
    absent = sum(cell.equal is None for cell in compared)
    return Section(
        name="expected",
        title="Computed beside expected statistics: those that differ",
        source=f"{equal} equal within 1e-9, {len(compared) - equal - absent} not, {absent} without"
        " a computed value",
        cells=tuple(
            Cell(
                what=cell.where,
                computed=_shown(cell.computed),
                recomputed=_shown(cell.expected),
                equal=False,
            )
            for cell in compared
            if cell.equal is False
        ),
    )


def _leaves(value: JsonValue, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves(child, f"{where} {key}".strip())
    elif isinstance(value, list):
        yield where, ", ".join(_shown(child) for child in value)
    else:
        yield where, _shown(value)


def _shown(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-" if value is None else str(value)


TREEBANKS: Mapping[str, tuple[str, ...]] = {
    "ISDT": ("it_isdt",),
    "PoSTWITA+TWITTIRÒ": ("it_postwita", "it_twittiro"),
}
"""Column of Table 6 to the treebanks in it."""

SPLITS = ("train", "dev", "test")
INVENTORY, RULE = "it-connectives", "paper"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedCorpus:
    """A column of Table 6, counted.

    Attributes:
        name: of the column.
        counts: of its connectives.
        absent: files of it that are not there, such as ``it_isdt-ud-train.conllu``.
        skipped: malformed sentences, which are not counted.
    """

    name: str
    counts: Counts
    absent: tuple[str, ...]
    skipped: int

    @property
    def described(self) -> str:
        """What was counted, as a sentence without its period."""
        size = self.counts.size
        parts = [f"{self.name}: {size.words:,} words in {size.sentences:,} sentences"]
        parts += [f"without {', '.join(self.absent)}"] if self.absent else []
        parts += [f"{self.skipped} malformed sentences left out"] if self.skipped else []
        return ", ".join(parts)


def treebanks_in(folder: Path) -> tuple[TreebankFile, ...]:
    """The files of the study's treebanks in a folder and below it.

    Raises:
        InputError: one part of a treebank is there twice, such as in two releases.
    """
    names = [name for members in TREEBANKS.values() for name in members]
    paths = sorted(
        path
        for name in names
        for path in files_below(folder, f"{name}-ud-*.conllu*")
        if path.name.endswith((".conllu", ".conllu.gz"))
    )
    by_split: dict[tuple[str, str], TreebankFile] = {}
    for file in open_treebanks(paths):
        twin = by_split.setdefault((file.corpus, file.split), file)
        if twin is not file:
            raise InputError(
                where=str(folder),
                seen=f"{twin.path} and {file.path} are the same part of one treebank",
                todo="Keep one release.",
            )
    return tuple(by_split.values())


def sample_treebank() -> tuple[TreebankFile, ...]:
    """The files of our own small treebank."""
    return open_treebanks([Path(SAMPLE)])


def count_table_6(files: Sequence[TreebankFile]) -> list[CountedCorpus]:
    """The columns of Table 6 that some files allow; other treebanks have columns of their own.

    Raises:
        InputError: a file cannot be read.
    """
    there = {file.corpus for file in files}
    joint = {
        column: [name for name in members if name in there] for column, members in TREEBANKS.items()
    }
    skipped: list[ReadingProblem] = []
    counts = count_connectives(
        files, open_inventory(INVENTORY), [open_rule(RULE)], joint=joint, skipped=skipped
    )
    column_of = {name: column for column, members in TREEBANKS.items() for name in members}
    of_path = {file.path: column_of.get(file.corpus, file.corpus) for file in files}
    lost = {
        (of_path[problem.path], problem.path, problem.sentence or problem.line)
        for problem in skipped
        if problem.severity == "error"
    }
    return [
        CountedCorpus(
            name=count.corpus,
            counts=count,
            absent=_absent(count.corpus, files),
            skipped=sum(column == count.corpus for column, _, _ in lost),
        )
        for count in counts
    ]


def _absent(column: str, files: Sequence[TreebankFile]) -> tuple[str, ...]:
    there = {(file.corpus, file.split) for file in files}
    return tuple(
        f"{name}-ud-{split}.conllu"
        for name in TREEBANKS.get(column, ())
        for split in SPLITS
        if (name, split) not in there
    )


def table_6_section(counted: Sequence[CountedCorpus]) -> Section:
    """Table 6, counted beside printed; a part of a treebank is not compared."""
    return Section(
        name="Table 6",
        title="Table 6: occurrences of the connectives in treebanks, and % of their words",
        source="; ".join(["Rule: " + RULE, *(corpus.described for corpus in counted)]),
        cells=tuple(cell for corpus in counted for cell in _cells(corpus)),
    )


def _cells(corpus: CountedCorpus) -> Iterator[Cell]:
    printed = TABLE_6.get(corpus.name, {})
    part = "a part of the treebank, not compared" if corpus.absent else ""
    for name, row in printed.items():
        values = {
            "occurrences": (corpus.counts.hits.get(name, 0), str(row.count)),
            "%": (corpus.counts.percent(name, "words"), row.percent),
        }
        for what, (value, known) in values.items():
            cell = beside(f"{name}, {corpus.name}: {what}", value, known)
            yield replace(cell, equal=None, note=part) if part else cell
