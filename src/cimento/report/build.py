"""From what was judged to the plain records that every report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.report.items import item_records
from cimento.report.records import Claim, Rates, RunReport
from cimento.report.summary import Phenomenon, Result, RunSummary
from cimento.report.wording import remarks
from cimento.runs.estimates import Estimate

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites.model import JsonValue, Meta, Suite
    from cimento.verdicts.accuracy import Accuracies, Accuracy
    from cimento.verdicts.judge import Verdict

_SHOWN_FIRST = ("model", "suite", "asking", "judging")
_SHOWN_ELSEWHERE = ("inputs", "label", "files")
"""Parts of a manifest that repeat others: what a re-run compares, the model's label, checksums."""


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
    limit: int | None = None,
) -> RunReport:
    """All that a page shows of one run.

    Args:
        summary: of the run.
        suite: as it was judged.
        verdicts: as ``judge`` gives them.
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        manifest: what the run was made of and with.
        limit: items that are kept, the worst; None for all.
    """
    rates = _rates(summary)
    return RunReport(
        suite=summary.suite,
        paradigm="regions",
        model=summary.label,
        n_items=summary.n_items,
        language=summary.language,
        folder=summary.folder,
        about=about_of(suite.meta),
        claims=tuple(
            Claim(result.index or 0, result.formula or "", result.comment)
            for result in summary.predictions
        ),
        regions=suite.region_names,
        metric=summary.metric,
        items=item_records(
            suite,
            verdicts,
            tokens,
            requests,
            questions=[f"prediction {result.label}" for result in summary.predictions],
            limit=limit,
        ),
        provenance=provenance_of(manifest),
        headline=rates[0].lines[-1][1] if rates else None,
        rates=rates,
        notes=remarks(summary),
    )


def estimate_of(
    summary: RunSummary,
    result: Result,
    question: str,
    *,
    group: str = "",
    level: str = "",
) -> Estimate:
    """A result as an estimate.

    Args:
        summary: of the run.
        result: one of its results.
        question: what it is about.
        group: column that the items are grouped by.
        level: value of that column.
    """
    length = result.length
    tied_right = result.tied if summary.ties_pass else 0
    return Estimate(
        suite=summary.suite,
        model=summary.model,
        question=question,
        method=summary.measure,
        group=group,
        level=level,
        description=result.formula or "",
        value=result.accuracy,
        low=result.low,
        high=result.high,
        interval_method=result.interval_method,
        reason=result.null_reasons.get("accuracy") or result.null_reasons.get("low", ""),
        n=result.n_judged,
        right=result.passed + tied_right,
        passed=result.passed,
        failed=result.failed,
        tied=result.tied,
        near_tied=result.near_tied,
        unscored=result.unscored,
        chance=result.chance,
        chance_method=result.chance_method or result.null_reasons.get("chance"),
        by_length=length.accuracy if length else None,
        off_by_length=result.is_off_by_length,
    )


def _rates(summary: RunSummary) -> tuple[Rates, ...]:
    """Each prediction, all together, and all together by phenomenon."""
    by_phenomenon = tuple(
        (
            each.name or "no phenomenon named",
            estimate_of(
                summary, each.conjunction, "all predictions", group="phenomenon", level=each.name
            ),
        )
        for each in summary.phenomena
        if each.conjunction is not None
    )
    together = ", all predictions together" if len(summary.predictions) > 1 else ""
    lines = tuple(_line(summary, each) for each in summary.results)
    found = (Rates("", lines), Rates(f"By phenomenon{together}", by_phenomenon))
    return tuple(each for each in found if each.lines)


def _line(summary: RunSummary, result: Result) -> tuple[str, Estimate]:
    alone = len(summary.predictions) == 1
    whole = alone or result.index is None
    question = "all predictions" if whole else f"prediction {result.index}"
    name = "All items" if alone else question.capitalize()
    return name, estimate_of(summary, result, question)


def provenance_of(manifest: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """The manifest as lines, what matters most first."""
    shown = {key: manifest[key] for key in _SHOWN_FIRST if key in manifest}
    shown |= {key: value for key, value in manifest.items() if key not in _SHOWN_ELSEWHERE}
    lines = flatten(shown)
    if shown.get("warnings") == []:
        lines.append(("warnings", "none"))
    return tuple(lines)


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
    for field in ("accuracy", "low", "high", "interval_method"):
        if getattr(accuracy, field) is None:
            reasons[field] = accuracy.reason or ""
    if accuracy.chance is None:
        reasons |= dict.fromkeys(("chance", "chance_method"), accuracy.chance_reason or "")
    if accuracy.length is None:
        reasons["length"] = accuracy.length_reason or ""
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
        chance_method=accuracy.chance_method,
        length=accuracy.length,
        null_reasons=reasons,
    )
