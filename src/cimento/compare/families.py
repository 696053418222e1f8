"""Families of models: checkpoints of one run, sizes of one architecture, or as they are given.

Names only propose who belongs together. How alike the models of a family answer is estimated from
their answers, and is nothing where they do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from cimento.errors import InputError, UsageError, did_you_mean
from cimento.intake.tables import is_spreadsheet, open_table
from cimento.paired.item_outcomes import step_of

_SIZE = re.compile(
    r"\d+(\.\d+)?[kmbt]|tiny|mini|small|base|medium|large|x+l|huge|big", re.IGNORECASE
)


def family_of(name: str) -> str:
    """The family that the name of a model proposes.

    Args:
        name: as the model was named: ``org/name-70m``, ``org/name@step1000``,
            ``out/checkpoint-500``; a revision, a step and a size are taken off.
    """
    stem = step_of(name)[0].partition("@")[0]
    folder, slash, last = stem.rpartition("/")
    parts = re.split(r"([-_])", last)
    kept = [part for part in parts[::2] if part and not _SIZE.fullmatch(part)]
    return f"{folder}{slash}{'-'.join(kept)}" if kept else stem


def families_given(texts: Iterable[str], models: Sequence[str]) -> dict[str, str]:
    """The families of ``--family``, by the label of the model.

    Args:
        texts: as given: ``NAME=MODEL,MODEL``, or a table with columns `model` and `family`, which
            may have models that are not here.
        models: labels of the models; each is named with or without its revision.

    Raises:
        InputError: a table cannot be read, or lacks one of the columns.
        UsageError: a text is neither, or names a model that is not there, or one in two families.
    """
    families: dict[str, str] = {}
    for text in texts:
        is_table = is_spreadsheet(Path(text)) and Path(text).is_file()
        pairs = [*(_in_table(Path(text)) if is_table else _written(text))]
        found = [(label, name, family) for name, family in pairs for label in _labels(name, models)]
        strange = [name for name, _ in pairs if not _labels(name, models)]
        if strange and not (is_table and found):
            raise UsageError(
                where=f"--family={text}",
                seen="no model here is in it" if is_table
                else f"no model here is called {strange[0]!r}",
                todo=did_you_mean(strange[0], models),
            )  # fmt: skip
        for label, _, family in found:
            if families.setdefault(label, family) != family:
                raise UsageError(
                    where=f"--family={text}",
                    seen=f"{label} is in {families[label]} already",
                    todo="Name each model in one family.",
                )
    return families


def _labels(name: str, models: Sequence[str]) -> list[str]:
    return [one for one in models if name in (one, one.partition("@")[0])]


def _written(text: str) -> Iterator[tuple[str, str]]:
    """The models of ``NAME=MODEL,MODEL``, each with the name of the family."""
    family, equals, listed = text.partition("=")
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if not equals or not family.strip() or not names:
        raise UsageError(
            where=f"--family={text}",
            seen="it is neither a name with models nor a table that is there",
            todo="Write NAME=MODEL,MODEL, or give a table with columns model and family.",
        )
    yield from ((name, family.strip()) for name in names)


def _in_table(path: Path) -> Iterator[tuple[str, str]]:
    """The models of a table that have a family, each with it."""
    table = open_table(path)
    columns = [table.find(name) for name in ("model", "family")]
    if None in columns:
        raise InputError(
            where=table.name,
            seen=f"its columns are {', '.join(table.columns)}",
            todo="Give the columns model and family: a model a row, and what it has in common.",
        )
    for row in table.rows:
        model, family = (row.cells.get(name or "", "").strip() for name in columns)
        if model and family:
            yield model, family


def families_among(proposed: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The family of each model; a model that shares its family with none has its own name.

    Args:
        proposed: model to the family that its name proposes.
        given: the same, as it was given; where there are any, nothing else counts.
    """
    families = {model: given.get(model, model) for model in proposed} if given else dict(proposed)
    shared = list(families.values())
    folders = {family for family in shared if PurePath(family).is_absolute()}
    last = Counter(PurePath(family).name for family in folders)
    # A folder is known by its last name, unless there are two of it.
    short = {one: PurePath(one).name for one in folders if last[PurePath(one).name] == 1}
    return {
        model: short.get(family, family) if shared.count(family) > 1 else model
        for model, family in families.items()
    }
