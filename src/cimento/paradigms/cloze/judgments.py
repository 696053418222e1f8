"""Judgments of candidates: whether each fits its blank, by a dictionary or by people.

An expectation is written as parts of speech with features of Universal Dependencies, joined by
``or``: ``ADJ Gender=Fem|Number=Plur or VERB VerbForm=Part|Gender=Fem|Number=Plur``. ``*`` stands
for any part of speech. With ``not`` in front a candidate fits where one of its readings is none
of these. All readings count, since a dictionary does not know which one is meant; a candidate
without a reading does not fit. How far such judgments can be in for a person's is measured by
`compare_judgments`, and has to be, phenomenon by phenomenon.

People's judgments come from the run itself, from an earlier run, or from a table.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.corpus.morphology import Morphology, WordReading, parse_features
from cimento.errors import InputError, UsageError
from cimento.intake.table import Row
from cimento.io.tables import JUDGMENTS
from cimento.io.tables import read_table as read_run_table
from cimento.io.templates import filled
from cimento.judgments import FITS
from cimento.paradigms.cloze.detecting import SHEET
from cimento.paradigms.cloze.portuguese import REMARK_JOINT, read_released_sheet
from cimento.paradigms.cloze.reading import read_cell, read_parts, table_with
from cimento.paradigms.cloze.requests import Candidate
from cimento.paradigms.cloze.shares import Share
from cimento.suites.cloze import EXPECTED, JOINT
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    from cimento.statistics.agreement import Agreement


PIECE = "##"
"""What a piece that continues a word begins with in vocabularies of the WordPiece kind."""

_OR = " or "
_NOT = "not "
_ANY = "*"
_EVEN = 0.5


@dataclass(frozen=True, slots=True)
class ReadingKind:
    """A kind of reading.

    Attributes:
        pos: part of speech; empty for any.
        features: what it must have.
    """

    pos: str
    features: Mapping[str, str]

    def matches(self, reading: WordReading) -> bool:
        """Whether a reading is of this kind."""
        return self.pos in ("", reading.pos) and reading.has(self.features)


@dataclass(frozen=True, slots=True)
class Expectation:
    """The properties that an item expects of the word in its blank.

    Attributes:
        alternatives: kinds of readings.
        negated: whether a reading must be none of them, instead of one of them.
    """

    alternatives: tuple[ReadingKind, ...]
    negated: bool = False

    def met_by(self, readings: Iterable[WordReading]) -> bool:
        """Whether one of the readings is what is expected."""
        return any(
            any(alternative.matches(reading) for alternative in self.alternatives) != self.negated
            for reading in readings
        )


def parse_expectation(text: str) -> Expectation:
    """An expectation as it is written.

    Raises:
        InputError: a part is neither a part of speech nor features.
    """
    negated = text.startswith(_NOT)
    alternatives = []
    # A seed of several categories has the expectations of them all.
    for part in text.removeprefix(_NOT).replace(JOINT, _OR).split(_OR):
        pos, _, features = part.strip().partition(" ")
        if not pos or "=" in pos or not (pos == _ANY or pos.isupper()):
            raise InputError(
                where=f"expectation {text!r}",
                seen=f"{part.strip()!r} does not begin with a part of speech",
                todo="Write it as in: ADJ Gender=Fem|Number=Plur or VERB VerbForm=Part.",
            )
        try:
            wanted = parse_features(features.strip())
        except UsageError as error:
            raise InputError(
                where=f"expectation {text!r}", seen=error.seen, todo=error.todo
            ) from error
        alternatives.append(ReadingKind("" if pos == _ANY else pos, wanted))
    return Expectation(tuple(alternatives), negated)


def expectations(columns: Mapping[str, Mapping[str, str]]) -> dict[str, Expectation]:
    """The expectation of each item that has one.

    Args:
        columns: id of an item to its columns; those of `EXPECTED` may name other columns in
            braces, ``ADJ Gender={gender}``.

    Raises:
        InputError: an expectation cannot be read, or names a column that is not there.
    """
    expected = {}
    for item, cells in columns.items():
        text = cells.get(EXPECTED)
        if not text:
            continue
        try:
            expected[item] = parse_expectation(filled(text, cells))
        except (KeyError, ValueError) as error:
            raise InputError(
                where=f"item {item!r}",
                seen=f"its expectation {text!r} names a column it has not ({error})",
                todo="Add the column, or write the feature out.",
            ) from error
    return expected


def dictionary_readings(morphology: Morphology) -> Callable[[Candidate], tuple[WordReading, ...]]:
    """From a candidate to its readings in a dictionary.

    Punctuation is read as ``PUNCT``; a piece of a word has no reading.
    """

    def readings(candidate: Candidate) -> tuple[WordReading, ...]:
        text = candidate.text.strip()
        if not text or text.startswith(PIECE):
            return ()
        if all(unicodedata.category(character)[0] in "PS" for character in text):
            return (WordReading(text, text, "PUNCT", "", "punct"),)
        return morphology.analyze(text)

    return readings


def judge_expected(
    candidates: Iterable[Candidate],
    wanted: Mapping[str, Expectation],
    readings: Callable[[Candidate], Sequence[WordReading]],
) -> list[Candidate]:
    """The candidates, judged by their items' expectations; None where an item has none."""
    return [
        replace(candidate, fits=expected.met_by(readings(candidate)) if expected else None)
        for candidate in candidates
        for expected in [wanted.get(candidate.item)]
    ]


