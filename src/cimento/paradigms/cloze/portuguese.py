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
from cimento.paradigms.cloze.reading import INSTANCES, TEMPLATES
from cimento.paradigms.cloze.suite import (
    BaseSentence,
    ClozeItem,
    ClozeSuite,
    Option,
    SeedSet,
    Template,
)
from cimento.suites.model import Meta

MASK = "[MASK]"
JUDGMENTS_FILE = "grammar_judgments.tsv"
MWE_PREDICTIONS = "mwe_predictions.jsonl"
SHEET = "all-eval.tsv"
_FIELDS = 8
"""Of a row of the sheet."""

JUDGED_AS: Mapping[str, bool | None] = {"s": True, "n": False, "": None}
"""What the study's judge wrote: sim, não, or nothing."""

REMARK_JOINT = "; "
TAG_JOINT = ";"

_JUDGED_COLUMNS = (
    "id", "rank", "token", "score", "tags", "judgment", "comment",
    "in_snapshot", "snapshot_judgment", "snapshot_top1",
)  # fmt: skip
_DIMENSIONS = (
    (re.compile(r"concordância nominal_(\d)"), "nominal_agreement"),
    (re.compile(r"concordância verbal_(\d)"), "verb_agreement"),
    (re.compile(r"concordancia_de_sujeito_(\d)_"), "subject_agreement"),
    (re.compile(r"conectores_(\w+)"), "connectors"),
    (re.compile(r"verbo_sem_sujeito_(\d)_"), "impersonal_verbs"),
    (re.compile(r"voz passiva_(\d)"), "passive"),
)
_TEMPLATE, _SEED, _SENTENCE, _TAGS, _TOKEN, _SCORE, _JUDGMENT, _REMARKS = range(_FIELDS)
_QUOTE = '"'

_Value = TypeVar("_Value")
_Row = tuple[str, Sequence[str], float]
"""Where a row of the sheet stands, its fields, and its probability."""


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


