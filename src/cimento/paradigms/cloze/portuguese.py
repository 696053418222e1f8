r"""The released files of Wilkens, Zilio and Villavicencio: templates, instances, judgments, MWEs.

The study's authors released a table of judged candidates and notebooks. These are read in the plain
form that docs/cloze.md describes, JSON lines and tables without any quoting; ``all-eval.tsv``, the
sheet of judged candidates, also as it was released. That has no header and eight fields separated
by tabs: template, seed, sentence with ``[MASK]``, dictionary tags, candidate, probability, judgment
(``s``, ``n`` or nothing), remarks. A quotation mark as a candidate is written as ``\"`` or as
``"``, in two lines over two fields.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cimento.errors import InputError
from cimento.io.files import file_digest, read_bytes
from cimento.io.parsing import parse_json
from cimento.paradigms.base import SuiteReading
from cimento.paradigms.cloze.answers import Candidate
from cimento.paradigms.cloze.suite import ClozeItem, ClozeSuite, Option, SeedSet, Sentence, Template
from cimento.suites.model import Meta

MASK = "[MASK]"
TEMPLATES = "grammar_templates.jsonl"
INSTANCES = "grammar_instances.jsonl"
JUDGMENTS = "grammar_judgments.tsv"
MWE_ITEMS = "mwe_items.jsonl"
MWE_PREDICTIONS = "mwe_predictions.jsonl"

JUDGED_AS: Mapping[str, bool | None] = {"s": True, "n": False, "": None}
"""What the study's judge wrote: sim, não, or nothing."""

REMARK_JOINT = "; "
TAG_JOINT = ";"

_Value = TypeVar("_Value")
_Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A row of the study's table of judgments, with what its earlier state said.

    Attributes:
        candidate: as it was released.
        in_snapshot: whether the earlier state of the table, from which the paper's tables were
            made, has the row.
        snapshot_fits: the judgment there.
        snapshot_first: whether the row counted there as its item's first candidate.
    """

    candidate: Candidate
    in_snapshot: bool
    snapshot_fits: bool | None
    snapshot_first: bool


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a template, with the labels that the study's tables group it by.

    Attributes:
        item: the item; its columns are `template`, `dimension`, `group`, `seed`, `category`.
        categories: the seed categories that it belongs to.
        case: the label of most tables; None where the study has none.
        tense: the label of the tables by tense.
        readings: tense and person of a verb form, all readings, such as ``impf.1sg``.
    """

    item: ClozeItem
    categories: tuple[str, ...]
    case: str | None
    tense: str | None
    readings: tuple[str, ...] = ()


def is_released(path: Path) -> bool:
    """Whether a file is one of the study's whose items can be asked, by its name."""
    return path.name in {TEMPLATES, INSTANCES, MWE_ITEMS} and path.is_file()


def read_released(path: Path) -> SuiteReading[ClozeSuite]:
    """The templates, their instances or the multiword items of the study, as a suite.

    Args:
        path: a file of which `is_released` is true.

    Raises:
        InputError: a line cannot be used.
    """
    meta = Meta(path.stem, language="pt")
    if path.name == TEMPLATES:
        suite = ClozeSuite(meta, templates=tuple(read_templates(path)), cluster="template")
    elif path.name == INSTANCES:
        items = tuple(instance.item for instance in read_instances(path))
        suite = ClozeSuite(meta, items=items, cluster="template")
    else:
        suite = ClozeSuite(meta, items=tuple(read_multiword_cells(path)), cluster="expression")
    return SuiteReading(suite=suite, faults=(), sha256=file_digest(path), path=path)


def read_templates(path: Path) -> list[Template]:
    """Templates with the seeds that were left after the study's manual review.

    Raises:
        InputError: a line cannot be used.
    """
    found = []
    for where, record in _lines(path):
        columns = {name: _text(record, name, where) for name in ("dimension", "group")}
        seeds = _field(record, "seeds", dict, where)
        sentences = _texts(record, "sentences", where)
        found.append(
            Template(
                id=_text(record, "template", where),
                sentences=tuple(Sentence(*_at_mask(text, where)) for text in sentences),
                seeds=tuple(SeedSet(name, tuple(forms)) for name, forms in seeds.items()),
                columns=columns,
            )
        )
    return found


def read_instances(path: Path) -> list[Instance]:
    """The instances of the templates, as the study asked them.

    Raises:
        InputError: a line cannot be used.
    """
    found = []
    for where, record in _lines(path):
        before, after = _at_mask(_text(record, "text", where), where)
        categories = _texts(record, "seed_categories", where)
        columns = {
            name: _text(record, name, where) for name in ("template", "dimension", "group", "seed")
        }
        item = ClozeItem(
            id=_text(record, "id", where),
            before=before,
            after=after,
            columns={**columns, "category": "; ".join(categories)},
        )
        found.append(
            Instance(
                item=item,
                categories=categories,
                case=_text_or_none(record, "paper_case", where),
                tense=_text_or_none(record, "paper_case_alt", where),
                readings=_texts(record, "ling_tense_person", where)
                if record.get("ling_tense_person")
                else (),
            )
        )
    return found