@dataclass(frozen=True, slots=True)
class JudgmentComparison:
    """Judgments by rule and by a person, on the candidates that both judged.

    Attributes:
        both: fit by both.
        rule_only: fit by the rule alone.
        person_only: fit by the person alone.
        neither: fit by neither.
        kappa: Cohen's, with its interval.
    """

    both: int
    rule_only: int
    person_only: int
    neither: int
    kappa: Agreement

    @property
    def agreement(self) -> Share:
        """The proportion of candidates on which they agree."""
        return Share(self.both + self.neither, self.n)

    @property
    def n(self) -> int:
        """The number of candidates that both judged."""
        return self.both + self.rule_only + self.person_only + self.neither


def compare_judgments(
    rule: Iterable[Candidate],
    person: Iterable[Candidate],
    *,
    cluster_of: Callable[[Candidate], Hashable] = attrgetter("item"),
) -> JudgmentComparison:
    """The agreement of a rule with a person, candidate by candidate (same item, same rank).

    Args:
        rule: judged by the rule.
        person: judged by the person.
        cluster_of: what a candidate belongs to: its item, or what its item was made from.
    """
    from cimento.statistics.agreement import cohen_kappa
    from cimento.statistics.design import Design

    verdicts = {(c.item, c.rank): c.fits for c in person if c.fits is not None}
    both = [
        candidate
        for candidate in rule
        if candidate.fits is not None and (candidate.item, candidate.rank) in verdicts
    ]
    mine = [candidate.fits for candidate in both]
    theirs = [verdicts[candidate.item, candidate.rank] for candidate in both]
    pairs = list(zip(mine, theirs, strict=True))
    clusters = tuple(map(cluster_of, both))
    return JudgmentComparison(
        both=pairs.count((True, True)),
        rule_only=pairs.count((True, False)),
        person_only=pairs.count((False, True)),
        neither=pairs.count((False, False)),
        kappa=cohen_kappa(mine, theirs, design=Design(clusters, clusters)),
    )


_FITS: Mapping[str, bool | None] = {
    **dict.fromkeys(("yes", "y", "s", "1", "true"), True),
    **dict.fromkeys(("no", "n", "0", "false"), False),
    "": None,
}
"""How people may have written whether a candidate fits."""


def read_judged_candidates(path: Path) -> list[Candidate]:
    """Judged candidates of a table.

    Its columns are ``item`` and ``candidate``, which must be there, and ``rank``, ``probability``,
    ``fits``, ``remarks`` and ``tags``. There are tabs, a header line and no quoting.

    A table that ``cimento annotate candidates --export`` wrote has no ranks: its candidates are
    numbered in their order, and several remarks are joined as there. ``all-eval.tsv``, the released
    judgments of the study of Brazilian Portuguese, is read too.

    Raises:
        InputError: there is no such table, a column is missing, or a row cannot be used.
    """
    if path.name == SHEET:
        return [row.candidate for row in read_released_sheet(path)[1]]
    table = table_with(path, "item", "candidate")
    numbers: Counter[str] = Counter()
    candidates = []
    for row in table.rows:
        item = read_cell(row.cells["item"])
        numbers[item] += 1
        candidates.append(_read_candidate(row, table.where(row), item, numbers[item]))
    return candidates


def _read_candidate(row: Row, where: str, item: str, number: int) -> Candidate:
    cells = row.cells
    fits = read_cell(cells.get("fits", "")).lower()
    if fits not in _FITS:
        raise InputError(where=where, seen=f"fits is {fits!r}", todo="Write yes, no, or nothing.")
    probability = cells.get("probability", "").strip()
    try:
        rank = int(cells["rank"]) if "rank" in cells else number
        value = float(probability) if probability else None
    except ValueError as error:
        raise InputError(where=where, seen=f"no number: {error}", todo="Correct it.") from error
    if value is not None and not 0 <= value <= 1:
        raise InputError(
            where=where, seen=f"the probability is {value}", todo="It should be from 0 to 1."
        )
    remarks = cells.get("remarks", "")
    joined = tuple(filter(None, read_cell(remarks).split(REMARK_JOINT)))
    return Candidate(
        item=item,
        rank=rank,
        text=read_cell(cells["candidate"]),
        probability=value,
        fits=_FITS[fits],
        remarks=read_parts(remarks) if "rank" in cells else joined,
        tags=read_parts(cells.get("tags", "")),
    )


