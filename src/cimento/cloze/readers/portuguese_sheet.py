r"""``all-eval.tsv`` of Wilkens, Zilio and Villavicencio as released: judged candidates, no header.

Eight fields separated by tabs, no quoting: template, seed, sentence with ``[MASK]``, dictionary
tags, candidate, probability, judgment (``s``, ``n`` or nothing), remarks. A quotation mark as a
candidate is written as ``\"`` or as ``"``, in two lines over two fields.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.readers.portuguese import (
    FITS,
    MASK,
    REMARK_JOINT,
    TAG_JOINT,
    Instance,
    JudgedRow,
)
from cimento.cloze.records import ClozeItem
from cimento.errors import InputError
from cimento.io.files import read_bytes

SHEET = "all-eval.tsv"
FIELDS = 8

_DIMENSIONS = (
    (re.compile(r"concordância nominal_(\d)"), "nominal_agreement"),
    (re.compile(r"concordância verbal_(\d)"), "verb_agreement"),
    (re.compile(r"concordancia_de_sujeito_(\d)_"), "subject_agreement"),
    (re.compile(r"conectores_(\w+)"), "connectors"),
    (re.compile(r"verbo_sem_sujeito_(\d)_"), "impersonal_verbs"),
    (re.compile(r"voz passiva_(\d)"), "passive"),
)
_TEMPLATE, _SEED, _SENTENCE, _TAGS, _TOKEN, _SCORE, _JUDGMENT, _REMARKS = range(FIELDS)
_QUOTE = '"'

_Row = tuple[str, Sequence[str], float]


def read_sheet(path: Path) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances and judged candidates of the released sheet.

    The labels that some tables group by are not in it. Ranks are the order of the probabilities;
    the rows themselves are sorted by tag and candidate.

    Raises:
        InputError: the file is not such a sheet, or a row cannot be used.
    """
    rows = [
        _row(line, f"{path.name} row {number}")
        for number, line in enumerate(_sheet_lines(path), start=1)
        if line.strip()
    ]
    groups: dict[tuple[str, ...], list[_Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[1][: _SENTENCE + 1]), []).append(row)
    instances: list[Instance] = []
    judged: list[JudgedRow] = []
    numbers: Counter[str] = Counter()
    for key, own in groups.items():
        instance = _instance(key, own[0][0], numbers[key[_TEMPLATE]])
        numbers[key[_TEMPLATE]] += 1
        instances.append(instance)
        judged += _ranked(instance.item.id, own)
    return instances, judged


def _sheet_lines(path: Path) -> list[str]:
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(where=path.name, seen=f"not UTF-8: {error}", todo="Save it so.") from error
    return [line.removesuffix("\r") for line in text.split("\n")]


def _row(line: str, where: str) -> _Row:
    fields = line.split("\t")
    if len(fields) == FIELDS + 1 and {_QUOTE} == {fields[_TOKEN], fields[_TOKEN + 1]}:
        del fields[_TOKEN + 1]
    if len(fields) != FIELDS:
        raise InputError(
            where=where,
            seen=f"there are {len(fields)} fields",
            todo=f"The released sheet has {FIELDS}, separated by tabs.",
        )
    if fields[_JUDGMENT] not in FITS:
        raise InputError(
            where=where,
            seen=f"the judgment is {fields[_JUDGMENT]!r}",
            todo="Write s, n or nothing.",
        )
    try:
        return where, fields, float(fields[_SCORE].strip(_QUOTE))
    except ValueError as error:
        raise InputError(where=where, seen=f"no number: {error}", todo="Correct it.") from error


def _instance(key: Sequence[str], where: str, number: int) -> Instance:
    template, seed, sentence = key
    if sentence.count(MASK) != 1:
        raise InputError(
            where=where, seen=f"{MASK} is not there once in {sentence!r}", todo="Write it once."
        )
    found = next(((m[1], name) for p, name in _DIMENSIONS if (m := p.match(template))), None)
    if found is None:
        raise InputError(
            where=where,
            seen=f"{template!r} is none of the study's templates",
            todo="Is this the sheet that the study released?",
        )
    group, dimension = found
    columns = {"template": template, "dimension": dimension, "group": group, "seed": seed}
    start, _, end = sentence.partition(MASK)
    item = ClozeItem(f"{template}/{number:03d}", start, end, columns=columns)
    return Instance(item, categories=(), case=None, tense=None)


def _ranked(item: str, rows: Sequence[_Row]) -> list[JudgedRow]:
    scores = [score for _, _, score in rows]
    if len(set(scores)) < len(scores):
        raise InputError(
            where=rows[0][0],
            seen=f"two candidates of {item!r} are equally probable",
            todo="Their ranks cannot be told; was a row copied?",
        )
    found = []
    ordered = sorted(rows, key=lambda row: -row[2])
    for rank, (_, fields, score) in enumerate(ordered, start=1):
        fits = FITS[fields[_JUDGMENT]]
        candidate = Candidate(
            item=item,
            rank=rank,
            text=fields[_TOKEN].replace('\\"', _QUOTE),
            probability=score,
            fits=fits,
            remarks=_parts(fields[_REMARKS], REMARK_JOINT),
            tags=_parts(fields[_TAGS], TAG_JOINT),
        )
        found.append(
            JudgedRow(candidate, in_snapshot=False, snapshot_fits=None, snapshot_first=False)
        )
    return found


def _parts(field: str, joint: str) -> tuple[str, ...]:
    return tuple(field.split(joint)) if field else ()
