r"""The files of Wilkens, Zilio and Villavicencio, read as they were released.

- ``all-eval.tsv``, the sheet of judged candidates, has no header and eight fields separated by
  tabs: template, seed, sentence with ``[MASK]``, dictionary tags, candidate, probability, judgment
  (``s``, ``n`` or nothing), remarks. A quotation mark as a candidate is written as ``\"`` or as
  ``"``, in two lines over two fields.
- ``all-eval.xlsx`` is an earlier state of it, the snapshot that the paper's tables were made from,
  with the labels that they group by. A quotation mark was read there as an opening quote and
  swallowed 582 rows; what is left of the first and the last of them is one row.
- ``BertMaskSyntactic.ipynb`` and ``BertMaskMWE.ipynb`` are read in `portuguese_notebooks`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

from cimento.errors import InputError
from cimento.io.files import file_digest, read_bytes
from cimento.paradigms.base import SuiteReading
from cimento.paradigms.cloze.answers import Candidate
from cimento.paradigms.cloze.suite import (
    ClozeItem,
    ClozeSuite,
    Template,
)
from cimento.suites.model import Meta

MASK = "[MASK]"
SHEET = "all-eval.tsv"
SNAPSHOT = "all-eval.xlsx"
SYNTACTIC = "BertMaskSyntactic.ipynb"
MULTIWORD = "BertMaskMWE.ipynb"

RECORDED_MODEL = "bertimbau-large"
"""The only model whose candidates for the tests of grammar were released."""

JUDGED_AS: Mapping[str, bool | None] = {"s": True, "n": False, "": None}
"""What the study's judge wrote: sim, não, or nothing."""

REMARK_JOINT = "; "
TAG_JOINT = ";"

_COLUMNS = (
    "template", "seed", "sentence", "all_pos", "token_str", "token_score", "evaluation", "comment",
    "case name (original)", "case name", "case name aternative", "top 1",
)  # fmt: skip
"""Of the workbook, spelled as there; the first eight are the fields of the sheet."""

_FIELDS = 8
_TEMPLATE, _SEED, _SENTENCE, _TAGS, _TOKEN, _SCORE, _JUDGMENT, _REMARKS = range(_FIELDS)
_CATEGORY, _CASE, _TENSE, _FIRST = range(_FIELDS, len(_COLUMNS))
_QUOTE = '"'
_AS_IN_A_CELL = {"": "'", "\t": _QUOTE, '\\"': _QUOTE}
"""What a spreadsheet, or the sheet itself, made of a candidate that is a quotation mark."""

_DIMENSIONS = (
    (re.compile(r"concordância nominal_(\d)"), "nominal_agreement"),
    (re.compile(r"concordância verbal_(\d)"), "verb_agreement"),
    (re.compile(r"concordancia_de_sujeito_(\d)_"), "subject_agreement"),
    (re.compile(r"conectores_(\w+)"), "connectors"),
    (re.compile(r"verbo_sem_sujeito_(\d)_"), "impersonal_verbs"),
    (re.compile(r"voz passiva_(\d)"), "passive"),
)
_Row: TypeAlias = tuple[str, Sequence[str], float]
"""Where a row of the sheet stands, its fields, and its probability."""

_Key: TypeAlias = tuple[str, str, str]
"""Template, seed and sentence: an instance."""


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
    in_snapshot: bool = False
    snapshot_fits: bool | None = None
    snapshot_first: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a template, with the labels that the study's tables group it by.

    Attributes:
        item: the item; its columns are `template`, `dimension`, `group` and `seed`.
        categories: the seed categories that it belongs to.
        case: the label of most tables; None where the study has none.
        tense: the label of the tables by tense.
    """

    item: ClozeItem
    categories: tuple[str, ...] = ()
    case: str | None = None
    tense: str | None = None

    @property
    def key(self) -> _Key:
        """Template, seed and sentence."""
        item = self.item
        return (item.columns["template"], item.columns["seed"], f"{item.before}{MASK}{item.after}")


def is_released(path: Path) -> bool:
    """Whether a file is one of the study's whose items can be asked, by its name."""
    return path.name in {SHEET, SYNTACTIC, MULTIWORD} and path.is_file()


