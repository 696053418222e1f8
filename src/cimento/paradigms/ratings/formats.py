"""The formats in which rated sentences are published, and readers that turn files into suites.

AcCompl-it (EVALITA 2020, ceur-ws.org/Vol-2765), DisCoTEX (EVALITA 2023, ceur-ws.org/Vol-3473),
Lau et al. 2020 (doi:10.1162/tacl_a_00315), ItaCoLA (Trotta et al. 2021,
doi:10.18653/v1/2021.findings-emnlp.250), EsCoLA and CatCoLA (Bel et al. 2024, LREC-COLING), and
the acceptability section of the Italian connectives resource (Albertin, Miaschi and Brunato 2021,
ceur-ws.org/Vol-3033). Quotation marks are part of the sentences.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import InputError, SuiteError, UsageError, need_known
from cimento.io.files import read_bytes
from cimento.paradigms.ratings.cells import (
    count_of,
    flag_of,
    need_columns,
    not_nfc,
    number_of,
    numbers_of,
    refuse_repeated,
    text_of,
)
from cimento.paradigms.ratings.suite import (
    Label,
    RatedSentence,
    RatedSet,
    Scale,
    refuse_off_scale,
    with_ratings,
)
from cimento.suites.load import MAX_FILE_BYTES
from cimento.suites.tables import SUFFIXES, Row, Table, open_table, read_header

CONNECTIVES = (
    "e", "se", "quando", "come", "ma", "dove", "o", "anche", "perché", "poi", "mentre", "infatti",
    "prima", "però", "invece", "inoltre", "tuttavia", "quindi",
)  # fmt: skip
"""The 18 connectives of the resource, by their number in the ISDT treebank."""

PRINTED_MEAN = "printed_mean"
"""Free column with the mean printed in a file of Lau et al.; the record's own is computed."""