def read_released(path: Path) -> SuiteReading[ClozeSuite]:
    """The templates, their instances or the multiword items of the study, as a suite.

    Args:
        path: one of these three files.

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
    return [
        Template(
            id=record.text("template"),
            sentences=tuple(
                BaseSentence(*_around_mask(text, record.where))
                for text in record.texts("sentences")
            ),
            seeds=tuple(
                SeedSet(name, tuple(forms)) for name, forms in record.field("seeds", dict).items()
            ),
            columns={name: record.text(name) for name in ("dimension", "group")},
        )
        for record in _records(path)
    ]


def read_instances(path: Path) -> list[Instance]:
    """The instances of the templates, as the study asked them.

    Raises:
        InputError: a line cannot be used.
    """
    instances = []
    for record in _records(path):
        before, after = _around_mask(record.text("text"), record.where)
        categories = record.texts("seed_categories")
        names = ("template", "dimension", "group", "seed")
        columns = {name: record.text(name) for name in names}
        columns["category"] = "; ".join(categories)
        tenses = "ling_tense_person"
        instances.append(
            Instance(
                item=ClozeItem(record.text("id"), before, after, columns=columns),
                categories=categories,
                case=_text_or_none(record, "paper_case"),
                tense=_text_or_none(record, "paper_case_alt"),
                readings=record.texts(tenses) if record.values.get(tenses) else (),
            )
        )
    return instances


def read_multiword_cells(path: Path) -> list[ClozeItem]:
    """The multiword items with one word masked each; columns `expression`, `word` and `cue`.

    Raises:
        InputError: a line cannot be used.
    """
    items = []
    for record in _records(path):
        before, after = _around_mask(record.text("text"), record.where)
        columns = {
            "expression": record.text("mwe"),
            "word": str(record.field("masked_word", int)),
            "cue": record.text("cue"),
            "sentence": str(record.field("sentence_index", int)),
        }
        answer = Option(record.text("answer"))
        items.append(ClozeItem(record.text("id"), before, after, (answer,), columns=columns))
    return items


def read_predictions(path: Path) -> dict[str, list[Candidate]]:
    """Recorded candidates by model, without probabilities, in the order of their ranks.

    Raises:
        InputError: a line cannot be used.
    """
    by_model: dict[str, list[Candidate]] = {}
    for record in _records(path):
        texts, item = record.texts("top10"), record.text("id")
        by_model.setdefault(record.text("model"), []).extend(
            Candidate(item, rank, text) for rank, text in enumerate(texts, start=1)
        )
    return by_model


def read_judged_rows(path: Path) -> list[JudgedRow]:
    """The judged candidates; the table has a header line, tabs and no quoting.

    Raises:
        InputError: the table lacks a column, or a row cannot be used.
    """
    names, rows = read_unquoted(path, read_bytes(path))
    missing = [name for name in _JUDGED_COLUMNS if name not in names]
    if missing:
        raise InputError(
            where=path.name, seen=f"there is no column {missing[0]!r}", todo="Give the table whole."
        )
    return [_judged(dict(zip(names, cells, strict=True)), where) for where, cells in rows]


def read_unquoted(path: Path, data: bytes) -> tuple[list[str], Iterator[tuple[str, list[str]]]]:
    """A table with a header line, tabs and no quoting: every cell is read as it stands there.

    Args:
        path: of the file.
        data: that it holds.

    Returns:
        The names of the columns, and each row's cells with where it stands.

    Raises:
        InputError: it is not UTF-8, or (where the row is taken) a row has more or fewer cells.
    """
    header, *lines = _decoded(path, data).removesuffix("\n").split("\n")
    names = header.split("\t")

    def rows() -> Iterator[tuple[str, list[str]]]:
        for number, line in enumerate(lines, start=2):
            cells, where = line.split("\t"), f"{path.name} row {number}"
            if len(cells) != len(names):
                raise InputError(
                    where=where,
                    seen=f"there are {len(cells)} cells and {len(names)} columns",
                    todo="Is there a tab or a line break inside a cell?",
                )
            yield where, cells

    return names, rows()


def read_sheet(path: Path) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances and judged candidates of the released sheet.

    The labels that some tables group by are not in it. Ranks are the order of the probabilities;
    the rows themselves are sorted by tag and candidate.

    Raises:
        InputError: the file is not such a sheet, or a row cannot be used.
    """
    groups: dict[tuple[str, ...], list[_Row]] = {}
    for number, line in enumerate(_decoded(path, read_bytes(path)).split("\n"), start=1):
        if line.strip():
            row = _sheet_row(line.removesuffix("\r"), f"{path.name} row {number}")
            groups.setdefault(tuple(row[1][: _SENTENCE + 1]), []).append(row)
    instances: list[Instance] = []
    judged: list[JudgedRow] = []
    numbers: Counter[str] = Counter()
    for key, rows in groups.items():
        instance = _sheet_instance(key, rows[0][0], numbers[key[_TEMPLATE]])
        numbers[key[_TEMPLATE]] += 1
        instances.append(instance)
        judged += _ranked(instance.item.id, rows)
    return instances, judged


# --- Rows


def _judged(cells: Mapping[str, str], where: str) -> JudgedRow:
    candidate = Candidate(
        item=cells["id"],
        fits=_fit(cells["judgment"], "judgment is", where),
        rank=int(_number(cells["rank"], where, whole=True)),
        text=cells["token"],
        probability=_number(cells["score"], where),
        remarks=_parts(cells["comment"], REMARK_JOINT),
        tags=_parts(cells["tags"], TAG_JOINT),
    )
    return JudgedRow(
        candidate,
        in_snapshot=cells["in_snapshot"] == "1",
        snapshot_fits=_fit(cells["snapshot_judgment"], "snapshot_judgment is", where),
        snapshot_first=cells["snapshot_top1"] == "1",
    )


def _fit(cell: str, what: str, where: str) -> bool | None:
    if cell not in JUDGED_AS:
        raise InputError(where=where, seen=f"{what} {cell!r}", todo="Write s, n or nothing.")
    return JUDGED_AS[cell]


def _number(cell: str, where: str, *, whole: bool = False) -> float:
    try:
        return int(cell) if whole else float(cell)
    except ValueError as error:
        raise InputError(where=where, seen=f"no number: {error}", todo="Correct it.") from error


