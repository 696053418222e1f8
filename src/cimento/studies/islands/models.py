"""Tables 1 and 2 for any model: the suites of the study scored as the study scored them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from cimento.errors import InputError
from cimento.studies.islands.published import THESIS_MODELS
from cimento.studies.islands.records import Line, Section, beside
from cimento.studies.islands.thesis import INVALID, INVALID_NOTE, SOURCE, TENTHS, read_cells
from cimento.suites.design import ISLAND_CONDITIONS
from cimento.suites.load import open_suite
from cimento.suites.model import Suite
from cimento.suites.pairs import merge_suites
from cimento.verdicts.factorial import Factorial, Share

MEASURES: tuple[str, ...] = ("lp", "penlp", "lp-l", "penlp-l")
MEASURE_NAMES = {"lp": "LP", "penlp": "PenLP", "lp-l": "LP-L", "penlp-l": "PenLP-L"}
PHENOMENA = ("adjunct", "complex_np", "subject", "whether")
SUITES = {
    "madeddu": ("madeddu_2022-07", "table1_accuracy_it_madeddu"),
    "sprouse": ("sprouse2016_it", "table2_accuracy_it_sprouse"),
}
"""Name of a suite to the beginning of its files' names, and the table that prints it."""

_TYPES = dict(zip(ISLAND_CONDITIONS, ("Short-N.I.", "Long-N.I.", "Short-I.S."), strict=False))


def read_study_suites(data: Path) -> list[Suite]:
    """The two Italian suites of the study, each with its four phenomena in one.

    Raises:
        InputError: a file is missing.
        SuiteError: a file cannot be used.
    """
    folder = data / "italian" / "suites"
    if not folder.is_dir():
        raise InputError(where=str(folder), seen="does not exist", todo="Give the data folder.")
    suites = []
    for name, (stem, _) in SUITES.items():
        parts = {
            phenomenon: open_suite(folder / f"{stem}_wh_{phenomenon}.jsonl").suite
            for phenomenon in PHENOMENA
        }
        merged = merge_suites(parts, name=f"islands-{name}")
        meta = dataclasses.replace(merged.meta, language="it")
        suites.append(dataclasses.replace(merged, meta=meta))
    return suites


def model_sections(data: Path, results: Sequence[Factorial]) -> list[Section]:
    """Accuracies of some models on the suites of the study, beside what is printed for them.

    Args:
        data: the folder of released data.
        results: of the suites of `read_study_suites`, for any models and measures.
    """
    sections = []
    for name, (_, table) in SUITES.items():
        own = [each for each in results if each.suite == f"islands-{name}"]
        printed, _ = read_cells(data / "tables" / f"{table}.csv")
        lines = [line for each in own for line in _lines(each, printed)]
        sections.append(
            Section(
                name=f"models-{name}",
                title=f"Accuracy in % on the {name} suite, scored with original masking",
                source=SOURCE,
                lines=tuple(lines),
            )
        )
    return sections


def _lines(result: Factorial, printed: dict[str, dict[tuple[str, str], float]]) -> Iterator[Line]:
    label = f"{result.model} {result.measure}"
    if result.reason:
        yield Line(what=label, computed=None, note=result.reason)
        return
    thesis = next(
        (name for part, name in THESIS_MODELS.items() if part in result.model.lower()), ""
    )
    column = printed.get(f"{thesis} {MEASURE_NAMES.get(result.measure, '')}", {})
    note = INVALID_NOTE if thesis == INVALID else ""
    for phenomenon in result.phenomena:
        for pair in phenomenon.pairs:
            known = column.get((f"Wh-{phenomenon.name.replace('_', ' ')}", _TYPES[pair.name]))
            value = None if pair.accuracy is None else 100 * pair.accuracy
            yield beside(
                f"{label}: {phenomenon.name}, {pair.name}",
                value,
                None if known is None else format(known, TENTHS),
                note="; ".join(filter(None, (pair.reason or _items(pair), note))),
            )
        share = phenomenon.super_additive
        dd = phenomenon.effects["likert-z"].dd
        shown = "undefined" if dd is None else f"{dd:.3f}"
        yield Line(
            what=f"{label}: {phenomenon.name}, DD > 0",
            computed=None if share.accuracy is None else 100 * share.accuracy,
            note=share.reason or f"{_items(share)}; DD in z of 7 Likert points {shown}",
        )
    average = None if result.average is None else 100 * result.average
    note = "no interval: the phenomena of a suite are no sample of phenomena"
    yield Line(what=f"{label}: average of the pairs", computed=average, note=note)


def _items(share: Share) -> str:
    """On how many items a rate rests, and its interval in per cent."""
    n = share.passed + share.failed + share.tied
    if share.low is None or share.high is None:
        return f"{n} items, too few for an interval"
    return f"{n} items, 95 % {100 * share.low:.1f} to {100 * share.high:.1f}"
