r"""The files of Wilkens, Zilio and Villavicencio, read as they were released.

- ``all-eval.tsv``, the sheet of judged candidates, has no header and eight fields separated by
  tabs: template, seed, sentence with ``[MASK]``, dictionary tags, candidate, probability, judgment
  (``s``, ``n`` or nothing), remarks. A quotation mark as a candidate is written as ``\"`` or as
  ``"``, in two lines over two fields.
- ``all-eval.xlsx`` is an earlier state of it, the snapshot that the paper's tables were made from,
  with the labels that they group by. A quotation mark was read there as an opening quote and
  swallowed 582 rows; what is left of the first and the last of them is one row.
- ``BertMaskSyntactic.ipynb`` prints the templates and their seeds, before and after the study's
  review by hand. ``BertMaskMWE.ipynb`` has the multiword items in its cells and the candidates that
  three models gave for them, without probabilities, in what it printed.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.io.values import grouped
from cimento.paradigms.cloze.detecting import SHEET
from cimento.paradigms.cloze.requests import Candidate
from cimento.suites.cloze import BaseSentence, ClozeItem, Option, SeedSet, Template

MASK = "[MASK]"
SNAPSHOT = "all-eval.xlsx"

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


def read_released_sheet(path: Path) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances and judged candidates of the released sheet.

    The labels that some tables group by are not in it. Ranks are the order of the probabilities;
    the rows themselves are sorted by tag and candidate.

    Raises:
        InputError: the file is not such a sheet, or a row cannot be used.
    """
    rows = [
        _sheet_row(line.removesuffix("\r"), f"{path.name} row {number}")
        for number, line in enumerate(decoded_sheet(path, read_bytes(path)).split("\n"), start=1)
        if line.strip()
    ]
    return _instances(rows)


def read_snapshot(
    path: Path, sheet: tuple[Sequence[Instance], Sequence[JudgedRow]] | None = None
) -> tuple[list[Instance], list[JudgedRow]]:
    """Instances and judged candidates, with the labels and the judgments of the released workbook.

    Args:
        path: the workbook.
        sheet: instances and candidates of the released sheet; None for the workbook alone.

    Raises:
        InputError: the file is not this workbook, or has a row that is not in the sheet.
    """
    rows = list(_workbook_rows(path))
    instances, judged = sheet or _instances(rows)
    place = _places(instances, judged)
    relabeled = list(judged)
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
        relabeled[number] = replace(
            relabeled[number],
            in_snapshot=True,
            snapshot_fits=JUDGED_AS[fields[_JUDGMENT]],
            snapshot_first=fields[_FIRST].lower() in ("true", "1"),
        )
    return [
        replace(
            instance,
            categories=instance.categories or (fields[_CATEGORY],),
            case=fields[_CASE],
            tense=fields[_TENSE],
        )
        if (fields := labels.get(instance.key, ()))
        else instance
        for instance in instances
    ], relabeled


def _places(
    instances: Iterable[Instance], judged: Iterable[JudgedRow]
) -> dict[tuple[_Key, float | str], int]:
    """Instance and probability, or a quotation mark, to the number of the candidate."""
    key_of = {instance.item.id: instance.key for instance in instances}
    place: dict[tuple[_Key, float | str], int] = {}
    for number, row in enumerate(judged):
        key, candidate = key_of[row.candidate.item], row.candidate
        place[key, candidate.probability or 0.0] = number
        if candidate.text == _QUOTE:
            place[key, _QUOTE] = number
    return place


def _instances(rows: Iterable[_Row]) -> tuple[list[Instance], list[JudgedRow]]:
    groups = grouped((cast("_Key", tuple(row[1][: _SENTENCE + 1])), row) for row in rows)
    instances: list[Instance] = []
    judged: list[JudgedRow] = []
    numbers: Counter[str] = Counter()
    for (template, seed, sentence), alike in groups.items():
        where = alike[0][0]
        before, after = around_mask(sentence, where)
        columns = {"template": template, **test_of(template, where), "seed": seed}
        item = ClozeItem(f"{template}/{numbers[template]:03d}", before, after, columns=columns)
        numbers[template] += 1
        instances.append(Instance(item))
        judged += _ranked(item.id, alike)
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
    from cimento.intake.read_once import read_workbook

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


