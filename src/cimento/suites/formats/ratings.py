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
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.errors import InputError, SuiteError, need_known
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.shapes import LABELED, RATINGS
from cimento.intake.table import Table
from cimento.intake.tables import SUFFIXES, open_table, read_header
from cimento.io.files import read_bytes
from cimento.suites.cells import (
    Cells,
    need_columns,
    not_nfc,
    refuse_repeated,
    text_of,
)
from cimento.suites.load import MAX_FILE_BYTES
from cimento.suites.ratings import (
    AuthorLabel,
    RatedSentence,
    RatedSet,
    Scale,
    refuse_off_scale,
    with_ratings,
)

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
_LABELS: Mapping[bool | None, AuthorLabel] = {True: "acceptable", False: "unacceptable", None: ""}
_KINDS: Mapping[str, AuthorLabel] = {"A": "acceptable", "NA": "unacceptable"}
_KNOWN = {"id", "sentence", "grammaticality", "replacement", "ratings", "mean", "sd", "n"}


CONNECTIVES_FORM = "the connectives resource"
"""The form of the Italian resource, which others use for their own language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedFormat:
    """A format in which rated sentences are published.

    Attributes:
        title: name of the format in messages.
        columns: columns by which the format is recognized.
        id: column with the id of a sentence.
        text: column with the sentence.
        mean: column with the mean rating; empty if there is none, as for the columns below.
        sd: column with the standard deviation of the ratings.
        n: column with the number of ratings.
        ratings: column with all ratings of a sentence; a sentence without any is refused.
        participants: column with the people who gave them.
        label: column that says whether a sentence is acceptable.
        also: roles of columns that `change` reads, which are called so.
        kept: free columns, each with the column that it is read from; None keeps all others.
        scale: scale of the ratings; None if sentences only have labels.
        language: function that returns the ISO 639-1 code of a table's language.
        recognizes: function that says whether a table with these columns is in the format.
        change: function that completes the sentence of a row.
        finish: function applied to all sentences of a table, with the name of the table.
    """

    title: str
    columns: Sequence[str]
    id: str
    text: str
    mean: str = ""
    sd: str = ""
    n: str = ""
    ratings: str = ""
    participants: str = ""
    label: str = ""
    also: tuple[str, ...] = ()
    kept: Mapping[str, str] | None = field(default_factory=dict)
    scale: Scale | None = None
    language: Callable[[Table], str] = lambda _: "it"
    recognizes: Callable[[Table], bool] = lambda _: True
    change: Callable[[RatedSentence, Cells], RatedSentence] = lambda sentence, _: sentence
    finish: Callable[[Sequence[RatedSentence], str], Sequence[RatedSentence]] = lambda given, _: (
        given
    )

    def fits(self, table: Table) -> bool:
        """Whether a table is in this format."""
        return set(self.columns) <= set(table.columns) and self.recognizes(table)

    def read(self, table: Table) -> RatedSet:
        """The sentences of a table.

        Raises:
            InputError: a cell is invalid, an id is repeated, or a rating is off the scale.
        """
        need_columns(table, self.columns)
        sentences: Sequence[RatedSentence] = [
            self._sentence(Cells.of(table, row)) for row in table.rows
        ]
        refuse_repeated((sentence.id for sentence in sentences), where=table.name)
        if self.scale is not None:
            refuse_off_scale(sentences, self.scale, where=table.name)
        return RatedSet(
            name=table.name.rsplit(".", 1)[0],
            sentences=tuple(self.finish(sentences, table.name)),
            scale=self.scale,
            language=self.language(table),
            warnings=not_nfc(table),
            read=self._read_as(table, n_items=len(sentences)),
        )

    def _read_as(self, table: Table, *, n_items: int) -> TableReading:
        people = tuple(name for name in table.columns if _ANNOTATOR.fullmatch(name))
        roles = {
            "sentence": self.text, "item": self.id, "rating": self.mean, "rating_sd": self.sd,
            "rating_n": self.n, "ratings": self.ratings, "participants": self.participants,
            "label": self.label, "people": people, **{name: name for name in self.also},
        }  # fmt: skip
        shape = LABELED if self.label and not self.ratings else RATINGS
        return reading_of(table, shape, roles, n_items=n_items, known=self.title)

    def _sentence(self, cells: Cells) -> RatedSentence:
        kept = self.kept
        if kept is None:
            others = (name for name in cells.cells if name not in (self.id, self.text, self.label))
            kept = {name.lower(): name for name in others}
        sentence = RatedSentence(
            id=cells.text(self.id),
            text=cells.text(self.text),
            mean=cells.number(self.mean),
            sd=cells.number(self.sd),
            n=cells.whole(self.n),
            label=_LABELS[cells.flag(self.label)],
            columns={name: cells.text(column) for name, column in kept.items()},
        )
        if self.ratings:
            values, people = cells.answers(self.ratings, self.participants)
            if not values:
                raise InputError(
                    where=cells.where, seen="there are no ratings", todo="Leave the row out."
                )
            sentence = with_ratings(sentence, values, people)
        return self.change(sentence, cells)


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
        seen=f"is a table with the columns {', '.join(map(table.shown, table.columns))}",
        todo="Rated sentences are: " + "; ".join(known.title for known in FORMATS.values()) + ".",
    )


def _with_annotators(sentence: RatedSentence, cells: Cells) -> RatedSentence:
    """The sentence with its annotators' answers, 1 or 0; some sentences have no answers."""
    answers = {
        name: value
        for name in cells.cells
        if _ANNOTATOR.fullmatch(name) and (value := cells.number(name)) is not None
    }
    return with_ratings(sentence, list(answers.values()), list(answers))


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