def read_released(path: Path) -> SuiteReading[ClozeSuite]:
    """The templates, their instances or the multiword items of the study, as a suite.

    Args:
        path: the sheet of judgments, or one of the notebooks.

    Raises:
        InputError: it cannot be used.
    """
    from cimento.paradigms.cloze.portuguese_notebooks import read_multiwords, read_templates

    meta = Meta(path.stem, language="pt")
    if path.name == SYNTACTIC:
        suite = ClozeSuite(meta, templates=tuple(read_templates(path)), cluster="template")
    elif path.name == SHEET:
        items = tuple(instance.item for instance in read_sheet(path)[0])
        suite = ClozeSuite(meta, items=items, cluster="template")
    else:
        suite = ClozeSuite(meta, items=tuple(read_multiwords(path)), cluster="expression")
    return SuiteReading(suite=suite, faults=(), sha256=file_digest(path), path=path)


# --- The sheet and the workbook


def read_sheet(path: Path) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances and judged candidates of the released sheet.

    The labels that some tables group by are not in it. Ranks are the order of the probabilities;
    the rows themselves are sorted by tag and candidate.

    Raises:
        InputError: the file is not such a sheet, or a row cannot be used.
    """
    rows = [
        _sheet_row(line.removesuffix("\r"), f"{path.name} row {number}")
        for number, line in enumerate(decoded(path, read_bytes(path)).split("\n"), start=1)
        if line.strip()
    ]
    return _instances(rows)


def read_snapshot(path: Path) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances with their labels, and judged candidates, of the released workbook alone.

    Raises:
        InputError: the file is not this workbook, or a row cannot be used.
    """
    rows = list(_workbook_rows(path))
    instances, judged = _instances(rows)
    return labelled(instances, judged, rows)


def with_snapshot(
    instances: Sequence[Instance], judged: Sequence[JudgedRow], path: Path
) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances and candidates of the sheet, with the labels and the judgments of the workbook.

    Raises:
        InputError: the file is not this workbook, or has a row that is not in the sheet.
    """
    return labelled(instances, judged, list(_workbook_rows(path)))


def labelled(
    instances: Sequence[Instance], judged: Sequence[JudgedRow], rows: Sequence[_Row]
) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances and candidates with what rows of the workbook say of them.

    Args:
        instances: of the sheet.
        judged: of the sheet.
        rows: of the workbook.

    Raises:
        InputError: a row is about no candidate.
    """
    key_of = {instance.item.id: instance.key for instance in instances}
    place: dict[tuple[_Key, float | str], int] = {}
    for number, row in enumerate(judged):
        key, candidate = key_of[row.candidate.item], row.candidate
        place[key, candidate.probability or 0.0] = number
        if candidate.text == _QUOTE:
            place[key, _QUOTE] = number
    relabelled = list(judged)
    labels: dict[_Key, Sequence[str]] = {}
    for where, fields, score in rows:
        key = cast("_Key", tuple(fields[: _SENTENCE + 1]))
        labels[key] = fields
        # The row that swallowed others has the probability of the last of them.
        number = place.get((key, score), place.get((key, _QUOTE), -1))
        if number < 0:
            raise InputError(
                where=where,
                seen=f"there is no candidate of {score} for {key[1]!r} in {key[0]!r}",
                todo=f"Do {SHEET} and {SNAPSHOT} belong together?",
            )
        relabelled[number] = replace(
            relabelled[number],
            in_snapshot=True,
            snapshot_fits=JUDGED_AS[fields[_JUDGMENT]],
            snapshot_first=fields[_FIRST].lower() in ("true", "1"),
        )
    return [_with_labels(instance, labels.get(instance.key)) for instance in instances], relabelled


def _with_labels(instance: Instance, fields: Sequence[str] | None) -> Instance:
    if fields is None:
        return instance
    categories = instance.categories or (fields[_CATEGORY],)
    return replace(instance, categories=categories, case=fields[_CASE], tense=fields[_TENSE])


def with_categories(instances: Iterable[Instance], templates: Iterable[Template]) -> list[Instance]:
    """Instances with the categories that their seeds have in the templates."""
    categories: dict[tuple[str, str], dict[str, None]] = {}
    for template in templates:
        for seeds in template.seeds:
            for form in seeds.forms:
                categories.setdefault((template.id, form), {})[seeds.category] = None
    return [
        replace(instance, categories=tuple(categories.get(instance.key[:2], ())))
        for instance in instances
    ]