def read_multiword_cells(path: Path) -> list[ClozeItem]:
    """The multiword items with one word masked each; columns `expression`, `word` and `cue`.

    Raises:
        InputError: a line cannot be used.
    """
    found = []
    for where, record in _lines(path):
        before, after = _at_mask(_text(record, "text", where), where)
        columns = {
            "expression": _text(record, "mwe", where),
            "word": str(_field(record, "masked_word", int, where)),
            "cue": _text(record, "cue", where),
            "sentence": str(_field(record, "sentence_index", int, where)),
        }
        answer = Option(_text(record, "answer", where))
        found.append(
            ClozeItem(_text(record, "id", where), before, after, (answer,), columns=columns)
        )
    return found


def read_predictions(path: Path) -> dict[str, list[Candidate]]:
    """Recorded candidates by model, without probabilities, in the order of their ranks.

    Raises:
        InputError: a line cannot be used.
    """
    found: dict[str, list[Candidate]] = {}
    for where, record in _lines(path):
        texts = _texts(record, "top10", where)
        item = _text(record, "id", where)
        found.setdefault(_text(record, "model", where), []).extend(
            Candidate(item, rank, text) for rank, text in enumerate(texts, start=1)
        )
    return found


def read_judgments(path: Path) -> list[JudgedRow]:
    """The judged candidates; the table has a header line, tabs and no quoting.

    Raises:
        InputError: the table lacks a column, or a row cannot be used.
    """
    text = _decoded(path)
    header, *lines = text.removesuffix("\n").split("\n")
    names = header.split("\t")
    wanted = (
        "id", "rank", "token", "score", "tags", "judgment", "comment",
        "in_snapshot", "snapshot_judgment", "snapshot_top1",
    )  # fmt: skip
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(
            where=path.name, seen=f"there is no column {missing[0]!r}", todo="Give the table whole."
        )
    rows = []
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(names):
            raise InputError(
                where=f"{path.name} row {number}",
                seen=f"there are {len(cells)} cells and {len(names)} columns",
                todo="Is there a tab or a line break inside a cell?",
            )
        cell = dict(zip(names, cells, strict=True))
        rows.append(_judged(cell, f"{path.name} row {number}"))
    return rows


def _judged(cell: Mapping[str, str], where: str) -> JudgedRow:
    for column in ("judgment", "snapshot_judgment"):
        if cell[column] not in JUDGED_AS:
            raise InputError(
                where=where, seen=f"{column} is {cell[column]!r}", todo="Write s, n or nothing."
            )
    try:
        rank, score = int(cell["rank"]), float(cell["score"])
    except ValueError as error:
        raise InputError(where=where, seen=f"no number: {error}", todo="Correct it.") from error
    candidate = Candidate(
        item=cell["id"],
        rank=rank,
        text=cell["token"],
        probability=score,
        fits=JUDGED_AS[cell["judgment"]],
        remarks=_split(cell["comment"], REMARK_JOINT),
        tags=_split(cell["tags"], TAG_JOINT),
    )
    return JudgedRow(
        candidate,
        in_snapshot=cell["in_snapshot"] == "1",
        snapshot_fits=JUDGED_AS[cell["snapshot_judgment"]],
        snapshot_first=cell["snapshot_top1"] == "1",
    )


def _split(cell: str, joint: str) -> tuple[str, ...]:
    return tuple(cell.split(joint)) if cell else ()


def _at_mask(text: str, where: str) -> tuple[str, str]:
    if text.count(MASK) != 1:
        raise InputError(
            where=where,
            seen=f"{MASK} is there {text.count(MASK)} times in {text!r}",
            todo="Write it once.",
        )
    before, _, after = text.partition(MASK)
    return before, after


# --- JSON lines


def _decoded(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(where=path.name, seen=f"not UTF-8: {error}", todo="Save it so.") from error


def _lines(path: Path) -> Iterator[tuple[str, _Record]]:
    for number, line in enumerate(_decoded(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        try:
            record = parse_json(line)
        except json.JSONDecodeError as error:
            raise InputError(where=where, seen=f"not JSON: {error}", todo="Correct it.") from error
        if not isinstance(record, dict):
            raise InputError(where=where, seen="not a JSON object", todo="Correct it.")
        yield where, record


def _field(record: _Record, name: str, kind: type[_Value], where: str) -> _Value:
    value = record.get(name)
    if not isinstance(value, kind):
        seen = f"{name} is {value!r}" if name in record else f"there is no {name!r}"
        raise InputError(where=where, seen=seen, todo=f"It should be of type {kind.__name__}.")
    return value


def _text(record: _Record, name: str, where: str) -> str:
    return _field(record, name, str, where)


def _text_or_none(record: _Record, name: str, where: str) -> str | None:
    return None if record.get(name) is None else _text(record, name, where)


def _texts(record: _Record, name: str, where: str) -> tuple[str, ...]:
    values = _field(record, name, list, where)
    for value in values:
        if not isinstance(value, str):
            raise InputError(
                where=where, seen=f"{name} holds {value!r}", todo="It should hold texts."
            )
    return tuple(values)


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
    if fields[_JUDGMENT] not in JUDGED_AS:
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
        fits = JUDGED_AS[fields[_JUDGMENT]]
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