def _connective(sentence: RatedSentence, cells: Cells) -> RatedSentence:
    """A sentence whose id ends in ``e 11A`` or ``e 11NA``: acceptable or not.

    In the second sentence of a pair, another connective replaces that of the first one;
    ``grammaticality`` is ``no`` if this makes the sentence ungrammatical. The columns are those of
    docs/ratings.md.
    """
    known = parse_id(sentence.id)
    if known is None or known.kind not in _KINDS:
        raise InputError(
            where=cells.where,
            seen=f"the id is {sentence.id!r}",
            todo="It ends in the connective, a number and A or NA, such as 'e 11NA'.",
        )
    (values, _), grammatical = cells.answers("ratings"), cells.flag("grammaticality")
    if grammatical is None and (known.kind == "A" or "grammaticality" in cells.cells):
        # The resource writes only ``no``, so an empty cell means yes.
        grammatical = True
    columns = {
        "connective": known.connective,
        "replacement": cells.text("replacement").lower(),
        **{name: cells.text(name) for name in cells.cells if name not in _KNOWN},
    }
    sentence = replace(
        sentence,
        label=_KINDS[known.kind],
        pair=f"{known.connective} {known.number}",
        grammatical=grammatical,
        columns=columns,
    )
    if values:
        return with_ratings(sentence, values)
    mean, sd, n = cells.number("mean"), cells.number("sd"), cells.whole("n") or None
    return replace(sentence, mean=mean, sd=sd, n=n)


def _with_replacements(sentences: Sequence[RatedSentence], where: str) -> list[RatedSentence]:
    """The sentences, in which members of pairs have the replacement of the connective."""
    members: dict[str, dict[str, RatedSentence]] = {}
    for sentence in sentences:
        members.setdefault(sentence.pair, {})[sentence.label] = sentence
    alone = [pair for pair, both in members.items() if len(both) != len(_KINDS)]
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
    # Different files may use one id for different sentences.
    "accomplit": RatedFormat(
        title="AcCompl-it",
        columns=("id", "N", "mean", "sd", "se", "sentence", "task", "reference"),
        id="id", text="sentence", mean="mean", sd="sd", n="N",
        kept={"se": "se", "task": "task", "reference": "reference"},
        scale=Scale(1, 7),
    ),
    "discotex": RatedFormat(
        title="DisCoTEX, sub-task 2",
        columns=("ID", "TEXT", "SCORE"),
        id="ID", text="TEXT", mean="SCORE",
        scale=Scale(1, 5),
    ),
    # All single ratings, without participants; some lists mix ``3`` and ``3.0``.
    "lau2020": RatedFormat(
        title="Lau et al. 2020",
        columns=(
            "ID", "translated", "source-language", "sentence", "context", "full-ratings",
            "mean-ratings",
        ),
        id="ID", text="sentence", ratings="full-ratings",
        kept={
            "translated": "translated", "source_language": "source-language",
            "context": "context", PRINTED_MEAN: "mean-ratings",
        },
        scale=Scale(1, 4),
        language=lambda _: "en",
    ),
    # The answers of a game's players, 0 or 1; the label is the experts'.
    "itacola-players": RatedFormat(
        title="ItaCoLA, answers of players",
        columns=(
            "UniqueIndexID_ItaCoLA", "Sentence", "ExpertAcceptability", "PlayersAcceptability",
            "NumAnnotations", "DisaggragatedAnnotations", "PlayersID",
        ),
        id="UniqueIndexID_ItaCoLA", text="Sentence", label="ExpertAcceptability",
        ratings="DisaggragatedAnnotations", participants="PlayersID",
        kept={"players": "PlayersAcceptability", "printed_n": "NumAnnotations"},
        scale=_BINARY,
    ),
    # The columns of phenomena are 0 or 1.
    "itacola-phenomena": RatedFormat(
        title="ItaCoLA, phenomena",
        columns=("UniqueIndexID", "Source", "Acceptability", "Sentence", "Simple"),
        id="UniqueIndexID", text="Sentence", label="Acceptability", kept=None,
    ),
    "itacola": RatedFormat(
        title="ItaCoLA",
        columns=("UniqueIndexID", "Source", "Acceptability", "Sentence", "Split"),
        id="UniqueIndexID", text="Sentence", label="Acceptability",
        kept={"source": "Source", "split": "Split"},
    ),
    "escola": RatedFormat(
        title="EsCoLA or CatCoLA",
        columns=("ID", "Label", "Sentence", "Human_annotation_median"),
        id="ID", text="Sentence", label="Label",
        kept={
            "source": "Source", "source_annotation": "Source_annotation",
            "human_annotation_median": "Human_annotation_median", "category": "Category",
            "split": "Split",
        },
        scale=_BINARY,
        language=lambda table: "ca" if _CATALAN.search(table.name) else "es",
        change=_with_annotators,
    ),
    "connectives": RatedFormat(
        title=CONNECTIVES_FORM,
        columns=("id", "sentence"),
        id="id", text="sentence",
        also=("grammaticality", "replacement", "ratings", "mean", "sd", "n"),
        scale=Scale(1, 5),
        # Many tables have these two columns, so the form of the ids decides.
        recognizes=lambda table: any(
            known is not None and known.kind in _KINDS
            for known in (parse_id(text_of(row, "id")) for row in table.rows)
        ),
        change=_connective,
        finish=_with_replacements,
    ),
}  # fmt: skip
"""The formats by name; the first format that fits a table is used."""


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