def _instances(rows: Iterable[_Row]) -> tuple[list[Instance], list[JudgedRow]]:
    groups: dict[_Key, list[_Row]] = {}
    for row in rows:
        groups.setdefault(cast("_Key", tuple(row[1][: _SENTENCE + 1])), []).append(row)
    instances: list[Instance] = []
    judged: list[JudgedRow] = []
    numbers: Counter[str] = Counter()
    for key, alike in groups.items():
        instance = _instance(key, alike[0][0], numbers[key[_TEMPLATE]])
        numbers[key[_TEMPLATE]] += 1
        instances.append(instance)
        judged += _ranked(instance.item.id, alike)
    return instances, judged


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
    return _checked(fields, where)


def _workbook_rows(path: Path) -> Iterator[_Row]:
    from cimento.suites.workbooks import read_workbook

    rows, faults = read_workbook(read_bytes(path), name=path.name)
    if not rows:
        seen = faults[0].seen if faults else "its sheet is empty"
        raise InputError(where=path.name, seen=seen, todo="Get it again from its authors.")
    header = rows[0]
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise InputError(
            where=path.name,
            seen=f"there is no column {missing[0]!r}",
            todo=f"Is this the {SNAPSHOT} that the study released?",
        )
    places = [header.index(name) for name in _COLUMNS]
    for number, row in enumerate(rows[1:], start=2):
        if row:
            cells = [*row, *[""] * (len(header) - len(row))]
            yield _checked([cells[place] for place in places], f"{path.name} row {number}")


def _checked(fields: Sequence[str], where: str) -> _Row:
    if fields[_JUDGMENT] not in JUDGED_AS:
        seen = f"the judgment is {fields[_JUDGMENT]!r}"
        raise InputError(where=where, seen=seen, todo="Write s, n or nothing.")
    try:
        score = float(fields[_SCORE].strip(_QUOTE))
    except ValueError as error:
        raise InputError(where=where, seen=f"no number: {error}", todo="Correct it.") from error
    return where, fields, score


def _instance(key: _Key, where: str, number: int) -> Instance:
    template, seed, sentence = key
    before, after = around_mask(sentence, where)
    columns = {"template": template, **test_of(template, where), "seed": seed}
    return Instance(ClozeItem(f"{template}/{number:03d}", before, after, columns=columns))


def test_of(template: str, where: str) -> dict[str, str]:
    """The test that a template belongs to, and its group there, as columns.

    Raises:
        InputError: it is no template of the study.
    """
    dimensions = ((match[1], name) for p, name in _DIMENSIONS if (match := p.match(template)))
    group, dimension = next(dimensions, ("", ""))
    if not dimension:
        raise InputError(
            where=where,
            seen=f"{template!r} is none of the study's templates",
            todo="Is this what the study released?",
        )
    return {"dimension": dimension, "group": group}


def _ranked(item: str, rows: Sequence[_Row]) -> Iterator[JudgedRow]:
    if len({score for _, _, score in rows}) < len(rows):
        raise InputError(
            where=rows[0][0],
            seen=f"two candidates of {item!r} are equally probable",
            todo="Their ranks cannot be told; was a row copied?",
        )
    ordered = sorted(rows, key=lambda row: -row[2])
    for rank, (_, fields, score) in enumerate(ordered, start=1):
        text = fields[_TOKEN]
        yield JudgedRow(
            Candidate(
                item=item,
                rank=rank,
                text=_AS_IN_A_CELL.get(text, text.replace('\\"', _QUOTE)),
                probability=score,
                fits=JUDGED_AS[fields[_JUDGMENT]],
                remarks=_parts(fields[_REMARKS], REMARK_JOINT),
                tags=_parts(fields[_TAGS], TAG_JOINT),
            )
        )


def _parts(cell: str, joint: str) -> tuple[str, ...]:
    return tuple(cell.split(joint)) if cell else ()


def around_mask(text: str, where: str) -> tuple[str, str]:
    """The texts before and after the mask of a sentence.

    Raises:
        InputError: there is not one mask.
    """
    if text.count(MASK) != 1:
        raise InputError(
            where=where,
            seen=f"{MASK} is there {text.count(MASK)} times in {text!r}",
            todo="Write it once.",
        )
    before, _, after = text.partition(MASK)
    return before, after


def decoded(path: Path, data: bytes) -> str:
    """The text of a file in UTF-8.

    Args:
        path: of the file.
        data: that it holds.

    Raises:
        InputError: it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(where=path.name, seen=f"not UTF-8: {error}", todo="Save it so.") from error
