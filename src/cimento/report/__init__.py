"""Reports of runs; here the records of a page: runs, suites with all of their runs, items, sources.

`Paradigm.sections` returns these records, and the modules render them for people and programs.
Every number in them is an estimate or an outcome of a run, identical to the one in its tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.records.computed import computed
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.records.effects import DesignEffect
    from cimento.records.outcomes import ConstantAnswer, Estimate, Outcome
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid
    from cimento.report.strips import Strip
    from cimento.suites import JsonValue, Meta


@dataclass(frozen=True, slots=True)
class Rates:
    """Estimates that are charted under one heading.

    Attributes:
        heading: common subject of the estimates; empty if none is needed.
        lines: name of each estimate, and the estimate itself, a proportion of items.
    """

    heading: str
    lines: tuple[tuple[str, Estimate], ...]


@dataclass(frozen=True, slots=True)
class NamedGrid:
    """A table of a page.

    Attributes:
        name: name of the table.
        grid: cells of the table.
        command: how to get it from the command line; empty for ``--table`` and its name.
    """

    name: str
    grid: Grid
    command: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A prediction of a suite.

    Attributes:
        name: the question of the outcomes.
        formula: formula of the prediction; empty for a question that is stated in words.
        comment: the claim in words.
    """

    name: str
    formula: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer that a model could give or choose.

    Attributes:
        text: text of the answer.
        share: probability of the answer; None if it is unknown.
        mark: status of the answer, such as ``target`` or ``fits``; empty if it has none.
    """

    text: str
    share: float | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class AnswerList:
    """The answers of a model in one place, the best first.

    Attributes:
        name: method of asking, or name of the question.
        answers: the answers in order.
    """

    name: str
    answers: tuple[GivenAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """What the tokens of an item contribute to a margin.

    Attributes:
        label: name of the prediction, and how contributions were found.
        margin_bits: the margin.
        strips: a strip for each sentence, whose pieces have contributions in bits in the place of
            surprisals.
    """

    label: str
    margin_bits: float
    strips: tuple[Strip, ...]


MAJORITY, MEANS, ONE_PERSON = "most people", "mean ratings", "one person"
"""Who is meant in a table of people beside models: most people in choices, or means in ratings."""
RANK_GAP = "the model's rank above people's"
"""The question of a rated sentence: the ranks by which a model likes it better, over all ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord:
    """One item of a run.

    Attributes:
        id: id of the item.
        phenomenon: phenomenon that the item tests; empty if the suite names none.
        outcome: outcome of the whole item; None if nothing in it is right or wrong.
        parts: outcome of each question, if there are several.
        strips: the strips, one for each condition.
        answers: the model's best answers, if it was asked for answers.
        remarks: other information, such as the judgments of people: label and text.
        contributions: what its tokens contribute to margins, where that is known.
    """

    id: str
    phenomenon: str
    outcome: Outcome | None
    strips: tuple[Strip, ...]
    parts: tuple[Outcome, ...] = ()
    answers: tuple[AnswerList, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()
    contributions: tuple[Contributions, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict on the whole item; empty if nothing in it is right or wrong."""
        return (self.outcome.verdict if self.outcome else None) or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Everything that a page shows about one run, of any kind.

    Attributes:
        suite: name of the suite.
        paradigm: kind of test, such as ``regions``.
        model: label of the model, followed by what it was judged on, if stated.
        language: ISO 639-1 code of the suite's language; empty if the suite states none.
        n_items: number of items in the run, judged or not.
        folder: folder where the run is stored; None if it is not stored.
        about: information that the suite gives about itself: label and text.
        claims: predictions of the suite.
        regions: names of the suite's regions; empty for paradigms without regions.
        metric: function that combines the surprisals of a region's tokens; empty likewise.
        items: the items, worst first.
        provenance: origin of the run (versions, hashes, options): label and text.
        headline: estimate shown in the overview; None if nothing was judged.
        constant: the best constant answer to its question; None where none is above chance.
        beside: correlation with ratings that is shown beside it; None for suites without ratings.
        effects: DDs that are shown in place of it, of a factorial design; empty for others.
        people: DDs in people's ratings of the same sentences; empty without ratings.
        rates: rates to chart.
        notes: cautions that a reader needs before trusting the rates.
    """

    suite: str
    paradigm: str
    model: str
    n_items: int
    language: str = ""
    folder: str | None = None
    about: tuple[tuple[str, str], ...] = ()
    claims: tuple[Claim, ...] = ()
    regions: tuple[str, ...] = ()
    metric: str = ""
    items: tuple[ItemRecord, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    headline: Estimate | None = None
    constant: ConstantAnswer | None = None
    beside: Estimate | None = None
    effects: tuple[DesignEffect, ...] = ()
    people: tuple[DesignEffect, ...] = ()
    rates: tuple[Rates, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def together(self) -> int:
        """The number of predictions that the headline takes together; 1 if it does not."""
        whole = self.headline is not None and self.headline.question == ALL_PREDICTIONS
        return max(1, len(self.claims)) if whole else 1


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """The section of one suite: its runs, and the figures and tables that show them together.

    Attributes:
        runs: the runs, one for each model and measure.
        figures: the figures; those of a single run have the model in their title.
        tables: the tables of all runs.
    """

    runs: tuple[RunReport, ...]
    figures: Sequence[Figure] = ()
    tables: tuple[NamedGrid, ...] = ()

    @property
    def first(self) -> RunReport:
        """The first run, which has the information about the suite."""
        return self.runs[0]


@dataclass(frozen=True, slots=True)
class JointReport:
    """A section about all suites and models together.

    Attributes:
        heading: heading of the section.
        command: the command that prints it.
        figures: figures of the section.
        tables: tables of the section.
    """

    heading: str
    command: str
    figures: Sequence[Figure] = ()
    tables: tuple[NamedGrid, ...] = ()


_SHOWN_FIRST = ("model", "suite", "asking", "options", "judging")
_SHOWN_ELSEWHERE = ("inputs", "label", "files")
"""Manifest parts that repeat others: what a rerun compares, the model's label, checksums."""


def provenance_of(manifest: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """The manifest as lines, the most important first."""
    shown = {key: manifest[key] for key in _SHOWN_FIRST if key in manifest}
    shown |= {key: value for key, value in manifest.items() if key not in _SHOWN_ELSEWHERE}
    lines = manifest_lines(shown)
    card = manifest.get("model")
    if isinstance(card, dict) and (place := computed(card)):
        lines.insert(0, ("computed", place))
    if shown.get("warnings") == []:
        lines.append(("warnings", "none"))
    return tuple(lines)


def manifest_lines(manifest: Mapping[str, JsonValue], *, under: str = "") -> list[tuple[str, str]]:
    """A nested manifest as lines: ``{"policy": {"bos": "auto"}}`` becomes ``policy bos: auto``.

    Empty and null values have no line; each member of a list has its own, under the same label.
    """
    lines: list[tuple[str, str]] = []
    for key, value in manifest.items():
        label = f"{under} {key}".strip().replace("_", " ")
        if isinstance(value, dict):
            lines += manifest_lines(value, under=label)
        elif isinstance(value, list):
            lines.append((label, "\n".join(_text(element) for element in value)))
        else:
            lines.append((label, _text(value)))
    return [(label, text) for label, text in lines if text]


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{label}: {text}" for label, text in manifest_lines(value))
    return "" if value is None else str(value)


def about_of(meta: Meta) -> tuple[tuple[str, str], ...]:
    """The information that a suite gives about itself, as lines."""
    return tuple((name, text) for name in _ABOUT if (text := getattr(meta, name)))


_ABOUT = (
    "phenomenon", "version", "status", "comment", "author", "reference", "citation", "license",
)  # fmt: skip
