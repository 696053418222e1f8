"""Tables of prefixes and stimuli for minicons, and what of a suite they cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cimento.errors import InputError
from cimento.files import write_text
from cimento.suites.formula import parse, references
from cimento.suites.model import Condition, Suite
from cimento.suites.readers.minicons import PREFIX, SIDES, SUFFIX
from cimento.suites.sentences import sentence

HEADER = ("item", "condition", PREFIX, "stimulus", SUFFIX)


def write_minicons(suite: Suite, path: Path) -> Path:
    """Write a row for each stimulus, as minicons' ``conditional_score`` takes its columns.

    The stimulus is the region that every prediction names; what stands before it is the prefix,
    what follows the suffix, which only masked models are given. Where predictions are about
    whole sentences, or name several regions, the stimulus is the whole sentence, for
    ``sequence_score``.

    Raises:
        InputError: a target is glued to what precedes it, or a text holds a tab.
        FormulaError: a prediction cannot be read.
        StorageError: the file cannot be written.
    """
    columns = [name for name in suite.column_names if name not in HEADER]
    lines = [[*HEADER, *columns], *_rows(suite, target_region(suite), columns)]
    return write_text("".join("\t".join(line) + "\n" for line in lines), path)


def minicons_losses(suite: Suite) -> list[str]:
    """What a table for minicons cannot hold of a suite, as phrases; empty where nothing is lost."""
    target = target_region(suite)
    kept = 1 if target is None else 3
    losses = [
        f"{key}, in the metadata"
        for key in ("version", "language", "licence", "citation", "author", "reference")
        if getattr(suite.meta, key)
    ]
    if len(suite.region_names) > kept:
        losses.append(f"the division into {len(suite.region_names)} regions")
    pairs = {f"({target or '*'};%{good}%) < ({target or '*'};%{bad}%)" for good, bad in SIDES}
    if [each.formula for each in suite.predictions if each.formula not in pairs]:
        losses.append("predictions other than that the good condition is less surprising")
    losses += [f"the {name}" for name in ("cluster", "factors", "extra") if getattr(suite, name)]
    if suite.metric != "sum":
        losses.append(f"the metric {suite.metric}")
    return losses


def target_region(suite: Suite) -> int | None:
    """The region that all predictions name; None where they name several, or whole sentences.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    named = {
        reference.region
        for prediction in suite.predictions
        for reference in references(parse(prediction.formula))
    }
    found = named.pop() if len(named) == 1 else "*"
    return None if found == "*" or len(suite.region_names) == 1 else found


def _rows(suite: Suite, target: int | None, columns: list[str]) -> Iterator[list[str]]:
    for item, condition in suite.stimuli():
        where = f"item {item.id!r}, condition {condition.name!r}"
        parts = _parts(condition, target, suite, where)
        row = [item.id, condition.name, *parts]
        row += [condition.columns.get(name, "") for name in columns]
        if any("\t" in cell or "\n" in cell for cell in row):
            raise InputError(
                where=where, seen="a text holds a tab or a line end", todo="Remove it."
            )
        yield row


def _parts(condition: Condition, target: int | None, suite: Suite, where: str) -> tuple[str, ...]:
    """Prefix, stimulus and suffix."""
    if target is None:
        return ("", sentence(condition, rule=suite.join), "")
    before, after = condition.regions[: target - 1], condition.regions[target:]
    own = condition.regions[target - 1]
    if own.glued and any(region.text for region in before):
        raise InputError(
            where=where,
            seen="the target is written together with what precedes it",
            todo="minicons puts a blank between prefix and stimulus; put both into one region.",
        )
    return tuple(
        sentence(Condition(condition.name, regions), rule=suite.join)
        for regions in (before, (own,), after)
    )
