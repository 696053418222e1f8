"""Tables 2 to 5 from a user's own copy of the resource, beside what is printed."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.intake.reading import TableReading
from cimento.intake.table import Table
from cimento.intake.tables import SUFFIXES
from cimento.io.values import NoValue, Value
from cimento.paradigms.ratings.estimates import (
    ACCEPTABLE,
    GRAMMATICAL,
    UNACCEPTABLE,
    UNGRAMMATICAL,
    Description,
    describe_labels,
)
from cimento.paradigms.ratings.people import belongs_to, sentence_design
from cimento.statistics.correlation import Correlation
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.studies import Cell, Section, beside
from cimento.studies import connectives as printed
from cimento.studies.connectives import PerplexityRow, PrintedShare, ScoreRow
from cimento.studies.connectives.cloze import (
    BOTH,
    IMPLAUSIBLE,
    NEITHER,
    PLAUSIBLE,
    TARGET,
    TIED,
    ClassCount,
    ClozeSection,
    choice_counts,
    chosen_by_people,
    read_cloze_section,
    table_5,
)
from cimento.studies.own_tables import COPY, open_own, refuse_absent
from cimento.suites import NOTHING
from cimento.suites.formats.ratings import FORMATS
from cimento.suites.letters import one_spelling
from cimento.suites.load import open_suite
from cimento.suites.ratings import RatedSentence, RatedSet, rated_of

PERPLEXITY = "ppl"
"""Column of a user's file with the perplexity of each sentence."""

LABEL_ROWS: Mapping[str, str] = {
    ACCEPTABLE: "Acceptable",
    GRAMMATICAL: "NonAcceptable",
    UNGRAMMATICAL: "NonAccept+NonGr",
}
_ORDER = ("all", "unacceptable,", "connective", "replacement")
CLOZE_ROWS: Mapping[str, str] = {
    TARGET: "Target",
    PLAUSIBLE: "Plausible alt.",
    IMPLAUSIBLE: "Implausible alt.",
    TIED: "Target=Plausible alt.",
}
TEN_ROWS: Mapping[str, str] = {
    TARGET: "Target",
    PLAUSIBLE: "Pl. alt.",
    BOTH: "Target+Pl. alt.",
    NEITHER: "Other",
}


