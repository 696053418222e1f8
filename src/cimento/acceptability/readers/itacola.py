"""ItaCoLA (Trotta et al. 2021, doi:10.18653/v1/2021.findings-emnlp.250): its three files.

The corpus (``UniqueIndexID Source Acceptability Sentence Split``), the sentences marked for
phenomena (no split, a column of 0 and 1 for each phenomenon), and the answers of players of a game
(lists of answers and of players). Quotation marks are part of the sentences.
"""

from __future__ import annotations

from cimento.acceptability.readers import cells
from cimento.acceptability.records import Label, RatedSentence, RatedSet, Scale, with_ratings
from cimento.errors import InputError
from cimento.suites.tables import Row, Table

CORPUS = ("UniqueIndexID", "Source", "Acceptability", "Sentence", "Split")
PHENOMENA = ("UniqueIndexID", "Source", "Acceptability", "Sentence", "Simple")
PLAYERS = (
    "UniqueIndexID_ItaCoLA", "Sentence", "ExpertAcceptability", "PlayersAcceptability",
    "NumAnnotations", "DisaggragatedAnnotations", "PlayersID",
)  # fmt: skip
BINARY = Scale(0, 1)


def read_corpus(table: Table) -> RatedSet:
    """The corpus: a label and a split for each sentence.

    Raises:
        InputError: a cell is not what it should be, or an id is there twice.
    """
    return _labelled(table, columns=("Source", "Split"))


def read_phenomena(table: Table) -> RatedSet:
    """The sentences that are marked for phenomena: ``1`` in the column of each they show.

    Raises:
        InputError: a cell is not what it should be, or an id is there twice.
    """
    known = {"UniqueIndexID", "Acceptability", "Sentence"}
    return _labelled(table, columns=[name for name in table.columns if name not in known])


def read_players(table: Table) -> RatedSet:
    """The players' answers, 0 or 1; the label is the experts'.

    Raises:
        InputError: a cell is not what it should be, an id is there twice, or the lists of answers
            and of players are not of one length.
    """
    return _set(table, tuple(_answered(table, row) for row in table.rows), scale=BINARY)


def _labelled(table: Table, *, columns: list[str] | tuple[str, ...]) -> RatedSet:
    sentences = tuple(
        RatedSentence(
            id=cells.text_of(row, "UniqueIndexID"),
            text=cells.text_of(row, "Sentence"),
            label=_label(table, row, "Acceptability"),
            columns={name.lower(): cells.text_of(row, name) for name in columns},
        )
        for row in table.rows
    )
    return _set(table, sentences, scale=None)


def _answered(table: Table, row: Row) -> RatedSentence:
    values = cells.numbers_of(table, row, "DisaggragatedAnnotations")
    players = [name.strip() for name in cells.text_of(row, "PlayersID").split(",")]
    if len(values) != len(players):
        raise InputError(
            where=table.where(row),
            seen=f"there are {len(values)} answers and {len(players)} players",
            todo="Give every answer its player.",
        )
    ratings, mean, sd, n = with_ratings(values, players)
    return RatedSentence(
        id=cells.text_of(row, "UniqueIndexID_ItaCoLA"),
        text=cells.text_of(row, "Sentence"),
        ratings=ratings,
        mean=mean,
        sd=sd,
        n=n,
        label=_label(table, row, "ExpertAcceptability"),
        columns={
            "players": cells.text_of(row, "PlayersAcceptability"),
            "printed_n": cells.text_of(row, "NumAnnotations"),
        },
    )


def _label(table: Table, row: Row, column: str) -> Label:
    flag = cells.flag_of(table, row, column)
    if flag is None:
        return ""
    return "acceptable" if flag else "unacceptable"


def _set(table: Table, sentences: tuple[RatedSentence, ...], *, scale: Scale | None) -> RatedSet:
    cells.refuse_repeated(sentences, where=table.name)
    if scale is not None:
        cells.refuse_off_scale(sentences, scale, where=table.name)
    return RatedSet(
        name=table.name.rsplit(".", 1)[0],
        sentences=sentences,
        scale=scale,
        language="it",
        warnings=cells.not_nfc(table),
    )
