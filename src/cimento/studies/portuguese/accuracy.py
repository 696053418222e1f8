"""How often the dictionary's judgments are the linguist's: counts, precision, recall, coverage.

`SHIPPED` holds the counts on the released judgments for the dictionary that is used by default.
With the released files at hand any dictionary is compared.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from cimento.io.values import group_by
from cimento.report.cells import count
from cimento.report.grid import EstimateCell, Grid
from cimento.statistics.design import Design
from cimento.statistics.intervals import effective_number, share_interval
from cimento.statistics.misclassification import MeasuredShare
from cimento.studies.portuguese.data import StudyData
from cimento.studies.portuguese.grammar import DIMENSIONS, instance_expectations
from cimento.studies.portuguese.judge import Readings, dictionary_verdict

SHIPPED = "portuguese-judge.tsv"
FIRST, AMONG_TEN = "1", "10"
DEPTHS = (FIRST, AMONG_TEN)
"""How many candidates of a sentence count: for P@1 and for P@10."""

_NAMES: Mapping[bool | None, str] = {True: "fits", False: "not", None: "open"}
PAIRS: Sequence[tuple[bool | None, bool]] = tuple(
    (said, fits) for said in _NAMES for fits in (True, False)
)
COUNTED = tuple(f"{_NAMES[said]}_{_NAMES[fits]}" for said, fits in PAIRS)
"""What the dictionary said, and after it what the linguist said, as a column of counts."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A candidate that the linguist judged, and what the dictionary said of it.

    Attributes:
        dictionary: its name.
        dimension: the test.
        template: id of its template.
        depth: of `DEPTHS`; a first candidate is in both.
        said: by the dictionary; None where it left the candidate open.
        fits: whether it does, by the linguist.
    """

    dictionary: str
    dimension: str
    template: str
    depth: str
    said: bool | None
    fits: bool


def compared(data: StudyData, readings: Readings, dictionary: str) -> list[Compared]:
    """Compare the dictionary's verdicts with the linguist's on all released judgments.

    Args:
        data: the released files.
        readings: of words in the dictionary.
        dictionary: its name.
    """
    expected = instance_expectations(data.instances)
    pairs = []
    for row in data.release:
        candidate = row.candidate
        if candidate.fits is None:
            continue
        wanted = expected.get(candidate.item)
        said = dictionary_verdict(row.instance, candidate, wanted, readings)
        place = (dictionary, row.column("dimension"), row.column("template"))
        depths = DEPTHS if row.first else (AMONG_TEN,)
        pairs += [Compared(*place, depth, said, candidate.fits) for depth in depths]
    return pairs


def shipped(dictionary: str) -> list[Compared]:
    """The shipped comparison of a dictionary; empty where there is none of it."""
    source = files("cimento.data") / "studies" / SHIPPED
    rows = csv.DictReader(source.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    return [
        one
        for row in rows
        if row["dictionary"] == dictionary
        for (said, fits), name in zip(PAIRS, COUNTED, strict=True)
        for one in [
            Compared(dictionary, row["dimension"], row["template"], row["depth"], said, fits)
        ]
        * int(row[name])
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeErrors:
    """What is known of a dictionary's errors in one test.

    Attributes:
        sensitivity: of the fitting candidates that it decided, the proportion that it passed; None
            where there are none.
        specificity: of the others that it decided, the proportion that it failed; None likewise.
        open_fits: of the candidates that it left open, the proportion that fit; None likewise.
    """

    sensitivity: MeasuredShare | None
    specificity: MeasuredShare | None
    open_fits: MeasuredShare | None


def judge_errors(pairs: Iterable[Compared]) -> dict[tuple[str, str], JudgeErrors]:
    """The errors of a dictionary by test and depth; candidates of one template belong together.

    Args:
        pairs: of one dictionary.
    """
    return {
        key: JudgeErrors(
            sensitivity=_agreeing([one for one in some if one.fits]),
            specificity=_agreeing([one for one in some if not one.fits]),
            open_fits=_open(some),
        )
        for key, some in group_by(pairs, lambda one: (one.dimension, one.depth)).items()
    }


def _agreeing(pairs: Sequence[Compared]) -> MeasuredShare | None:
    """The proportion of decided candidates on which the dictionary agrees."""
    decided = [one for one in pairs if one.said is not None]
    return _measured([one.said == one.fits for one in decided], decided)


def _open(pairs: Sequence[Compared]) -> MeasuredShare | None:
    left = [one for one in pairs if one.said is None]
    return _measured([one.fits for one in left], left)


def _measured(passed: Sequence[bool], pairs: Sequence[Compared]) -> MeasuredShare | None:
    if not passed:
        return None
    clusters = tuple(one.template for one in pairs)
    n = effective_number(passed, Design(clusters, clusters))
    return MeasuredShare(sum(passed) / len(passed), n)


def accuracy_table(pairs: Iterable[Compared]) -> Grid:
    """Precision, recall and coverage of dictionaries, by test."""
    names = {dimension: name for name, dimension in DIMENSIONS.items()}
    groups = group_by(pairs, lambda one: (one.dimension, one.dictionary, one.depth))
    order = list(DIMENSIONS.values())
    kinds: Mapping[str, tuple[Callable[[Compared], bool], Callable[[Compared], bool]]] = {
        "decided": (lambda _: True, lambda one: one.said is not None),
        "precision": (lambda one: one.said is True, lambda one: one.fits),
        "recall": (lambda one: one.fits and one.said is not None, lambda one: one.said is True),
        "precision of no": (lambda one: one.said is False, lambda one: not one.fits),
        "recall of no": (
            lambda one: not one.fits and one.said is not None, lambda one: one.said is False,
        ),
        "open that fit": (lambda one: one.said is None, lambda one: one.fits),
    }  # fmt: skip

    def rate(name: str) -> Callable[[tuple[str, str, str]], EstimateCell]:
        counts, passes = kinds[name]
        return lambda key: _rate([one for one in groups[key] if counts(one)], passes)

    return Grid.of(
        sorted(groups, key=lambda key: order.index(key[0])),
        {
            "test": lambda key: names[key[0]],
            "dictionary": lambda key: key[1],
            "candidates": lambda key: key[2],
            "judged": lambda key: count(len(groups[key])),
            **{name: rate(name) for name in kinds},
        },
        title="The dictionary's judgments beside the linguist's",
        labels=3,
        grouped=1,
        notes=(
            (
                "Precision: of the candidates that the dictionary passed, those that the linguist"
                " passed too. Recall: of those that the linguist passed and the dictionary"
                " decided, those that it passed. Of no: the same for candidates that do not fit."
            ),
            "The rules were written with these judgments at hand; elsewhere they may do worse.",
        ),
    )


def _rate(pairs: Sequence[Compared], passes: Callable[[Compared], bool]) -> EstimateCell:
    """A proportion in percent, with its interval over templates."""
    passed = [passes(one) for one in pairs]
    clusters = tuple(one.template for one in pairs)
    return EstimateCell.of(
        sum(passed) / len(passed) if passed else None,
        share_interval(passed, Design(clusters, clusters)),
        len(passed),
        digits=2,
        percent=True,
    )
