"""The acceptability section of the Italian connectives resource, by its columns and ids.

Albertin, Miaschi and Brunato 2021, ceur-ws.org/Vol-3033. A sentence's id ends in ``e 11A`` or
``e 11NA``: the connective, the number of the pair in the section, acceptable or not. In the second
sentence of a pair another connective stands in its place; ``grammaticality`` is ``no`` where that
makes it ungrammatical. The columns are those of docs/acceptability.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cimento.acceptability.readers import cells
from cimento.acceptability.records import Label, RatedSentence, RatedSet, Scale, with_ratings
from cimento.errors import InputError
from cimento.suites.tables import Row, Table

CONNECTIVES = (
    "e", "se", "quando", "come", "ma", "dove", "o", "anche", "perché", "poi", "mentre", "infatti",
    "prima", "però", "invece", "inoltre", "tuttavia", "quindi",
)  # fmt: skip
"""The 18 of the resource, by their number in the ISDT treebank."""

COLUMNS = ("id", "sentence")
SCALE = Scale(1, 5)

_ID = re.compile(r"(?P<connective>[^\W\d_]+) (?P<number>\d{1,9})(?P<kind>NA|A|cl)$")
_LABELS: Mapping[str, Label] = {"A": "acceptable", "NA": "unacceptable"}
_KNOWN = {"id", "sentence", "grammaticality", "replacement", "ratings", "mean", "sd", "n"}


@dataclass(frozen=True, slots=True)
class ConnectiveId:
    """What an id of the resource says.

    Attributes:
        connective: the original one.
        number: of the pair or the cloze item, over the whole section.
        kind: ``A`` and ``NA`` for the members of a pair, ``cl`` for a cloze item.
    """

    connective: str
    number: int
    kind: str

    def __str__(self) -> str:
        return f"{self.connective} {self.number}{self.kind}"


def parse_id(text: str) -> ConnectiveId | None:
    """What an id says, whatever stands before its last part; None where it is no such id."""
    found = _ID.search(unicodedata.normalize("NFC", text).strip())
    if found is None:
        return None
    return ConnectiveId(found["connective"].lower(), int(found["number"]), found["kind"])


def recognises(table: Table) -> bool:
    """Whether an id is one of the resource: many tables have columns ``id`` and ``sentence``."""
    return any(parse_id(cells.text_of(row, "id")) for row in table.rows)


def read(table: Table) -> RatedSet:
    """The sentences of an acceptability section.

    Raises:
        InputError: an id, a rating or a flag is not what it should be, an id is there twice, a
            pair has not two members, or a rating is off the scale.
    """
    sentences = [_sentence(table, row) for row in table.rows]
    cells.refuse_repeated(sentences, where=table.name)
    cells.refuse_off_scale(sentences, SCALE, where=table.name)
    return RatedSet(
        name=table.name.rsplit(".", 1)[0],
        sentences=tuple(_with_replacements(sentences, where=table.name)),
        scale=SCALE,
        language="it",
        warnings=cells.not_nfc(table),
    )


def replacement_in(original: str, changed: str) -> str:
    """The words of a sentence that stand where the other one has different words.

    Punctuation at the end of either, and capitals of the words found, do not count. Empty where
    words are only missing.
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


def _sentence(table: Table, row: Row) -> RatedSentence:
    text = cells.text_of(row, "id")
    found = parse_id(text)
    if found is None or found.kind not in _LABELS:
        raise InputError(
            where=table.where(row),
            seen=f"the id is {text!r}",
            todo="It ends in the connective, a number and A or NA, such as 'e 11NA'.",
        )
    ratings, mean, sd, n = with_ratings(cells.numbers_of(table, row, "ratings"))
    if not ratings:
        mean, sd = cells.number_of(table, row, "mean"), cells.number_of(table, row, "sd")
        n = cells.count_of(table, row, "n") or 0
    free = {name: cells.text_of(row, name) for name in table.columns if name not in _KNOWN}
    return RatedSentence(
        id=text,
        text=cells.text_of(row, "sentence"),
        ratings=ratings,
        mean=mean,
        sd=sd,
        n=n or None,
        label=_LABELS[found.kind],
        pair=f"{found.connective} {found.number}",
        grammatical=_grammatical(table, row, found),
        columns={
            "connective": found.connective,
            "replacement": cells.text_of(row, "replacement").lower(),
            **free,
        },
    )


def _grammatical(table: Table, row: Row, found: ConnectiveId) -> bool | None:
    """As marked; only ``no`` is written in the resource, so an empty cell means yes."""
    flag = cells.flag_of(table, row, "grammaticality")
    if flag is None and (found.kind == "A" or "grammaticality" in table.columns):
        return True
    return flag


def _with_replacements(sentences: Sequence[RatedSentence], *, where: str) -> list[RatedSentence]:
    """The sentences, those of a pair knowing what was put in the connective's place."""
    members: dict[str, dict[str, RatedSentence]] = {}
    for each in sentences:
        members.setdefault(each.pair, {})[each.label] = each
    alone = [pair for pair, both in members.items() if len(both) != len(_LABELS)]
    if alone:
        raise InputError(
            where=where,
            seen=f"{len(alone)} pairs have one sentence only, the first is {alone[0]!r}",
            todo="Every pair has an id in A and one in NA.",
        )
    found = {
        pair: both["unacceptable"].columns["replacement"]
        or replacement_in(both["acceptable"].text, both["unacceptable"].text)
        for pair, both in members.items()
    }
    return [
        replace(each, columns={**each.columns, "replacement": found[each.pair]})
        for each in sentences
    ]
