"""Table 6: how often the eighteen connectives are in the treebanks of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.corpus.connectives.frequencies import Counts, count_connectives
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.connectives.matching import open_rule
from cimento.corpus.treebanks import SAMPLE, ReadingProblem, TreebankFile, open_treebanks
from cimento.errors import InputError
from cimento.studies.connectives.checks import TABLE_6
from cimento.studies.record import Cell, Section, beside

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
        for path in folder.rglob(f"{name}-ud-*.conllu*")
        if path.name.endswith((".conllu", ".conllu.gz"))
    )
    found: dict[tuple[str, str], TreebankFile] = {}
    for file in open_treebanks(paths):
        twin = found.setdefault((file.corpus, file.split), file)
        if twin is not file:
            raise InputError(
                where=str(folder),
                seen=f"{twin.path} and {file.path} are the same part of one treebank",
                todo="Keep one release.",
            )
    return tuple(found.values())


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
            label = f"{name}, {corpus.name}: {what}"
            if part:
                yield Cell(what=label, computed=value, printed=known, note=part)
            else:
                yield beside(label, value, known)
