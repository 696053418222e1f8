"""Recorded candidates: a file that answers a cloze suite as a model would."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from cimento.engine.fills import fills_table
from cimento.engine.requests import PREFIX, Recording
from cimento.errors import InputError, did_you_mean
from cimento.io.files import expanded, read_bytes
from cimento.io.parsing import parse_json
from cimento.io.tables import FILLS
from cimento.models.base import ModelCard
from cimento.models.questions import CHOICE, FillCandidate, FillKind
from cimento.models.recorded import one_log
from cimento.paradigms.cloze.detecting import SHEET
from cimento.paradigms.cloze.portuguese import RECORDED_MODEL, decoded_sheet, read_released_sheet
from cimento.paradigms.cloze.requests import Candidate, by_item, check_candidates
from cimento.suites.cloze import ClozeItem
from cimento.suites.letters import one_spelling
from cimento.suites.reading import sha256_of

if TYPE_CHECKING:
    import polars as pl

_RECORDED = "recorded"
"""The method of recorded candidates."""

_UNKNOWN = frozenset({"[UNK]", "<unk>"})


class _Line(BaseModel):
    """A line of recorded answers: the candidates of one model for one item, by rank."""

    id: str
    model: str
    top10: list[str]


def read_recorded_candidates(name: str) -> Recording:
    """Recorded candidates from a file.

    Args:
        name: the file: JSON lines with ``id``, ``model`` and ``top10`` in each, a table with
            tabs, a header and no quoting, with the columns ``item``, ``rank``, ``candidate`` and,
            if known, ``logprob_nats`` or ``probability``, or one of the files that the study of
            Brazilian Portuguese released. After ``#`` the name of one of several models in a file.

    Raises:
        InputError: the file cannot be read, a row cannot be used, or the model is not in it.
    """
    file, _, model = name.partition("#")
    path = expanded(file)
    data = read_bytes(path)
    by_model = _by_model(path, data)
    if not model and len(by_model) == 1:
        model = next(iter(by_model))
    if model not in by_model:
        raise InputError(
            where=f"{PREFIX}{name}",
            seen=f"there is no model {model!r} in it" if model else "it holds several models",
            todo=f"Write {PREFIX}{file}#NAME. {did_you_mean(model, by_model)}",
        )
    candidates, revision = by_model[model], sha256_of(data)
    check_candidates(candidates)
    fills = {item: [*map(_fill, ranked)] for item, ranked in by_item(candidates).items()}
    return Recording(
        card=ModelCard(model, kind="replay", revision=revision, tokenizer=""),
        tables={FILLS.name: _table_of(fills)},
        inputs={"revision": revision, "recorded": model},
        named=f"{PREFIX}{path.resolve()}#{model}",
    )


def logged_options(path: Path, items: Sequence[ClozeItem]) -> Recording:
    """The options of some items as lm-eval scored them.

    The rule is seen from the requests: an option after the text before the blank (``left``), the
    same with the text after it (``sentence``, if nothing came before it), or the text after the
    blank, given each option (``continuation``).

    Args:
        path: lm-eval's logs of one model.
        items: of the suite.

    Raises:
        InputError: the logs cannot be read, or an item is not in them.
    """
    log = one_log(path)
    scored = {
        (one_spelling(context.strip()), one_spelling(option.strip())): value
        for task in log.tasks
        for sample in task.samples
        for context, option, value in zip(
            sample.contexts, sample.options, sample.logprobs_nats, strict=True
        )
    }
    fills_of: dict[str, list[FillCandidate]] = {}
    for item in items:
        fills = [
            FillCandidate(
                text, value if math.isfinite(value) else None, None, _kind(text), CHOICE + rule
            )
            for text in (option.text for option in item.options)
            for rule, asked in _asked_as(item, text).items()
            if (value := scored.get(asked)) is not None
        ]
        if fills:
            fills_of[item.id] = fills
        elif item.options:
            raise InputError(
                where=str(path),
                seen=f"it has no score of an option of item {item.id!r}",
                todo=f"Is it the log of this suite? Its tasks are {', '.join(log.names)}.",
            )
    return Recording(
        card=ModelCard(log.model, kind="replay", revision=log.sha256, tokenizer=""),
        tables={FILLS.name: _table_of(fills_of)},
        inputs={"revision": log.sha256},
        named=f"{PREFIX}{path.resolve()}",
    )


def _asked_as(item: ClozeItem, option: str) -> dict[str, tuple[str, str]]:
    """Rule to the context and the continuation that it asks about, as they are compared."""
    before, after = one_spelling(item.before).strip(), one_spelling(item.after)
    filled = one_spelling(f"{item.before}{option}").strip()
    return {
        "left": (before, one_spelling(option).strip()),
        "continuation": (filled, after.strip()),
        "sentence": ("", f"{filled}{after}".strip()),
    }


def _by_model(path: Path, data: bytes) -> dict[str, list[Candidate]]:
    """The candidates of a file, by the model that gave them."""
    if path.name == SHEET:
        return {RECORDED_MODEL: [row.candidate for row in read_released_sheet(path)[1]]}
    if path.suffix == ".ipynb":
        from cimento.paradigms.cloze.portuguese import read_predictions

        return read_predictions(path)
    if path.suffix == ".jsonl":
        return _lines(path, data)
    return {path.stem: _table(path, data)}


def _lines(path: Path, data: bytes) -> dict[str, list[Candidate]]:
    """Candidates without probabilities, one line for each model and item."""
    by_model: dict[str, list[Candidate]] = {}
    for number, line in enumerate(decoded_sheet(path, data).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        try:
            record = _Line.model_validate(parse_json(line))
        except ValueError as error:
            seen = f"it is not a recorded answer: {error}".splitlines()[0]
            todo = "Each line has id, model and top10, a list of texts."
            raise InputError(where=where, seen=seen, todo=todo) from error
        by_model.setdefault(record.model, []).extend(
            Candidate(record.id, rank, text) for rank, text in enumerate(record.top10, start=1)
        )
    return by_model


def _table(path: Path, data: bytes) -> list[Candidate]:
    """A table without quoting, so that every token is read as it is there."""
    header, *lines = decoded_sheet(path, data).replace("\r\n", "\n").removesuffix("\n").split("\n")
    names = header.split("\t")
    item, rank, text = (_column(names, name, path) for name in ("item", "rank", "candidate"))
    logprob, score = (
        names.index(name) if name in names else None for name in ("logprob_nats", "probability")
    )
    value = score if logprob is None else logprob
    rows = []
    for number, line in enumerate(lines, start=2):
        rows.append((f"{path.name} row {number}", line.split("\t")))
        if len(rows[-1][1]) != len(names):
            raise InputError(
                where=rows[-1][0],
                seen=f"there are {len(rows[-1][1])} cells and {len(names)} columns",
                todo="Is there a tab or a line break inside a cell?",
            )
    return [
        Candidate(
            item=cells[item],
            rank=int(_number(cells[rank], where)),
            text=cells[text],
            probability=None
            if value is None
            else _probability(cells[value], where, is_log=logprob is not None),
        )
        for where, cells in rows
    ]


def _probability(cell: str, where: str, *, is_log: bool) -> float | None:
    if not cell:
        return None
    value = _number(cell, where)
    # What is above 0 is refused below; e to the power of it may be larger than any number.
    probability = math.exp(min(value, 1.0)) if is_log else value
    if not 0 <= probability <= 1:
        raise InputError(
            where=where,
            seen=f"{cell} is not a {'log-probability' if is_log else 'probability'}",
            todo="Probabilities are from 0 to 1, log-probabilities not above 0.",
        )
    return probability


def _column(names: Sequence[str], wanted: str, path: Path) -> int:
    if wanted not in names:
        raise InputError(
            where=path.name,
            seen=f"there is no column {wanted!r}",
            todo="Needed are item, rank and candidate.",
        )
    return names.index(wanted)


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(where=where, seen=f"{cell!r} is not a number", todo="Correct it.")
    return value


def _table_of(groups: Mapping[str, Sequence[FillCandidate]]) -> pl.DataFrame:
    """A fills table of what was found for each item, which rows name instead of requests."""
    import polars as pl

    table = fills_table([(number, list(fills)) for number, fills in enumerate(groups.values())])
    items = pl.Series("item", list(groups), dtype=pl.String)
    return table.with_columns(item=items.gather(table["request"]), condition=pl.lit("")).drop(
        "request"
    )


def _fill(candidate: Candidate) -> FillCandidate:
    value = candidate.probability
    logprob = math.log(value) if value else None
    return FillCandidate(candidate.text, logprob, None, _kind(candidate.text), _RECORDED)


def _kind(text: str) -> FillKind:
    """The kind of a recorded candidate, as far as its spelling tells."""
    if text in _UNKNOWN:
        return "unknown"
    if text.startswith("##") and len(text) > len("##"):
        return "piece"
    if not any(character.isalnum() for character in text):
        return "punctuation"
    return "words" if len(text.split()) > 1 else "word"
