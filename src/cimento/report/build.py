"""From what was judged to the plain records that every report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.report.items import ItemRecord, item_records
from cimento.report.summary import Phenomenon, Result, RunSummary

if TYPE_CHECKING:
    import polars as pl

    from cimento.report.panels import Panel
    from cimento.suites.model import JsonValue, Suite
    from cimento.verdicts.accuracy import Accuracies, Accuracy
    from cimento.verdicts.judge import Verdict

ITEMS_ON_PAGE = 1500
ITEMS_OF_RUN = (20, 100)

_SHOWN_FIRST = ("model", "suite", "asking", "judging")
_SHOWN_ELSEWHERE = ("inputs", "label")
"""Parts of a manifest that repeat others: what a re-run compares, and the model's label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All that a page shows of one run.

    Attributes:
        summary: counts and rates.
        about: what the suite says of itself: label and text.
        regions: names of the suite's regions.
        items: in the order in which they are shown; may be fewer than the run has.
        provenance: what the run was made of and with: label and text.
        panels: of the interactions of a factorial suite.
        scale: what the panels show.
    """

    summary: RunSummary
    about: tuple[tuple[str, str], ...]
    regions: tuple[str, ...]
    items: tuple[ItemRecord, ...]
    provenance: tuple[tuple[str, str], ...]
    panels: tuple[Panel, ...] = ()
    scale: str = ""


def run_summary(
    suite: Suite,
    overall: Accuracies,
    by_phenomenon: Mapping[str, Accuracies],
    *,
    model: str,
    model_kind: str,
    folder: str | None = None,
    warnings: Sequence[str] = (),
) -> RunSummary:
    """The summary of one run.

    Args:
        suite: as it was judged: with the metric and the predictions that were used.
        overall: over all items.
        by_phenomenon: the same for each phenomenon; may be empty.
        model: label of the model.
        model_kind: ``causal``, ``masked`` or ``replay``.
        folder: where the run is stored.
        warnings: what was noticed on the way.
    """
    return RunSummary(
        suite=suite.name,
        model=model,
        model_kind=model_kind,
        language=suite.meta.language,
        n_items=overall.n_items,
        folder=folder,
        metric=suite.metric,
        predictions=_results(suite, overall),
        conjunction=_conjunction(overall),
        phenomena=tuple(
            Phenomenon(
                name=name,
                n_items=each.n_items,
                predictions=_results(suite, each),
                conjunction=_conjunction(each),
            )
            for name, each in by_phenomenon.items()
        ),
        warnings=tuple(warnings),
    )


def run_report(
    summary: RunSummary,
    suite: Suite,
    verdicts: Sequence[Verdict],
    *,
    tokens: pl.DataFrame,
    requests: pl.DataFrame,
    manifest: Mapping[str, JsonValue],
    limit: int | None = ITEMS_OF_RUN[1],
) -> RunReport:
    """All that a page shows of one run.

    Args:
        summary: of the run.
        suite: as it was judged.
        verdicts: as ``judge`` gives them.
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        manifest: what the run was made of and with.
        limit: items shown with their token strips; None for all.
    """
    return RunReport(
        summary=summary,
        about=_about(suite),
        regions=suite.region_names,
        items=item_records(suite, verdicts, tokens, requests, limit=limit),
        provenance=_provenance(manifest),
    )


def items_shown(n_runs: int) -> int:
    """How many items of each run stand on a page of so many runs, so that it stays light."""
    least, most = ITEMS_OF_RUN
    return max(least, min(most, ITEMS_ON_PAGE // max(1, n_runs)))


def _provenance(manifest: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """The manifest as lines, what matters most first."""
    shown = {key: manifest[key] for key in _SHOWN_FIRST if key in manifest}
    shown |= {key: value for key, value in manifest.items() if key not in _SHOWN_ELSEWHERE}
    return tuple(flatten(shown))


def flatten(manifest: Mapping[str, JsonValue], *, under: str = "") -> list[tuple[str, str]]:
    """A nested manifest as lines: ``{"policy": {"bos": "auto"}}`` is ``policy bos: auto``.

    What is empty or null has no line; what is a list has one for each member, under one label.
    """
    lines: list[tuple[str, str]] = []
    for key, value in manifest.items():
        label = f"{under} {key}".strip().replace("_", " ")
        if isinstance(value, dict):
            lines += flatten(value, under=label)
        elif isinstance(value, list):
            lines.append((label, "\n".join(_text(each) for each in value)))
        else:
            lines.append((label, _text(value)))
    return [(label, text) for label, text in lines if text]


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{label}: {text}" for label, text in flatten(value))
    return "" if value is None else str(value)


def _about(suite: Suite) -> tuple[tuple[str, str], ...]:
    meta = suite.meta
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


def _results(suite: Suite, accuracies: Accuracies) -> tuple[Result, ...]:
    return tuple(
        _result(accuracy, index=index, formula=prediction.formula, comment=prediction.comment)
        for index, (prediction, accuracy) in enumerate(
            zip(suite.predictions, accuracies.predictions, strict=True)
        )
    )


def _conjunction(accuracies: Accuracies) -> Result | None:
    if accuracies.conjunction is None:
        return None
    return _result(accuracies.conjunction, index=None, formula=None, comment="")


def _result(accuracy: Accuracy, *, index: int | None, formula: str | None, comment: str) -> Result:
    reasons = {}
    if accuracy.accuracy is None:
        fields = ("accuracy", "low", "high", "interval_method")
        reasons = dict.fromkeys(fields, accuracy.reason or "")
    if accuracy.chance is None:
        reasons["chance"] = accuracy.chance_reason or ""
    return Result(
        index=index,
        formula=formula,
        comment=comment,
        passed=accuracy.passed,
        failed=accuracy.failed,
        tied=accuracy.tied,
        near_tied=accuracy.near_tied,
        unscored=accuracy.unscored,
        accuracy=accuracy.accuracy,
        low=accuracy.low,
        high=accuracy.high,
        interval_method=accuracy.interval_method,
        chance=accuracy.chance,
        null_reasons=reasons,
    )