def _sheet_row(line: str, where: str) -> _Row:
    fields = line.split("\t")
    if len(fields) == _FIELDS + 1 and {_QUOTE} == {fields[_TOKEN], fields[_TOKEN + 1]}:
        del fields[_TOKEN + 1]
    if len(fields) != _FIELDS:
        raise InputError(
            where=where,
            seen=f"there are {len(fields)} fields",
            todo=f"The released sheet has {_FIELDS}, separated by tabs.",
        )
    _fit(fields[_JUDGMENT], "the judgment is", where)
    return where, fields, _number(fields[_SCORE].strip(_QUOTE), where)


def _sheet_instance(key: Sequence[str], where: str, number: int) -> Instance:
    template, seed, sentence = key
    before, after = _around_mask(sentence, where)
    dimensions = ((m[1], name) for p, name in _DIMENSIONS if (m := p.match(template)))
    group, dimension = next(dimensions, ("", ""))
    if not dimension:
        raise InputError(
            where=where,
            seen=f"{template!r} is none of the study's templates",
            todo="Is this the sheet that the study released?",
        )
    columns = {"template": template, "dimension": dimension, "group": group, "seed": seed}
    item = ClozeItem(f"{template}/{number:03d}", before, after, columns=columns)
    return Instance(item, categories=(), case=None, tense=None)


def _ranked(item: str, rows: Sequence[_Row]) -> Iterator[JudgedRow]:
    if len({score for _, _, score in rows}) < len(rows):
        raise InputError(
            where=rows[0][0],
            seen=f"two candidates of {item!r} are equally probable",
            todo="Their ranks cannot be told; was a row copied?",
        )
    ordered = sorted(rows, key=lambda row: -row[2])
    for rank, (_, fields, score) in enumerate(ordered, start=1):
        candidate = Candidate(
            item=item,
            rank=rank,
            text=fields[_TOKEN].replace('\\"', _QUOTE),
            probability=score,
            fits=JUDGED_AS[fields[_JUDGMENT]],
            remarks=_parts(fields[_REMARKS], REMARK_JOINT),
            tags=_parts(fields[_TAGS], TAG_JOINT),
        )
        yield JudgedRow(candidate, in_snapshot=False, snapshot_fits=None, snapshot_first=False)


def _parts(cell: str, joint: str) -> tuple[str, ...]:
    return tuple(cell.split(joint)) if cell else ()


def _around_mask(text: str, where: str) -> tuple[str, str]:
    if text.count(MASK) != 1:
        raise InputError(
            where=where,
            seen=f"{MASK} is there {text.count(MASK)} times in {text!r}",
            todo="Write it once.",
        )
    before, _, after = text.partition(MASK)
    return before, after


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(where=path.name, seen=f"not UTF-8: {error}", todo="Save it so.") from error


# --- JSON lines


@dataclass(frozen=True, slots=True)
class _Record:
    """A line of JSON whose fields are looked at before they are used."""

    where: str
    values: Mapping[str, object]

    def field(self, name: str, kind: type[_Value]) -> _Value:
        value = self.values.get(name)
        if not isinstance(value, kind):
            seen = f"{name} is {value!r}" if name in self.values else f"there is no {name!r}"
            todo = f"It should be of type {kind.__name__}."
            raise InputError(where=self.where, seen=seen, todo=todo)
        return value

    def text(self, name: str) -> str:
        return self.field(name, str)

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.field(name, list)
        for value in values:
            if not isinstance(value, str):
                seen = f"{name} holds {value!r}"
                raise InputError(where=self.where, seen=seen, todo="It should hold texts.")
        return tuple(values)


def _text_or_none(record: _Record, name: str) -> str | None:
    return None if record.values.get(name) is None else record.text(name)


def _records(path: Path) -> Iterator[_Record]:
    for number, line in enumerate(_decoded(path, read_bytes(path)).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        try:
            values = parse_json(line)
        except json.JSONDecodeError as error:
            raise InputError(where=where, seen=f"not JSON: {error}", todo="Correct it.") from error
        if not isinstance(values, dict):
            raise InputError(where=where, seen="not a JSON object", todo="Correct it.")
        yield _Record(where, values)