SOURCE = "Printed in Albertin, Miaschi and Brunato 2021, ceur-ws.org/Vol-3033"
_TITLES = {
    "Table 2": "Table 2 of your copy: human scores by label; sd of the sentences' means, sd_within"
    " the mean of their ratings' own, with n - 1; unacceptable is both others together",
    "Table 4": "Table 4 of your copy: perplexities by label",
    "section 4": "Human scores and perplexities of your copy",
    "Pairs": "Pairs of your copy whose acceptable sentence is the less perplexing one",
    "Table 3": "Table 3 of your copy: the option that most people chose",
    "Table 5, ten": "Table 5 of your copy: what is among ten completions",
    "Table 5, first": "Table 5 of your copy: the first completion",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCopy:
    """A user's copy of the resource.

    Attributes:
        sentences: the acceptability section; None where its file is not there.
        sentences_path: its file or folder.
        blanks: the cloze section; None where its file is not there.
        blanks_path: its file or folder.
        readings: what its tables were read as.
    """

    sentences: RatedSet | None
    sentences_path: Path | None
    blanks: ClozeSection | None
    blanks_path: Path | None
    readings: tuple[TableReading, ...] = ()


def read_copy(folder: Path, columns: Mapping[str, str] = NOTHING) -> UserCopy:
    """The files ``acceptability``, ``cloze`` and ``completions`` of a folder, as TSV, CSV or xlsx.

    The first two may also be suite folders, as `cimento annotate apply` writes them.

    Args:
        folder: the folder.
        columns: the tables' columns by the names of `own_tables.COPY`, where they have others.

    Raises:
        InputError: neither section is there, or a file cannot be used.
        UsageError: a chosen column is in none of the tables, or holds something else.
    """
    sentences_path = _find(folder, "acceptability")
    blanks_path = _find(folder, "cloze")
    if sentences_path is None and blanks_path is None:
        raise InputError(
            where=str(folder),
            seen="there is neither acceptability.tsv nor cloze.tsv",
            todo='The page "Ratings: models and people" says what they hold. Without a copy, -m'
            " MODEL asks our own items.",
        )
    paths = [sentences_path, blanks_path, _find(folder, "completions") if blanks_path else None]
    sentences, blanks, completions = (
        open_own(path, columns, COPY) if path is not None and path.is_file() else None
        for path in paths
    )
    refuse_absent(columns, [table for table in (sentences, blanks, completions) if table])
    rated = _rated(sentences, sentences_path)
    section = read_cloze_section(blanks or blanks_path, completions) if blanks_path else None
    readings = (one.read for one in (rated, section) if one is not None)
    return UserCopy(
        sentences=rated,
        sentences_path=sentences_path,
        blanks=section,
        blanks_path=blanks_path,
        readings=tuple(filter(None, readings)),
    )


def _rated(table: Table | None, path: Path | None) -> RatedSet | None:
    if table is not None:
        return FORMATS["connectives"].read(table)
    return None if path is None else rated_of(open_suite(path).suite)


def copy_tables(copy: UserCopy) -> list[Section]:
    """Every cell of Tables 2 to 5 that the copy allows, the correlation, and accuracies of pairs.

    Perplexities are those of the file's column ``ppl``, completions those of the copy. Numbers are
    compared with the printed ones where the items are the study's.

    Raises:
        InputError: a perplexity is not a number above 0, or there are too few completions.
    """
    tables: dict[str, Iterable[Cell]] = {}
    if copy.sentences is not None:
        sentences = copy.sentences.sentences
        tables["Table 2"] = _described(
            describe_labels(sentences),
            printed.TABLE_2,
            ("mean", "sd", "sd_within"),
            labels={**LABEL_ROWS, UNACCEPTABLE: "NonAcceptable"},
        )
        perplexities = given_perplexities(sentences)
        by_label = describe_labels(sentences, lambda sentence: perplexities.get(sentence.id))
        tables["Table 4"] = _described(by_label, printed.TABLE_4, ("mean", "low", "high"))
        tables["section 4"] = rho_cells(correlated(sentences, perplexities))
        tables["Pairs"] = accuracies(sentences, perplexities)
    if copy.blanks is not None:
        suite, completions = copy.blanks.suite, copy.blanks.completions
        people = choice_counts(suite, chosen_by_people(copy.blanks))
        tables["Table 3"] = _shares(people, CLOZE_ROWS, printed.TABLE_3)
        if completions:
            ten, first = table_5(suite, completions)
            tables["Table 5, ten"] = _shares(ten, TEN_ROWS, printed.TABLE_5_TEN)
            tables["Table 5, first"] = _shares(first, TEN_ROWS, printed.TABLE_5_FIRST)
    sentences = copy.sentences.sentences if copy.sentences else ()
    blanks = copy.blanks.items if copy.blanks else ()
    of_sentences = _other(
        [sentence.text for sentence in sentences],
        printed.ACCEPTABLE + printed.UNACCEPTABLE,
        "sentences",
    )
    of_blanks = _other([item.text for item in blanks], printed.CLOZE_ITEMS, "blanks")
    return [
        _section(name, cells, other=of_blanks if name in _OF_BLANKS else of_sentences)
        for name, cells in tables.items()
    ]


_OF_BLANKS = ("Table 3", "Table 5, ten", "Table 5, first")


def _other(texts: Sequence[str], n: int, what: str) -> str:
    """Whose items these are; empty if they are the study's.

    There are as many then, and one that the paper prints is among them.
    """
    if len(texts) != n:
        return f"{len(texts)} {what} here, {n} there"
    return "" if any(map(_is_example, texts)) else f"none of these {what} is printed there"


def _is_example(text: str) -> bool:
    letters = "".join(filter(str.isalpha, one_spelling(text).casefold()))
    return hashlib.sha256(letters.encode()).hexdigest() in printed.EXAMPLES


def _section(name: str, cells: Iterable[Cell], *, other: str) -> Section:
    """A section beside what is printed, which is of other items if `other` says so."""
    made, source = tuple(cells), SOURCE
    if other and any(cell.printed for cell in made):
        made = tuple(dataclasses.replace(cell, equal=None) for cell in made)
        source = f"{SOURCE}, of other items: {other}"
    return Section(name=name, title=_TITLES[name], source=source, cells=made)


def given_perplexities(sentences: Sequence[RatedSentence]) -> dict[str, Value]:
    """The perplexities that the file itself has, by id of the sentence.

    Raises:
        InputError: one is not a number above 0.
    """
    perplexities: dict[str, Value] = {}
    for sentence in sentences:
        text = sentence.columns.get(PERPLEXITY, "")
        try:
            value = float(text.replace(",", ".")) if text else None
        except ValueError:
            value = 0.0
        if value is not None and not 0 < value < float("inf"):
            raise InputError(
                where=f"sentence {sentence.id!r}",
                seen=f"{PERPLEXITY} is {text!r} and not a number above 0",
                todo="Correct the cell.",
            )
        perplexities[sentence.id] = (
            NoValue("the file has no perplexity") if value is None else value
        )
    return perplexities


def _described(
    groups: Sequence[Description],
    rows: Mapping[str, ScoreRow] | Mapping[str, PerplexityRow],
    columns: Sequence[str],
    *,
    labels: Mapping[str, str] = LABEL_ROWS,
) -> Iterator[Cell]:
    """Some columns of a table, beside the printed row of each label that has one."""
    for group in groups:
        row = rows.get(labels.get(group.name, ""))
        for column in columns:
            said = getattr(row, column, None)
            text = None if said is None else f"{said:.3f}"
            note = group.reasons.get(column) or ""
            yield beside(f"{group.name}: {column}", getattr(group, column), text, note=note)


def correlated(
    sentences: Sequence[RatedSentence], perplexities: Mapping[str, Value]
) -> Correlation:
    """Spearman's correlation of mean scores and perplexities, sentences of a pair together.

    Args:
        sentences: rated, in pairs.
        perplexities: of each, by id.
    """
    from cimento.statistics.correlation import correlate

    known = [
        (sentence, sentence.mean, value)
        for sentence in sentences
        if sentence.mean is not None and not isinstance(value := perplexities[sentence.id], NoValue)
    ]
    return correlate(
        [mean for _, mean, _ in known],
        [value for _, _, value in known],
        design=sentence_design([sentence for sentence, _, _ in known]),
    )


def rho_cells(
    rho: Correlation, *, p_holm: float | None = None, n_models: int = 1
) -> Iterator[Cell]:
    """The correlation of section 4 with its interval and p, beside the printed one.

    Args:
        rho: the correlation.
        p_holm: p, corrected for several models; None for none.
        n_models: how many models.
    """
    what = "Spearman, scores and perplexities"
    cell = beside(f"{what}: rho", rho.r, f"{printed.RHO:.3f}", note=rho.reason or "")
    yield dataclasses.replace(cell, low=rho.low, high=rho.high, count=str(rho.n))
    if rho.p is None:
        return
    said = f"< {printed.RHO_P_BELOW}"
    yield Cell(what=f"{what}: p", computed=rho.p, printed=said, note=str(rho.p_method))
    if p_holm is not None:
        yield Cell(what=f"{what}: p, Holm", computed=p_holm, note=f"of {n_models} models")


def accuracies(
    sentences: Sequence[RatedSentence], perplexities: Mapping[str, Value]
) -> Iterator[Cell]:
    """How often the acceptable sentence is the less perplexing one, a tie being no success.

    Over all pairs, and by connective, replacement and grammaticality of the unacceptable one;
    pairs of one cluster of the suite belong together.
    """
    members: dict[str, dict[str, RatedSentence]] = {}
    for sentence in sentences:
        members.setdefault(sentence.pair, {})[sentence.label] = sentence
    held: dict[str, dict[str, bool]] = {"all": {}}
    clusters: dict[str, Hashable] = {}
    for pair, both in members.items():
        if both.keys() != {ACCEPTABLE, UNACCEPTABLE}:
            continue
        good, bad = both[ACCEPTABLE], both[UNACCEPTABLE]
        first, second = perplexities[good.id], perplexities[bad.id]
        if isinstance(first, NoValue) or isinstance(second, NoValue):
            continue
        clusters[pair] = belongs_to(good)
        marked = GRAMMATICAL if bad.grammatical else UNGRAMMATICAL
        connective = f"connective {bad.columns.get('connective') or '-'}"
        replacement = f"replacement {bad.columns.get('replacement') or '-'}"
        for row in ("all", marked, connective, replacement):
            held.setdefault(row, {})[pair] = first < second
    for row, results in sorted(held.items(), key=lambda row: _ORDER.index(row[0].split()[0])):
        yield _accuracy(row, results, clusters)


def _accuracy(row: str, results: Mapping[str, bool], clusters: Mapping[str, Hashable]) -> Cell:
    passed = list(results.values())
    interval = share_interval(passed, Design.of(results, clusters))
    return Cell(
        what=f"{row}: accuracy of {len(passed)}",
        computed=sum(passed) / len(passed) if passed else None,
        note=(interval.reason if passed else "no pair has two perplexities") or "",
        low=interval.low,
        high=interval.high,
        count=str(len(passed)),
    )


def _shares(
    counted: Sequence[ClassCount], rows: Mapping[str, str], said: Mapping[str, PrintedShare]
) -> Iterator[Cell]:
    for category in counted:
        row = said.get(rows.get(category.name, ""))
        yield beside(f"{category.name}: items", category.count, str(row.count) if row else None)
        percent, interval = category.percent, category.interval
        note = (interval.reason if percent is not None else "there are no items") or ""
        cell = beside(f"{category.name}: %", percent, row.percent if row else None, note=note)
        yield dataclasses.replace(cell, low=interval.low, high=interval.high)


def _find(folder: Path, name: str) -> Path | None:
    paths = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    there = [path for path in paths if path.is_file()]
    there += [folder / name] * (folder / name / "suite.toml").is_file()
    if len(there) > 1:
        raise InputError(
            where=str(folder),
            seen=f"there are {' and '.join(path.name for path in there)}",
            todo="Keep one of them.",
        )
    return there[0] if there else None
