"""Records of a page: one run, one suite with all of its runs, their items, and where they are from.

`Paradigm.sections` returns them. Every number in them is an estimate or an outcome of a run, the
very one that the tables of the run hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid
    from cimento.report.strips import Strip
    from cimento.runs.outcomes import Estimate, Outcome
    from cimento.suites.model import JsonValue, Meta


@dataclass(frozen=True, slots=True)
class Rates:
    """Estimates that are charted under one heading.

    Attributes:
        heading: what they are; empty for those that need none.
        lines: the name of each and the estimate, a share of items.
    """

    heading: str
    lines: tuple[tuple[str, Estimate], ...]


@dataclass(frozen=True, slots=True)
class NamedGrid:
    """A table of a page, and the name by which ``cimento report --table`` writes it."""

    name: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a suite predicts.

    Attributes:
        number: of the prediction, from 0.
        formula: of the prediction.
        comment: what it claims, in words.
        name: by which people know it; empty for its number.
    """

    number: int
    formula: str
    comment: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """Something that a model could put somewhere, or choose.

    Attributes:
        text: what it is.
        share: its probability; None where that is not known.
        mark: what is known of it, such as ``target`` or ``fits``; empty where nothing is.
    """

    text: str
    share: float | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class AnswerList:
    """What a model gave in one place, the best first.

    Attributes:
        name: how it was asked, or which question.
        answers: in order.
    """

    name: str
    answers: tuple[GivenAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord:
    """One item of a run.

    Attributes:
        id: of the item.
        phenomenon: that the item is about; empty where the suite does not say.
        outcome: what became of it as a whole; None where nothing is right or wrong.
        parts: what became of each question, where there are several.
        strips: one for each condition.
        answers: the model's best answers, where it was asked for some.
        remarks: what else is known, such as the judgments of people: label and text.
    """

    id: str
    phenomenon: str
    outcome: Outcome | None
    strips: tuple[Strip, ...]
    parts: tuple[Outcome, ...] = ()
    answers: tuple[AnswerList, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All that a page shows of one run, of whatever paradigm.

    Attributes:
        suite: name of the suite.
        paradigm: the kind of test.
        model: label of the model, and of what it was judged on where that is said.
        language: of the suite, ISO 639-1; empty where the suite does not say.
        n_items: items in the run, judged or not.
        folder: where the run is stored; None where it is not.
        about: what the suite says of itself: label and text.
        claims: what the suite predicts.
        regions: names of the suite's regions; empty for paradigms that have none.
        metric: how the surprisals of a region's tokens become one value; empty likewise.
        items: those that went worst first.
        provenance: what the run was made of and with: label and text.
        headline: what the overview shows; None where there is nothing to judge.
        rates: what is charted.
        notes: what a reader must know before trusting the rates.
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
    rates: tuple[Rates, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """The section of one suite: its runs, with what shows them together.

    Attributes:
        runs: one for each model and measure.
        figures: of all of them; those of single runs have the model in their title.
        tables: of all of them.
    """

    runs: tuple[RunReport, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[NamedGrid, ...] = ()

    @property
    def first(self) -> RunReport:
        """The run that says what the suite is."""
        return self.runs[0]


_SHOWN_FIRST = ("model", "suite", "asking", "options", "judging")
_SHOWN_ELSEWHERE = ("inputs", "label", "files")
"""Parts of a manifest that repeat others: what a re-run compares, the model's label, checksums."""


def provenance_of(manifest: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """The manifest as lines, what matters most first."""
    shown = {key: manifest[key] for key in _SHOWN_FIRST if key in manifest}
    shown |= {key: value for key, value in manifest.items() if key not in _SHOWN_ELSEWHERE}
    lines = manifest_lines(shown)
    if shown.get("warnings") == []:
        lines.append(("warnings", "none"))
    return tuple(lines)


def manifest_lines(manifest: Mapping[str, JsonValue], *, under: str = "") -> list[tuple[str, str]]:
    """A nested manifest as lines: ``{"policy": {"bos": "auto"}}`` is ``policy bos: auto``.

    What is empty or null has no line; what is a list has one for each member, under one label.
    """
    lines: list[tuple[str, str]] = []
    for key, value in manifest.items():
        label = f"{under} {key}".strip().replace("_", " ")
        if isinstance(value, dict):
            lines += manifest_lines(value, under=label)
        elif isinstance(value, list):
            lines.append((label, "\n".join(_text(each) for each in value)))
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
    """What a suite says of itself, as lines."""
    lines = (
        ("phenomenon", meta.phenomenon),
        ("version", meta.version),
        ("status", meta.status),
        ("comment", meta.comment),
        ("author", meta.author),
        ("reference", meta.reference),
        ("citation", meta.citation),
        ("licence", meta.licence),
    )
    return tuple((label, text) for label, text in lines if text)