def test_of(template: str, where: str) -> dict[str, str]:
    """The test that a template belongs to, and its group there, as columns.

    Raises:
        InputError: it is not a template of the study.
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
                remarks=tuple(filter(None, fields[_REMARKS].split(REMARK_JOINT))),
                tags=tuple(filter(None, fields[_TAGS].split(TAG_JOINT))),
            )
        )


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


def decoded_sheet(path: Path, data: bytes) -> str:
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


MODELS: Mapping[str, str] = {
    "neuralmind/bert-base-portuguese-cased": "bertimbau-base",
    "neuralmind/bert-large-portuguese-cased": "bertimbau-large",
    "bert-base-multilingual-cased": "mbert",
}
"""The models of the study, by their names on the hub."""

_MODEL = re.compile(r"""pipeline\(\s*['"]fill-mask['"]\s*,\s*model\s*=\s*['"]([^'"]+)['"]""")
_SENTENCE_BEGINS = re.compile(r"\d+ \S.*")
_CANDIDATE = re.compile(r"\tW([12]) (.*?) -?[\d.e-]+ -?[\d.e-]+ -?[\d.e-]+ \t-\t")


def read_templates(path: Path) -> list[Template]:
    """Templates with the seeds that were left after the study's review by hand.

    Raises:
        InputError: the file is not a notebook, or does not print them.
    """
    printed = [text for *_, shown in _cells(path) for text in shown if text.startswith("{")]
    if not printed:
        raise _unlike(path, "it prints no templates")
    # The first are those that were generated, the last those that were kept.
    tasks = _literal(printed[-1], path)
    try:
        return [
            Template(
                id=name,
                sentences=tuple(BaseSentence(*around_mask(text, path.name)) for text in sentences),
                seeds=tuple(SeedSet(category, tuple(forms)) for category, forms in seeds.items()),
                columns=test_of(name, path.name),
            )
            for name, (seeds, sentences) in tasks.items()
        ]
    except (AttributeError, TypeError, ValueError) as error:
        raise _unlike(path, "what it prints are not templates") from error


def read_multiwords(path: Path) -> list[ClozeItem]:
    """The multiword items with one word masked each; columns `expression`, `word` and `cue`.

    Raises:
        InputError: the file is not a notebook, or has none.
    """
    items = []
    for name, sentences in _expressions(path).items():
        for number, (text, answer) in enumerate(sentences):
            first, second = answer.split()
            texts = (
                text.replace("[MASK2]", second).replace("[MASK1]", MASK),
                text.replace("[MASK1]", first).replace("[MASK2]", MASK),
            )
            for word, masked in enumerate(texts, start=1):
                before, after = around_mask(masked, path.name)
                target, cue = (first, second) if word == 1 else (second, first)
                columns = {"expression": name, "word": str(word), "cue": cue}
                columns["sentence"] = str(number)
                place = f"{name}/{number}/W{word}"
                items.append(ClozeItem(place, before, after, (Option(target),), columns=columns))
    return items


def read_predictions(path: Path) -> dict[str, list[Candidate]]:
    """Recorded candidates by model, without probabilities, in the order of their ranks.

    Raises:
        InputError: the file is not a notebook, or has none.
    """
    places = [
        f"{name}/{number}"
        for name, sentences in _expressions(path).items()
        for number in range(len(sentences))
    ]
    predictions: dict[str, list[Candidate]] = {}
    model = ""
    for source, printed, _ in _cells(path):
        if named := _MODEL.search(source):
            model = MODELS.get(named[1], named[1])
        if any(map(_CANDIDATE.match, printed.split("\n")[1:2])):
            predictions[model] = list(_printed_candidates(printed, places, path))
    if not predictions:
        raise _unlike(path, "it prints no candidates")
    return predictions


def _printed_candidates(text: str, places: Sequence[str], path: Path) -> Iterator[Candidate]:
    """The candidates that one model gave, as they were printed, sentence after sentence."""
    sentence = -1
    ranks: Counter[str] = Counter()
    for line in text.split("\n"):
        if candidate := _CANDIDATE.match(line):
            item = f"{places[sentence]}/W{candidate[1]}"
            ranks[item] += 1
            yield Candidate(item, ranks[item], candidate[2])
        elif _SENTENCE_BEGINS.fullmatch(line):
            sentence += 1
            if sentence == len(places):
                raise _unlike(path, f"it prints more than {len(places)} sentences")


def _expressions(path: Path) -> dict[str, list[tuple[str, str]]]:
    """The sentences of each expression, with the words that are masked in them."""
    expressions: dict[str, list[tuple[str, str]]] = {}
    for source, *_ in _cells(path):
        name, assigned, value = source.partition("] = ")
        if assigned and name.startswith('TASKS["'):
            pairs, expression = _literal(value, path), _literal(name.removeprefix("TASKS["), path)
            usable = isinstance(expression, str) and isinstance(pairs, list)
            if not usable or not all(map(_is_sentence, pairs)):
                raise _unlike(path, f"the sentences of {name}] cannot be used")
            expressions[expression] = list(pairs)
    if not expressions:
        raise _unlike(path, "it has no multiword items")
    return expressions


def _is_sentence(pair: object) -> bool:
    """Whether something is a sentence with the two words that are masked in it."""
    match pair:
        case (str(), str(answer)):
            return len(answer.split()) == 2  # noqa: PLR2004  # the two words
        case _:
            return False


def _cells(path: Path) -> list[tuple[str, str, list[str]]]:
    """The cells of a notebook: source, what was printed, and values that were shown as text."""
    try:
        return [
            (
                "".join(cell["source"]),
                "".join("".join(out.get("text", ())) for out in cell.get("outputs", ())),
                [
                    "".join(out.get("data", {}).get("text/plain", ()))
                    for out in cell.get("outputs", ())
                ],
            )
            for cell in parse_json(decoded_sheet(path, read_bytes(path)))["cells"]
        ]
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise _unlike(path, "it is not a notebook") from error


def _literal(text: str, path: Path) -> Any:  # noqa: ANN401  # what a notebook shows
    """A value as Python writes it; nothing is executed."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise _unlike(path, "a value in it cannot be read") from error


def _unlike(path: Path, seen: str) -> InputError:
    return InputError(
        where=path.name, seen=seen, todo="Is this the notebook that the study released?"
    )