Fits = Mapping[tuple[str, str], bool | None]
"""The key of a candidate (`Candidate.key`) to whether it fits, as people said; None where they were
divided."""


def human_judgments(
    folder: Path | None, earlier: Path | None = None
) -> dict[tuple[str, str], bool | None]:
    """Judgments that were made on a run, then those of an earlier one where there are none.

    Args:
        folder: of the run, with its judgments next to its tables; None for no run.
        earlier: a folder with a judgments table, or a table of judged candidates; None for none.

    Raises:
        InputError: the earlier judgments cannot be read.
    """
    judged: dict[tuple[str, str], bool | None] = {}
    if earlier is not None and earlier.is_file():
        rows = (row for row in read_judged_candidates(earlier) if row.fits is not None)
        judged = {row.key: row.fits for row in rows}
    elif earlier is not None and earlier.is_dir():
        judged.update(_of_folder(earlier))
    elif earlier is not None:
        raise InputError(
            where=str(earlier),
            seen="there are no judgments here",
            todo="Give a run that was annotated, or a table of judgments.",
        )
    if folder is not None and (folder / f"{JUDGMENTS.name}.parquet").exists():
        judged.update(_of_folder(folder))
    return judged


def _of_folder(folder: Path) -> Fits:
    """The verdict of most annotators of a run; None where they are divided evenly."""
    import polars as pl

    votes = read_run_table(JUDGMENTS, folder).filter(
        pl.col("question") == FITS, pl.col("value").is_in(["yes", "no"])
    )
    spelled = pl.col("candidate").map_elements(one_spelling, return_dtype=pl.String)
    places = votes.with_columns(spelled).group_by("item", "candidate", maintain_order=True)
    shares = places.agg(share=(pl.col("value") == "yes").mean())
    return {
        (item, candidate): None if share == _EVEN else share > _EVEN
        for item, candidate, share in shares.iter_rows()
    }


def with_remarks(folder: Path | None, candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates with all that annotators of a run remarked on them, each remark once.

    Args:
        folder: of the run; None where it is not stored.
        candidates: of the run.
    """
    if folder is None or not (folder / f"{JUDGMENTS.name}.parquet").exists():
        return list(candidates)
    remarks: dict[tuple[str, str], dict[str, None]] = {}
    rows = read_run_table(JUDGMENTS, folder).select("item", "candidate", "remark")
    for item, candidate, remark in rows.iter_rows():
        if remark:
            parts = dict.fromkeys(remark.split(REMARK_JOINT))
            remarks.setdefault((item, one_spelling(candidate)), {}).update(parts)
    return [
        replace(candidate, remarks=tuple(remarks.get(candidate.key, ())))
        for candidate in candidates
    ]


@dataclass(frozen=True, slots=True)
class ReusedJudgments:
    """Candidates with what earlier judgments say of them.

    Attributes:
        candidates: all of them, in their order; None stays where nothing was said.
        taken: number of candidates that got an earlier judgment.
        new: those that somebody has to judge: never judged, or judged in both ways.
    """

    candidates: tuple[Candidate, ...]
    taken: int
    new: tuple[Candidate, ...]


def reuse_judgments(
    candidates: Iterable[Candidate], earlier: Iterable[Candidate]
) -> ReusedJudgments:
    """The candidates with the judgments that the same text got in the same item before.

    Rank and probability do not matter, so that the judgments of one model's candidates serve
    for another's. A text is the same only with the same capitals, in any spelling of its letters.

    Args:
        candidates: a judgment that one has already is kept.
        earlier: judged candidates of the same items, of any models.
    """
    known: dict[tuple[str, str], dict[bool, Candidate]] = {}
    for candidate in earlier:
        if candidate.fits is not None:
            verdicts = known.setdefault(candidate.key, {})
            verdicts.setdefault(candidate.fits, candidate)
    reused: list[Candidate] = []
    taken = 0
    for candidate in candidates:
        verdicts = known.get(candidate.key, {})
        if candidate.fits is None and len(verdicts) == 1:
            (before,) = verdicts.values()
            reused.append(replace(candidate, fits=before.fits, remarks=before.remarks))
            taken += 1
        else:
            reused.append(candidate)
    new = tuple(candidate for candidate in reused if candidate.fits is None)
    return ReusedJudgments(tuple(reused), taken, new)