_BINARY = Scale(0, 1)
_ANNOTATOR = re.compile(r"Annotator_\d+")
_CATALAN = re.compile(r"(?i)catcola|cat_")
_ID = re.compile(r"(?P<connective>[^\W\d_]+) (?P<number>\d{1,9})(?P<kind>NA|A|cl)$")
_LABELS: Mapping[str, Label] = {"A": "acceptable", "NA": "unacceptable"}
_KNOWN = {"id", "sentence", "grammaticality", "replacement", "ratings", "mean", "sd", "n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedFormat:
    """A format in which rated sentences are published.

    Attributes:
        title: name of the format in messages.
        columns: columns by which the format is recognized.
        sentence: function that reads a row of a table.
        scale: scale of the ratings; None if sentences only have labels.
        language: function that returns the ISO 639-1 code of a table's language.
        recognises: function that says whether a table with these columns is in the format.
        finish: function applied to all sentences of a table, with the name of the table.
    """

    title: str
    columns: Sequence[str]
    sentence: Callable[[Table, Row], RatedSentence]
    scale: Scale | None
    language: Callable[[Table], str] = lambda _: "it"
    recognises: Callable[[Table], bool] = lambda _: True
    finish: Callable[[Sequence[RatedSentence], str], Sequence[RatedSentence]] = lambda given, _: (
        given
    )

    def fits(self, table: Table) -> bool:
        """Whether a table is in this format."""
        return set(self.columns) <= set(table.columns) and self.recognises(table)

    def read(self, table: Table) -> RatedSet:
        """The sentences of a table.

        Raises:
            InputError: a cell is invalid, an id is repeated, or a rating is off the scale.
        """
        need_columns(table, self.columns)
        sentences: Sequence[RatedSentence] = [self.sentence(table, row) for row in table.rows]
        refuse_repeated((sentence.id for sentence in sentences), where=table.name)
        if self.scale is not None:
            refuse_off_scale(sentences, self.scale, where=table.name)
        return RatedSet(
            name=table.name.rsplit(".", 1)[0],
            sentences=tuple(self.finish(sentences, table.name)),
            scale=self.scale,
            language=self.language(table),
            warnings=not_nfc(table),
        )


def read_rated(path: Path, format_: str = "") -> RatedSet:
    """The rated sentences of a file.

    Args:
        path: a ``.tsv`` (never quoted), ``.csv`` or ``.xlsx``.
        format_: key of `FORMATS`; empty to recognize the format by the columns.

    Raises:
        InputError: the format of the file is unknown, or something in it is invalid.
        UsageError: the format does not exist.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            where=str(path),
            seen=f"has the suffix {path.suffix!r}",
            todo=f"Rated sentences are read from {', '.join(SUFFIXES)}.",
        )
    table = open_table(path)
    if format_:
        seen = "there is no such format of rated sentences"
        need_known(format_, FORMATS, where=f"format {format_!r}", seen=seen)
        return FORMATS[format_].read(table)
    for known in FORMATS.values():
        if known.fits(table):
            return known.read(table)
    raise InputError(
        where=str(path),
        seen=f"is a table with the columns {', '.join(table.columns)}",
        todo="Rated sentences are: " + "; ".join(known.title for known in FORMATS.values()) + ".",
    )


def merge(sets: Sequence[RatedSet], *, name: str) -> RatedSet:
    """Several sets as one; ids that occur in more than one set are prefixed with the set's name.

    Raises:
        UsageError: there are no sets, or they have different scales.
    """
    if not sets or any(rated.scale != sets[0].scale for rated in sets):
        raise UsageError(
            where=name,
            seen="sets that are not on one scale cannot be put together",
            todo="Give those on one scale.",
        )
    homes: dict[str, set[str]] = {}
    for rated in sets:
        for sentence in rated.sentences:
            homes.setdefault(sentence.id, set()).add(rated.name)
    sentences = tuple(
        replace(sentence, id=f"{rated.name}:{sentence.id}")
        if len(homes[sentence.id]) > 1
        else sentence
        for rated in sets
        for sentence in rated.sentences
    )
    return replace(
        sets[0],
        name=name,
        sentences=sentences,
        warnings=tuple(warning for rated in sets for warning in rated.warnings),
    )


def _accomplit(table: Table, row: Row) -> RatedSentence:
    """A mean rating; different files may use one id for different sentences (see `merge`)."""
    return RatedSentence(
        id=text_of(row, "id"),
        text=text_of(row, "sentence"),
        mean=number_of(table, row, "mean"),
        sd=number_of(table, row, "sd"),
        n=count_of(table, row, "N"),
        columns={name: text_of(row, name) for name in ("se", "task", "reference")},
    )


def _discotex(table: Table, row: Row) -> RatedSentence:
    return RatedSentence(
        id=text_of(row, "ID"),
        text=text_of(row, "TEXT"),
        mean=number_of(table, row, "SCORE"),
    )


def _lau(table: Table, row: Row) -> RatedSentence:
    """All single ratings, without participants; some lists mix ``3`` and ``3.0``."""
    values = numbers_of(table, row, "full-ratings")
    if not values:
        raise InputError(
            where=table.where(row), seen="there are no ratings", todo="Leave the row out."
        )
    columns = {
        "translated": text_of(row, "translated"),
        "source_language": text_of(row, "source-language"),
        "context": text_of(row, "context"),
        PRINTED_MEAN: text_of(row, "mean-ratings"),
    }
    text = text_of(row, "sentence")
    return with_ratings(RatedSentence(id=text_of(row, "ID"), text=text, columns=columns), values)


def _itacola(table: Table, row: Row, names: Sequence[str] = ("Source", "Split")) -> RatedSentence:
    """A label, and the other columns of the corpus."""
    return RatedSentence(
        id=text_of(row, "UniqueIndexID"),
        text=text_of(row, "Sentence"),
        label=_label(table, row, "Acceptability"),
        columns={name.lower(): text_of(row, name) for name in names},
    )


def _itacola_phenomena(table: Table, row: Row) -> RatedSentence:
    """A label and all other columns; those of phenomena are 0 or 1."""
    known = {"UniqueIndexID", "Acceptability", "Sentence"}
    return _itacola(table, row, [name for name in table.columns if name not in known])


def _itacola_players(table: Table, row: Row) -> RatedSentence:
    """The answers of a game's players, 0 or 1; the label is the experts'."""
    values = numbers_of(table, row, "DisaggragatedAnnotations")
    players = [name.strip() for name in text_of(row, "PlayersID").split(",")]
    if len(values) != len(players):
        raise InputError(
            where=table.where(row),
            seen=f"there are {len(values)} answers and {len(players)} players",
            todo="Give every answer its player.",
        )
    sentence = RatedSentence(
        id=text_of(row, "UniqueIndexID_ItaCoLA"),
        text=text_of(row, "Sentence"),
        label=_label(table, row, "ExpertAcceptability"),
        columns={
            "players": text_of(row, "PlayersAcceptability"),
            "printed_n": text_of(row, "NumAnnotations"),
        },
    )
    return with_ratings(sentence, values, players)


def _escola(table: Table, row: Row) -> RatedSentence:
    """The source's label and the annotators' answers, 1 or 0; some sentences have no answers."""
    answers = {
        name: value
        for name in table.columns
        if _ANNOTATOR.fullmatch(name) and (value := number_of(table, row, name)) is not None
    }
    kept = ("Source", "Source_annotation", "Human_annotation_median", "Category", "Split")
    sentence = RatedSentence(
        id=text_of(row, "ID"),
        text=text_of(row, "Sentence"),
        label=_label(table, row, "Label"),
        columns={name.lower(): text_of(row, name) for name in kept},
    )
    return with_ratings(sentence, list(answers.values()), list(answers))


def _label(table: Table, row: Row, column: str) -> Label:
    flag = flag_of(table, row, column)
    return "" if flag is None else "acceptable" if flag else "unacceptable"


@dataclass(frozen=True, slots=True)
class ConnectiveId:
    """The parts of an id of the connectives resource.

    Attributes:
        connective: the original connective.
        number: number of the pair or the cloze item, within the whole section.
        kind: ``A`` and ``NA`` for the members of a pair, ``cl`` for a cloze item.
    """

    connective: str
    number: int
    kind: str

    def __str__(self) -> str:
        return f"{self.connective} {self.number}{self.kind}"


def parse_id(text: str) -> ConnectiveId | None:
    """The parts of an id, ignoring any text before them; None for another form of id."""
    match = _ID.search(unicodedata.normalize("NFC", text).strip())
    if match is None:
        return None
    return ConnectiveId(match["connective"].lower(), int(match["number"]), match["kind"])


def _connective(table: Table, row: Row) -> RatedSentence:
    """A sentence whose id ends in ``e 11A`` or ``e 11NA``: acceptable or not.

    In the second sentence of a pair, another connective replaces that of the first one;
    ``grammaticality`` is ``no`` if this makes the sentence ungrammatical. The columns are those of
    docs/acceptability.md.
    """
    text = text_of(row, "id")
    known = parse_id(text)
    if known is None or known.kind not in _LABELS:
        raise InputError(
            where=table.where(row),
            seen=f"the id is {text!r}",
            todo="It ends in the connective, a number and A or NA, such as 'e 11NA'.",
        )
    values = numbers_of(table, row, "ratings")
    grammatical = flag_of(table, row, "grammaticality")
    if grammatical is None and (known.kind == "A" or "grammaticality" in table.columns):
        # The resource writes only ``no``, so an empty cell means yes.
        grammatical = True
    free = {name: text_of(row, name) for name in table.columns if name not in _KNOWN}
    sentence = RatedSentence(
        id=text,
        text=text_of(row, "sentence"),
        mean=None if values else number_of(table, row, "mean"),
        sd=None if values else number_of(table, row, "sd"),
        n=None if values else count_of(table, row, "n") or None,
        label=_LABELS[known.kind],
        pair=f"{known.connective} {known.number}",
        grammatical=grammatical,
        columns={
            "connective": known.connective,
            "replacement": text_of(row, "replacement").lower(),
            **free,
        },
    )
    return with_ratings(sentence, values) if values else sentence


def _with_replacements(sentences: Sequence[RatedSentence], where: str) -> list[RatedSentence]:
    """The sentences, in which members of pairs have the replacement of the connective."""
    members: dict[str, dict[str, RatedSentence]] = {}
    for sentence in sentences:
        members.setdefault(sentence.pair, {})[sentence.label] = sentence
    alone = [pair for pair, both in members.items() if len(both) != len(_LABELS)]
    if alone:
        raise InputError(
            where=where,
            seen=f"{len(alone)} pairs have one sentence only, the first is {alone[0]!r}",
            todo="Every pair has an id in A and one in NA.",
        )
    replaced = {
        pair: both["unacceptable"].columns["replacement"]
        or replacement_in(both["acceptable"].text, both["unacceptable"].text)
        for pair, both in members.items()
    }
    return [
        replace(sentence, columns={**sentence.columns, "replacement": replaced[sentence.pair]})
        for sentence in sentences
    ]


def replacement_in(original: str, changed: str) -> str:
    """The words of a sentence in the place where the other sentence has different words.

    Punctuation at the end of either, and capitals of the words found, are ignored. The result is
    empty if words are only missing.
    """
    first, second = (text.rstrip(" .!?…").split() for text in (original, changed))
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end] == second[-1 - end]:
        end += 1
    words = second[start : len(second) - end]
    return " ".join(words).strip(",;:").lower()


FORMATS: Mapping[str, RatedFormat] = {
    "accomplit": RatedFormat(
        title="AcCompl-it",
        columns=("id", "N", "mean", "sd", "se", "sentence", "task", "reference"),
        sentence=_accomplit,
        scale=Scale(1, 7),
    ),
    "discotex": RatedFormat(
        title="DisCoTEX, sub-task 2",
        columns=("ID", "TEXT", "SCORE"),
        sentence=_discotex,
        scale=Scale(1, 5),
    ),
    "lau2020": RatedFormat(
        title="Lau et al. 2020",
        columns=(
            "ID", "translated", "source-language", "sentence", "context", "full-ratings",
            "mean-ratings",
        ),
        sentence=_lau,
        scale=Scale(1, 4),
        language=lambda _: "en",
    ),
    "itacola-players": RatedFormat(
        title="ItaCoLA, answers of players",
        columns=(
            "UniqueIndexID_ItaCoLA", "Sentence", "ExpertAcceptability", "PlayersAcceptability",
            "NumAnnotations", "DisaggragatedAnnotations", "PlayersID",
        ),
        sentence=_itacola_players,
        scale=_BINARY,
    ),
    "itacola-phenomena": RatedFormat(
        title="ItaCoLA, phenomena",
        columns=("UniqueIndexID", "Source", "Acceptability", "Sentence", "Simple"),
        sentence=_itacola_phenomena,
        scale=None,
    ),
    "itacola": RatedFormat(
        title="ItaCoLA",
        columns=("UniqueIndexID", "Source", "Acceptability", "Sentence", "Split"),
        sentence=_itacola,
        scale=None,
    ),
    "escola": RatedFormat(
        title="EsCoLA or CatCoLA",
        columns=("ID", "Label", "Sentence", "Human_annotation_median"),
        sentence=_escola,
        scale=_BINARY,
        language=lambda table: "ca" if _CATALAN.search(table.name) else "es",
    ),
    "connectives": RatedFormat(
        title="the connectives resource",
        columns=("id", "sentence"),
        sentence=_connective,
        scale=Scale(1, 5),
        # Many tables have these two columns, so the form of the ids decides.
        recognises=lambda table: any(parse_id(text_of(row, "id")) for row in table.rows),
        finish=_with_replacements,
    ),
}  # fmt: skip
"""The formats by name; the first format that fits a table is used."""


NO_PREDICTIONS = "CIM-S023"
"""The check for missing predictions, which does not apply to suites of single sentences."""


def is_rated_table(path: Path) -> bool:
    """Whether a path is a file in a format of rated sentences, judged by its columns."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    if path.stat().st_size > MAX_FILE_BYTES:
        return False
    try:
        header, _ = read_header(read_bytes(path), path)
        columns = set(header.columns if header else ())
        if not any(columns.issuperset(known.columns) for known in FORMATS.values()):
            return False
        table = open_table(path)
    except SuiteError:
        return False
    return any(known.fits(table) for known in FORMATS.values())
